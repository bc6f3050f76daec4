internal import CaravanBus
internal import CaravanCompression
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// Speaks frames, as a device without an agent.
struct Caller: Sendable {
  private static let attempts = 4

  let device: EnrolledDevice
  var user: UserID { device.user }
  let bus: InProcessBus
  let clock: any Clock

  init(_ name: String, of user: String, in environment: CaravanModel.Environment, on ground: Ground) {
    device = EnrolledDevice(user, name, in: environment)
    bus = ground.connect(name, as: .device(device))
    clock = ground.simulation.host(name).host.clock
  }

  /// One operation in one frame, once.
  func ask(_ operation: Operation.Kind) async throws(CaravanError) -> Result.Kind {
    let exchange = Exchange(epoch: 1, operations: [Operation(kind: operation)]).encoded()
    let frame = Frame(plainBytes: UInt32(exchange.count), body: exchange)
    let answer = try await bus.request(
      Message(frame.encoded()), to: .exchange(device), deadline: .seconds(4))
    let reply = try Frame.decode(answer.payload)
    var plain = reply.body
    if reply.compression == .zstd {
      var decompressor = try Decompressor()
      plain = try decompressor.decompress(reply.body, limit: Limits.frameBytes)
    }
    guard let kind = try ExchangeReply.decode(plain).results.first?.kind else {
      throw CaravanError(.internalError, "an operation has no result")
    }
    return kind
  }

  /// Until somebody answers otherwise than that it should be asked later.
  /// - Returns: nil: nobody did, or it was refused.
  func insist(_ operation: Operation.Kind) async -> Result.Kind? {
    for _ in 0..<Self.attempts {
      if let answer = try? await ask(operation) {
        guard case .failure(let failure) = answer else { return answer }
        guard failure.model().isTransient else { return nil }
      }
      guard (try? await clock.sleep(for: .milliseconds(700))) != nil else { return nil }
    }
    return nil
  }
}

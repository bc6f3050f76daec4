public import CaravanBus
internal import CaravanCompression
public import CaravanModel
public import CaravanWire

/// Asks sync without an agent, one operation in one frame, as the device that the bus is connected for.
///
///     let sync = SyncClient(bus: bus, device: device, epoch: host.random.next() >> 1)
///     guard case .type(let agreed) = try await sync.ask(.propose(proposal)) else { … }
public struct SyncClient: Sendable {
  /// For one answer.
  public static let deadline: Duration = .seconds(30)

  public let bus: any MessageBus
  public let device: EnrolledDevice
  /// Which incarnation of the caller's own store this is: ops of another epoch are another writer's.
  public let epoch: UInt64

  public init(bus: any MessageBus, device: EnrolledDevice, epoch: UInt64) {
    (self.bus, self.device, self.epoch) = (bus, device, epoch)
  }

  /// - Returns: the operation's result, which is no failure.
  /// - Throws: what sync refused, by its code; what `result(of:deadline:)` throws.
  public func ask(
    _ kind: CaravanWire.Operation.Kind, deadline: Duration = SyncClient.deadline
  ) async throws(CaravanError) -> CaravanWire.Result.Kind {
    let result = try await result(of: kind, deadline: deadline)
    if case .failure(let failure) = result { throw failure.model() }
    return result
  }

  /// - Returns: the operation's result, also a failure.
  /// - Throws: `invalidData` or `limitExceeded` for an answer that cannot be read; what the bus says.
  public func result(
    of kind: CaravanWire.Operation.Kind, deadline: Duration = SyncClient.deadline
  ) async throws(CaravanError) -> CaravanWire.Result.Kind {
    let exchange = Exchange(epoch: epoch, operations: [CaravanWire.Operation(kind: kind)]).encoded()
    let frame = Frame(plainBytes: UInt32(exchange.count), body: exchange)
    let answer = try await bus.request(Message(frame.encoded()), to: .exchange(device), deadline: deadline)
    return try required(Self.reply(in: answer.payload).results.first?.kind, "result")
  }

  /// - Throws: `invalidData` or `limitExceeded` when there is no answer in the frame.
  public static func reply(in frame: [UInt8]) throws(CaravanError) -> ExchangeReply {
    let frame = try Frame.decode(frame)
    guard frame.compression == .zstd else { return try ExchangeReply.decode(frame.body) }
    var decompressor = try Decompressor()
    return try ExchangeReply.decode(decompressor.decompress(frame.body, limit: Limits.frameBytes))
  }
}

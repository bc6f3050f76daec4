internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSyncClient
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
    try await SyncClient(bus: bus, device: device, epoch: 1).result(of: operation, deadline: .seconds(4))
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

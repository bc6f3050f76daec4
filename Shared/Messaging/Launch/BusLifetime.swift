public import CaravanBus
internal import CaravanModel
public import CaravanRuntime

/// Keeps a bus open until all services after it in the group have ended, and logs what happens to it.
public struct BusLifetime: Service {
  private let bus: any MessageBus
  private let host: Host
  private let stop = Latch()

  public init(_ bus: any MessageBus, host: Host) {
    self.bus = bus
    self.host = host
  }

  /// - Throws: `notAuthenticated` when the broker refuses a subscription, or the bus closes unasked, after two refusals
  ///   in a row. Brokers that come back refuse nobody they know, so the credentials are void or another service's: the
  ///   supervisor's next start reads them anew.
  public func run() async throws {
    let events = bus.events()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await report(events)
        if stop.isOpen || Task.isCancelled { return }
        throw CaravanError(.notAuthenticated, "the broker refuses this process for good: check its credentials")
      }
      group.addTask {
        await stop.wait()
        await bus.drain(deadline: LaunchLimits.drainDeadline)
      }
      defer { group.cancelAll() }
      try await group.next()
      // The bus says that it is closed, and closes.
      if stop.isOpen { try await group.next() }
    }
  }

  public func shutDown() { stop.open() }

  /// Until the bus is closed.
  private func report(_ events: any BusEventStream) async throws(CaravanError) {
    var told: Set<String> = []
    while let event = await events.next() {
      switch event {
      case .connected: host.log.info("the bus is connected")
      // When it stops there is nothing to come back to.
      case .disconnected where stop.isOpen: break
      case .disconnected: host.log.warning("the bus is disconnected: trying to come back")
      case .slowConsumer(let subject, let dropped):
        host.log.warning("messages dropped: the consumer is too slow", [.subject: subject, .dropped: dropped])
      case .denied(.subscription, let text):
        throw CaravanError(
          .notAuthenticated,
          "these credentials are not this service's, or of an earlier release (caravan keys init): the broker says: "
            + text)
      case .denied(_, let text):
        // One that goes on asking is refused as often.
        guard told.count < LaunchLimits.denialsLogged, told.insert(text).inserted else { continue }
        host.log.error("the broker refuses", [.error: text])
      case .closed: host.log.info("the bus is closed")
      }
    }
  }
}

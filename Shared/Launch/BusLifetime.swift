public import Bus
internal import Model
public import Runtime

/// Keeps a bus open until all services after it in the group have ended, and logs what happens to it.
public struct BusLifetime: Service {
  private let bus: any MessageBus
  private let host: Host
  private let stop = Latch()

  public init(_ bus: any MessageBus, host: Host) {
    self.bus = bus
    self.host = host
  }

  /// - Throws: `notAuthenticated` when the bus closes unasked, after two refusals in a row. Brokers that come back
  ///   refuse nobody they know, so the credentials are void: the supervisor's next start reads them anew.
  public func run() async throws {
    let events = bus.events()
    let wasAsked = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await report(events)
        return stop.isOpen
      }
      group.addTask {
        await stop.wait()
        await bus.drain(deadline: LaunchLimits.drainDeadline)
        return true
      }
      defer { group.cancelAll() }
      return await group.next() ?? true
    }
    if !wasAsked && !Task.isCancelled {
      throw CaravanError(.notAuthenticated, "the broker refuses this process for good: check its credentials")
    }
  }

  public func shutDown() { stop.open() }

  private func report(_ events: any BusEventStream) async {
    while let event = await events.next() {
      switch event {
      case .connected: host.log.info("the bus is connected")
      case .disconnected: host.log.warning("the bus is disconnected: trying to come back")
      case .slowConsumer(let subject, let dropped):
        host.log.warning("messages dropped: the consumer is too slow", [.subject: subject, .dropped: dropped])
      case .denied(let text): host.log.error("the broker refuses", [.error: text])
      case .closed: host.log.info("the bus is closed")
      }
    }
  }
}

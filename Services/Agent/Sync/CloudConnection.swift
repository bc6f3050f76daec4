internal import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanBus
public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// How the agent reaches a broker: called again, with growing waits, until it gives a bus.
public typealias BusMaker = @Sendable () async throws(CaravanError) -> any MessageBus

/// Keeps the engine connected: makes the one connection of the device (SIM-42), listens for its notifications, and
/// makes another when it has ended for good. A broker that refuses the device's credentials is left alone for long.
package struct CloudConnection: Sendable {
  let engine: SyncEngine
  let connect: BusMaker

  package init(engine: SyncEngine, connect: @escaping BusMaker) {
    self.engine = engine
    self.connect = connect
  }

  /// Until the task is cancelled.
  package func run() async {
    var backoff = Backoff()
    let outage = Outage(
      engine.host, "the cloud cannot be reached: syncing waits", over: "the cloud is reached again")
    while !Task.isCancelled {
      await engine.untilSpeakingIsPermitted()
      if Task.isCancelled { return }
      do throws(CaravanError) {
        // Who makes the bus may try for long before it gives up.
        let bus = try await outage.told(after: EngineLimits.outageNotice, during: connect)
        let events = bus.events()
        let notifications = try await bus.subscribe(
          .exact(.notify(engine.identity.device)), group: nil, capacity: EngineLimits.notificationsWaiting)
        backoff.succeeded()
        outage.ended()
        await engine.connected(bus)
        await attend(bus, events, notifications)
        await engine.disconnected()
        await bus.drain(deadline: EngineLimits.drainDeadline)
        // Silence was asked for; when speaking is allowed again nothing has failed.
        if await !engine.schedule.permitsSpeaking { continue }
      } catch {
        if Task.isCancelled { return }
        outage.lasts(error)
        await engine.connectingFailed(error)
      }
      if Task.isCancelled { return }
      let random = engine.host.random.next()
      let rest = engine.admission.rest(random: random) ?? backoff.failed(random: random)
      await engine.attemptNow.wait(atMost: .nanoseconds(Int64(clamping: rest)), clock: engine.host.clock)
    }
  }

  /// Until the bus closes, or the device may not speak any more: also an idle connection has its signs of life.
  private func attend(
    _ bus: any MessageBus, _ events: any BusEventStream, _ notifications: any BusSubscription
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await listen(to: notifications) }
      group.addTask { await follow(events, of: bus) }
      group.addTask { await engine.untilSpeakingIsForbidden() }
      await group.next()
      group.cancelAll()
    }
  }

  private func listen(to notifications: any BusSubscription) async {
    while let delivery = await notifications.next() {
      switch delivery {
      case .gap: await engine.notificationsLost()
      case .message(let incoming):
        engine.meter.received(incoming.message.payload.count)
        engine.metrics.notificationBytesDown.add(incoming.message.payload.count)
        do throws(CaravanError) { await engine.notified(try Notification.decode(incoming.message.payload)) } catch {
          engine.host.log.warning("a notification is malformed", [.error: error.description])
        }
      }
    }
  }

  private func follow(_ events: any BusEventStream, of bus: any MessageBus) async {
    while let event = await events.next() {
      switch event {
      case .connected: await engine.connected(bus)
      case .disconnected: await engine.disconnected()
      case .slowConsumer: await engine.notificationsLost()
      case .denied(_, let reason): engine.host.log.warning("the broker refuses this device", [.reason: reason])
      case .closed: return
      }
    }
  }
}

internal import AgentCore
public import Bus
public import Model
internal import Runtime
internal import Wire

/// How the agent reaches a broker: called again, with growing waits, until it gives a bus.
public typealias BusMaker = @Sendable () async throws(CaravanError) -> any MessageBus

/// Keeps the engine connected: makes the one connection of the device (SIM-42), listens for its notifications, and
/// makes another when it has ended for good.
struct CloudConnection: Sendable {
  let engine: SyncEngine
  let connect: BusMaker

  /// Until the task is cancelled.
  func run() async {
    var backoff = Backoff()
    let outage = Outage(engine.host.log)
    while !Task.isCancelled {
      await engine.untilSpeakingIsPermitted()
      if Task.isCancelled { return }
      do throws(CaravanError) {
        let bus = try await connected(telling: outage)
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
        if await !engine.coalescer.permitsSpeaking { continue }
      } catch {
        if Task.isCancelled { return }
        outage.lasts(error.description)
      }
      if Task.isCancelled { return }
      let wait = backoff.failed(random: engine.host.random.next())
      try? await engine.host.clock.sleep(for: .nanoseconds(Int64(clamping: wait)))
    }
  }

  /// Who makes the bus may try for long before it gives up; people are told sooner.
  private func connected(telling outage: Outage) async throws(CaravanError) -> any MessageBus {
    async let _: Void = {
      guard (try? await engine.host.clock.sleep(for: EngineLimits.outageNotice)) != nil else { return }
      outage.lasts("no answer for \(EngineLimits.outageNotice.wholeMilliseconds) ms")
    }()
    return try await connect()
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

/// Says once that the cloud cannot be reached, however long that lasts and however often it is tried: a device may well
/// be out for weeks.
private final class Outage: Sendable {
  private let log: Log
  private let isTold = Mutex(false)

  init(_ log: Log) { self.log = log }

  func lasts(_ reason: String) {
    let wasTold = isTold.withLock { told in
      defer { told = true }
      return told
    }
    if !wasTold { return log.warning("the cloud cannot be reached: syncing waits", [.reason: reason]) }
    log.debug("the cloud cannot be reached still", [.reason: reason])
  }

  func ended() {
    let wasTold = isTold.withLock { told in
      defer { told = false }
      return told
    }
    if wasTold { log.info("the cloud is reached again") }
  }
}

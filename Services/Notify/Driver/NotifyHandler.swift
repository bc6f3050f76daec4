import CaravanBus
import CaravanChangeStream
import CaravanModel
import CaravanNotifyCore
import CaravanRuntime
import CaravanStorageClient
import CaravanTokens
import CaravanWire

/// Notifies the devices of one owned partition: carries out what `PartitionNotifier` decides.
actor NotifyHandler {
  /// The wall clock may jump, so it is looked at at least this often while a timer runs.
  private static let longestSleepMilliseconds: Int64 = 60_000

  private let lease: PartitionLease
  private let bus: any MessageBus
  private let storage: StorageClient
  private let subscriptions: SubscriptionStore
  private let host: Host
  private let metrics: NotifyMetrics
  private var machine: PartitionNotifier
  private var savedCursor: UInt64
  /// Wakes the timer loop when something is due earlier than what it sleeps for.
  private let kick = Mailbox<Void>(capacity: 1)
  private var sleepsUntil = Int64.max
  /// What every device knows may have become more.
  private let progress = Signal()
  private var pages: PageEncoder
  private let pusher: Pusher

  init(
    lease: PartitionLease, cursor: UInt64, bus: any MessageBus, storage: StorageClient,
    subscriptions: SubscriptionStore, tokens: TokenSeal, pusher: Pusher, host: Host, metrics: NotifyMetrics
  ) {
    self.pusher = pusher
    pages = PageEncoder(tokens: tokens)
    self.lease = lease
    self.bus = bus
    self.storage = storage
    self.subscriptions = subscriptions
    self.host = host
    self.metrics = metrics
    machine = PartitionNotifier(startedAt: host.clock.wallTime.milliseconds, position: cursor)
    savedCursor = cursor
  }

  private var now: Moment {
    Moment(wall: host.clock.wallTime.milliseconds, monotonic: Int64(host.clock.now.nanoseconds / 1_000_000))
  }

  /// Takes in every list of the partition. What those devices were told by the owner before is not known.
  func load() async throws(CaravanError) {
    for stored in try await subscriptions.lists(in: lease.partition) {
      await take(stored)
      machine.sweep(stored.device, now: now)
    }
  }

  private func take(_ stored: SubscriptionStore.Stored) async {
    guard let list = stored.list else { return machine.remove(stored.device) }
    do throws(CaravanError) {
      let effects = try machine.setList(
        list, of: stored.device, isCurrent: false, now: now)
      await carryOut(effects)
    } catch {
      host.log.error(error.message, [.device: stored.device.text, .partition: lease.partition.number])
    }
  }

  private func carryOut(_ effects: PartitionNotifier.Effects) async {
    if machine.position > savedCursor { progress.raise() }
    if let delay = effects.wake.delay(from: now), now.monotonic + delay < sleepsUntil { kick.push(()) }
    metrics.count(effects)
    await publish(effects.sends)
    await publish(effects.resends)
  }

  private func publish(_ pending: [PendingNotification]) async {
    var rest = pending[...]
    while !rest.isEmpty, lease.isHeld {
      let some = rest.prefix(NotifyLimits.sendsAtOnce)
      rest = rest.dropFirst(some.count)
      let messages = some.map { Outgoing(Message(encoded($0)), to: .notify($0.device)) }
      do throws(CaravanError) { try await bus.publish(messages) } catch {
        // They will be sent again for want of an answer.
        host.log.debug("notifications were not sent", [.count: messages.count, .error: error.message])
      }
    }
  }

  private func encoded(_ pending: PendingNotification) -> [UInt8] {
    let notification = Notification(
      number: pending.number, generation: pending.generation, bitmap: pending.bitmap.bytes,
      waitedMilliseconds: pending.waited
    ).encoded()
    guard !pending.inlinePage.isEmpty, let items = machine[pending.device]?.list.items else { return notification }
    // Of two encoded messages with different fields, one after the other is the encoding of both.
    return pending.inlinePage.sorted { $0.key < $1.key }.reduce(into: notification) { bytes, loaded in
      bytes += pages.encoded(loaded.value, of: items[loaded.key].zone, slot: loaded.key)
    }
  }

  // MARK: Requests

  func attach(_ request: AttachRequest) async throws(CaravanError) -> AttachReply {
    let device = try EnrolledDevice(request.device)
    try check(device.user)
    if let list = request.list {
      let list = try DeviceList(list)
      await carryOut(try machine.setList(list, of: device, isCurrent: true, now: now))
    } else if !knows(device, generation: request.generation) {
      if let stored = try await subscriptions.list(of: device) {
        await carryOut(try machine.setList(stored, of: device, isCurrent: false, now: now))
      }
    }
    let generation = request.list?.generation ?? request.generation
    guard knows(device, generation: generation), let list = machine[device]?.list else {
      // Generation 0 is a device without subscriptions.
      return AttachReply(resubscribe: generation != 0)
    }
    machine.attachBegan(device)
    let behind = try await behind(list, request, user: device.user)
    await carryOut(machine.attached(device, generation: generation, behind: behind, now: now))
    return AttachReply()
  }

  private func knows(_ device: EnrolledDevice, generation: UInt64) -> Bool {
    machine[device]?.list.generation == generation
  }

  /// Which subscriptions the store has more of than the device has seen. A device that does not say what it has seen
  /// has seen nothing.
  private func behind(
    _ list: DeviceList, _ request: AttachRequest, user: UserID
  ) async throws(CaravanError) -> Bitmap {
    var heads: [ZoneID: ZoneHead] = [:]
    for head in try await storage.zones(ofOwner: user) {
      heads[try required(head.zone, "zone").model()] = head
    }
    var behind = Bitmap(count: list.items.count)
    for (slot, item) in list.items.enumerated() {
      let held = request.seen.count == list.items.count ? request.seen[slot] : 0
      let life = request.lives.count == list.items.count ? request.lives[slot] : 0
      // A zone that is gone is news, too, to who has something of it, and so is one in another life (UNI-18): of a
      // restored store that may be younger.
      behind[slot] =
        heads[item.zone].map { $0.seq > held || held > 0 && life > 0 && life != $0.incarnation } ?? (held > 0)
    }
    return behind
  }

  /// Takes in what devices say they have taken over, until cancelled. Nobody waits for an answer.
  func hear(_ acks: any BusSubscription) async {
    while let delivery = await acks.next() {
      // One that is lost, or says nothing, comes again with its notification.
      guard case .message(let incoming) = delivery, case .acks(let device, _) = incoming.subject,
        let ack = try? AckNotification.decode(incoming.message.payload)
      else { continue }
      await carryOut(machine.acked(ack.number, device: device, now: now))
    }
  }

  private func check(_ user: UserID) throws(CaravanError) {
    let right = Partition(of: .system(user))
    guard right == lease.partition else {
      throw CaravanError(.invalidData, "user '\(user)' belongs to partition \(right), not \(lease.partition)")
    }
  }

  // MARK: Loops

  /// Fires timers and sends again, until cancelled.
  func runTimers() async {
    while !Task.isCancelled {
      let wake = machine.nextWake()
      let isIdle = wake == Wake()
      let delay = min(wake.delay(from: now) ?? .max, Self.longestSleepMilliseconds)
      sleepsUntil = isIdle ? .max : now.monotonic + delay
      await pause(isIdle ? nil : .milliseconds(delay))
      if Task.isCancelled { return }
      await carryOut(machine.tick(now))
    }
  }

  private nonisolated func pause(_ delay: Duration?) async {
    await withTaskGroup(of: Void.self) { group in
      if let delay { group.addTask { try? await self.host.clock.sleep(for: delay) } }
      group.addTask { _ = await self.kick.next() }
      await group.next()
      group.cancelAll()
    }
  }

  /// Keeps the durable cursor behind what every device knows, until cancelled.
  /// - Throws: `lockNotHeld` when somebody else owns the partition.
  func runCursor() async throws {
    while true {
      await progress.wait()
      try await host.clock.sleep(for: .seconds(NotifyLimits.cursorSeconds))
      do throws(CaravanError) { try await saveCursor() } catch {
        guard error.isTransient else { throw error }
        progress.raise()
      }
    }
  }

  func saveCursor() async throws(CaravanError) {
    let confirmed = machine.confirmed
    guard confirmed > savedCursor else { return }
    try await storage.moveCursor(
      of: NotifyService.name.rawValue, in: lease.partition, to: confirmed, lease: lease.name,
      fencingToken: lease.token)
    savedCursor = confirmed
  }
}

extension NotifyHandler: ChangeConsumer {
  func take(_ changes: [Change]) async throws(CaravanError) {
    for change in changes where change.position > machine.position {
      if let user = subscriptions.user(of: change.zone) { try await takeLists(change, of: user) }
      try await pusher.take(change)
      metrics.changes.add()
      await carryOut(
        machine.changed(change.zone, writer: change.writer, position: change.position, now: now) {
          guard !change.isZoneDeletion, let page = change.page else { return nil }
          return InlinePage(incarnation: change.incarnation, low: change.low, high: change.high, page: page)
        })
    }
  }

  private func takeLists(_ change: Change, of user: UserID) async throws(CaravanError) {
    guard !change.isZoneDeletion else { return machine.removeAll(of: user) }
    if let page = try? change.page.map({ try EntryPage.decode($0) }) {
      for entry in page.entries {
        if let stored = SubscriptionStore.stored(entry, user: user, in: change.zone) { await take(stored) }
      }
    } else {
      let start = CaravanModel.ChangePosition(incarnation: change.incarnation, seq: change.low)
      for stored in try await subscriptions.lists(of: user, in: change.zone, from: start) { await take(stored) }
    }
  }

  func rebuild(at head: UInt64) async throws(CaravanError) {
    try await load()
    try await pusher.load()
    machine.sweepAll(upTo: max(head, machine.position), now: now)
    progress.raise()
    kick.push(())
  }
}

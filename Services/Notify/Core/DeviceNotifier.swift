package import CaravanModel

/// What one device has to hear, and has been told. A change goes from `waiting` (its period's timer runs) by `tolerant`
/// (it may wait for others, with which it goes) to `ready` to the one notification that is out; its answer makes room
/// for the next, so a burst becomes one (MOB-40, MOB-57).
package struct DeviceNotifier: Sendable {
  package enum Presence: Sendable, Hashable {
    /// Notifications are sent. Can transition to: away.
    case present
    /// It did not answer: what changes is kept until it attaches. Can transition to: present.
    case away
  }

  /// What is to be done after an event.
  package enum Step: Sendable, Hashable {
    case nothing
    case send(PendingNotification)
    /// The same notification as before, again.
    case resend(PendingNotification)
    /// It did not answer at all: nothing is sent any more.
    case giveUp
  }

  private struct Outstanding {
    let pending: PendingNotification
    /// Log position of the oldest change in it; nil: it holds no cursor back.
    let since: UInt64?
    var sendings = 1
    var retryAt: Int64
  }

  package let device: EnrolledDevice
  package private(set) var list: DeviceList
  package private(set) var presence = Presence.present
  private var waiting: Bitmap
  /// Since when changes may wait for company, by subscription, on the monotonic clock.
  private var tolerant: [Int: Int64] = [:]
  /// How long, in milliseconds, something that is ready has waited for company.
  private var waited: UInt32 = 0
  /// Log position of the oldest change that waits, for its period or for company.
  private var waitingSince: UInt64?
  private var ready: Bitmap
  private var readySince: UInt64?
  private var outstanding: Outstanding?
  /// Of what is waiting, tolerant or ready, all that changed, where it is known and small.
  private var inlinePage: [Int: InlinePage] = [:]
  /// When the timer of a period with something waiting fires, on the wall clock.
  private var timers: [UInt32: Int64] = [:]
  /// What changed since an attachment began, while its answer from the store is on its way.
  private var sinceAttach: Bitmap?
  /// When to tell of everything, on the monotonic clock: nobody knows what the owner before had told this device.
  private var sweepAt: Int64?

  package init(device: EnrolledDevice, list: DeviceList) {
    self.device = device
    self.list = list
    waiting = Bitmap(count: list.items.count)
    ready = waiting
  }

  /// Position of the oldest change it has not confirmed; nil: none, or it is away and will ask by itself.
  package var oldestUnconfirmed: UInt64? {
    switch presence {
    case .away: nil
    case .present: earliest(earliest(waitingSince, readySince), outstanding?.since)
    }
  }

  package var wake: Wake {
    // While something is out, its answer is waited for.
    let company = outstanding == nil ? tolerant.map { $0.value + Int64(list.items[$0.key].tolerance) }.min() : nil
    return Wake(wall: timers.values.min(), monotonic: earliest(earliest(outstanding?.retryAt, sweepAt), company))
  }

  // MARK: Changes

  /// A subscribed zone changed.
  /// - Returns: the step, and whether this change merely joins others on their way.
  package mutating func changed(
    _ slot: Int, at position: UInt64, inlinePage change: InlinePage? = nil, now: Moment, number: inout UInt64
  ) -> (step: Step, isCoalesced: Bool) {
    sinceAttach?[slot] = true
    let isCoalesced = waiting[slot] || tolerant[slot] != nil || ready[slot]
    let period = list.items[slot].period
    if presence == .present, !list.items[slot].isToldOnly { load(change, slot, isFirst: !isCoalesced) }
    switch presence {
    case .away: ready[slot] = true
    case .present where tolerant[slot] != nil: waitingSince = min(waitingSince ?? position, position)
    case .present where period == 0: periodIsOver(slot, since: position, now)
    case .present:
      waiting[slot] = true
      waitingSince = min(waitingSince ?? position, position)
      if timers[period] == nil { timers[period] = PeriodClock.next(after: now.wall, period: period) }
    }
    return (nextNotification(now, &number), isCoalesced)
  }

  private mutating func load(_ change: InlinePage?, _ slot: Int, isFirst: Bool) {
    inlinePage[slot] = isFirst ? change : change.flatMap { inlinePage[slot]?.followed(by: $0) }
    precondition(
      inlinePage[slot]?.high == change?.high || inlinePage[slot] == nil, "a page ends before the last change")
  }

  /// Of what is ready, as much as a notification takes.
  private mutating func takeInlinePages() -> [Int: InlinePage] {
    var taken: [Int: InlinePage] = [:]
    var room = NotifyLimits.inlinePageBytes
    for slot in ready.set {
      guard let loaded = inlinePage.removeValue(forKey: slot), loaded.page.count <= room else { continue }
      room -= loaded.page.count
      taken[slot] = loaded
    }
    precondition(room >= 0, "a notification carries \(-room) bytes too many")
    return taken
  }

  /// What changed is told with the next notification, or, in as long as its subscription tolerates, by one for it.
  private mutating func periodIsOver(_ slot: Int, since position: UInt64, _ now: Moment) {
    guard list.items[slot].tolerance > 0, !ready[slot] else { return makeReady(slot, since: position) }
    tolerant[slot] = now.monotonic
    waitingSince = min(waitingSince ?? position, position)
  }

  /// What waits for company has it.
  private mutating func joinTolerant(_ now: Moment) {
    guard let since = waitingSince, !tolerant.isEmpty else { return }
    for slot in tolerant.keys { makeReady(slot, since: since) }
    noteWaiting(now)
    tolerant = [:]
    if waiting.isEmpty { waitingSince = nil }
  }

  private mutating func noteWaiting(_ now: Moment) {
    waited = max(waited, UInt32(clamping: tolerant.values.map { now.monotonic - $0 }.max() ?? 0))
  }

  private mutating func makeReady(_ slot: Int, since position: UInt64) {
    ready[slot] = true
    readySince = min(readySince ?? position, position)
  }

  /// Sends what is ready, unless something is out already.
  private mutating func nextNotification(_ now: Moment, _ number: inout UInt64) -> Step {
    defer { checkInvariants() }
    guard presence == .present, outstanding == nil, !ready.isEmpty || isCompanyDue(now) else { return .nothing }
    joinTolerant(now)
    let pending = PendingNotification(
      device: device, number: number, generation: list.generation, bitmap: ready, inlinePage: takeInlinePages(),
      waited: waited)
    number += 1
    outstanding = Outstanding(
      pending: pending, since: readySince, retryAt: now.monotonic + NotifyLimits.firstRetryMilliseconds)
    ready.removeAll()
    (readySince, waited) = (nil, 0)
    return .send(pending)
  }

  /// Whether something has waited for company as long as it tolerates.
  private func isCompanyDue(_ now: Moment) -> Bool {
    tolerant.contains { $0.value + Int64(list.items[$0.key].tolerance) <= now.monotonic }
  }

  /// What holds between events, whichever they are.
  private func checkInvariants() {
    assert(waiting.count == list.items.count && ready.count == list.items.count, "bits of another list")
    assert(
      outstanding?.pending.generation ?? list.generation == list.generation, "a notification about another list is out")
    assert(
      (1...NotifyLimits.sendings).contains(outstanding?.sendings ?? 1), "a notification was sent too often, or never")
    assert((waitingSince == nil) == (waiting.isEmpty && tolerant.isEmpty), "what waits is not held in the log")
    assert(tolerant.keys.allSatisfy { !waiting[$0] && !ready[$0] }, "a change waits for company twice")
    assert(readySince == nil || !ready.isEmpty, "the log is held back for nothing")
    assert(
      Set(timers.keys) == Set(waiting.set.map { list.items[$0].period }), "a change waits for no timer, or a timer runs"
    )
    assert(
      inlinePage.keys.allSatisfy { waiting[$0] || tolerant[$0] != nil || ready[$0] },
      "a page travels with no notification")
    switch presence {
    case .present: assert(outstanding != nil || ready.isEmpty, "a change that is ready is not sent")
    case .away:
      assert(
        waiting.isEmpty && tolerant.isEmpty && outstanding == nil && oldestUnconfirmed == nil,
        "who is away holds the log back")
    }
  }

  // MARK: Time

  /// Everything is to be told at `instant`, unless the device attaches before.
  package mutating func sweep(at instant: Int64) { sweepAt = instant }

  /// Something may be due: timers of periods, the sweep, or the time to ask again.
  package mutating func tick(_ now: Moment, number: inout UInt64) -> Step {
    fireTimers(now)
    if let due = sweepAt, due <= now.monotonic {
      sweepAt = nil
      joinTolerant(now)
      ready = Bitmap(all: list.items.count)
    }
    guard var current = outstanding, current.retryAt <= now.monotonic else { return nextNotification(now, &number) }
    guard current.sendings < NotifyLimits.sendings else {
      goAway()
      return .giveUp
    }
    precondition(current.sendings > 0, "a notification is out that was never sent")
    let wait = NotifyLimits.firstRetryMilliseconds << Int64(current.sendings)
    current.sendings += 1
    current.retryAt = now.monotonic + min(wait, NotifyLimits.longestRetryMilliseconds)
    outstanding = current
    return .resend(current.pending)
  }

  private mutating func fireTimers(_ now: Moment) {
    for (period, due) in timers {
      if due <= now.wall {
        timers[period] = nil
        fire(period, now)
      } else if due - now.wall > Int64(period) {
        // The wall clock went back: the next multiple is nearer than this one.
        timers[period] = PeriodClock.next(after: now.wall, period: period)
      }
    }
  }

  private mutating func fire(_ period: UInt32, _ now: Moment) {
    guard let since = waitingSince else { return }
    for slot in waiting.set where list.items[slot].period == period {
      waiting[slot] = false
      periodIsOver(slot, since: since, now)
    }
    if waiting.isEmpty, tolerant.isEmpty { waitingSince = nil }
  }

  private mutating func goAway() {
    presence = .away
    if let outstanding { ready.formUnion(outstanding.pending.bitmap) }
    ready.formUnion(waiting)
    for slot in tolerant.keys { ready[slot] = true }
    (tolerant, waited) = ([:], 0)
    waiting.removeAll()
    timers = [:]
    inlinePage = [:]
    (outstanding, waitingSince, readySince) = (nil, nil, nil)
    checkInvariants()
  }

  // MARK: The device speaks

  /// - Returns: what is ready by now; nothing for an answer to another notification than the one that is out.
  package mutating func acked(_ number: UInt64, now: Moment, next: inout UInt64) -> Step {
    guard let current = outstanding, current.pending.number == number else { return .nothing }
    outstanding = nil
    return nextNotification(now, &next)
  }

  /// The device is here; what it lacks is being found out. Changes are remembered from now on.
  package mutating func attachBegan() { sinceAttach = Bitmap(count: list.items.count) }

  /// - Parameter behind: subscriptions of which the store has more than the device, read after `attachBegan`; nil:
  ///   unknown, so everything that was kept is told.
  package mutating func attached(behind: Bitmap?, now: Moment, number: inout UInt64) -> Step {
    let since = oldestUnconfirmed
    goAway()
    presence = .present
    sweepAt = nil
    if let behind, behind.count == ready.count {
      ready = behind
      if let sinceAttach { ready.formUnion(sinceAttach) }
    }
    sinceAttach = nil
    if !ready.isEmpty { readySince = since }
    return nextNotification(now, &number)
  }

  /// The device has another list. What it has not confirmed of zones in both is told under the new generation, as
  /// bits of the old one mean nothing any more (E13).
  package mutating func replace(_ list: DeviceList, now: Moment, number: inout UInt64) -> Step {
    guard list != self.list else { return .nothing }
    let since = oldestUnconfirmed
    var unconfirmed = ready
    unconfirmed.formUnion(waiting)
    for slot in tolerant.keys { unconfirmed[slot] = true }
    if let outstanding { unconfirmed.formUnion(outstanding.pending.bitmap) }
    let zones = Set(unconfirmed.set.map { self.list.items[$0].zone })
    let attaching = sinceAttach.map { bits in Set(bits.set.map { self.list.items[$0].zone }) }
    noteWaiting(now)
    var next = DeviceNotifier(device: device, list: list)
    next.waited = waited
    next.presence = presence
    next.sweepAt = sweepAt
    for (slot, item) in list.items.enumerated() where zones.contains(item.zone) { next.ready[slot] = true }
    if !next.ready.isEmpty { next.readySince = since }
    if let attaching {
      next.attachBegan()
      for (slot, item) in list.items.enumerated() where attaching.contains(item.zone) { next.sinceAttach?[slot] = true }
    }
    self = next
    return nextNotification(now, &number)
  }
}

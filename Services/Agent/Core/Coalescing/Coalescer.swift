public import CaravanModel

/// Decides when the device speaks, and about what (MOB-30): changes get a deadline, at their table's period or by the
/// intent they were written with, and wait until something makes a transfer due; that transfer takes along everything
/// that waits and may use the link, also what its period has not come to yet (MOB-31).
///
/// To begin at the earliest deadline and take everything along is also the fewest transfers that any schedule can do
/// with, one that knows the future included: deadlines are intervals, and this is how points are found that stab all.
///
/// A pure value: the sync engine tells it what happened and asks `takeTransfer`; `nextWake` says when to ask again.
public struct Coalescer: Sendable {
  public struct Key: Sendable, Hashable, Comparable {
    public let table: TableID
    public let direction: Direction

    public init(_ table: TableID, _ direction: Direction) {
      self.table = table
      self.direction = direction
    }

    public static func < (a: Self, b: Self) -> Bool { (a.table, a.direction) < (b.table, b.direction) }
  }

  public typealias Trigger = TransferPolicy.Trigger

  public struct Transfer: Sendable, Equatable {
    public var trigger: Trigger
    /// Ordered by deadline; the ones after the first may be riding along.
    public var items: [Key]
    /// Of the items, those whose deadline had passed by more than the patience of `EngineLimits`, for want of a link
    /// that permits them, or of a machine that runs (I12).
    public var late: Int

    public init(trigger: Trigger, items: [Key], late: Int = 0) {
      assert((0...items.count).contains(late), "\(late) of \(items.count) are late")
      self.trigger = trigger
      self.items = items
      self.late = late
    }
  }

  /// What has changed of one table and direction since its last transfer.
  struct Waiting: Sendable {
    struct Due: Sendable {
      var deadline: UInt64
      var trigger: Trigger
    }

    /// Nil: its period has not come yet. It may ride along.
    var due: Due?
    var bytes: UInt64 = 0
    /// A transfer of it has failed: not before this monotonic time.
    var notBefore: UInt64 = 0
    /// Unless something changes.
    var yields = false
  }

  /// Rows that may be lost, since their table's last transfer.
  struct Tolerated: Sendable {
    var bytes: UInt64 = 0
    /// When the interval began at whose end they are given up.
    var since: UInt64
    /// No more of them may be given up.
    var isSpent = false
  }

  private let volume: @Sendable (LinkClass) -> UInt64
  var registrations: [Key: SyncRegistration] = [:]
  private var clocks: [UInt32: PeriodClock] = [:]
  var waiting: [Key: Waiting] = [:]
  /// What may be lost of a table: it rides along and starts nothing.
  var tolerated: [Key: Tolerated] = [:]
  /// Keys of transfers that have not ended, and whether only what may be lost was the reason to take them.
  var underway: [Key: Bool] = [:]
  /// Deadlines of those that were taken before they had passed.
  private var deadlinesUnderway: [Key: UInt64] = [:]
  /// Until when the transfers of each key are paid for, at one each `rest`.
  var paidUntil: [Key: UInt64] = [:]
  /// The cloud has asked for nothing before then, whoever wants it (CK-101).
  var held: [Key: UInt64] = [:]
  private var lastMoment: Moment?
  var link: LinkClass?
  /// The most expensive link the user allows, whatever apps prefer (MOB-45).
  var userLink: LinkClass = .roaming
  /// Bytes of the link's budget; nil: it has none.
  var budget: UInt64?

  /// - Parameter volume: waiting bytes that make a transfer over that link due before any deadline; 0: none do.
  public init(volume: @escaping @Sendable (LinkClass) -> UInt64 = EngineLimits.volumeBytes) { self.volume = volume }

  var volumeBytes: UInt64 { link.map(volume) ?? 0 }

  // MARK: What happened

  public mutating func register(_ key: Key, _ registration: SyncRegistration, at now: Moment) {
    registrations[key] = registration
    let period = registration.periodMilliseconds
    if period > 0, clocks[period] == nil { clocks[period] = PeriodClock(periodMilliseconds: period, at: now) }
    dropUnusedClocks()
    if period == 0, waiting[key] != nil { give(key, tolerance: registration.tolerance, from: now.monotonic) }
    checkInvariants()
  }

  private func checkInvariants() {
    assert(
      Set(clocks.keys) == Set(registrations.values.map(\.periodMilliseconds)).subtracting([0]),
      "a period has no clock, or a clock no table")
    assert(deadlinesUnderway.keys.allSatisfy { underway[$0] != nil }, "what is not under way has a deadline there")
    assert(
      waiting.values.allSatisfy { $0.due.map { ($0.trigger != .volume) && ($0.trigger != .control) } ?? true },
      "what waits is due by what starts transfers of the device alone")
  }

  /// No further periodic transfers. What the app demanded still goes.
  public mutating func unregister(_ key: Key) {
    registrations[key] = nil
    if let item = waiting[key], item.due?.trigger != .demand { waiting[key]?.due = nil }
    dropUnusedClocks()
    checkInvariants()
  }

  public mutating func forget(_ table: TableID) {
    for direction in Direction.allCases {
      let key = Key(table, direction)
      registrations[key] = nil
      waiting[key] = nil
      tolerated[key] = nil
      underway[key] = nil
      deadlinesUnderway[key] = nil
      paidUntil[key] = nil
      held[key] = nil
    }
    dropUnusedClocks()
    checkInvariants()
  }

  /// There is something to send (write) or to fetch (read) for this table.
  /// - Parameter deadline: monotonic; by the intent of this one object (MOB-01). Nil: as the table is registered. A
  ///   table that is not registered has no deadlines.
  public mutating func noteChange(_ key: Key, bytes: UInt64, by deadline: UInt64? = nil, at now: Moment) {
    // A tick that nobody looked at, because nothing waited, is not for what comes after it.
    observe(now)
    waiting[key, default: Waiting()].bytes += bytes
    if bytes > 0, waiting[key]?.yields ?? false { waiting[key]?.notBefore = 0 }
    guard let registration = registrations[key] else { return }
    if let deadline {
      give(key, tolerance: deadline - min(deadline, now.monotonic), from: now.monotonic)
    } else if registration.periodMilliseconds == 0 {
      give(key, tolerance: registration.tolerance, from: now.monotonic)
    }
  }

  /// There are rows to send that may be lost: they go with whatever is sent, and start nothing (MOB-05).
  public mutating func noteTolerated(_ key: Key, bytes: UInt64, at now: Moment) {
    tolerated[key, default: Tolerated(since: now.monotonic)].bytes += bytes
    tolerated[key]?.isSpent = false
  }

  /// Delay does not apply (UNI-22), and neither do the registration's period and link preference; the user's link does.
  public mutating func demand(_ key: Key, at now: Moment) {
    waiting[key, default: Waiting()].due = Waiting.Due(deadline: now.monotonic, trigger: .demand)
    waiting[key]?.notBefore = 0
  }

  /// The cloud is to send again what is lacking here: no delay applies, of a period or a tolerance (UNI-22). The
  /// registration's link preference does, and so does the wait after a failure.
  public mutating func trigger(_ key: Key, at now: Moment) {
    var item = waiting[key] ?? Waiting()
    if item.yields { item.notBefore = 0 }
    waiting[key] = item
    give(key, tolerance: 0, from: now.monotonic)
  }

  /// A transfer failed, or could not begin: its item waits again, not before `notBefore`, and not much longer.
  /// - Parameters:
  ///   - isDemanded: an app still waits for it.
  ///   - yields: what is new does not wait, and takes along what may go.
  public mutating func putBack(_ key: Key, isDemanded: Bool, notBefore: UInt64, yields: Bool = false) {
    let onlyTolerated = underway.removeValue(forKey: key) ?? false
    deadlinesUnderway[key] = nil
    if yields, waiting[key]?.bytes ?? 0 > 0 { return }
    defer { if yields { waiting[key]?.yields = true } }
    let mustGo = isDemanded || !onlyTolerated
    let due = waiting[key]?.due
    if due?.trigger == .demand { return }
    guard mustGo || due != nil else {
      if tolerated[key] == nil { tolerated[key] = Tolerated(since: notBefore) }
      return
    }
    // Where it has become due again meanwhile, who has been told to wait still waits.
    let later = due == nil ? notBefore : max(waiting[key]?.notBefore ?? 0, notBefore)
    // What is new may have longer than what failed.
    if mustGo, isDemanded || due.map({ $0.deadline > notBefore }) ?? true {
      let trigger: Trigger = isDemanded || registrations[key] == nil ? .demand : .deadline
      waiting[key, default: Waiting()].due = Waiting.Due(deadline: notBefore, trigger: trigger)
    }
    waiting[key]?.notBefore = later
  }

  /// Nothing of this goes before then: not what waits, not what is new, and not on an app's demand.
  public mutating func hold(_ key: Key, until: UInt64) { held[key] = max(held[key] ?? 0, until) }

  func notBefore(_ key: Key) -> UInt64 { max(waiting[key]?.notBefore ?? 0, held[key] ?? 0) }

  /// A transfer's part has ended well.
  public mutating func finished(_ key: Key) {
    underway[key] = nil
    deadlinesUnderway[key] = nil
  }

  /// Nothing that failed waits any longer: the connection is back.
  public mutating func retryNow(at now: Moment) {
    for key in waiting.keys { retryNow(key, at: now) }
  }

  /// What it failed for is over.
  public mutating func retryNow(_ key: Key, at now: Moment) {
    guard let item = waiting[key], item.notBefore > now.monotonic else { return }
    waiting[key]?.notBefore = now.monotonic
    if let due = item.due { waiting[key]?.due?.deadline = min(due.deadline, now.monotonic) }
  }

  /// Nil: no link. Items whose preference fits the new link are released by the next `takeTransfer` (MOB-24, MOB-46).
  public mutating func setLink(_ link: LinkClass?) { self.link = link }

  public mutating func setUserLink(_ link: LinkClass) { userLink = link }

  /// - Parameter left: bytes of the link's budget; nil: it has none.
  public mutating func setBudget(_ left: UInt64?) { budget = left }

  // MARK: What to do

  /// The transfer that is due now, with all that may ride along; nil: nothing is due.
  /// - Parameter isUnderway: the device speaks in any case, about itself: what waits goes with it.
  public mutating func takeTransfer(at now: Moment, isUnderway: Bool = false) -> Transfer? {
    observe(now)
    let policy = policy(at: now)
    let isDue = policy.start.map { $0.at <= now.monotonic } ?? false
    guard isDue || isUnderway, !policy.batch.isEmpty else { return nil }
    let before = waiting.count
    let patience = EngineLimits.patienceMilliseconds * 1_000_000
    let late = policy.batch.count { key in
      waiting[key]?.due.map { $0.deadline + patience < now.monotonic } ?? false
    }
    for key in policy.batch {
      held[key] = nil
      deadlinesUnderway[key] = waiting[key].map { item in
        item.due?.deadline ?? now.monotonic + (registrations[key]?.tolerance ?? 0)
      }
      let wasTolerated = waiting.removeValue(forKey: key) == nil
      underway[key] = wasTolerated
      tolerated[key] = nil
      paidUntil[key] = max(paidUntil[key] ?? 0, now.monotonic) + rest(of: key)
    }
    assert(policy.batch.allSatisfy { underway[$0] != nil && waiting[$0] == nil }, "what was taken waits still")
    assert(before - waiting.count <= policy.batch.count, "what waited is lost")
    checkInvariants()
    let trigger = isDue ? policy.start?.trigger : nil
    return Transfer(trigger: trigger ?? .control, items: policy.batch, late: late)
  }

  /// How much later what is on its way could still go, as its app declared it (MOB-08): what was not due when it was
  /// taken, until its deadline; what had none, within its table's tolerance.
  public func slackMilliseconds(_ key: Key, at now: UInt64) -> UInt32 {
    guard let deadline = deadlinesUnderway[key], deadline > now else { return 0 }
    return UInt32(clamping: (deadline - now) / 1_000_000)
  }

  /// When `takeTransfer` is worth asking again if nothing happens until then; nil: only an event can change anything.
  public func nextWake(after now: Moment) -> UInt64? {
    let held = waiting.keys.lazy.map(notBefore).filter { $0 > now.monotonic }
    let ticks = waiting.lazy.compactMap { key, item -> UInt64? in
      guard let registration = registrations[key] else { return nil }
      guard let tick = clocks[registration.periodMilliseconds]?.next(after: now) else { return nil }
      // One that changes nothing for what waits is not woken for.
      return item.due.map { tick + registration.tolerance < $0.deadline } ?? true ? tick : nil
    }
    return [policy(at: now).start?.at, held.min(), ticks.min()].compactMap(\.self).min()
  }

  // MARK: What is given up

  /// Keys whose interval has passed without a transfer: rows of them that may be lost are to be given up now. Said
  /// again after the next interval, until `spent`.
  public mutating func takeDiscards(at now: Moment) -> [Key] {
    let due = tolerated.filter { !$0.value.isSpent && $0.value.since + interval(of: $0.key) <= now.monotonic }
    for key in due.keys { tolerated[key]?.since = now.monotonic }
    assert(nextDiscard() ?? .max > now.monotonic, "what was given up is due to be given up at once again")
    return due.keys.sorted()
  }

  public func nextDiscard() -> UInt64? {
    tolerated.lazy.filter { !$0.value.isSpent }.map { $0.value.since + interval(of: $0.key) }.min()
  }

  /// What the store came to after `takeDiscards`.
  /// - Parameter rows: that still wait and may not be given up.
  public mutating func spent(_ key: Key, rows: UInt64) {
    if rows == 0 { tolerated[key] = nil } else { tolerated[key]?.isSpent = true }
  }

  private func interval(of key: Key) -> UInt64 {
    let period = UInt64(registrations[key]?.periodMilliseconds ?? 0)
    return (period > 0 ? period : EngineLimits.lossIntervalMilliseconds) * 1_000_000
  }

  // MARK: Time

  /// Lets the periods tick, and takes a jump of the wall clock for time that has passed: a suspended machine does not
  /// count it otherwise. After an operator's correction something goes early, which breaks no promise.
  private mutating func observe(_ now: Moment) {
    if let last = lastMoment {
      let passed = Int64(clamping: now.monotonic - min(last.monotonic, now.monotonic)) / 1_000_000
      let jump = now.wallMilliseconds - last.wallMilliseconds - passed
      if jump > EngineLimits.clockJumpMilliseconds { bringForward(by: UInt64(jump) * 1_000_000, at: now) }
    }
    lastMoment = now
    for period in clocks.keys.sorted() {
      guard let tick = clocks[period]?.fires(at: now) else { continue }
      for key in waiting.keys.sorted() {
        guard let registration = registrations[key], registration.periodMilliseconds == period else { continue }
        give(key, tolerance: registration.tolerance, from: tick)
      }
    }
  }

  private mutating func bringForward(by span: UInt64, at now: Moment) {
    for (key, item) in waiting {
      guard let due = item.due, due.deadline > now.monotonic else { continue }
      let left = due.deadline - now.monotonic
      waiting[key]?.due?.deadline = now.monotonic + (left > span ? left - span : 0)
      assert(waiting[key]?.due?.deadline ?? 0 <= due.deadline, "a clock that jumped put a deadline off")
    }
  }

  /// What waits gets a deadline, unless it has an earlier one.
  private mutating func give(_ key: Key, tolerance: UInt64, from start: UInt64) {
    let due = Waiting.Due(deadline: start + tolerance, trigger: tolerance == 0 ? .delaySensitive : .deadline)
    guard let item = waiting[key] else { return }
    if let known = item.due, known.trigger == .demand || known.deadline <= due.deadline { return }
    waiting[key]?.due = due
  }

  private mutating func dropUnusedClocks() {
    let used = Set(registrations.values.map(\.periodMilliseconds))
    clocks = clocks.filter { used.contains($0.key) }
  }
}

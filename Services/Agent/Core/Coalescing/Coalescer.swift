public import Model

/// Decides when the device speaks, and about what (MOB-30): tables with changes are picked up at their period, then
/// wait in one queue ordered by deadline until something makes a transfer due; that transfer takes along everything
/// that waits and may use the link.
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

  /// What made a transfer due (MOB-04); each is a metric.
  public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// An app asked for it now, or the cloud waits for an answer (UNI-22).
    case demand
    /// Data that tolerates no delay.
    case delaySensitive
    /// The delay tolerance of something that waited has been used up.
    case deadline
    /// Enough bytes have gathered.
    case volume
  }

  public struct Transfer: Sendable, Equatable {
    public var trigger: Trigger
    /// Ordered by deadline; the ones after the first may be riding along.
    public var items: [Key]

    public init(trigger: Trigger, items: [Key]) {
      self.trigger = trigger
      self.items = items
    }
  }

  /// Something that has changed and waits. `deadline` and `notBefore` are monotonic nanoseconds.
  private struct Waiting: Sendable {
    var deadline: UInt64
    var notBefore: UInt64
    var bytes: UInt64
    var trigger: Trigger
  }

  private let volumeBytes: UInt64
  private var registrations: [Key: SyncRegistration] = [:]
  private var clocks: [UInt32: PeriodClock] = [:]
  /// Changed since their last transfer, not yet picked up by their period.
  private var changed: [Key: UInt64] = [:]
  private var waiting: [Key: Waiting] = [:]
  private var link: LinkClass?
  /// The most expensive link the user allows, whatever apps prefer (MOB-45).
  private var userLink: LinkClass = .roaming

  /// - Parameter volumeBytes: waiting bytes that make a transfer due before any deadline.
  public init(volumeBytes: UInt64) { self.volumeBytes = volumeBytes }

  // MARK: What happened

  public mutating func register(_ key: Key, _ registration: SyncRegistration, at now: Moment) {
    registrations[key] = registration
    let period = registration.periodMilliseconds
    if period > 0, clocks[period] == nil { clocks[period] = PeriodClock(periodMilliseconds: period, at: now) }
    dropUnusedClocks()
    if period == 0, let bytes = changed[key] { pickUp(key, registration, bytes, at: now) }
  }

  /// No further periodic transfers. What the app demanded still goes.
  public mutating func unregister(_ key: Key) {
    registrations[key] = nil
    if let item = waiting[key], item.trigger != .demand {
      waiting[key] = nil
      changed[key, default: 0] += item.bytes
    }
    dropUnusedClocks()
  }

  public mutating func forget(_ table: TableID) {
    for direction in Direction.allCases {
      let key = Key(table, direction)
      registrations[key] = nil
      changed[key] = nil
      waiting[key] = nil
    }
    dropUnusedClocks()
  }

  /// There is something to send (write) or to fetch (read) for this table.
  public mutating func noteChange(_ key: Key, bytes: UInt64, at now: Moment) {
    if waiting[key] != nil {
      waiting[key]?.bytes += bytes
    } else {
      changed[key, default: 0] += bytes
      if let registration = registrations[key], registration.periodMilliseconds == 0 {
        pickUp(key, registration, changed[key] ?? 0, at: now)
      }
    }
  }

  /// Delay does not apply (UNI-22), and neither do the registration's period and link preference; the user's link does.
  public mutating func demand(_ key: Key, at now: Moment) {
    let bytes = (changed.removeValue(forKey: key) ?? 0) + (waiting[key]?.bytes ?? 0)
    waiting[key] = Waiting(deadline: now.monotonic, notBefore: now.monotonic, bytes: bytes, trigger: .demand)
  }

  /// A transfer failed, or could not begin: its item waits again, not before `notBefore`.
  /// - Parameter isDemanded: an app still waits for it.
  public mutating func putBack(_ key: Key, isDemanded: Bool, notBefore: UInt64) {
    guard waiting[key] == nil else { return }
    let bytes = changed.removeValue(forKey: key) ?? 0
    waiting[key] = Waiting(
      deadline: notBefore, notBefore: notBefore, bytes: bytes,
      trigger: isDemanded || registrations[key] == nil ? .demand : .deadline)
  }

  /// Nothing that failed waits any longer: the connection is back.
  public mutating func retryNow(at now: Moment) {
    for (key, item) in waiting where item.notBefore > now.monotonic {
      waiting[key]?.notBefore = now.monotonic
      waiting[key]?.deadline = min(item.deadline, now.monotonic)
    }
  }

  /// Nil: no link. Items whose preference fits the new link are released by the next `takeTransfer` (MOB-24, MOB-46).
  public mutating func setLink(_ link: LinkClass?) { self.link = link }

  public mutating func setUserLink(_ link: LinkClass) { userLink = link }

  // MARK: What to do

  /// The transfer that is due now, with all that may ride along; nil: nothing is due.
  public mutating func takeTransfer(at now: Moment) -> Transfer? {
    runPeriods(at: now)
    let ready = waiting.filter { mayGo($0.key, $0.value, at: now) }
    guard let trigger = trigger(of: ready.values.map { $0 }, at: now) else { return nil }
    let items = ready.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.key)
    for key in items { waiting[key] = nil }
    return Transfer(trigger: trigger, items: items)
  }

  /// When `takeTransfer` is worth asking again if nothing happens until then; nil: only an event can change anything.
  public func nextWake(after now: Moment) -> UInt64? {
    let deadlines = waiting.compactMap { key, item -> UInt64? in
      guard let link, link <= preference(key, item) else { return nil }
      return max(item.deadline, item.notBefore)
    }
    let periods = Set(changed.keys.compactMap { registrations[$0]?.periodMilliseconds }).compactMap {
      clocks[$0]?.next(after: now)
    }
    return (deadlines + periods).min()
  }

  /// Whether a transfer of this item may go on over the link there is (MOB-44, MOB-45).
  /// - Parameter isDemanded: an app asked for it now, so its registration's preference does not count.
  public func permits(_ key: Key, isDemanded: Bool) -> Bool {
    guard let link else { return false }
    return link <= (isDemanded ? userLink : min(registrations[key]?.link ?? .roaming, userLink))
  }

  /// Whether the device may speak at all.
  public var permitsSpeaking: Bool { link.map { $0 <= userLink } ?? false }

  // MARK: How

  private mutating func pickUp(_ key: Key, _ registration: SyncRegistration, _ bytes: UInt64, at now: Moment) {
    changed[key] = nil
    let tolerance = UInt64(registration.delayToleranceMilliseconds) * 1_000_000
    waiting[key] = Waiting(
      deadline: now.monotonic + tolerance, notBefore: now.monotonic, bytes: bytes,
      trigger: tolerance == 0 ? .delaySensitive : .deadline)
  }

  private mutating func runPeriods(at now: Moment) {
    let fired = Set(clocks.keys.filter { clocks[$0]?.fires(at: now) ?? false })
    guard !fired.isEmpty else { return }
    for (key, bytes) in changed.sorted(by: { $0.key < $1.key }) {
      if let registration = registrations[key], fired.contains(registration.periodMilliseconds) {
        pickUp(key, registration, bytes, at: now)
      }
    }
  }

  private func preference(_ key: Key, _ item: Waiting) -> LinkClass {
    if item.trigger == .demand { return userLink }
    return min(registrations[key]?.link ?? .roaming, userLink)
  }

  private func mayGo(_ key: Key, _ item: Waiting, at now: Moment) -> Bool {
    guard let link else { return false }
    return link <= preference(key, item) && item.notBefore <= now.monotonic
  }

  private func trigger(of ready: [Waiting], at now: Moment) -> Trigger? {
    if ready.contains(where: { $0.trigger == .demand }) { return .demand }
    if ready.contains(where: { $0.trigger == .delaySensitive }) { return .delaySensitive }
    if ready.contains(where: { $0.deadline <= now.monotonic }) { return .deadline }
    return ready.reduce(0) { $0 + $1.bytes } >= volumeBytes && volumeBytes > 0 && !ready.isEmpty ? .volume : nil
  }

  private mutating func dropUnusedClocks() {
    let used = Set(registrations.values.map(\.periodMilliseconds))
    clocks = clocks.filter { used.contains($0.key) }
  }
}

import CaravanModel

/// What apps have registered of the device's tables, by table and direction (SIM-20).
public struct SyncRegistrations: Sendable {
  public typealias Key = Coalescer.Key

  /// What is different since the store was read last.
  public struct Changes: Sendable {
    /// New or changed, as the coalescer is to have them.
    public fileprivate(set) var new: [(key: Key, registration: SyncRegistration)] = []
    /// In order.
    public fileprivate(set) var gone: [Key] = []
    /// How long the least patient of the new reads waits for its first notification, in milliseconds.
    public fileprivate(set) var patience = EngineLimits.heartbeatMilliseconds
  }

  private var all: [Key: SyncRegistration] = [:]

  public init() {}

  public var isEmpty: Bool { all.isEmpty }
  /// In order.
  public var keys: [Key] { all.keys.sorted() }
  public func contains(_ key: Key) -> Bool { all[key] != nil }

  public mutating func replace(with current: [Key: SyncRegistration]) -> Changes {
    var changes = Changes()
    // In order, so that the same store gives the same course.
    for key in current.keys.sorted() {
      guard let registration = current[key], all[key] != registration else { continue }
      var wanted = registration
      if key.direction == .read {
        changes.patience = min(changes.patience, UInt64(registration.delayToleranceMilliseconds))
        // The cloud keeps the period of reads, and notifies at it: counted here too it would be waited for twice.
        wanted.periodMilliseconds = 0
      }
      changes.new.append((key, wanted))
    }
    changes.gone = keys.filter { current[$0] == nil }
    all = current
    return changes
  }

  /// A link that nobody knows is what the registrations make of it.
  public func link(_ link: Link?) -> Link? { link?.assumed(among: all.values.lazy.map(\.link)) }

  /// Tables of which notifications are to bring no rows: over this link they may not be pulled, or it has a budget, of
  /// which nothing can be set apart for what nobody asked for (MOB-46, MOB-47).
  public func toldOnly(hasBudget: Bool, permits: (Key) -> Bool) -> Set<TableID> {
    Set(all.keys.filter { $0.direction == .read && (hasBudget || !permits($0)) }.map(\.table))
  }

  /// Tables of which nothing is pulled over this link, so that to hear of them is in no hurry (MOB-57).
  public func deferrable(permits: (Key) -> Bool) -> Set<TableID> {
    Set(all.keys.filter { $0.direction == .read && !permits($0) }.map(\.table))
  }

  /// When what a notification flags has to be here, as its table is registered for reading.
  /// - Parameter waited: how long, in milliseconds, it may have waited at the cloud already.
  /// - Returns: monotonic; nil: as registered.
  public func deadline(of key: Key, waited: UInt32, at now: Moment) -> UInt64? {
    guard waited > 0, let registration = all[key] else { return nil }
    let left = registration.delayToleranceMilliseconds - min(waited, registration.delayToleranceMilliseconds)
    return now.monotonic + UInt64(left) * 1_000_000
  }

  /// Tables whose changes leave as soon as they are made, where nothing else speaks against it.
  public func immediateWrites(where mayGo: (Key) -> Bool) -> Set<TableID> {
    Set(
      all.filter { key, registration in
        key.direction == .write && registration.periodMilliseconds == 0 && registration.delayToleranceMilliseconds == 0
          && mayGo(key)
      }.map(\.key.table))
  }
}

/// What happened to a table since somebody was told (SIM-23, SIM-24, SIM-82).
public struct PendingUpcalls: Sendable, Hashable {
  /// Rows that background sync added, changed or removed.
  public private(set) var changed = EventRows()
  /// Rows that came into conflict.
  public private(set) var contested = EventRows()
  /// Rows that are gone and not at the cloud.
  public private(set) var lost = EventRows()
  /// Rows in conflict now whose cloud copy is here.
  public var conflicts = 0
  /// More has happened than is remembered: the app has to look anew.
  public var isCutOff = false
  /// Whoever has been told this has been told up to here.
  public var number: UInt64

  public init(number: UInt64) { self.number = number }

  /// - Parameters:
  ///   - event: nil: one that a newer agent wrote; it is some change.
  ///   - limit: of names of each kind.
  public mutating func add(_ event: TableEvent?, _ rows: EventRows, limit: Int) {
    switch event {
    case .changed, nil: changed.add(rows, limit: limit)
    case .conflict: contested.add(rows, limit: limit)
    case .lost: lost.add(rows, limit: limit)
    }
  }
}

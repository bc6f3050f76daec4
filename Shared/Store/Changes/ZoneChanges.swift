public import Model

/// Asks which zones of a database changed after a position (meta-sync, CK-48): the same mechanism as a zone's changes,
/// one level up.
public struct ZoneChangeQuery: Sendable, Hashable {
  public var database: DatabaseID
  /// nil: every zone there is.
  public var position: DatabasePosition?
  public var maxZones: Int

  public init(database: DatabaseID, position: DatabasePosition? = nil, maxZones: Int = StoreLimits.zonesPerPage) {
    self.database = database
    self.position = position
    self.maxZones = maxZones
  }

  public var bound: Int { min(max(1, maxZones), StoreLimits.zonesPerPage) }

  /// Whether a store whose log has this life and this head can say what came after the position.
  public func continues(in life: UInt64, upTo head: UInt64) -> Bool {
    position.map { $0.life == life && $0.log <= head } ?? true
  }

  /// The answer, of the zones in the order of their latest change.
  /// - Parameters:
  ///   - changed: the log position of each zone's latest change; one more than `bound` if there are more.
  public func page(
    _ changed: [(zone: ZoneChange, log: UInt64)], life: UInt64, head: UInt64
  ) -> ZoneChangePage {
    let more = changed.count > bound
    let shown = changed.prefix(bound)
    let log = more ? shown.last?.log ?? head : head
    return ZoneChangePage(
      zones: shown.map(\.zone), next: DatabasePosition(life: life, log: log), more: more)
  }
}

/// A zone as its latest change left it.
public struct ZoneChange: Sendable, Hashable {
  public var name: String
  public var seq: Seq
  public var incarnation: Incarnation
  public var isDeleted: Bool

  public init(name: String, seq: Seq, incarnation: Incarnation, isDeleted: Bool) {
    self.name = name
    self.seq = seq
    self.incarnation = incarnation
    self.isDeleted = isDeleted
  }
}

public struct ZoneChangePage: Sendable, Hashable {
  public var zones: [ZoneChange]
  public var next: DatabasePosition?
  public var more: Bool
  /// The position is of another history: list every zone.
  public var resetRequired: Bool

  public init(
    zones: [ZoneChange] = [], next: DatabasePosition? = nil, more: Bool = false, resetRequired: Bool = false
  ) {
    self.zones = zones
    self.next = next
    self.more = more
    self.resetRequired = resetRequired
  }
}

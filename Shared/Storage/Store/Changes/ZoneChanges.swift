public import CaravanModel

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
    position.map { ($0.life == life || $0.life == life | Self.listing) && $0.log <= head } ?? true
  }

  /// In the life of a position from which a reader goes on that has not yet heard of every zone there is.
  private static let listing: UInt64 = 1 << 63

  private var isListing: Bool { position.map { $0.life & Self.listing != 0 } ?? true }

  /// The answer, of the zones in the order of their latest change.
  /// - Parameters:
  ///   - changed: the log position of each zone's latest change; one more than `bound` if there are more.
  public func page(
    _ changed: [(zone: ZoneChange, log: UInt64)], life: UInt64, head: UInt64
  ) -> ZoneChangePage {
    let more = changed.count > bound
    let shown = changed.prefix(bound)
    let log = more ? shown.last?.log ?? head : head
    let named = shown.map(\.zone).filter { $0.name != BuriedZones.name }
    // The reader may know zones of which nobody can say any more that they are gone.
    guard isListing || named.count == shown.count else { return ZoneChangePage(resetRequired: true) }
    let next = DatabasePosition(life: more && isListing ? life | Self.listing : life, log: log)
    return ZoneChangePage(zones: named, next: next, more: more)
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

public import CaravanModel

/// A row whose copy at the cloud is damaged there: no page shows what it is.
public struct CloudDamage: Sendable, Hashable {
  public var row: String
  /// Of the damaged copy.
  public var version: Seq

  public init(row: String, version: Seq) {
    self.row = row
    self.version = version
  }
}

extension RowHead {
  /// The cloud has named the row, and cannot say what it is: it is at the cloud, so a resync does not take it away.
  public mutating func nameDamaged() {
    guard presence.isUnconfirmed else { return }
    presence = presence.found
  }

  /// Whether the row is the very copy that the cloud has lost: it is sent again as it is.
  public func isCopy(of damage: CloudDamage) -> Bool {
    presence == .live && flags == .clean && version == damage.version
  }
}

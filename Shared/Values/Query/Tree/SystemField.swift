public import CaravanModel

/// What the store keeps of every record, as a query names it: as CloudKit does. A field of the type that has the same
/// name is meant before it.
public enum SystemField: String, Sendable, Hashable, CaseIterable {
  /// When the record was made, in Unix milliseconds on the store's clock; null where it is from before stores kept
  /// that.
  case created = "___createTime"
  /// When it was last changed.
  case modified = "___modTime"
  /// The user who made it, in public databases their alias; null where nobody knows.
  case createdBy = "___createdBy"
  /// The record's name in its zone: of a row, its id.
  case recordID = "___recordID"

  /// No field of a type has such an id: theirs grow by one from 1.
  private static let firstID: UInt32 = .max - 15

  public var definition: FieldDefinition {
    let place = Self.allCases.firstIndex(of: self) ?? 0
    let kind: FieldKind =
      switch self {
      case .created, .modified: .date
      case .createdBy, .recordID: .text
      }
    return FieldDefinition(
      id: Self.firstID + UInt32(place), name: rawValue, kind: kind, indexes: [.queryable, .sortable])
  }

  public init?(id: UInt32) {
    guard id >= Self.firstID, Int(id - Self.firstID) < Self.allCases.count else { return nil }
    self = Self.allCases[Int(id - Self.firstID)]
  }

  /// What a record holds there.
  public func cell(name: String, _ authorship: Authorship) -> Cell {
    switch self {
    case .created: authorship.created > 0 ? .integer(authorship.created) : .null
    case .modified: authorship.modified > 0 ? .integer(authorship.modified) : .null
    case .createdBy: WriterName.author(authorship.creator).map { Cell(.text(String($0)), as: .text) } ?? .null
    case .recordID: Cell(.text(name), as: .text)
    }
  }
}

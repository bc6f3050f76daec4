public import CaravanModel

/// What rows are ordered by.
public enum SortTerm: Sendable, Hashable {
  case field(UInt32, FieldKind)
  /// How far a place is from another one, over the sphere; a row without a place comes first.
  case distance(UInt32, from: Location)

  /// The field whose value decides.
  public var field: UInt32 {
    switch self {
    case .field(let id, _), .distance(let id, _): id
    }
  }

  /// - Parameter cell: gives a row's cell of a field.
  public func key(_ cell: (UInt32, FieldKind) -> Cell) -> IndexKey {
    switch self {
    case .field(let id, let kind): return IndexKey(cell(id, kind)) ?? .null
    case .distance(let id, let centre):
      guard case .place(let place) = cell(id, .location) else { return .null }
      return IndexKey(.real(place.metres(to: centre))) ?? .null
    }
  }
}

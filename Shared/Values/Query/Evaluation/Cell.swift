public import CaravanModel

/// What a row holds in a field, as conditions see it.
public enum Cell: Sendable, Hashable {
  /// Nothing, or what is of another kind than the field.
  case null
  case integer(Int64)
  case real(Double)
  /// A text, the name in a reference, or data.
  case bytes(ArraySlice<UInt8>)
  case place(Location)
  case list([Cell])
  /// Something of which nothing but that it is there can be asked: an object.
  case present

  /// - Parameter isList: the field holds lists of this kind.
  public init(_ value: Value, as kind: FieldKind, isList: Bool = false) {
    if isList {
      guard case .list(let items) = value else {
        self = .null
        return
      }
      self = .list(items.map { Cell($0, as: kind) })
      return
    }
    switch (kind, value) {
    case (.text, .text(let text)): self = .bytes(Array(text.utf8)[...])
    case (.reference, .reference(let reference)): self = .bytes(Array(reference.target.utf8)[...])
    case (.data, .data(let data)): self = .bytes(data[...])
    case (.integer, .integer(let number)), (.date, .integer(let number)): self = .integer(number)
    case (.real, .integer(let number)): self = .real(Double(number))
    case (.real, .real(let number)): self = number.isNaN ? .null : .real(number)
    case (.location, .location(let place)): self = .place(place)
    case (.object, .asset), (.object, .assetList): self = .present
    case (_, _): self = .null
    }
  }

  /// Negative, zero or positive, as `self` is below, at or above `other`; nil: they have no order.
  func order(_ other: Cell) -> Int? {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a == b ? 0 : a < b ? -1 : 1
    case (.real(let a), .real(let b)): a == b ? 0 : a < b ? -1 : 1
    case (.bytes(let a), .bytes(let b)): a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    case (_, _): nil
    }
  }
}

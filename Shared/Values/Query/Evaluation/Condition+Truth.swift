public import CaravanModel

extension Condition {
  /// The answer for a row that holds `cell` in the field. This is the definition: what engines are given to run says
  /// the same.
  public func truth(of cell: Cell) -> Truth {
    switch test {
    case .compare(let relation, let value): return relation.truth(cell, Cell(value, as: kind))
    case .among(let values, let isNegated):
      var found = Truth.no
      for value in values where found != .yes {
        found = max(found, Relation.equal.truth(cell, Cell(value, as: kind)))
      }
      return isNegated ? found.negated : found
    case .prefix(let value, let isNegated):
      guard case .bytes(let bytes) = cell, case .bytes(let prefix) = Cell(value, as: kind) else { return .unknown }
      return Truth(bytes.starts(with: prefix) != isNegated)
    case .like(let value, let isNegated):
      guard case .bytes(let bytes) = cell, case .text(let pattern) = value else { return .unknown }
      return Truth(Pattern(pattern).matches(bytes) != isNegated)
    case .match(_, _, let isNegated):
      guard case .bytes(let bytes) = cell, let words else { return isOfAllFields ? Truth(isNegated) : .unknown }
      return Truth(words.matches(String(decoding: bytes, as: UTF8.self)) != isNegated)
    case .contains(let quantity, let values, let isNegated):
      guard case .list(let items) = cell else { return .unknown }
      let has = { (value: Value) in items.contains { $0.order(Cell(value, as: kind)) == 0 } }
      return Truth((quantity == .all ? values.allSatisfy(has) : values.contains(where: has)) != isNegated)
    case .containsLike(let value, let isNegated):
      guard case .list(let items) = cell, case .text(let text) = value else { return .unknown }
      let pattern = Pattern(text)
      let matches = items.contains { if case .bytes(let bytes) = $0 { pattern.matches(bytes) } else { false } }
      return Truth(matches != isNegated)
    case .inside(let region, let numbers, let isNegated):
      guard case .place(let place) = cell else { return .unknown }
      return Truth(region.contains(place, numbers) != isNegated)
    }
  }
}

extension Relation {
  fileprivate func truth(_ a: Cell, _ b: Cell) -> Truth {
    switch self {
    case .same, .distinct:
      let isSame = a == .null || b == .null ? a == b : a.order(b) == 0
      return Truth(isSame == (self == .same))
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard let order = a.order(b) else { return .unknown }
      return Truth(holds(order))
    }
  }

  private func holds(_ order: Int) -> Bool {
    switch self {
    case .equal, .same: order == 0
    case .notEqual, .distinct: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension Expression where Leaf == Condition {
  /// The answer for a row of these fields.
  public func truth(of fields: RecordFields) -> Truth {
    truth { $0.truth(of: Cell(fields[$0.field], as: $0.kind, isList: $0.isList)) }
  }
}

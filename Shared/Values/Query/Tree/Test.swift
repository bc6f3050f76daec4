/// How two values are compared. Where one of them is null, the answer is unknown, but for `same` and `distinct`.
public enum Relation: String, Sendable, Hashable, CaseIterable {
  case equal
  case notEqual
  case less
  case lessOrEqual
  case greater
  case greaterOrEqual
  /// `IS`: null is the same as null and as nothing else.
  case same
  /// `IS NOT`.
  case distinct

  /// What holds where this one does not.
  public var opposite: Relation {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    case .same: .distinct
    case .distinct: .same
    }
  }

  /// The same relation with its sides the other way round.
  public var mirrored: Relation {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual, .same, .distinct: self
    }
  }
}

/// How many of several things have to be there.
public enum Quantity: String, Sendable, Hashable, CaseIterable {
  case all, any
}

/// A part of the earth's surface, by numbers.
public enum Region: Sendable, Hashable, CaseIterable {
  /// `NEAR`: a circle by latitude and longitude of its centre in degrees, and its radius in metres over the sphere.
  case circle
  /// `WITHIN`: between parallels and meridians, in degrees: south, west, north, east. Where west is greater than east,
  /// it spans the 180th meridian.
  case rectangle
}

/// What a leaf asks of one field.
public enum Test<Operand: Sendable & Hashable>: Sendable, Hashable {
  case compare(Relation, Operand)
  /// `IN`: the field equals one of them. Of none it is false, also where the field is null.
  case among([Operand], isNegated: Bool = false)
  /// The field begins with these bytes.
  case prefix(Operand, isNegated: Bool = false)
  /// The text matches a pattern in which `%` stands for any characters and `_` for one.
  case like(Operand, isNegated: Bool = false)
  /// `MATCH`: the text has the words and phrases that a `WordQuery` asks for.
  case match(Quantity, Operand, isNegated: Bool = false)
  /// `CONTAINS`: the list has these values.
  case contains(Quantity, [Operand], isNegated: Bool = false)
  /// `CONTAINS LIKE`: the list has a text that matches the pattern.
  case containsLike(Operand, isNegated: Bool = false)
  /// The place lies in a region, of these numbers.
  case inside(Region, [Operand], isNegated: Bool = false)

  func map<Other, Failure: Error>(
    _ transform: (Operand) throws(Failure) -> Other
  ) throws(Failure) -> Test<Other> {
    func each(_ operands: [Operand]) throws(Failure) -> [Other] {
      var list: [Other] = []
      for operand in operands { list.append(try transform(operand)) }
      return list
    }
    switch self {
    case .compare(let relation, let operand): return .compare(relation, try transform(operand))
    case .among(let operands, let isNegated): return .among(try each(operands), isNegated: isNegated)
    case .prefix(let operand, let isNegated): return .prefix(try transform(operand), isNegated: isNegated)
    case .like(let operand, let isNegated): return .like(try transform(operand), isNegated: isNegated)
    case .match(let quantity, let operand, let isNegated):
      return .match(quantity, try transform(operand), isNegated: isNegated)
    case .contains(let quantity, let operands, let isNegated):
      return .contains(quantity, try each(operands), isNegated: isNegated)
    case .containsLike(let operand, let isNegated):
      return .containsLike(try transform(operand), isNegated: isNegated)
    case .inside(let region, let numbers, let isNegated):
      return .inside(region, try each(numbers), isNegated: isNegated)
    }
  }
}

extension Test: Negatable {
  public var negated: Test {
    switch self {
    case .compare(let relation, let operand): .compare(relation.opposite, operand)
    case .among(let operands, let isNegated): .among(operands, isNegated: !isNegated)
    case .prefix(let operand, let isNegated): .prefix(operand, isNegated: !isNegated)
    case .like(let operand, let isNegated): .like(operand, isNegated: !isNegated)
    case .match(let quantity, let operand, let isNegated): .match(quantity, operand, isNegated: !isNegated)
    case .contains(let quantity, let operands, let isNegated): .contains(quantity, operands, isNegated: !isNegated)
    case .containsLike(let operand, let isNegated): .containsLike(operand, isNegated: !isNegated)
    case .inside(let region, let numbers, let isNegated): .inside(region, numbers, isNegated: !isNegated)
    }
  }
}

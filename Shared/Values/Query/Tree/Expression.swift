/// What is asked of a row: leaves, and how their answers are combined.
///
/// One tree serves every query. As a text is read, its leaves are `Phrase`s, which name fields as people do; bound to a
/// record type they are `Condition`s, which name them by id.
public indirect enum Expression<Leaf: Sendable & Hashable>: Sendable, Hashable {
  case leaf(Leaf)
  case not(Expression)
  /// All of them hold; of none, that is true.
  case all([Expression])
  /// At least one of them holds; of none, that is false.
  case any([Expression])
}

extension Expression {
  /// The parts as one expression: a single one is itself.
  static func joined(_ parts: [Expression], by combine: ([Expression]) -> Expression) -> Expression {
    parts.count == 1 ? parts[0] : combine(parts)
  }

  /// The same tree over other leaves.
  public func map<Other, Failure: Error>(
    _ transform: (Leaf) throws(Failure) -> Expression<Other>
  ) throws(Failure) -> Expression<Other> {
    switch self {
    case .leaf(let leaf): return try transform(leaf)
    case .not(let part): return .not(try part.map(transform))
    case .all(let parts): return .all(try Self.each(parts, transform))
    case .any(let parts): return .any(try Self.each(parts, transform))
    }
  }

  private static func each<Other, Failure: Error>(
    _ parts: [Expression], _ transform: (Leaf) throws(Failure) -> Expression<Other>
  ) throws(Failure) -> [Expression<Other>] {
    var list: [Expression<Other>] = []
    for part in parts { list.append(try part.map(transform)) }
    return list
  }

  /// The leaves from the left to the right.
  public var leaves: [Leaf] {
    switch self {
    case .leaf(let leaf): [leaf]
    case .not(let part): part.leaves
    case .all(let parts), .any(let parts): parts.flatMap(\.leaves)
    }
  }
}

/// A leaf whose opposite is a leaf too: true where it is false, and unknown where it is unknown.
public protocol Negatable {
  var negated: Self { get }
}

extension Optional: Negatable where Wrapped: Negatable {
  public var negated: Wrapped? { map(\.negated) }
}

extension Expression where Leaf: Negatable {
  /// The same expression without any `not`, and without an `all` in an `all` or an `any` in an `any`: De Morgan's laws
  /// hold with three values too.
  public var withoutNot: Expression { pushed(isNegated: false) }

  private func pushed(isNegated: Bool) -> Expression {
    switch self {
    case .leaf(let leaf): return .leaf(isNegated ? leaf.negated : leaf)
    case .not(let part): return part.pushed(isNegated: !isNegated)
    case .all(let parts), .any(let parts):
      let pushed = parts.map { $0.pushed(isNegated: isNegated) }
      let isAll = if case .all = self { !isNegated } else { isNegated }
      return isAll ? .all(pushed.flatMap(\.conjuncts)) : .any(pushed.flatMap(\.disjuncts))
    }
  }
}

extension Expression {
  /// What all has to hold.
  var conjuncts: [Expression] { if case .all(let parts) = self { parts } else { [self] } }
  /// Of which one has to hold.
  fileprivate var disjuncts: [Expression] { if case .any(let parts) = self { parts } else { [self] } }
}

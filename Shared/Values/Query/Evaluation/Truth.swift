/// An answer of SQL's logic.
public enum Truth: Int, Sendable, Hashable, Comparable {
  case no
  /// Something that is null was compared.
  case unknown
  case yes

  public init(_ isTrue: Bool) { self = isTrue ? .yes : .no }

  public static func < (a: Truth, b: Truth) -> Bool { a.rawValue < b.rawValue }

  public var negated: Truth {
    switch self {
    case .no: .yes
    case .unknown: .unknown
    case .yes: .no
    }
  }
}

extension Expression {
  /// The answer for one row, given that for each leaf.
  public func truth(_ answer: (Leaf) -> Truth) -> Truth {
    switch self {
    case .leaf(let leaf): return answer(leaf)
    case .not(let part): return part.truth(answer).negated
    case .all(let parts):
      var least = Truth.yes
      for part in parts where least != .no { least = min(least, part.truth(answer)) }
      return least
    case .any(let parts):
      var greatest = Truth.no
      for part in parts where greatest != .yes { greatest = max(greatest, part.truth(answer)) }
      return greatest
    }
  }
}

/// A word or sign of a query's text.
public struct Token: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// As it is written.
    case word(String)
    /// In double quotes, without them.
    case name(String)
    /// In single quotes, without them.
    case text(String)
    /// `x'0aff'`.
    case data([UInt8])
    case integer(digits: String)
    case real(Double)
    /// Which one of the `?`, from 0.
    case argument(Int)
    case relation(Relation)
    case open, close, comma, minus
    /// Part of SQL that queries of ours do not have.
    case foreign(String)
    /// No part of SQL, or one that changes how the rest is read.
    case stray(String)
    case end
  }

  public let kind: Kind
  /// Of its first byte, from 0.
  public let start: Int
}

extension Token.Kind {
  /// As an error shows it.
  var description: String {
    switch self {
    case .word(let text), .integer(let text), .text(let text), .foreign(let text), .stray(let text), .name(let text):
      "'\(text.prefix(80))'"
    case .data: "data"
    case .real(let number): "'\(number)'"
    case .argument: "'?'"
    case .relation(let relation): "'\(relation.sign)'"
    case .open: "'('"
    case .close: "')'"
    case .comma: "','"
    case .minus: "'-'"
    case .end: "the end"
    }
  }
}

extension Relation {
  static let signs: [String: Relation] = [
    "=": .equal, "==": .equal, "<>": .notEqual, "!=": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater,
    ">=": .greaterOrEqual,
  ]

  var sign: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    case .same: "IS"
    case .distinct: "IS NOT"
    }
  }
}

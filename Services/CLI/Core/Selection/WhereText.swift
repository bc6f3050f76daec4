public import CaravanModel

/// What a query asks of records, as people type it:
///
///     where      = conjunction *("OR" conjunction)
///     conjunction = factor *("AND" factor)
///     factor     = "(" where ")" / comparison
///     comparison = field operator value / field "IS" ["NOT"] "NULL" / field "LIKE" value
///     operator   = "=" / "==" / "!=" / "<>" / "<" / "<=" / ">" / ">="
///     value      = "?" / 'text' / number
///
/// Keywords in any case. `?` stand for the arguments, in order. What LIKE compares with ends with its only `%`: it is
/// the prefix the index knows.
public struct WhereText: Sendable, Equatable {
  /// Where a value comes from.
  enum Operand: Equatable {
    case argument(Int)
    case text(String)
    case number(String)
    case null
  }

  enum Term: Equatable {
    case compare(field: String, Comparison, Operand, position: Int)
    case all(UInt32)
    case any(UInt32)
  }

  let terms: [Term]
  /// `?` in the text.
  public let arguments: Int

  /// - Throws: `invalidData` with the position, what was found there and what is expected.
  public init(_ text: String) throws(CaravanError) {
    var parser = WhereParser(tokens: try Lexer.tokens(of: text))
    terms = try parser.parse()
    arguments = parser.arguments
  }

  /// The predicate over records of `type` with these arguments.
  /// - Throws: `invalidData` for another number of arguments; `schemaViolation` naming the field, what it takes and
  ///   what was given.
  public func predicate(of type: RecordType, _ given: [String]) throws(CaravanError) -> Predicate {
    guard given.count == arguments else {
      throw CaravanError(.invalidData, "--where has \(arguments) '?' and \(given.count) arguments: give one for each")
    }
    var list: [Predicate.Term] = []
    for term in terms {
      switch term {
      case .all(let count): list.append(.all(count))
      case .any(let count): list.append(.any(count))
      case .compare(let name, let comparison, let operand, let position):
        guard let field = type.field(named: name) else {
          let known = type.fields.map(\.name).joined(separator: ", ")
          throw CaravanError(
            .schemaViolation,
            "--where, position \(position): '\(type.name)' has no field '\(name)': it has \(known.prefix(400))")
        }
        list.append(.compare(field: name, comparison, try operand.value(for: field, comparison, given)))
      }
    }
    return Predicate(list)
  }
}

extension WhereText.Operand {
  fileprivate func value(
    for field: FieldDefinition, _ comparison: Comparison, _ given: [String]
  ) throws(CaravanError) -> Value {
    switch self {
    case .null: return .null
    case .text(let text), .number(let text):
      return try TypedText.value(comparison == .prefix ? Self.prefix(text) : text, field.name, field.kind)
    case .argument(let index):
      return try TypedText.value(
        comparison == .prefix ? Self.prefix(given[index]) : given[index], field.name, field.kind)
    }
  }

  private static func prefix(_ pattern: String) throws(CaravanError) -> String {
    guard pattern.hasSuffix("%"), !pattern.dropLast().contains("%"), !pattern.contains("_") else {
      throw CaravanError(.invalidData, "LIKE '\(pattern)': only prefixes are indexed, write them 'Sno%'")
    }
    return String(pattern.dropLast())
  }
}

private struct WhereParser {
  /// Parentheses within each other.
  private static let maximumDepth = 32

  let tokens: [Token]
  private(set) var arguments = 0
  private var position = 0
  private var depth = 0
  private var terms: [WhereText.Term] = []

  init(tokens: [Token]) { self.tokens = tokens }

  private var token: Token { tokens[position] }

  mutating func parse() throws(CaravanError) -> [WhereText.Term] {
    try expression()
    guard token.kind == .end else { throw expected("AND, OR or the end") }
    return terms
  }

  private mutating func expression() throws(CaravanError) {
    var count: UInt32 = 1
    try conjunction()
    while take("or") {
      try conjunction()
      count += 1
    }
    if count > 1 { terms.append(.any(count)) }
  }

  private mutating func conjunction() throws(CaravanError) {
    var count: UInt32 = 1
    try factor()
    while take("and") {
      try factor()
      count += 1
    }
    if count > 1 { terms.append(.all(count)) }
  }

  private mutating func factor() throws(CaravanError) {
    guard token.kind == .open else { return try comparison() }
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw CaravanError(
        .limitExceeded, "--where has more than \(Self.maximumDepth) '(' within each other: simplify it")
    }
    position += 1
    try expression()
    guard token.kind == .close else { throw expected("')'") }
    position += 1
    depth -= 1
  }

  private mutating func comparison() throws(CaravanError) {
    let place = token.position
    guard case .name(let field) = token.kind else { throw expected("a field's name") }
    position += 1
    let comparison: Comparison
    let operand: WhereText.Operand
    if take("is") {
      comparison = take("not") ? .notEqual : .equal
      guard take("null") else { throw expected("NULL") }
      operand = .null
    } else {
      comparison = try comparisonOperator()
      operand = try value()
    }
    terms.append(.compare(field: field, comparison, operand, position: place))
  }

  private mutating func comparisonOperator() throws(CaravanError) -> Comparison {
    if take("like") { return .prefix }
    guard case .comparison(let text) = token.kind, let comparison = Self.comparisons[text] else {
      throw expected("=, !=, <, <=, >, >=, LIKE or IS")
    }
    position += 1
    return comparison
  }

  private static let comparisons: [String: Comparison] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater,
    ">=": .greaterOrEqual,
  ]

  private mutating func value() throws(CaravanError) -> WhereText.Operand {
    let kind = token.kind
    position += 1
    switch kind {
    case .placeholder:
      arguments += 1
      return .argument(arguments - 1)
    case .text(let text): return .text(text)
    case .number(let text): return .number(text)
    case .name, .comparison, .open, .close, .comma, .other, .end:
      position -= 1
      throw expected("'?', a number, or a text in single quotes")
    }
  }

  /// Whether the next token is this word; it is taken then.
  private mutating func take(_ word: String) -> Bool {
    guard case .name(let text) = token.kind, text.lowercased() == word else { return false }
    position += 1
    return true
  }

  private func expected(_ what: String) -> CaravanError {
    CaravanError(
      .invalidData, "--where, position \(token.position): \(what) expected, found \(token.kind.description)")
  }
}

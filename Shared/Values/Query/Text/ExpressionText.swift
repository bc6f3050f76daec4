public import CaravanModel

/// A query as people type it:
///
///     query       = conjunction *("OR" conjunction)
///     conjunction = negation *("AND" negation)
///     negation    = "NOT" negation / "(" query ")" / test
///     test        = field operator value / value operator field / field ["NOT"] "LIKE" value
///                 / field ["NOT"] "IN" list / field ["NOT"] "BETWEEN" value "AND" value
///                 / field "IS" ["NOT"] value / field ("ISNULL" / "NOTNULL" / "NOT" "NULL")
///                 / field ["NOT"] "MATCH" ["ANY"] value
///                 / field ["NOT"] "CONTAINS" (value / "LIKE" value / ("ALL" / "ANY") list)
///                 / field ["NOT"] "NEAR" list / field ["NOT"] "WITHIN" list
///     list        = "(" value *("," value) ")"
///     operator    = "=" / "==" / "!=" / "<>" / "<" / "<=" / ">" / ">="
///     value       = "?" / 'text' / x'data' / ["-"] number / "NULL"
///     field       = word / "word"
///
/// Keywords in any case. `?` stand for the arguments, in order. MATCH looks for words (`WordQuery`), CONTAINS for
/// members of a list, NEAR takes latitude, longitude and metres, WITHIN south, west, north and east. `self MATCH` looks
/// in all fields that the record type says are searchable, if it has no field of that name.
public struct ExpressionText: Sendable, Hashable {
  public let expression: Expression<Phrase>
  /// `?` in the text.
  public let arguments: Int
  private let subject: String

  /// - Parameter subject: what errors call the text.
  /// - Throws: `invalidData` with the position, what was found there and what is expected; `limitExceeded`.
  public init(_ text: String, subject: String = "query") throws(CaravanError) {
    let tokens = try Lexer.tokens(of: text, subject: subject)
    var parser = Parser(tokens, subject: subject)
    let read = try parser.parse()
    expression = try read.map { phrase throws(CaravanError) in
      guard let phrase else { preconditionFailure("a parser that reads all has left something out") }
      return .leaf(phrase)
    }
    arguments = tokens.count { if case .argument = $0.kind { true } else { false } }
    self.subject = subject
  }

  /// The query over records of `type`.
  /// - Parameter argument: what stands for a `?`, by its number and what it has to be.
  /// - Throws: `schemaViolation` naming the field, what it takes and what was given.
  public func bound(
    to type: RecordType, argument: (Int, ArgumentRole) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Expression<Condition> {
    try expression.map { phrase throws(CaravanError) in try condition(phrase, of: type, argument) }
  }

  /// Whether the text fits records of `type`, whatever its arguments will be: they are checked when there are some.
  /// - Throws: `schemaViolation` naming the field, and what is wrong with it; `invalidData` for wrong literals.
  public func check(against type: RecordType) throws(CaravanError) {
    let sampled = try expression.map { phrase throws(CaravanError) in
      var problem: CaravanError?
      // Literals of a region may leave its arguments few places to be in.
      for degrees in [1, 89, -89] as [Int64] {
        do throws(CaravanError) {
          return try condition(phrase, of: type) { _, role in role.sample(degrees: degrees) }
        } catch { problem = problem ?? error }
      }
      throw problem ?? CaravanError(.internalError, "a test of '\(phrase.name)' was not tried")
    }
    try type.check(sampled)
  }

  private func condition(
    _ phrase: Phrase, of type: RecordType, _ argument: (Int, ArgumentRole) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Expression<Condition> {
    guard let field = type.named(phrase.name) else {
      if case .match(let quantity, let operand, let isNegated) = phrase.test, phrase.name.lowercased() == Self.whole {
        let words = try Self.value(operand, .text, argument)
        let matched = try Self.matched(quantity, words, in: type)
        return isNegated ? .not(matched) : matched
      }
      let known = type.fields.map(\.name).joined(separator: ", ")
      throw CaravanError(
        .schemaViolation,
        """
        \(subject), position \(phrase.position): '\(type.name)' has no field '\(phrase.name.prefix(80))': \
        it has \(known.prefix(400))
        """)
    }
    let role: ArgumentRole =
      switch phrase.test {
      case .compare, .among, .prefix, .contains: .value(field)
      case .like, .containsLike, .match: .text
      case .inside: .number
      }
    let test = try phrase.test.map { operand throws(CaravanError) -> Value in
      try Self.value(operand, role, argument)
    }
    return .leaf(try Condition(field, test))
  }

  private static func value(
    _ operand: Phrase.Operand, _ role: ArgumentRole, _ argument: (Int, ArgumentRole) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Value {
    switch operand {
    case .argument(let number): try argument(number, role)
    case .literal(let value): value
    }
  }

  // MARK: All searchable fields

  /// What stands for all searchable fields of a record, before MATCH.
  private static let whole = "self"

  /// Each of the words and phrases is in one of the fields, or (any) one of them is.
  private static func matched(
    _ quantity: Quantity, _ words: Value, in type: RecordType
  ) throws(CaravanError) -> Expression<Condition> {
    let fields = type.fields.filter { field in
      field.kind == .text && !field.isList && !field.isEncrypted && field.effectiveIndexes.contains(.searchable)
    }
    guard !fields.isEmpty else {
      throw CaravanError(
        .schemaViolation, "no field of '\(type.name)' is searchable: name a text, or see caravan schema index")
    }
    var parts: [Expression<Condition>] = []
    for words in try Self.apart(quantity, words) {
      var found: [Expression<Condition>] = []
      for field in fields {
        found.append(.leaf(try Condition(field, .match(quantity, words), isOfAllFields: true)))
      }
      parts.append(.joined(found, by: Expression.any))
    }
    return .joined(parts, by: Expression.all)
  }

  /// Where all are to be there, each may be in another field.
  private static func apart(_ quantity: Quantity, _ words: Value) throws(CaravanError) -> [Value] {
    guard case .text(let text) = words, quantity == .all else { return [words] }
    return try WordQuery(text, quantity).phrases.map { phrase in
      .text("\"\(phrase.words.joined(separator: " "))\"\(phrase.isPrefix ? "*" : "")")
    }
  }
}

/// What an argument has to be.
public enum ArgumentRole: Sendable, Hashable {
  /// A value of this field, or of a member of it.
  case value(FieldDefinition)
  /// A pattern, or the words that a text is to have.
  case text
  /// Degrees or metres.
  case number

  /// Some value that this may be.
  fileprivate func sample(degrees: Int64) -> Value {
    switch self {
    case .text: .text("a")
    case .number: .integer(degrees)
    case .value(let field):
      switch field.kind {
      case .text: .text("a")
      case .integer, .date: .integer(1)
      case .real: .real(1)
      case .data: .data([1])
      case .reference: .reference(Reference(to: "a"))
      // Compared with nothing.
      case .object, .location: .null
      }
    }
  }
}

extension RecordType {
  /// By its name as it is spelled, or, as SQL has it, in another case, where that is one field's only.
  fileprivate func named(_ name: String) -> FieldDefinition? {
    if let field = field(named: name) { return field }
    let similar = fields.filter { $0.name.lowercased() == name.lowercased() }
    return similar.count == 1 ? similar[0] : SystemField(rawValue: name)?.definition
  }
}

/// A text that SQLite runs, as far as it says what the query language has: SQLite takes much more.
public struct PartialText: Sendable, Hashable {
  /// Its leaves that say something else are nil.
  public let expression: Expression<Phrase?>

  /// nil: nothing of the text is understood.
  public init?(_ text: String) {
    guard let tokens = try? Lexer.tokens(of: text, subject: "query") else { return nil }
    var parser = Parser(tokens, subject: "query", skipsForeign: true)
    guard let read = try? parser.parse() else { return nil }
    expression = read
  }
}

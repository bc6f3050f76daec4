internal import CaravanModel

/// Reads expressions by descending into them (https://sqlite.org/lang_expr.html has the precedences).
struct Parser {
  private let tokens: [Token]
  private let subject: String
  /// Whether what is not understood becomes a leaf that is nil. A test has then to stand between ANDs, ORs, NOTs and
  /// parentheses, which bind it less than itself: only what is read to its end counts.
  private let skipsForeign: Bool
  private var position = 0
  private var depth = 0

  private typealias Part = Expression<Phrase?>

  init(_ tokens: [Token], subject: String, skipsForeign: Bool = false) {
    self.tokens = tokens
    self.subject = subject
    self.skipsForeign = skipsForeign
  }

  /// - Throws: `invalidData` with the position; `limitExceeded`.
  mutating func parse() throws(CaravanError) -> Expression<Phrase?> {
    let whole = try query()
    guard token.kind == .end else { throw expected("AND, OR or the end") }
    return whole
  }

  // MARK: Structure

  private mutating func query() throws(CaravanError) -> Part {
    var parts = [try conjunction()]
    while take("or") { parts.append(try conjunction()) }
    return .joined(parts, by: Part.any)
  }

  private mutating func conjunction() throws(CaravanError) -> Part {
    var parts = [try negation()]
    while take("and") { parts.append(try negation()) }
    return .joined(parts, by: Part.all)
  }

  private mutating func negation() throws(CaravanError) -> Part {
    if take("not") { return try within { parser throws(CaravanError) in .not(try parser.negation()) } }
    guard skipsForeign else { return try plain() }
    let start = position
    do throws(CaravanError) {
      let part = try plain()
      if isAtEnd { return part }
    } catch {}
    position = start
    try skip()
    return .leaf(nil)
  }

  private mutating func plain() throws(CaravanError) -> Part {
    guard token.kind == .open else { return try test() }
    position += 1
    let part = try within { parser throws(CaravanError) in try parser.query() }
    guard token.kind == .close else { throw expected("')'") }
    position += 1
    return part
  }

  private mutating func within(_ body: (inout Parser) throws(CaravanError) -> Part) throws(CaravanError) -> Part {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Limits.queryDepth else {
      throw CaravanError(
        .limitExceeded,
        "the \(subject) has more than \(Limits.queryDepth) '(' and NOT within each other: simplify it")
    }
    return try body(&self)
  }

  // MARK: What is skipped

  private var isAtEnd: Bool {
    switch token.kind {
    case .end, .close: true
    case .word(let word): ["and", "or"].contains(word.lowercased())
    default: false
    }
  }

  /// - Throws: `invalidData` where an AND or OR may be another part's, and where SQLite may cut the text otherwise.
  private mutating func skip() throws(CaravanError) {
    var level = 0
    while token.kind != .end, level > 0 || !isAtEnd {
      switch token.kind {
      case .open: level += 1
      case .close: level -= 1
      case .stray: throw expected("an expression")
      case .word(let word) where level == 0 && ["between", "case"].contains(word.lowercased()):
        throw expected("what has no AND of its own")
      default: break
      }
      position += 1
    }
  }

  // MARK: Tests

  private mutating func test() throws(CaravanError) -> Part {
    let start = token.start
    if let name = name() { return try test(of: name, start) }
    guard startsValue else { throw expected("a field's name") }
    let operand = try value()
    guard case .relation(let relation) = token.kind else { throw expected("=, !=, <, <=, > or >=") }
    position += 1
    let place = token.start
    guard let name = name() else { throw expected("a field's name") }
    return .leaf(Phrase(name, at: place, .compare(relation.mirrored, operand)))
  }

  private mutating func test(of name: String, _ start: Int) throws(CaravanError) -> Part {
    func leaf(_ test: Test<Phrase.Operand>) -> Part { .leaf(Phrase(name, at: start, test)) }
    let isNegated = take("not")
    if take("between") {
      let low = try value()
      guard take("and") else { throw expected("AND") }
      let range = Part.all([
        leaf(.compare(.greaterOrEqual, low)), leaf(.compare(.lessOrEqual, try value())),
      ])
      return isNegated ? .not(range) : range
    }
    if take("in") { return leaf(.among(try list(), isNegated: isNegated)) }
    if take("like") { return leaf(.like(try value(), isNegated: isNegated)) }
    if take("match") { return leaf(.match(take("any") ? .any : .all, try value(), isNegated: isNegated)) }
    if take("contains") { return leaf(try contained(isNegated)) }
    for region in Region.allCases where take(region.word.lowercased()) {
      return leaf(.inside(region, try list(), isNegated: isNegated))
    }
    if isNegated {
      guard take("null") else { throw expected("IN, LIKE, BETWEEN, MATCH, CONTAINS, NEAR, WITHIN or NULL") }
      return leaf(.compare(.distinct, .literal(.null)))
    }
    if take("isnull") { return leaf(.compare(.same, .literal(.null))) }
    if take("notnull") { return leaf(.compare(.distinct, .literal(.null))) }
    if take("is") {
      let relation: Relation = take("not") ? .distinct : .same
      guard startsValue else { throw expected("NULL, or a value") }
      return leaf(.compare(relation, try value()))
    }
    guard case .relation(let relation) = token.kind else {
      throw expected("=, !=, <, <=, >, >=, LIKE, IN, BETWEEN, MATCH, CONTAINS, NEAR, WITHIN or IS")
    }
    position += 1
    return leaf(.compare(relation, try value()))
  }

  private mutating func contained(_ isNegated: Bool) throws(CaravanError) -> Test<Phrase.Operand> {
    if take("like") { return .containsLike(try value(), isNegated: isNegated) }
    if take("any") { return .contains(.any, try list(), isNegated: isNegated) }
    if take("all") { return .contains(.all, try list(), isNegated: isNegated) }
    return .contains(.all, [try value()], isNegated: isNegated)
  }

  private mutating func list() throws(CaravanError) -> [Phrase.Operand] {
    guard token.kind == .open else { throw expected("'('") }
    var operands: [Phrase.Operand] = []
    repeat {
      position += 1
      operands.append(try value())
      guard operands.count <= Limits.queryListItems else {
        throw CaravanError(.limitExceeded, "a list of the \(subject) has more than \(Limits.queryListItems) values")
      }
    } while token.kind == .comma
    guard token.kind == .close else { throw expected("',' or ')'") }
    position += 1
    return operands
  }

  // MARK: Names and values

  /// Where a field may stand, these are none.
  private static let reserved: Set<String> = [
    "and", "between", "case", "cast", "collate", "current_date", "current_time", "current_timestamp", "else", "end",
    "escape", "exists", "false", "glob", "in", "is", "isnull", "like", "match", "not", "notnull", "null", "or", "raise",
    "regexp", "then", "true", "when",
  ]

  private mutating func name() -> String? {
    switch token.kind {
    case .word(let word) where !Self.reserved.contains(word.lowercased()):
      position += 1
      return word
    case .name(let name):
      position += 1
      return name
    default: return nil
    }
  }

  private var startsValue: Bool {
    switch token.kind {
    case .argument, .text, .data, .integer, .real, .minus: true
    case .word(let word): word.lowercased() == "null"
    default: false
    }
  }

  private mutating func value() throws(CaravanError) -> Phrase.Operand {
    if take("null") { return .literal(.null) }
    let start = position
    let isNegative = token.kind == .minus
    if isNegative { position += 1 }
    let kind = token.kind
    position += 1
    switch kind {
    case .integer(let digits):
      guard let number = Int64((isNegative ? "-" : "") + digits) else { throw expected("a smaller number", at: start) }
      return .literal(.integer(number))
    case .real(let number): return .literal(.real(isNegative ? -number : number))
    case .argument(let index) where !isNegative: return .argument(index)
    case .text(let text) where !isNegative: return .literal(.text(text))
    case .data(let bytes) where !isNegative: return .literal(.data(bytes))
    default: throw expected("'?', a number, or a text in single quotes", at: isNegative ? position - 1 : start)
    }
  }

  // MARK: Tokens

  private var token: Token { tokens[min(position, tokens.count - 1)] }

  /// Whether the next token is this word; it is taken then.
  private mutating func take(_ word: String) -> Bool {
    guard case .word(let text) = token.kind, text.lowercased() == word else { return false }
    position += 1
    return true
  }

  private func expected(_ what: String, at index: Int? = nil) -> CaravanError {
    let token = tokens[min(index ?? position, tokens.count - 1)]
    return CaravanError(
      .invalidData, "\(subject), position \(token.start + 1): \(what) expected, found \(token.kind.description)")
  }
}

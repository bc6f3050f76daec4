public import CaravanModel

// A query table's query, as far as the cloud can tell of a row that it does not hold (UNI-15).
extension RowFilter {
  /// What holds of every row of which the query holds: where the cloud compares as SQLite does, which is a column with
  /// a value of its own kind. What else the text says is left out; nil: then nothing remains.
  /// - Parameter type: as agreed: its ids are those of the fields in bodies.
  public init?(_ query: RowQuery, columns: [SchemaText.Column], type: RecordType) {
    var reader = QueryReader(query, columns: columns, type: type)
    guard let terms = reader.terms(), let filter = try? RowFilter(terms) else { return nil }
    self = filter
  }
}

/// Reads an expression of SQLite's (https://sqlite.org/lang_expr.html) that `SelectionText` has checked. Only what is
/// read to its end counts: a comparison has to stand between ANDs, ORs and parentheses, which bind it less than itself.
private struct QueryReader {
  private let tokens: [QueryToken]
  private let parameters: [Value]
  private let columns: [String: SchemaText.Column]
  private let type: RecordType
  private var position = 0

  /// The words of an expression that have an AND of their own.
  private struct Unreadable: Error {}

  private static let longestValue = 256

  init(_ query: RowQuery, columns: [SchemaText.Column], type: RecordType) {
    tokens = QueryToken.all(in: query.template)
    parameters = query.parameters
    self.columns = Dictionary(columns.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    self.type = type
  }

  /// nil: any row may be among those that the query finds.
  mutating func terms() -> [RowFilter.Term]? {
    guard let terms = try? alternatives(), position == tokens.count else { return nil }
    return terms
  }

  // MARK: Structure

  private mutating func alternatives() throws(Unreadable) -> [RowFilter.Term]? {
    var parts = [try conjunction()]
    while take(.word("or")) { parts.append(try conjunction()) }
    let known = parts.compactMap(\.self)
    return known.count == parts.count ? Self.joined(known, RowFilter.Term.any) : nil
  }

  private mutating func conjunction() throws(Unreadable) -> [RowFilter.Term]? {
    var parts = [try part()]
    while take(.word("and")) { parts.append(try part()) }
    let known = parts.compactMap(\.self)
    return known.isEmpty ? nil : Self.joined(known, RowFilter.Term.all)
  }

  private static func joined(
    _ parts: [[RowFilter.Term]], _ combine: (UInt32) -> RowFilter.Term
  ) -> [RowFilter.Term] {
    parts.count == 1 ? parts[0] : parts.flatMap(\.self) + [combine(UInt32(parts.count))]
  }

  /// What stands between two ANDs or ORs; nil: it is nothing that the cloud could tell.
  private mutating func part() throws(Unreadable) -> [RowFilter.Term]? {
    let start = position
    if take(.symbol("(")) {
      let terms = try alternatives()
      if take(.symbol(")")), isAtEnd { return terms }
    } else if let terms = comparison(), isAtEnd {
      return terms
    }
    position = start
    try skip()
    return nil
  }

  private var next: QueryToken? { position < tokens.count ? tokens[position] : nil }

  private var isAtEnd: Bool {
    switch next {
    case nil, .word("and"), .word("or"), .symbol(")"): true
    default: false
    }
  }

  private mutating func take(_ token: QueryToken) -> Bool {
    guard next == token else { return false }
    position += 1
    return true
  }

  private mutating func skip() throws(Unreadable) {
    var depth = 0
    while let token = next, depth > 0 || !isAtEnd {
      switch token {
      case .symbol("("): depth += 1
      case .symbol(")"): depth -= 1
      case .word("between") where depth == 0, .word("case") where depth == 0: throw Unreadable()
      default: break
      }
      position += 1
    }
  }

  // MARK: Comparisons

  private mutating func comparison() -> [RowFilter.Term]? {
    if let column = column() {
      let isNegated = take(.word("not"))
      if take(.word("between")), !isNegated { return range(of: column) }
      if take(.word("in")) { return choice(of: column, isNegated: isNegated) }
      if isNegated { return take(.word("null")) ? test(column, .notEqual, .null) : nil }
      if take(.word("is")) { return identity(of: column) }
      if take(.word("isnull")) { return test(column, .equal, .null) }
      if take(.word("notnull")) { return test(column, .notEqual, .null) }
      guard let comparison = sign(), let operand = operand() else { return nil }
      return test(column, comparison, operand)
    }
    guard let operand = operand(), let comparison = sign(), let column = column() else { return nil }
    return test(column, comparison.mirrored, operand)
  }

  private mutating func column() -> SchemaText.Column? {
    let name: String
    switch next {
    case .word(let word) where !QueryToken.reserved.contains(word): name = word
    case .name(let quoted): name = quoted.lowercased()
    default: return nil
    }
    guard let column = columns[name] else { return nil }
    position += 1
    return column
  }

  private mutating func sign() -> Comparison? {
    guard case .symbol(let text)? = next, let comparison = QueryToken.comparisons[text] else { return nil }
    position += 1
    return comparison
  }

  /// A value as it is compared with.
  private struct Operand {
    var value: Value
    /// SQLite may read its digits as a number beside it.
    var isApproximate = false
  }

  private mutating func operand() -> Operand? {
    let isNegative = take(.symbol("-"))
    guard let token = next else { return nil }
    let operand: Operand? =
      switch token {
      case .integer(let digits): Int64((isNegative ? "-" : "") + digits).map { Operand(value: .integer($0)) }
      case .real(let number): Operand(value: .real(isNegative ? -number : number), isApproximate: true)
      case .text(let text) where !isNegative: Operand(value: .text(text))
      case .argument(let index) where !isNegative && parameters.indices.contains(index):
        Operand(value: parameters[index])
      default: nil
      }
    if operand != nil { position += 1 }
    return operand
  }

  private mutating func range(of column: SchemaText.Column) -> [RowFilter.Term]? {
    guard let low = operand(), take(.word("and")), let high = operand(),
      let from = test(column, .greaterOrEqual, low), let to = test(column, .lessOrEqual, high)
    else { return nil }
    return Self.joined([from, to], RowFilter.Term.all)
  }

  private mutating func choice(of column: SchemaText.Column, isNegated: Bool) -> [RowFilter.Term]? {
    guard take(.symbol("(")) else { return nil }
    var tests: [[RowFilter.Term]] = []
    repeat {
      guard let operand = operand(), let test = test(column, isNegated ? .notEqual : .equal, operand) else {
        return nil
      }
      tests.append(test)
    } while take(.symbol(","))
    guard take(.symbol(")")) else { return nil }
    return Self.joined(tests, isNegated ? RowFilter.Term.all : RowFilter.Term.any)
  }

  private mutating func identity(of column: SchemaText.Column) -> [RowFilter.Term]? {
    let isNegated = take(.word("not"))
    if take(.word("null")) { return test(column, isNegated ? .notEqual : .equal, .null) }
    guard !isNegated, let operand = operand() else { return nil }
    return operand.value == .null ? test(column, .equal, .null) : test(column, .equal, operand)
  }

  // MARK: Tests

  /// What no row lacks of which the comparison is true: with null none is.
  private func test(
    _ column: SchemaText.Column, _ comparison: Comparison, _ operand: Operand
  ) -> [RowFilter.Term]? {
    guard let value = Self.comparable(operand.value, column.kind) else { return nil }
    if operand.isApproximate, case .real(let number) = value { return test(column, comparison, near: number) }
    let terms = test(column, comparison, value)
    guard comparison == .notEqual, let terms, let present = test(column, .notEqual, .null) else { return terms }
    return Self.joined([terms, present], RowFilter.Term.all)
  }

  private func test(
    _ column: SchemaText.Column, _ comparison: Comparison, near number: Double
  ) -> [RowFilter.Term]? {
    let margin = max(number.magnitude * 1e-12, .leastNormalMagnitude)
    let low = test(column, .greaterOrEqual, .real(number - margin))
    let high = test(column, .lessOrEqual, .real(number + margin))
    switch comparison {
    case .less, .lessOrEqual: return high
    case .greater, .greaterOrEqual: return low
    case .equal: return low.flatMap { low in high.map { Self.joined([low, $0], RowFilter.Term.all) } }
    case .notEqual, .prefix: return test(column, .notEqual, .null)
    }
  }

  /// Objects and what the cloud cannot read are null, or not.
  private func test(_ column: SchemaText.Column, _ comparison: Comparison, _ value: Value) -> [RowFilter.Term]? {
    guard let field = type.field(named: column.name), field.id > 0, field.kind == column.kind, !field.isList,
      !field.isEncrypted
    else { return nil }
    return [.test(RowFilter.Test(field.id, field.kind, comparison, value))]
  }

  /// The value as it is of the column's kind; nil: it is of another, which SQLite has rules of its own for.
  private static func comparable(_ value: Value, _ kind: FieldKind) -> Value? {
    switch (kind, value) {
    case (.text, .text(let text)): text.utf8.count <= longestValue && !text.utf8.contains(0) ? value : nil
    case (.data, .data(let bytes)): bytes.count <= longestValue ? value : nil
    case (.integer, .integer), (.date, .integer): value
    // Integers up to here are reals.
    case (.real, .integer(let number)): number.magnitude <= 1 << 53 ? .real(Double(number)) : nil
    case (.real, .real(let number)): number.isNaN ? nil : value
    case (_, _): nil
    }
  }
}

extension Comparison {
  /// With the sides the other way round.
  fileprivate var mirrored: Comparison {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual, .prefix: self
    }
  }
}

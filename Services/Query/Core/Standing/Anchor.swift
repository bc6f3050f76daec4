package import CaravanModel
package import CaravanQuery

/// By what a standing query is found among many when a record is written (CK-84): a record that its expression is true
/// of has one of the query's anchors.
package enum Anchor: Sendable, Hashable {
  /// What a record has exactly: the key of a field, a member of its list, a word of its text.
  case token(IndexNeed, [UInt8])
  /// A part of a field's values.
  case cell(IndexNeed, KeyCell)
  /// All values of a field whose code is this one or a greater one.
  case atLeast(IndexNeed, UInt64)
  /// All values of a field whose code is this one or a smaller one.
  case atMost(IndexNeed, UInt64)

  package var need: IndexNeed {
    switch self {
    case .token(let need, _), .cell(let need, _), .atLeast(let need, _), .atMost(let need, _): need
    }
  }

  /// What lies between two codes; nothing lies between a greater and a smaller one.
  private static func between(_ need: IndexNeed, _ low: UInt64, _ high: UInt64) -> [Anchor] {
    guard low <= high else { return [] }
    if low == 0 { return [.atMost(need, high)] }
    if high == .max { return [.atLeast(need, low)] }
    return KeyCell.cover(low...high).map { .cell(need, $0) }
  }
}

extension Anchor {
  /// How a record is looked at to find anchors of one kind.
  package enum Probe: Sendable, Hashable {
    case tokens(IndexNeed)
    case cells(IndexNeed, level: UInt8)
    case atLeast(IndexNeed)
    case atMost(IndexNeed)

    package var need: IndexNeed {
      switch self {
      case .tokens(let need), .cells(let need, _), .atLeast(let need), .atMost(let need): need
      }
    }

    private static let atLeastNumber: UInt8 = 4
    private static let atMostNumber: UInt8 = 5
    private static let firstLevel: UInt8 = 16

    /// As the index keeps it beside the field.
    package var number: UInt8 {
      switch self {
      case .tokens(let need): need.use.rawValue
      case .atLeast: Self.atLeastNumber
      case .atMost: Self.atMostNumber
      case .cells(_, let level): Self.firstLevel + level
      }
    }

    /// - Returns: nil: the number is of another release.
    package init?(number: UInt8, field: UInt32, kind: FieldKind) {
      let key = IndexNeed(field, kind, .key)
      switch number {
      case Self.atLeastNumber: self = .atLeast(key)
      case Self.atMostNumber: self = .atMost(key)
      case Self.firstLevel...Self.firstLevel + 64: self = .cells(key, level: number - Self.firstLevel)
      default:
        guard let use = IndexNeed.Use(rawValue: number) else { return nil }
        self = .tokens(IndexNeed(field, kind, use))
      }
    }

    /// What anchors of this kind that a record has are equal to; that of a bound is not beyond them.
    package func values(of cells: RecordCells) -> [[UInt8]] {
      if case .tokens(let need) = self { return cells.tokens(need) }
      guard let code = cells.cell(need.field, need.kind).code else { return [] }
      guard case .cells(_, let level) = self else { return [Anchor.bytes(code)] }
      return [Anchor.bytes(KeyCell(of: code, level: level).prefix)]
    }
  }

  package var probe: Probe {
    switch self {
    case .token(let need, _): .tokens(need)
    case .cell(let need, let cell): .cells(need, level: cell.level)
    case .atLeast(let need, _): .atLeast(need)
    case .atMost(let need, _): .atMost(need)
    }
  }

  /// As the index keeps it: bytes in the order of the codes.
  package var value: [UInt8] {
    switch self {
    case .token(_, let token): token
    case .cell(_, let cell): Self.bytes(cell.prefix)
    case .atLeast(_, let code), .atMost(_, let code): Self.bytes(code)
    }
  }

  private static func bytes(_ code: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: code >> (56 - 8 * UInt64($0))) }
  }

  /// Whether a record has it.
  package func finds(_ cells: RecordCells) -> Bool {
    probe.values(of: cells).contains { found in
      switch self {
      case .token, .cell: found == value
      case .atLeast: !found.lexicographicallyPrecedes(value)
      case .atMost: !value.lexicographicallyPrecedes(found)
      }
    }
  }
}

extension Anchor {
  /// Few enough to be kept of one query.
  package static let most = 100

  /// - Returns: nil: no index finds the query; each record of its type is to be looked at.
  package static func anchors(_ expression: Expression<Condition>) -> [Anchor]? {
    let found = best(expression.withoutNot)
    return found.flatMap { $0.count <= most ? $0 : nil }
  }

  private static func best(_ expression: Expression<Condition>) -> [Anchor]? {
    switch expression {
    case .leaf(let condition): return anchors(condition)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts):
      // One of the parts is enough: tokens find fewer queries than cells, cells fewer than bounds, and few anchors cost
      // less than many.
      return (between(parts) + parts.compactMap(best)).min { weight($0) < weight($1) }
    case .any(let parts):
      var all: [Anchor] = []
      for part in parts {
        guard let anchors = best(part), all.count + anchors.count <= most else { return nil }
        all += anchors
      }
      return all
    }
  }

  /// Of several bounds of one field, what lies between them: each bound by itself would find half of all queries.
  private static func between(_ parts: [Expression<Condition>]) -> [[Anchor]] {
    var spans: [(need: IndexNeed, low: UInt64, high: UInt64, count: Int)] = []
    for part in parts {
      guard case .leaf(let condition) = part, !condition.isList, let span = span(condition) else { continue }
      let need = IndexNeed(condition.field, condition.kind, .key)
      if let place = spans.firstIndex(where: { $0.need == need }) {
        spans[place].low = max(spans[place].low, span.lowerBound)
        spans[place].high = min(spans[place].high, span.upperBound)
        spans[place].count += 1
      } else {
        spans.append((need, span.lowerBound, span.upperBound, 1))
      }
    }
    assert(Set(spans.map(\.need)).count == spans.count, "a field has two ranges")
    return spans.filter { $0.count > 1 }.map { between($0.need, $0.low, $0.high) }
  }

  private static func weight(_ anchors: [Anchor]) -> Int {
    anchors.reduce(0) { sum, anchor in
      switch anchor {
      case .token: sum + 1
      case .cell: sum + 4
      case .atLeast, .atMost: sum + 20
      }
    }
  }

  private static func anchors(_ condition: Condition) -> [Anchor]? {
    let field = condition.field
    func token(_ value: Value, _ use: IndexNeed.Use = .key) -> Anchor? {
      guard let key = IndexKey(Cell(value, as: condition.kind)) else { return nil }
      return .token(IndexNeed(field, condition.kind, use), key.bytes)
    }
    func all(_ values: [Value], _ use: IndexNeed.Use = .key) -> [Anchor]? {
      let tokens = values.compactMap { token($0, use) }
      return tokens.count == values.count ? tokens : nil
    }
    switch condition.test {
    case .contains(.all, let values, isNegated: false):
      return values.first.flatMap { token($0, .members) }.map { [$0] }
    case .contains(.any, let values, isNegated: false): return all(values, .members)
    case .match(let quantity, _, isNegated: false):
      guard let asked = condition.words else { return nil }
      let words = asked.phrases.map { phrase in
        (phrase.isPrefix ? phrase.words.dropLast() : phrase.words[...]).max { $0.utf8.count < $1.utf8.count }
      }
      let tokens = words.compactMap { $0 }.map { Anchor.token(IndexNeed(field, .text, .words), word($0)) }
      switch quantity {
      case .all: return tokens.first.map { [$0] }
      case .any: return tokens.count == words.count ? tokens : nil
      }
    case _ where condition.isList: return nil
    case .compare(.equal, let value), .compare(.same, let value): return token(value).map { [$0] }
    case .among(let values, isNegated: false): return all(values.filter { $0 != .null })
    case .inside(let region, let numbers, isNegated: false):
      let cells = KeyCell.cover(region, numbers.compactMap { if case .real(let number) = $0 { number } else { nil } })
      return cells.map { .cell(IndexNeed(field, .location, .key), $0) }
    case .compare, .prefix, .like:
      return span(condition).map { between(IndexNeed(field, condition.kind, .key), $0.lowerBound, $0.upperBound) }
    case .among, .contains, .containsLike, .match, .inside: return nil
    }
  }

  /// What of a word is compared.
  package static func word(_ word: String) -> [UInt8] { Array(word.utf8.prefix(QueryLimits.wordBytes)) }

  /// The codes of which a condition may be true.
  private static func span(_ condition: Condition) -> ClosedRange<UInt64>? {
    func code(_ value: Value) -> UInt64? { Cell(value, as: condition.kind).code }
    return switch condition.test {
    case .compare(.less, let value), .compare(.lessOrEqual, let value): code(value).map { 0...$0 }
    case .compare(.greater, let value), .compare(.greaterOrEqual, let value): code(value).map { $0...UInt64.max }
    case .prefix(let value, isNegated: false): prefix(value.bytes)
    case .like(_, isNegated: false): prefix(condition.head.map { Array($0.utf8) })
    default: nil
    }
  }

  private static func prefix(_ bytes: [UInt8]?) -> ClosedRange<UInt64>? {
    guard let bytes, !bytes.isEmpty, let low = Cell.bytes(bytes[...]).code,
      let high = Cell.bytes((bytes + Array(repeating: 0xff, count: 8))[...]).code
    else { return nil }
    return low...high
  }
}

extension Value {
  fileprivate var bytes: [UInt8]? {
    switch self {
    case .text(let text): Array(text.utf8)
    case .data(let bytes): bytes
    case .reference(let reference): Array(reference.target.utf8)
    case .null, .integer, .real, .asset, .assetList, .location, .list: nil
    }
  }
}

import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanQuery
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what the cloud is told of a table's query excludes no row that the query finds (UNI-15). Method: a table of
/// texts and what is made of them; then random queries over random rows, which a device's SQLite looks at.
@Suite("Queries as filters", .timeLimit(.minutes(4))) struct QueryFilterTests {
  private typealias F = StoreFixture
  private static let columns = "t VARCHAR, n INTEGER, r FLOAT, b BLOB, photo OBJECT"
  private static let table = TableID(app: F.app, name: "mixed")
  private static let type = CaravanModel.RecordType(
    id: 9, definition: 9, name: "mixed",
    fields: [
      .init(id: 2, name: "t", kind: .text), .init(id: 4, name: "n", kind: .integer),
      .init(id: 5, name: "r", kind: .real), .init(id: 7, name: "b", kind: .data),
      .init(id: 11, name: "photo", kind: .object),
    ])

  private static func filter(_ text: String, _ parameters: [CaravanModel.Value] = []) throws -> RowFilter? {
    RowFilter(RowQuery(text, parameters), columns: try SchemaText(parsing: columns).columns, type: type)
  }

  private static func words(_ filter: RowFilter?) -> String {
    (filter?.terms ?? []).map { term in
      switch term {
      case .test(let test):
        switch test.value {
        case .null: "\(test.field) \(test.comparison) null"
        case .text(let text): "\(test.field) \(test.comparison) '\(text)'"
        case .integer(let number): "\(test.field) \(test.comparison) \(number)"
        case .real(let number): "\(test.field) \(test.comparison) \(number)"
        default: "\(test.field) \(test.comparison) ?"
        }
      case .all(let count): "all \(count)"
      case .any(let count): "any \(count)"
      }
    }.joined(separator: "; ")
  }

  @Test(
    "UNI-15: what is kept of a query, and what is not",
    arguments: [
      ("n < 50", "4 less 50"), ("50>=\"N\"", "4 lessOrEqual 50"), ("n == -9223372036854775808", "4 equal \(Int64.min)"),
      ("t = 'it''s' and N > 3 AND length(t) > 2", "2 equal 'it's'; 4 greater 3; all 2"),
      ("n <> 3", "4 notEqual 3; 4 notEqual null; all 2"),
      ("n BETWEEN 1 AND 5 OR t IS NULL", "4 greaterOrEqual 1; 4 lessOrEqual 5; all 2; 2 equal null; any 2"),
      ("n IN (1, 2,3)", "4 equal 1; 4 equal 2; 4 equal 3; any 3"), ("photo NOT NULL", "11 notEqual null"),
      ("NOT n = 1", "4 notEqual 1; 4 notEqual null; all 2"), ("n NOT IN (1)", "4 notEqual 1; 4 notEqual null; all 2"),
      ("NOT (n < 5 AND t >= 'a') AND length(t) > 2", "4 greaterOrEqual 5; 2 less 'a'; any 2"),
      ("n NOT BETWEEN 1 AND 5", "4 less 1; 4 greater 5; any 2"), ("n IS NOT 1", "4 notEqual 1"),
      ("b = x'00'", "7 equal ?"),
      ("(CASE WHEN n = 1 THEN 1 ELSE 0 END) AND n = 2", "4 equal 2"),
      ("r < 7", "5 less 7.0"), ("(n = 1 OR (n = 2)) AND t LIKE 'a%'", "4 equal 1; 4 equal 2; any 2"),
      // Nothing is known of one side, nor of its words, nor of values of another kind.
      ("n < 5 OR length(t) > 2", ""), ("NOT (n < 5 AND length(t) > 2)", ""), ("n = 5 \u{feff}OR t = 'a'", ""),
      ("n = '5'", ""), ("t < 5", ""), ("n < 5.5", ""),
      ("n = 5 = 1", ""), ("n = 5 + 1", ""), ("n + 1 = 5", ""), ("abs(n) < 3", ""), ("-n < 3", ""), ("t = t", ""),
      ("t = 'a' COLLATE NOCASE", ""), ("r = 9007199254740993", ""), ("n = 0x10", ""),
      ("n NOT BETWEEN 1 AND n = 2", ""), ("n + 1 BETWEEN 1 AND n = 2", ""), ("n = NULL", ""), ("n IS TRUE", ""),
      ("CASE WHEN n = 1 THEN 1 ELSE 0 END AND n = 2", ""), ("(n, t) = (1, 'a')", ""), ("(n = 1) = 0", ""),
      ("n IN (1, t)", ""), ("n IN ()", ""), ("n", ""), ("1", ""), ("t = 'a\u{0}'", ""),
    ])
  private func texts(text: String, expected: String) throws {
    #expect(Self.words(try Self.filter(text)) == expected)
  }

  @Test("UNI-15: arguments stand for their values, wherever they are; encrypted fields and lists are not looked into")
  func arguments() throws {
    let mixed = try Self.filter("length(t) > ? AND (n = ? OR t = ?)", [.integer(1), .integer(2), .text("x")])
    #expect(Self.words(mixed) == "4 equal 2; 2 equal 'x'; any 2")
    #expect(try Self.filter("n = ?", [.null]) == nil)
    #expect(Self.words(try Self.filter("n IS ?", [.null])) == "4 equal null")
    #expect(try Self.filter("t = ?", [.text(String(repeating: "x", count: 300))]) == nil)
    #expect(try Self.filter("r > ?", [.real(.nan)]) == nil)
    let many = Array(repeating: "?", count: 100).joined(separator: ",")
    #expect(try Self.filter("n IN (\(many))", Array(repeating: .integer(1), count: 100)) == nil)
    var secret = Self.type
    secret.fields[1].isEncrypted = true
    secret.fields[0].isList = true
    let columns = try SchemaText(parsing: Self.columns).columns
    #expect(RowFilter(RowQuery("n = 1 AND t = 'a' AND r > 1"), columns: columns, type: secret)?.terms.count == 1)
  }

  @Test("UNI-15: whatever is asked, no row that the device's SQLite finds is excluded", arguments: [1, 2, 3, 4])
  func sound(seed: UInt64) async throws {
    try await F.with { f in
      let schema = try SchemaText(parsing: Self.columns)
      try await f.store.createTable(Self.table, schema: schema, localOnly: false)
      try await f.store.agree(on: Self.type, for: Self.table)
      var queries = QueryGenerator(seed: seed)
      var (found, excluded, others) = (0, 0, 0)
      for _ in 0..<60 {
        let query = queries.query()
        try await f.store.updateTable(Self.table, TableChange(replication: .query(query)))
        try await f.store.reset(Self.table)
        let rows = (1...40).map { number in
          Entry(
            name: "row\(number)", version: UInt64(number), created: 1, type: 9, body: queries.row().body, writer: "d")
        }
        try await f.store.apply(
          rows.map { IncomingEntry(entry: $0) }, to: Self.table, token: [1], end: .last)
        let kept = Set(try await f.rows(in: Self.table).map(\.id))
        let filter = RowFilter(query, columns: schema.columns, type: Self.type)
        for row in rows {
          let isOut = filter.map { BodyFilter($0).excludes(row.body) } ?? false
          if kept.contains(row.name) { found += 1 } else { others += 1 }
          if isOut { excluded += 1 }
          if isOut, kept.contains(row.name) {
            let fields = try RecordFields(body: row.body).ascending
            Issue.record("\(query.template) of \(query.parameters) finds \(fields), and \(Self.words(filter))")
          }
        }
      }
      #expect(found > 300 && excluded > others / 4, "\(found) found, \(excluded) excluded of \(others) others")
    }
  }
}

/// Expressions that SQLite takes, of all that a filter understands and much that it does not, and rows for them.
private struct QueryGenerator {
  private var random: SeededRandom
  private var parameters: [CaravanModel.Value] = []

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private func pick<Element>(_ list: [Element]) -> Element { list[Int(random.below(UInt64(list.count)))] }

  private static let texts = ["", "a", "A", "ab", "b", "Z", "10", "9", "ä", "é", "e\u{301}", "😀", "it's", "\u{ffff}"]
  private static let integers: [Int64] = [
    .min, -9_007_199_254_740_993, -1, 0, 1, 5, 9, 10, 9_007_199_254_740_992, 9_007_199_254_740_993, .max,
  ]
  private static let reals: [Double] = [
    -.infinity, -1e300, -1, -0.0, .leastNonzeroMagnitude, 0.1, 0.5, 1, 5, 9.99,
    9_007_199_254_740_992, 9.3e18, .infinity, .nan,
  ]
  private static let data: [[UInt8]] = [[], [0], [0, 1], [1], [65], [255]]

  private func value(_ column: String) -> CaravanModel.Value {
    switch column {
    case "t": .text(pick(Self.texts))
    case "n": .integer(pick(Self.integers))
    case "r": .real(pick(Self.reals))
    default: .data(pick(Self.data))
    }
  }

  func row() -> RecordFields {
    var fields = RecordFields()
    for (id, column) in [(UInt32(2), "t"), (4, "n"), (5, "r"), (7, "b")] where random.below(4) > 0 {
      // Now and then what a newer device wrote; integers may stand where reals do.
      let other = random.below(12) == 0 ? pick(["t", "n", "b"]) : column
      fields[id] = column == "r" && random.below(3) == 0 ? .integer(pick(Self.integers)) : value(other)
    }
    if random.below(2) == 0 { fields[11] = .asset(AssetManifest(parts: [])) }
    return fields
  }

  mutating func query() -> RowQuery {
    parameters = []
    let text = expression(3)
    return RowQuery(text, parameters)
  }

  private mutating func expression(_ depth: Int) -> String {
    guard depth > 0, random.below(4) > 0 else { return term() }
    switch random.below(8) {
    case 0...2: return "\(expression(depth - 1)) \(pick(["AND", "and"])) \(expression(depth - 1))"
    case 3, 4: return "\(expression(depth - 1)) \(pick(["OR", "Or"])) \(expression(depth - 1))"
    case 5, 6: return "(\(expression(depth - 1)))"
    default: return "NOT \(expression(depth - 1))"
    }
  }

  private mutating func operand(_ column: String) -> String {
    let value = value(column)
    switch value {
    case .integer(let number) where random.below(2) == 0: return "\(number)"
    case .real(let number) where number.isFinite && random.below(2) == 0: return "\(number)"
    case .text(let text) where random.below(2) == 0:
      return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    default:
      parameters.append(value)
      return "?"
    }
  }

  private mutating func term() -> String {
    let column = pick(["t", "n", "n", "r", "b"])
    let name = pick([column, column.uppercased(), "\"\(column)\""])
    let sign = pick(["=", "==", "<>", "!=", "<", "<=", ">", ">="])
    let gap = pick(["", " "])
    switch random.below(20) {
    case 0...5: return "\(name)\(gap)\(sign)\(gap)\(operand(column))"
    case 6: return "\(operand(column))\(gap)\(sign)\(gap)\(name)"
    // Of another kind.
    case 7: return "\(name) \(sign) \(operand(pick(["t", "n", "r", "b"])))"
    case 8: return "\(name) BETWEEN \(operand(column)) AND \(operand(column))"
    case 9: return "\(name) \(pick(["", "NOT "]))IN (\(operand(column)),\(operand(column)), \(operand(column)))"
    case 10: return "\(pick(["t", "n", "r", "b", "photo"])) \(pick(["IS NULL", "ISNULL", "NOT NULL", "is not null"]))"
    case 11: return "\(name) \(pick(["IS", "IS NOT"])) \(operand(column))"
    default: return strange(name, column, sign)
    }
  }

  private mutating func strange(_ name: String, _ column: String, _ sign: String) -> String {
    switch random.below(12) {
    case 0: return "\(name) NOT BETWEEN \(operand(column)) AND \(operand(column)) \(sign) 1"
    case 1: return "CASE WHEN \(name) \(sign) \(operand(column)) AND n = 5 THEN n ELSE 1 END"
    case 2: return "length(t) \(sign) \(operand("n"))"
    case 3: return "n + 1 BETWEEN \(operand("n")) AND n = 5"
    case 4: return "t COLLATE NOCASE \(sign) \(operand("t"))"
    case 5: return "\(name) \(sign) \(operand(column)) COLLATE NOCASE"
    case 6: return "(\(name)) \(sign) \(operand(column))"
    case 7: return "\(name) \(sign) \(operand(column)) = \(pick(["0", "1", "n"]))"
    case 8: return "t LIKE \(operand("t"))"
    case 9: return "-n \(sign) \(operand("n"))"
    case 10: return "(n, t) \(sign) (\(operand("n")), \(operand("t")))"
    default: return "coalesce(\(name), \(operand(column))) \(sign) \(operand(column))"
    }
  }
}

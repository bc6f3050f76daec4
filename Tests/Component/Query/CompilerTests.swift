import CaravanModel
import CaravanQuery
import CaravanQueryCore
import Testing

/// Goal: predicates become parameterised SQL, and what is wrong with them is said. Method: tables.
@Suite struct CompilerTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let terms: [Predicate.Term]
    let sql: String
    let values: [SQLFragment.Parameter]
    var testDescription: String { sql }

    init(_ terms: [Predicate.Term], _ sql: String, _ values: [SQLFragment.Parameter] = []) {
      self.terms = terms
      self.sql = sql
      self.values = values
    }
  }

  private static func key(_ cell: Cell) -> SQLFragment.Parameter { .key(IndexKey(cell) ?? .null) }
  private static func key(_ text: String) -> SQLFragment.Parameter { key(.bytes(Array(text.utf8)[...])) }
  private static func key(_ number: Int64) -> SQLFragment.Parameter { key(.integer(number)) }
  private static func data(_ bytes: [UInt8]) -> SQLFragment.Parameter { key(.bytes(bytes[...])) }
  private static let null = SQLFragment.Parameter.key(.null)

  @Test(
    "CK-80 terms become conditions and parameters",
    arguments: [
      Row([.compare(field: "name", .equal, .text("x"))], "k1 = ?", [key("x")]),
      Row([.compare(field: "name", .equal, .null)], "k1 = ?", [null]),
      Row([.compare(field: "date", .notEqual, .integer(1))], "(k2 < ? OR k2 > ?)", [key(1), key(1)]),
      Row([.compare(field: "date", .notEqual, .null)], "k2 > ?", [null]),
      Row([.compare(field: "date", .less, .real(1.5))], "(k2 > ? AND k2 <= ?)", [null, key(1)]),
      Row(
        [.compare(field: "location", .lessOrEqual, .integer(3))], "(k3 > ? AND k3 <= ?)", [null, key(Cell.real(3))]),
      Row([.compare(field: "date", .greater, .integer(3))], "k2 > ?", [key(3)]),
      Row([.compare(field: "date", .greaterOrEqual, .integer(3))], "k2 >= ?", [key(3)]),
      Row([.compare(field: "name", .prefix, .text("IMG_"))], "(k1 >= ? AND k1 < ?)", [key("IMG_"), key("IMG`")]),
      Row(
        [.compare(field: "hash", .prefix, .data([1, 0xff]))], "(k5 >= ? AND k5 < ?)", [data([1, 0xff]), data([2])]),
      Row(
        [.compare(field: "hash", .prefix, .data([0xff]))], "(k5 >= ? AND k5 < ?)",
        [data([0xff]), .key(IndexKey(bytes: [2]))]),
      Row(
        [
          .compare(field: "name", .equal, .text("a")), .compare(field: "date", .less, .integer(1)),
          .compare(field: "date", .greater, .integer(2)), .any(2), .all(2),
        ], "(k1 = ? AND ((k2 > ? AND k2 < ?) OR k2 > ?))", [key("a"), null, key(1), key(2)]),
      Row([.compare(field: "name", .equal, .text("a")), .all(1)], "k1 = ?", [key("a")]),
      Row(
        [.compare(field: "name", .matchAll, .text("Snow \"on the\" fjo*"))],
        "id IN (SELECT rowid AS id FROM words WHERE words MATCH ?)",
        [.text("\"1_1_snow\" AND \"1_1_on 1_1_the\" AND \"1_1_fjo\" *")]),
      Row(
        [.compare(field: "tags", .containsAny, .list([.text("a"), .text("b")]))],
        "id IN (SELECT DISTINCT record AS id FROM members WHERE in_table = ? AND field = ? AND value IN (?, ?))",
        [.integer(1), .integer(8), key("a"), key("b")]),
      Row([], ""),
    ])
  func conditions(row: Row) throws {
    #expect(try filter(query(row.terms)) == row.sql)
    let statement = try compiled(query(row.terms)).candidates(in: indexes, .sqlite).fragment
    #expect(Array(statement.parameters.dropFirst()) == row.values)
  }

  @Test("CK-80: words that PostgreSQL keeps without their places are found where a phrase may be")
  func words() throws {
    let terms: [Predicate.Term] = [.compare(field: "name", .matchAll, .text("Snow \"on the\" fjo*"))]
    #expect(
      try filter(query(terms), .postgres)
        == "(id IN (SELECT record AS id FROM words WHERE text @@ convert_from(?, 'UTF8')::tsquery) AND (1 = 1))")
    let candidates = try compiled(query(terms)).candidates(in: indexes, .postgres)
    #expect(candidates.fragment.parameters.last == .text("('1_1_snow') & ('1_1_on' & '1_1_the') & ('1_1_fjo':*)"))
    #expect(!candidates.isExact)
    let one = query([.compare(field: "name", .matchAll, .text("snow"))])
    #expect(try compiled(one).candidates(in: indexes, .postgres).isExact)
  }

  @Test("CK-80: what no index answers is asked of the rows that others have found, once")
  func tested() throws {
    let like = Predicate.Term.compare(field: "name", .like, .text("%x"))
    let named = Predicate.Term.compare(field: "album", .equal, .text("a"))
    let dated = Predicate.Term.compare(field: "date", .greater, .integer(1))
    let test = "(1 = 1)"
    #expect(try filter(query([dated, like, named, .all(3)])) == "(k2 > ? AND \(test))")
    #expect(try filter(query([dated, like, .any(2)])) == test, "who looks at every record needs no index")
    let headed = Predicate.Term.compare(field: "name", .like, .text("a%x"))
    #expect(try filter(query([headed])) == "((k1 >= ? AND k1 < ?) AND \(test))")
    for terms in [[dated, like, named, .all(3)], [dated, like, .any(2)], [headed]] {
      #expect(try !compiled(query(terms)).candidates(in: indexes, .sqlite).isExact)
    }
    let other = Predicate.Term.compare(field: "name", .equal, .text("a"))
    #expect(try compiled(query([dated, other, .all(2)])).candidates(in: indexes, .sqlite).isExact)
  }

  @Test("CK-80: one key has the order of names already, so that a page reads no more than it has")
  func oneKey() throws {
    let named = Predicate.Term.compare(field: "name", .equal, .text("a"))
    let dated = Predicate.Term.compare(field: "date", .less, .integer(9))
    for engine in IndexEngine.allCases {
      let asked = try compiled(query([named]))
      let source = try #require(asked.plainSource(asked.sources(in: indexes, engine), in: indexes, engine))
      let candidates = asked.candidates(in: indexes, from: source, engine)
      #expect(candidates.fragment.sql.hasSuffix("ORDER BY zone ASC, name ASC LIMIT 11"))
      let isInOrder = engine == .postgres || candidates.fragment.sql.contains("INDEXED BY records_by_k1")
      #expect(candidates.isInOrder && candidates.isExact && candidates.ordered == nil && isInOrder)
      for other in [query([dated]), query([named], sort: [SortKey("date")])] {
        let asked = try compiled(other)
        #expect(asked.plainSource(asked.sources(in: indexes, engine), in: indexes, engine) == nil)
      }
    }
  }

  struct Bad: CustomTestStringConvertible, Sendable {
    let query: Query
    let code: ErrorCode
    /// What the message names.
    let names: [String]
    var testDescription: String { names.joined(separator: ", ") }
  }

  @Test(
    "CK-80 what is wrong is said, naming field and types",
    arguments: [
      Bad(query: query([.compare(field: "size", .equal, .integer(1))]), code: .schemaViolation, names: ["size"]),
      Bad(
        query: query([.compare(field: "date", .equal, .text("x"))]), code: .schemaViolation,
        names: ["date", "integer", "text"]),
      Bad(
        query: query([.compare(field: "name", .less, .data([1]))]), code: .schemaViolation,
        names: ["name", "text", "data"]),
      Bad(query: query([.compare(field: "photo", .equal, .null)]), code: .schemaViolation, names: ["photo", "object"]),
      Bad(query: query([.compare(field: "name", .less, .null)]), code: .schemaViolation, names: ["name", "null"]),
      Bad(query: query([.compare(field: "date", .prefix, .integer(1))]), code: .schemaViolation, names: ["date"]),
      Bad(
        query: query([.compare(field: "location", .equal, .real(.nan))]), code: .schemaViolation, names: ["location"]),
      Bad(
        query: query([.compare(field: "date", .matchAll, .text("snow"))]), code: .schemaViolation,
        names: ["date", "MATCH"]),
      Bad(
        query: query([.compare(field: "name", .matchAll, .text("- ,"))]), code: .invalidData, names: ["no word"]),
      Bad(
        query: query(sort: [SortKey("name", near: try? CaravanModel.Location(latitude: 1, longitude: 1))]),
        code: .schemaViolation, names: ["name", "distance"]),
      Bad(query: query([.compare(field: "secret", .equal, .null)]), code: .schemaViolation, names: ["secret"]),
      Bad(query: query([.compare(field: "date", .near, .integer(1))]), code: .invalidData, names: ["date", "a list"]),
      Bad(query: query([.not]), code: .invalidData, names: ["'not' stands where no result does"]),
      Bad(query: query([.all(1)]), code: .invalidData, names: ["all 1"]),
      Bad(query: query([.compare(field: "name", .equal, .null), .any(2)]), code: .invalidData, names: ["any 2"]),
      Bad(query: query([.compare(field: "name", .equal, .null), .any(0)]), code: .invalidData, names: ["any 0"]),
      Bad(
        query: query(Array(repeating: .compare(field: "name", .equal, .null), count: 2)), code: .invalidData,
        names: ["2 results"]),
      Bad(
        query: query(Array(repeating: .compare(field: "name", .equal, .null), count: 65)), code: .limitExceeded,
        names: ["65"]),
      Bad(query: query(sort: [SortKey("photo")]), code: .schemaViolation, names: ["photo"]),
      Bad(query: query(sort: [SortKey("date"), SortKey("date")]), code: .invalidData, names: ["date"]),
      Bad(query: query(limit: 1_001), code: .limitExceeded, names: ["1001", "1000"]),
      Bad(query: query(cursor: [1, 2, 3]), code: .invalidData, names: ["cursor"]),
    ])
  func refusals(bad: Bad) {
    let error = #expect(throws: CaravanError.self) { try compiled(bad.query) }
    #expect(error?.code == bad.code)
    for name in bad.names { #expect(error?.message.contains(name) == true, "\(error?.message ?? "")") }
  }

  @Test("a field's text never becomes SQL") func injection() {
    let name = "name\"; DROP TABLE r1; --"
    #expect(throws: CaravanError.self) { try compiled(query([.compare(field: name, .equal, .text("x"))])) }
  }

  @Test(
    "a prefix range holds what begins with it, and nothing else",
    arguments: ["a", "aé", "\u{d7ff}", "a\u{10ffff}", "\u{10ffff}", "né"])
  func prefixes(prefix: String) throws {
    let values = try compiled(query([.compare(field: "name", .prefix, .text(prefix))])).candidates(in: indexes, .sqlite)
      .fragment.parameters.dropFirst()
    func bytes(_ value: SQLFragment.Parameter?) -> [UInt8]? {
      guard case .key(let key) = value else { return nil }
      return Array(key.bytes.dropFirst())
    }
    let low = try #require(bytes(values.first))
    let high = values.count > 1 ? bytes(values.last) : nil
    let scalars = ["", "a", "b", "z", "\u{0}", "é", "\u{d7ff}", "\u{e000}", "\u{10ffff}"]
    for a in scalars {
      for b in scalars {
        for candidate in [a + b, prefix + a, prefix + a + b, a + prefix] {
          let text = Array(candidate.utf8)
          let isInside =
            !text.lexicographicallyPrecedes(low) && (high.map { text.lexicographicallyPrecedes($0) } ?? true)
          #expect(isInside == text.starts(with: Array(prefix.utf8)), "\(candidate.debugDescription)")
        }
      }
    }
  }

  @Test("a cursor fits its query in pages of any size, and no other query") func cursors() throws {
    let terms: [Predicate.Term] = [.compare(field: "date", .greater, .integer(5))]
    let sort = [SortKey("name"), SortKey("date", isDescending: true)]
    let cursor = try compiled(query(terms, sort: sort)).place(
      keys: [IndexKey(bytes: [1, 120]), .null], zone: "photos", name: "row 1"
    ).bytes
    #expect(throws: Never.self) { try compiled(query(terms, sort: sort, limit: 3, cursor: cursor)) }
    let others = [
      query([.compare(field: "date", .greater, .integer(6))], sort: sort, cursor: cursor),
      query([.compare(field: "date", .greaterOrEqual, .integer(5))], sort: sort, cursor: cursor),
      query(terms, sort: sort.reversed(), cursor: cursor), query(terms, sort: [SortKey("name")], cursor: cursor),
      query(sort: sort, cursor: cursor), query(terms, sort: sort, cursor: cursor + [0]),
      query(terms, sort: sort, cursor: Array(cursor.dropLast())),
    ]
    var ofOtherType = query(terms, sort: sort)
    ofOtherType.type += "s"
    #expect(ofOtherType.fingerprint != query(terms, sort: sort).fingerprint)
    for other in others {
      let error = #expect(throws: CaravanError.self) { try compiled(other) }
      #expect(error?.code == .invalidData)
    }
    for index in cursor.indices.dropFirst(8) {
      // A changed byte is refused or is another place in the same query: never a crash.
      var damaged = cursor
      damaged[index] ^= 0xff
      _ = try? compiled(query(terms, sort: sort, cursor: damaged))
    }
  }
}

/// Goal: the index always ends where the zone is. Method: table.
@Suite struct ZoneStepTests {
  @Test(
    "the zone's seq decides what a commit means",
    arguments: [
      (ZoneProgress?.none, 0, 5, false, true, ZoneStep.apply), (nil, 0, 5, false, false, .read),
      (nil, 3, 5, false, true, .read), (nil, 5, 5, true, false, .read),
      (ZoneProgress(incarnation: 1, seq: 5), 5, 7, false, true, .apply),
      (ZoneProgress(incarnation: 1, seq: 5), 5, 7, false, false, .read),
      (ZoneProgress(incarnation: 1, seq: 5), 6, 7, false, true, .read),
      (ZoneProgress(incarnation: 1, seq: 5), 4, 7, false, true, .read),
      (ZoneProgress(incarnation: 1, seq: 7), 5, 7, false, true, .skip),
      (ZoneProgress(incarnation: 1, seq: 9), 5, 7, true, false, .read),
      (ZoneProgress(incarnation: 2, seq: 9), 9, 11, false, true, .read),
    ] as [(ZoneProgress?, Seq, Seq, Bool, Bool, ZoneStep)])
  func steps(row: (ZoneProgress?, Seq, Seq, Bool, Bool, ZoneStep)) {
    let (progress, low, high, isDeletion, hasPage, step) = row
    #expect(
      ZoneStep(progress, incarnation: 1, low: low, high: high, isDeletion: isDeletion, hasPage: hasPage) == step)
  }
}

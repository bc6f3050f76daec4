import CaravanModel
import CaravanQuery
import CaravanQueryCore
import Testing

/// Goal: predicates become parameterised SQL, and what is wrong with them is said. Method: tables.
@Suite struct CompilerTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let terms: [Predicate.Term]
    let sql: String
    let values: [Value]
    var testDescription: String { sql }
  }

  @Test(
    "CK-80 terms become conditions and parameters",
    arguments: [
      Row(terms: [.compare(field: "name", .equal, .text("x"))], sql: "f1 = ?", values: [.text("x")]),
      Row(terms: [.compare(field: "name", .equal, .null)], sql: "f1 IS NULL", values: []),
      Row(terms: [.compare(field: "date", .notEqual, .integer(1))], sql: "f2 IS NOT ?", values: [.integer(1)]),
      Row(terms: [.compare(field: "date", .notEqual, .null)], sql: "f2 IS NOT NULL", values: []),
      Row(terms: [.compare(field: "date", .less, .real(1.5))], sql: "f2 <= ?", values: [.integer(1)]),
      Row(terms: [.compare(field: "location", .lessOrEqual, .integer(3))], sql: "f3 <= ?", values: [.real(3)]),
      Row(terms: [.compare(field: "date", .greater, .integer(3))], sql: "f2 > ?", values: [.integer(3)]),
      Row(terms: [.compare(field: "date", .greaterOrEqual, .integer(3))], sql: "f2 >= ?", values: [.integer(3)]),
      Row(
        terms: [.compare(field: "name", .prefix, .text("IMG_"))], sql: "(f1 >= ? AND f1 < ?)",
        values: [.text("IMG_"), .text("IMG`")]),
      Row(terms: [.compare(field: "name", .prefix, .text(""))], sql: "f1 >= ?", values: [.text("")]),
      Row(
        terms: [.compare(field: "hash", .prefix, .data([1, 0xff]))], sql: "(f5 >= ? AND f5 < ?)",
        values: [.data([1, 0xff]), .data([2])]),
      Row(terms: [.compare(field: "hash", .prefix, .data([0xff]))], sql: "f5 >= ?", values: [.data([0xff])]),
      Row(
        terms: [
          .compare(field: "name", .equal, .text("a")), .compare(field: "date", .less, .integer(1)),
          .compare(field: "date", .greater, .integer(2)), .any(2), .all(2),
        ], sql: "(f1 = ? AND (f2 < ? OR f2 > ?))", values: [.text("a"), .integer(1), .integer(2)]),
      Row(terms: [.compare(field: "name", .equal, .text("a")), .all(1)], sql: "f1 = ?", values: [.text("a")]),
      Row(terms: [], sql: "", values: []),
    ])
  func conditions(row: Row) throws {
    #expect(try filter(query(row.terms)) == row.sql)
    #expect(try compiled(query(row.terms)).statement.values == row.values)
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
        query: query([.compare(field: "name", .matchAll, .text("snow"))]), code: .featureDisabled,
        names: ["no index for MATCH"]),
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
    let values = try compiled(query([.compare(field: "name", .prefix, .text(prefix))])).statement.values
    func bytes(_ value: Value?) -> [UInt8]? {
      guard case .text(let text) = value else { return nil }
      return Array(text.utf8)
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
    let cursor = try compiled(query(terms, sort: sort)).cursor(
      keys: [.text("x"), .null], zone: "photos", name: "row 1")
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
      (ZoneProgress?.none, 0, 5, false, true, ZoneStep.apply), (nil, 0, 5, false, false, .reload),
      (nil, 3, 5, false, true, .reload), (nil, 5, 5, true, false, .reload),
      (ZoneProgress(incarnation: 1, seq: 5), 5, 7, false, true, .apply),
      (ZoneProgress(incarnation: 1, seq: 5), 5, 7, false, false, .read(after: 5)),
      (ZoneProgress(incarnation: 1, seq: 5), 6, 7, false, true, .read(after: 5)),
      (ZoneProgress(incarnation: 1, seq: 5), 4, 7, false, true, .read(after: 5)),
      (ZoneProgress(incarnation: 1, seq: 7), 5, 7, false, true, .skip),
      (ZoneProgress(incarnation: 1, seq: 9), 5, 7, true, false, .reload),
      (ZoneProgress(incarnation: 2, seq: 9), 9, 11, false, true, .reload),
    ] as [(ZoneProgress?, Seq, Seq, Bool, Bool, ZoneStep)])
  func steps(row: (ZoneProgress?, Seq, Seq, Bool, Bool, ZoneStep)) {
    let (progress, low, high, isDeletion, hasPage, step) = row
    #expect(
      ZoneStep(progress, incarnation: 1, low: low, high: high, isDeletion: isDeletion, hasPage: hasPage) == step)
  }
}

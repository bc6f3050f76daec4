import CaravanAgentCore
import CaravanModel
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: an app asks the rows of its device by words, places and lists as it asks the cloud (CK-80). Method: a real
/// store.
@Suite("Selections by words, places and lists", .timeLimit(.minutes(1))) struct LanguageSelectionTests {
  private static let table = TableID(app: StoreFixture.app, name: "places")
  private static let schema =
    "name VARCHAR, at LOCATION, parent REFERENCE, tags LIST<VARCHAR>, sizes LIST<INTEGER>, photo OBJECT"

  private static func with(_ body: (LocalStore) async throws -> Void) async throws {
    try await StoreFixture.with { f in
      let store = f.store
      try await store.createTable(table, schema: try SchemaText(parsing: schema), localOnly: true)
      func place(_ latitude: Double, _ longitude: Double) throws -> Value {
        .location(try Location(latitude: latitude, longitude: longitude))
      }
      let rows: [(String, Value, Value, [String], [Int64])] = [
        ("Snow on the Fjord", try place(62.47, 6.15), .null, ["snow", "sea"], [1, 2]),
        ("Rain in Bergen", try place(60.39, 5.32), .reference(Reference(to: "a")), ["rain", "sea"], [2, 3]),
        ("Ångström", .null, .null, [], []),
      ]
      for (name, at, parent, tags, sizes) in rows {
        try await store.write(
          table,
          cells: [
            CellValue("name", .text(name)), CellValue("at", at), CellValue("parent", parent),
            CellValue("tags", .list(tags.map { .text($0) })), CellValue("sizes", .list(sizes.map { .integer($0) })),
          ])
      }
      try await body(store)
    }
  }

  private static func names(_ store: LocalStore, _ text: String, _ arguments: [Value] = []) async throws -> [String] {
    let request = ReadRequest(table: table, selection: Selection(text, arguments))
    return try await store.beginRead(request, owner: 1).rows.compactMap { $0.cells[0].value.textValue }
  }

  @Test("CK-80: what SQL has no words for finds rows, beside what it has, with arguments or without")
  func finds() async throws {
    try await Self.with { store in
      let all: [(String, [Value], [String])] = [
        ("name MATCH 'fjord snow'", [], ["Snow on the Fjord"]), ("name MATCH ?", [.text("angstrom")], ["Ångström"]),
        ("name NOT MATCH 'fjord'", [], ["Rain in Bergen", "Ångström"]),
        ("tags CONTAINS 'sea'", [], ["Snow on the Fjord", "Rain in Bergen"]),
        ("tags CONTAINS ALL (?, 'sea')", [.text("rain")], ["Rain in Bergen"]),
        ("sizes CONTAINS ANY (1, 9)", [], ["Snow on the Fjord"]),
        ("tags CONTAINS LIKE 'sn%'", [], ["Snow on the Fjord"]),
        ("at NEAR (62, 6, ?)", [.real(100_000)], ["Snow on the Fjord"]),
        ("at WITHIN (60, 5, 61, 6) AND name LIKE 'Rain%'", [], ["Rain in Bergen"]),
        ("parent = 'a' AND tags CONTAINS 'sea'", [], ["Rain in Bergen"]),
        ("NOT (at NEAR (62, 6, 100000)) OR name MATCH 'ang*'", [], ["Rain in Bergen", "Ångström"]),
        ("photo IS NULL AND tags NOT CONTAINS 'rain'", [], ["Snow on the Fjord", "Ångström"]),
      ]
      for (text, arguments, found) in all {
        #expect(try await Self.names(store, text, arguments) == found, "\(text)")
      }
      let gone = try await store.delete(Self.table, selection: Selection("name MATCH 'rain'", []))
      #expect(gone == 1)
      try await store.write(
        Self.table, cells: [CellValue("name", .text("Sun"))], selection: Selection("tags CONTAINS 'snow'", []))
      #expect(try await Self.names(store, "name MATCH 'sun'") == ["Sun"])
    }
  }

  @Test("CK-80: what a column cannot be asked is refused with its reason, and nobody calls what answers it by hand")
  func refusals() async throws {
    try await Self.with { store in
      let all: [(String, [Value], ErrorCode, String)] = [
        ("tags MATCH 'x'", [], .schemaViolation, "only texts MATCH"), ("name MATCH ''", [], .invalidData, "no word"),
        ("at NEAR (100, 0, 1)", [], .invalidData, "latitude"),
        ("nme MATCH 'x'", [], .schemaViolation, "no field 'nme'"),
        ("name MATCH ?", [], .invalidData, "1 '?' and 0 arguments"),
        ("row_function(name)", [], .invalidData, "not available"),
        ("name MATCH 'x' OR length(name) = 1", [], .invalidData, ""),
      ]
      for (text, arguments, code, says) in all {
        let error = await #expect(throws: CaravanError.self) { try await Self.names(store, text, arguments) }
        #expect(error?.code == code && error?.message.contains(says) == true, "\(text): \(error?.message ?? "")")
      }
    }
  }
}

import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import Testing

@Suite("Selections against the store")
struct SelectionGuardTests {
  @Test(
    "what is not an expression over the table's own columns is refused",
    arguments: [
      "name = (SELECT name FROM apps)", "EXISTS (SELECT 1 FROM \"notes/photos\")", "name IN (SELECT hash FROM chunks)",
      "1) UNION SELECT * FROM apps --", "load_extension('x')", "randomblob(1000000000) IS NULL", "zeroblob(1) = x''",
      "nmae = 'x'", "name = 'x' ORDER BY (SELECT 1)", "1 LIMIT 1", "apps.token IS NULL", "count(*) > 0",
      "printf('%1000000000d', 1) = ''", "date('now') > ''", "name COLLATE nothing = 'x'", "AND",
    ])
  func refused(text: String) async throws {
    try await StoreFixture.with { f in
      try await f.write("x")
      for operation in 0..<3 {
        await #expect {
          switch operation {
          case 0: _ = try await f.rows(Selection(text))
          case 1: try await f.store.delete(StoreFixture.photos, selection: Selection(text))
          default:
            try await f.store.write(
              StoreFixture.photos, cells: [CellValue("name", .text("y"))], selection: Selection(text))
          }
        } throws: { ($0 as? CaravanError)?.code == .invalidData }
      }
      #expect(try await f.names() == ["x"])
    }
  }

  @Test(
    "what apps need works",
    arguments: [
      ("name = 'x'", 1), ("name LIKE 'x%' AND date IS NULL", 1), ("length(name) = 1 OR lower(name) = 'zz'", 1),
      ("photo IS NOT NULL", 0), ("NAME IN ('x', 'y')", 1), ("CASE WHEN date IS NULL THEN 1 ELSE 0 END", 1),
      ("coalesce(date, 5) BETWEEN 4 AND 6", 1), ("_version = 0", 1),
    ])
  func accepted(text: String, count: Int) async throws {
    try await StoreFixture.with { f in
      try await f.write("x")
      #expect(try await f.rows(Selection(text)).count == count)
    }
  }

  @Test("columns and order that do not exist are refused by name, arguments are counted")
  func names() async throws {
    try await StoreFixture.with { f in
      let table = StoreFixture.photos
      for request in [
        ReadRequest(table: table, columns: ["name\" FROM apps --"]), ReadRequest(table: table, columns: ["_flags"]),
        ReadRequest(table: table, order: [.init("name; DROP TABLE apps")]),
        ReadRequest(table: table, order: [.init("photo")]),
      ] {
        await #expect { _ = try await f.store.beginRead(request, owner: 1) } throws: {
          ($0 as? CaravanError)?.code == .schemaViolation
        }
      }
      await #expect { _ = try await f.rows(Selection("name = ?")) } throws: {
        ($0 as? CaravanError)?.message.contains("0 arguments") == true
      }
    }
  }

  @Test("a selection that computes without end is stopped, and the store lives on")
  func expensive() async throws {
    try await StoreFixture.with { f in
      for _ in 0..<400 { try await f.write("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") }
      let product = (0..<60).map { _ in "length(upper(lower(upper(name)))) > 1000" }.joined(separator: " OR ")
      _ = try await f.rows(Selection(product))
      #expect(try await f.rows().count == 400)
    }
  }
}

import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: the row, with every object it refers to, is the unit of everything: how it is declared, written, read, sent
/// and decided. Method: a store, and outcomes as the cloud would give them.
@Suite("The row as the unit", .timeLimit(.minutes(2)))
struct RowUnitTests {
  typealias F = StoreFixture

  private static func table(_ name: String) -> TableID { TableID(app: F.app, name: name) }

  private static func with(
    _ schema: String, _ body: (F, TableID) async throws -> Void
  ) async throws {
    try await F.with { f in
      try await f.store.createTable(table("t"), schema: SchemaText(parsing: schema), localOnly: false)
      try await body(f, table("t"))
    }
  }

  private static func write(
    _ f: F, _ table: TableID, _ cells: [CellValue], _ objects: [String: [UInt8]], _ selection: Selection? = nil
  ) async throws -> [String] {
    let opened = try await f.store.openWrite(
      table, cells: cells, objects: objects.keys.sorted(), selection: selection, owner: f.owner)
    for (object, bytes) in objects {
      try await f.store.writeObject(opened.handle, row: 0, object: object, offset: 0, bytes: bytes, owner: f.owner)
    }
    return try await f.store.closeWrite(opened.handle, owner: f.owner)
  }

  private static func object(_ f: F, _ table: TableID, _ row: String, _ column: String) async throws -> [UInt8] {
    try await f.store.readObject(table, row: row, object: column, offset: 0, length: 1 << 20, owner: f.owner).bytes
  }

  @Test("SIM-01, SIM-05: cells of every kind and many objects, cells alone, objects alone: the same calls")
  func kinds() async throws {
    try await Self.with("a VARCHAR, b INTEGER, c FLOAT, d BLOB, x OBJECT, y OBJECT, z OBJECT") { f, t in
      let cells: [CellValue] = [
        CellValue("a", .text("é")), CellValue("b", .integer(.min)), CellValue("c", .real(-0.5)),
        CellValue("d", .data([0, 255])),
      ]
      let (x, y) = (F.noise(300_000), F.noise(1, seed: 2))
      let row = try await Self.write(f, t, cells, ["x": x, "y": y])[0]
      let view = try #require(try await f.rows(in: t).first)
      #expect(view.cells == cells)
      #expect(view.objects.map(\.column) == ["x", "y"])
      #expect(try await Self.object(f, t, row, "x") == x)
      #expect(try await Self.object(f, t, row, "y") == y)
    }
    try await Self.with("n INTEGER") { f, t in
      try await f.store.write(t, cells: [CellValue("n", .integer(1))])
      #expect(try await f.rows(in: t).map(\.cells) == [[CellValue("n", .integer(1))]])
    }
    try await Self.with("x OBJECT, y OBJECT") { f, t in
      let row = try await Self.write(f, t, [], ["y": [1, 2, 3]])[0]
      #expect(try await f.rows(in: t)[0].objects.map(\.column) == ["y"])
      #expect(try await Self.object(f, t, row, "y") == [1, 2, 3])
    }
  }

  @Test("SIM-02, SIM-52: an object is its row's alone; a row is as it was until all its objects are closed")
  func ownership() async throws {
    try await Self.with("name VARCHAR, x OBJECT, y OBJECT") { f, t in
      let bytes = F.noise(100_000)
      let first = try await Self.write(f, t, [CellValue("name", .text("a"))], ["x": bytes, "y": bytes])[0]
      let second = try await Self.write(f, t, [CellValue("name", .text("b"))], ["x": bytes])[0]
      // An object is no value that a cell could be given, and so none that two rows could share.
      await #expect { try await f.store.write(t, cells: [CellValue("x", .text(first))]) } throws: {
        ($0 as? CaravanError)?.code == .schemaViolation
      }
      let opened = try await f.store.openWrite(
        t, cells: [CellValue("name", .text("c"))], objects: ["x", "y"], selection: Selection("name = 'a'"),
        owner: f.owner)
      for column in ["x", "y"] {
        try await f.store.writeObject(opened.handle, row: 0, object: column, offset: 0, bytes: [7], owner: f.owner)
        #expect(try await Self.object(f, t, first, column) == bytes)
        #expect(try await f.rows(Selection("name = 'c'"), in: t).isEmpty)
      }
      try await f.store.closeWrite(opened.handle, owner: f.owner)
      #expect(try await f.rows(Selection("name = 'c'"), in: t).count == 1)
      let changed = [7] + Array(bytes.dropFirst())
      #expect(try await Self.object(f, t, first, "y") == changed)
      // The same bytes elsewhere are theirs.
      #expect(try await Self.object(f, t, second, "x") == bytes)
      _ = try await f.store.delete(t, selection: Selection("name = 'c'"))
      #expect(try await Self.object(f, t, second, "x") == bytes)
    }
  }

  @Test("SIM-07: of rows that go together one may be in conflict while the others arrive: a table has no larger unit")
  func rowsAlone() async throws {
    try await F.with { f in
      try await f.agree()
      for name in ["a", "b", "c"] { try await f.write(name) }
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.count == 3)
      let server = F.entry(plan.mutations[1].name, 5, "B").entry
      try await f.store.record(
        [.accepted(version: 6), .conflict(server: server), .accepted(version: 7)], of: plan.op)
      #expect(try await f.rows().map(\.state) == [.clean, .conflict, .clean])
      #expect(try await f.rows()[0].version == 6)
    }
  }

  @Test("MOB-15, MOB-17: a row's version is shown beside its cells; columns may have any name, ours are not seen")
  func hidden() async throws {
    try await Self.with("id VARCHAR, version INTEGER, flags INTEGER, row INTEGER") { f, t in
      let cells = ["version", "flags", "row"].map { CellValue($0, .integer(9)) }
      try await f.store.write(t, cells: [CellValue("id", .text("mine"))] + cells)
      let view = try await f.rows(in: t)[0]
      #expect(view.cells.map(\.column) == ["id", "version", "flags", "row"])
      #expect(view.version == 0 && view.state == .dirty)
    }
    try await F.with { f in
      try await f.agree()
      try await f.apply([F.entry("row-1", 5, "a")])
      #expect(try await f.rows()[0].version == 5)
    }
  }
}

import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanWire
import Testing

/// Goal: what a device heard of a deletion outlives the row, so that a page read before it changes nothing (I9),
/// however the device heard of it. Method: the real store; pages and outcomes by hand, in the order of a slow pull.
@Suite struct DeletionTests {
  @Test("a stale entry does not bring back a row that both sides had deleted")
  func deletedOnBothSides() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("a", version: 1)
      try await f.store.delete(StoreFixture.photos, selection: nil)
      let plan = try #require(try await f.collect())
      try await f.store.record(
        [.conflict(server: StoreFixture.tombstone(id, 5).entry)], of: plan.op)
      #expect(try await f.apply([StoreFixture.entry(id, 4, "theirs")]).applied == 0)
      #expect(try await f.rows().isEmpty)
      #expect(try await f.apply([StoreFixture.entry(id, 6, "anew")]).applied == 1)
    }
  }

  @Test("nor one whose conflict was resolved for the cloud's deletion")
  func resolvedAsDeleted() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("a", version: 1)
      try await f.store.write(
        StoreFixture.photos, cells: [CellValue("name", .text("mine"))], selection: Selection("name = 'a'"))
      let plan = try #require(try await f.collect())
      try await f.store.record(
        [.conflict(server: StoreFixture.tombstone(id, 5).entry)], of: plan.op)
      try await f.store.beginResolution(StoreFixture.photos, owner: f.owner)
      try await f.store.resolve(StoreFixture.photos, row: id, .theirs, owner: f.owner)
      try await f.store.endResolution(StoreFixture.photos, owner: f.owner)
      #expect(try await f.apply([StoreFixture.entry(id, 4, "theirs")]).applied == 0)
      #expect(try await f.rows().isEmpty)
    }
  }

  @Test("nor does it touch a row made anew under its key while the deletion was on its way")
  func madeAnew() async throws {
    try await StoreFixture.with { f in
      let table = TableID(app: StoreFixture.app, name: "keys")
      try await f.store.createTable(
        table, schema: try SchemaText(parsing: "name VARCHAR PRIMARY KEY"), localOnly: false)
      try await f.store.agree(
        on: CaravanModel.RecordType(
          id: 7, definition: 7, name: "keys", fields: [CaravanModel.FieldDefinition(id: 1, name: "name", kind: .text)]),
        for: table)
      func collect() async throws -> PushPlan {
        try #require(try await f.store.collect(table, maximumRows: 9, maximumBytes: 999))
      }
      let cells = [CellValue("name", .text("k"))]
      let id = try await f.store.write(table, cells: cells)[0]
      let saved = try await collect()
      try await f.store.record([.accepted(version: 1)], of: saved.op)
      try await f.store.delete(table, selection: nil)
      let deleted = try await collect()
      #expect(try await f.store.write(table, cells: cells) == [id])
      try await f.store.record([.accepted(version: 2)], of: deleted.op)
      for isOwn in [true, false] {
        let stale = CaravanModel.Entry(
          name: id, version: 1, created: 1, type: 7, body: isOwn ? [] : RecordFields([1: .text("k")]).body, writer: "d")
        try await f.store.apply(
          [IncomingEntry(entry: stale, isOwn: isOwn)], to: table, token: [1], end: .last)
      }
      #expect(try await f.store.conflicts(table).isEmpty)
      #expect(try await collect().mutations.map(\.base) == [.absent])
    }
  }
}

import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import Testing

/// Goal: no call loses what was not sent unless it is told to. Method: a store, and rows in each state.
@Suite("Unsent changes", .timeLimit(.minutes(1))) struct UnsentTests {
  typealias F = StoreFixture

  private static func refusal(_ body: () async throws -> Void) async throws -> String {
    let error = await #expect(throws: CaravanError.self) { try await body() }
    #expect(error?.code == .invalidData)
    return error?.message ?? ""
  }

  @Test("TRU-14: a table with unsent changes is not dropped, and the refusal says how many")
  func drop() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.write("unsent")
      let told = try await Self.refusal { try await f.store.dropTable(F.photos) }
      #expect(told.hasPrefix("1 row of table 'photos' has changes"))
      #expect(try await f.names() == ["unsent"])
      try await f.accept(try #require(try await f.collect()), from: 1)
      try await f.store.delete(F.photos, selection: nil)
      try await f.write("on its way")
      let plan = try #require(try await f.collect())
      let both = try await Self.refusal { try await f.store.dropTable(F.photos) }
      #expect(both.hasPrefix("2 rows of table 'photos' have changes"), "a deletion, and a row on its way")
      try await f.store.abort(plan.op)
      try await f.store.dropTable(F.photos, discardingUnsent: true)
      #expect(await f.store.tableNames(of: F.app) == [])
      try await f.store.createTable(F.photos, schema: SchemaText(parsing: "name VARCHAR"), localOnly: false)
    }
  }

  @Test("TRU-14: rows in conflict are unsent; a table whose changes have all been taken is dropped as ever")
  func conflict() async throws {
    try await F.with { f in
      try await f.agree()
      let id = try await f.synced("mine", version: 1)
      _ = try await f.store.write(F.photos, cells: [CellValue("name", .text("changed"))], selection: Selection("1"))
      try await f.apply([F.entry(id, 2, "theirs")])
      _ = try await Self.refusal { try await f.store.dropTable(F.photos) }
      try await f.store.beginResolution(F.photos, owner: 1)
      try await f.store.resolve(F.photos, row: id, .theirs, owner: 1)
      try await f.store.endResolution(F.photos, owner: 1)
      try await f.store.dropTable(F.photos)
      try await f.store.createTable(F.photos, schema: SchemaText(parsing: "name VARCHAR"), localOnly: true)
      try await f.write("stays here")
      try await f.store.dropTable(F.photos)
      try await f.store.createTable(F.photos, schema: SchemaText(parsing: "name VARCHAR"), localOnly: false)
    }
  }

  @Test("TRU-14: what was unsent when a table became local only still is")
  func localOnly() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.write("unsent")
      try await f.store.updateTable(F.photos, TableChange(replication: .localOnly))
      _ = try await Self.refusal { try await f.store.dropTable(F.photos) }
      try await f.store.updateTable(F.photos, TableChange(replication: .full))
      #expect(try await f.collect()?.mutations.count == 1)
      try await f.store.abort(try #require(try await f.store.plansInFlight().first).op)
    }
  }

  @Test("TRU-14: neither fewer rows nor another query nor the end of a registration loses what is unsent")
  func narrower() async throws {
    try await F.with { f in
      try await f.agree()
      for name in ["a", "b", "c"] { try await f.write(name) }
      try await f.store.updateTable(F.photos, TableChange(replication: .recent(RecentWindow(rows: 1))))
      try await f.store.updateTable(F.photos, TableChange(replication: .query(RowQuery("name = 'z'"))))
      try await f.store.register(
        F.photos, .write, SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .wifi))
      try await f.store.unregister(F.photos, .write)
      #expect(try await f.names() == ["a", "b", "c"])
      #expect(try await f.status().dirty == 3)
    }
  }

  @Test("REC-27, TRU-14: a reset that takes the server's copies is refused while changes are unsent, or told to")
  func reset() async throws {
    try await F.with { f in
      try await f.agree()
      _ = try await f.synced("sent", version: 1)
      try await f.write("unsent")
      _ = try await Self.refusal { try await f.store.reset(F.photos, .takeServer) }
      #expect(try await f.store.syncState(of: F.photos).isResyncing == false, "nothing has begun")
      try await f.store.reset(F.photos, .keepLocal)
      #expect(try await f.names() == ["sent", "unsent"])
      try await f.apply([F.entry("row-1", 1, "sent")])
      try await f.store.reset(F.photos, .takeServer, discardingUnsent: true)
      try await f.apply([])
      #expect(try await f.names() == [])
    }
  }
}

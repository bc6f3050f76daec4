import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

@Suite("Tables and space")
struct TableTests {
  @Test("SIM-10, SIM-11: creating again is idempotent, another schema is refused, properties may change")
  func create() async throws {
    try await StoreFixture.with { f in
      let table = StoreFixture.photos
      let schema = try SchemaText(parsing: "name text, date int, location real, photo object")
      try await f.store.createTable(table, schema: schema, localOnly: false)
      await #expect {
        try await f.store.createTable(table, schema: try SchemaText(parsing: "x INT"), localOnly: false)
      } throws: {
        ($0 as? CaravanError)?.code == .schemaNotAdditive
      }
      for name in ["Photos", "_x", "a/b", "", "1a", String(repeating: "x", count: 65)] {
        await #expect(throws: CaravanError.self, "\(name)") {
          try await f.store.createTable(TableID(app: StoreFixture.app, name: name), schema: schema, localOnly: false)
        }
      }
      try await f.store.createTable(table, schema: schema, localOnly: true)
      try await f.agree()
      try await f.write("local")
      #expect(try await f.collect() == nil)
      #expect(try await f.status().dirty == 0, "MOB-14")
      try await f.store.createTable(table, schema: schema, localOnly: false)
      #expect(try #require(try await f.collect()).mutations.count == 1)
    }
  }

  @Test("SIM-12: a dropped table gives its space back, also if that is little", arguments: [1, 6])
  func drop(mebibytes: Int) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let empty = try await f.store.fileBytes()
      _ = try await f.synced("a", photo: StoreFixture.noise(mebibytes << 20), version: 1)
      try await f.apply([StoreFixture.entry("row-1", 1, "waits", photo: StoreFixture.noise(9))])
      try await f.edit("a", at: 0, [1])
      _ = try await f.collect()
      #expect(try await f.store.fileBytes() > empty + (mebibytes << 20))
      try await f.store.dropTable(StoreFixture.photos, discardingUnsent: true)
      #expect(try await f.store.fileBytes() < empty + (512 << 10))
      #expect(try await f.store.storedChunks() == 0)
      #expect(try await f.store.plansInFlight().isEmpty)
      await #expect { try await f.rows() } throws: { ($0 as? CaravanError)?.code == .tableNotFound }
    }
  }

  @Test("I1: a full disk refuses with storageFull, nothing is half there, and what was acknowledged stays")
  func fullDisk() async throws {
    var options = LocalStoreOptions()
    options.maximumBytes = 4 << 20
    try await StoreFixture.with(options: options) { f in
      var acknowledged: [String] = []
      var refused: CaravanError?
      for n in 0..<40 where refused == nil {
        do {
          try await f.write("row \(n)", photo: StoreFixture.noise(300_000, seed: UInt64(n)))
          acknowledged.append("row \(n)")
        } catch let error as CaravanError { refused = error }
      }
      #expect(refused?.code == .storageFull && !acknowledged.isEmpty)
      #expect(try await f.names() == acknowledged)
      await f.store.release(owner: 1)
      #expect(try await f.store.problems() == [])
      try await f.store.delete(StoreFixture.photos, selection: nil)
      try await f.write("fits again", photo: StoreFixture.noise(300_000))
      try await f.crash()
      #expect(try await f.names() == ["fits again"])
    }
  }

  @Test("a store that was closed refuses, and does not crash")
  func closed() async throws {
    try await StoreFixture.with { f in
      let old = f.store
      try await f.crash()
      await #expect { try await old.write(StoreFixture.photos, cells: []) } throws: {
        ($0 as? CaravanError)?.code == .unavailable
      }
      await #expect { _ = try await old.plansInFlight() } throws: { ($0 as? CaravanError)?.code == .unavailable }
      await old.release(owner: 1)
      await old.close()
    }
  }

  @Test("one process owns the store; one that was killed and is going is waited for", arguments: [false, true])
  func ownership(isGoing: Bool) async throws {
    try await withTemporaryDirectory { path in
      let clock = ManualClock()
      let lock = try DirectoryLock(path)
      async let refusal = refusal(path, clock)
      await clock.untilSleepers()
      if isGoing { lock.release() }
      clock.advance(by: StoreLimits.ownerPatience)
      #expect(await refusal == (isGoing ? nil : .unavailable))
    }
  }

  private func refusal(_ directory: String, _ clock: ManualClock) async -> ErrorCode? {
    do throws(CaravanError) {
      await (try LocalStore.open(directory, host: StoreFixture.host(clock: clock))).close()
      return nil
    } catch {
      return error.code
    }
  }

  @Test("MOB-16: an app is bound to its user at first contact and proven by its token afterwards")
  func tokens() async throws {
    try await StoreFixture.with { f in
      let app = ContainerID(unchecked: "notes")
      let lost = try #require(try await f.store.authenticate(app: app, token: [], user: 1000))
      let token = try #require(
        try await f.store.authenticate(app: app, token: [], user: 1000), "the first answer was lost")
      #expect(token != lost)
      #expect(try await f.store.authenticate(app: app, token: token, user: 1000) == nil)
      for (bad, user) in [([], 1000), (lost, 1000), (token, 1001), ([1], 1000)] as [([UInt8], UInt32)] {
        await #expect { _ = try await f.store.authenticate(app: app, token: bad, user: user) } throws: {
          ($0 as? CaravanError)?.code == .notAuthenticated
        }
      }
      try await f.crash()
      #expect(try await f.store.authenticate(app: app, token: token, user: 1000) == nil)
    }
  }
}

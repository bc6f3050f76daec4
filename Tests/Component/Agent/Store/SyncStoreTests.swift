import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

@Suite("The store towards the cloud: upstream")
struct PushStoreTests {
  @Test("SIM-61: dirty rows are collected oldest change first, as bodies of the agreed type, and become SP")
  func collect() async throws {
    try await StoreFixture.with { f in
      try await f.write("a")
      try await f.write("b", photo: [1, 2])
      await #expect(throws: CaravanError.self, "no type agreed yet") { _ = try await f.collect() }
      try await f.agree()
      let plan = try #require(try await f.collect())
      #expect(plan.op == 1 && plan.mutations.count == 2)
      #expect(plan.mutations.map(\.base) == [.absent, .absent])
      guard case .save(let type, let body, let chunks) = plan.mutations[1].change else {
        throw Missing("save in the plan")
      }
      let fields = try RecordFields(body: body)
      #expect(type == 42 && fields[3] == .text("b") && fields.chunks == chunks && chunks.count == 1)
      #expect(try await f.rows().map(\.state) == [.pending, .pending])
      #expect(try await f.collect() == nil, "SIM-65: one push of a table at a time")
      #expect(try await f.store.chunks(chunks, maximumBytes: 1).map(\.bytes) == [[1, 2]])
      try await f.accept(plan, from: 10)
      #expect(try await f.rows().map(\.version) == [10, 11])
      #expect(try await f.status().dirty == 0)
      #expect(try await f.status().pending == 0)
      #expect(await f.store.opFloor == 1, "a power cut would bring the push back, and its outcomes asked for")
      try await f.write("c")
      #expect(await f.store.opFloor == 2, "that is on the disk, and all before it")
    }
  }

  @Test("the limits of a plan hold, and one row always goes")
  func limits() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      for name in ["a", "b", "c"] { try await f.write(String(repeating: name, count: 1_000)) }
      let plan = try #require(
        try await f.store.collect(StoreFixture.photos, maximumRows: 10, maximumBytes: 2_100))
      #expect(plan.mutations.count == 2)
      try await f.accept(plan, from: 1)
      let last = try #require(try await f.store.collect(StoreFixture.photos, maximumRows: 10, maximumBytes: 1))
      #expect(last.mutations.count == 1)
      try await f.store.abort(last.op)
    }
  }

  @Test("UNI-08, REC-20: a plan survives a crash byte for byte, and its rows stay pending until it is settled")
  func crash() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.write("a", photo: StoreFixture.noise(200_000))
      let plan = try #require(try await f.collect())
      try await f.edit("a", at: 0, [9, 9, 9])
      try await f.crash()
      #expect(try await f.store.plansInFlight() == [plan])
      #expect(try await f.store.chunks(plan.chunks, maximumBytes: 1 << 20).count == plan.chunks.count)
      #expect(try await f.collect() == nil)
      try await f.accept(plan, from: 5)
      let row = try await f.rows()[0]
      #expect(row.id == id && row.version == 5 && row.state == .dirty, "edited in flight")
      let next = try #require(try await f.collect())
      #expect(next.op == 2 && next.mutations[0].base == .version(5))
      try await f.accept(next, from: 6)
      #expect(try await f.store.plansInFlight().isEmpty)
    }
  }

  @Test("E1: an aborted plan leaves its rows dirty, deletions too")
  func abort() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      _ = try await f.synced("a", version: 1)
      try await f.store.delete(StoreFixture.photos, selection: nil)
      try await f.write("b")
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.change).contains(.delete))
      try await f.store.abort(plan.op)
      let again = try #require(try await f.collect())
      #expect(again.op > plan.op && again.mutations.map(\.change) == plan.mutations.map(\.change))
      try await f.accept(again, from: 2)
      #expect(try await f.names() == ["b"])
      #expect(try await f.collect() == nil)
    }
  }

  @Test("SIM-16: a deleted row and its chunks go when the cloud has accepted the deletion")
  func lazyDelete() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      _ = try await f.synced("a", photo: StoreFixture.noise(300_000), version: 1)
      let chunks = try await f.store.storedChunks()
      try await f.store.delete(StoreFixture.photos, selection: nil)
      #expect(try await f.rows().isEmpty)
      #expect(try await f.store.storedChunks() == chunks)
      let plan = try #require(try await f.collect())
      try await f.accept(plan, from: 2)
      #expect(try await f.store.storedChunks() == 0)
    }
  }

  @Test("SIM-69: a push in conflict stages the cloud's copy, bars only that row, and tells the app when it is complete")
  func conflict() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("mine", photo: [1, 2, 3], version: 1)
      try await f.edit("mine", at: 0, [9])
      try await f.write("other")
      let plan = try #require(try await f.collect())
      let photo = StoreFixture.noise(250_000)
      let server = StoreFixture.entry(id, 4, "theirs", photo: photo).entry
      let summary = try await f.store.record(
        [.conflict(server: server), .accepted(version: 5)], of: plan.op)
      #expect(summary.conflicts == 1 && summary.accepted == 1 && summary.lacksChunks)
      #expect(try await f.collect() == nil)
      #expect(try await f.store.conflicts(StoreFixture.photos).isEmpty, "not complete yet")
      let missing = try await f.store.missingChunks(of: StoreFixture.photos, limit: 10)
      #expect(missing.map(\.hash) == StoreFixture.chunks(photo).map(\.hash))
      try await f.store.stage(StoreFixture.chunks(photo), for: StoreFixture.photos)
      let upcalls = try await f.store.takeUpcalls(StoreFixture.photos)
      #expect(upcalls.conflicts == 1)
      let conflict = try #require(try await f.store.conflicts(StoreFixture.photos).first)
      #expect(conflict.theirs?.version == 4 && conflict.ancestor != nil)
      #expect(try await f.photo(id) == [9, 2, 3])
      #expect(try await f.photo(id, copy: .theirs) == photo)
      #expect(try await f.photo(id, copy: .ancestor) == [1, 2, 3])
      try await f.edit("mine", at: 1, [8])
      #expect(try await f.photo(id) == [9, 8, 3], "the app keeps its copy, and writes to it")
    }
  }
}

@Suite("The store towards the cloud: conflicts resolved")
struct ResolutionStoreTests {
  /// Row `id`, "mine" here over version 1, "theirs" at the cloud as version 4.
  private func withConflict(_ body: (StoreFixture, String) async throws -> Void) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("base", photo: [1], version: 1)
      try await f.store.write(
        StoreFixture.photos, cells: [CellValue("name", .text("mine"))], selection: Selection("name = 'base'"))
      try await f.store.stage(StoreFixture.chunks([7, 7]), for: StoreFixture.photos)
      try await f.apply([StoreFixture.entry(id, 4, "theirs", photo: [7, 7])])
      try await f.store.stage(StoreFixture.chunks([7, 7]), for: StoreFixture.photos)
      #expect(try await f.rows()[0].state == .conflict)
      try await body(f, id)
    }
  }

  @Test("SIM-27 mine: the local copy is sent again, based on the cloud's version")
  func mine() async throws {
    try await withConflict { f, id in
      try await f.store.beginResolution(StoreFixture.photos, owner: 1)
      try await f.store.resolve(StoreFixture.photos, row: id, .mine, owner: 1)
      #expect(try await f.collect() == nil, "not before the end")
      try await f.store.endResolution(StoreFixture.photos, owner: 1)
      let plan = try #require(try await f.collect())
      #expect(plan.mutations[0].base == .version(4))
      try await f.accept(plan, from: 5)
      #expect(try await f.names() == ["mine"])
      #expect(try await f.photo(id) == [1])
    }
  }

  @Test("SIM-27 theirs: the cloud's copy replaces the local change")
  func theirs() async throws {
    try await withConflict { f, id in
      try await f.store.beginResolution(StoreFixture.photos, owner: 1)
      try await f.store.resolve(StoreFixture.photos, row: id, .theirs, owner: 1)
      #expect(try await f.store.endResolution(StoreFixture.photos, owner: 1) == 1)
      #expect(try await f.names() == ["theirs"])
      #expect(try await f.photo(id) == [7, 7])
      #expect(try await f.rows()[0].version == 4)
      #expect(try await f.rows()[0].state == .clean)
      #expect(try await f.collect() == nil)
    }
  }

  @Test("SIM-27 new: values given and columns of theirs, over mine")
  func new() async throws {
    try await withConflict { f, id in
      try await f.store.beginResolution(StoreFixture.photos, owner: 1)
      try await f.store.resolve(
        StoreFixture.photos, row: id, .new, cells: [CellValue("name", .text("both"))], fromTheirs: ["photo"], owner: 1)
      try await f.store.endResolution(StoreFixture.photos, owner: 1)
      #expect(try await f.names() == ["both"])
      #expect(try await f.photo(id) == [7, 7])
      #expect(try #require(try await f.collect()).mutations[0].base == .version(4))
    }
  }

  @Test("SIM-25, SIM-28: outside of a resolution nothing is resolved, inside nothing arrives, an app's death ends it")
  func transaction() async throws {
    try await withConflict { f, id in
      let table = StoreFixture.photos
      await #expect { try await f.store.resolve(table, row: id, .mine, owner: 1) } throws: {
        ($0 as? CaravanError)?.code == .notInConflictResolution
      }
      try await f.store.beginResolution(table, owner: 1)
      await #expect(throws: CaravanError.self) { try await f.store.beginResolution(table, owner: 2) }
      await #expect(throws: CaravanError.self) { try await f.store.resolve(table, row: "none", .mine, owner: 1) }
      try await f.store.resolve(table, row: id, .mine, owner: 1)
      #expect(try await f.apply([StoreFixture.entry(id, 6, "later")]).staged == 1)
      await f.store.release(owner: 1)
      let conflict = try #require(try await f.store.conflicts(table).first)
      #expect(conflict.theirs?.version == 6, "the resolution is forgotten, what waited is here")
    }
  }

  @Test("a conflict survives a crash, and the app is told again")
  func crash() async throws {
    try await withConflict { f, id in
      try await f.crash()
      #expect(try await f.store.conflicts(StoreFixture.photos).map(\.mine.id) == [id])
      #expect(try await f.store.takeUpcalls(StoreFixture.photos).conflicts == 1)
      #expect(try await f.status().conflicts == 1)
    }
  }
}

@Suite("The store towards the cloud: downstream")
struct PullStoreTests {
  @Test("SIM-67: a row appears when its last chunk is here, others do not wait for it, the token moves on")
  func staging() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let photo = StoreFixture.noise(250_000)
      let summary = try await f.apply(
        [StoreFixture.entry("row-1", 1, "big", photo: photo), StoreFixture.entry("row-2", 2, "small")], token: [7])
      #expect(summary.applied == 1 && summary.staged == 1)
      #expect(try await f.names() == ["small"])
      #expect(try await f.store.syncState(of: StoreFixture.photos).token == [7])
      let chunks = StoreFixture.chunks(photo)
      try await f.store.stage(Array(chunks.prefix(2)), for: StoreFixture.photos)
      #expect(try await f.names() == ["small"])
      try await f.crash()
      #expect(try await f.store.missingChunks(of: StoreFixture.photos, limit: 10).map(\.hash) == [chunks[2].hash])
      #expect(try await f.store.syncState(of: StoreFixture.photos).lacksChunks)
      try await f.store.stage([chunks[2]], for: StoreFixture.photos)
      #expect(try await f.names() == ["small", "big"])
      #expect(try await f.photo("row-1") == photo)
      #expect(try await f.store.takeUpcalls(StoreFixture.photos).changed.count >= 1)
    }
  }

  @Test("SIM-105: a damaged chunk is refused, the good ones beside it are kept")
  func damaged() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let photo = StoreFixture.noise(200_000)
      try await f.apply([StoreFixture.entry("row-1", 1, "big", photo: photo)])
      let chunks = StoreFixture.chunks(photo)
      let bad = LocalChunk(hash: chunks[0].hash, bytes: chunks[0].bytes.dropLast() + [0])
      await #expect { try await f.store.stage([bad, chunks[1]], for: StoreFixture.photos) } throws: {
        ($0 as? CaravanError)?.code == .chunkDamaged
      }
      #expect(try await f.store.missingChunks(of: StoreFixture.photos, limit: 10).map(\.hash) == [chunks[0].hash])
      let stranger = LocalChunk(containing: [1, 2, 3])
      try await f.store.stage([stranger], for: StoreFixture.photos)
      #expect(try await f.store.storedChunks() == 1, "nobody waits for it")
    }
  }

  @Test("a newer entry replaces one that waits; a deletion takes it away")
  func superseded() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.apply([StoreFixture.entry("row-1", 1, "big", photo: StoreFixture.noise(9))])
      try await f.apply([StoreFixture.entry("row-1", 3, "plain")])
      #expect(try await f.names() == ["plain"])
      #expect(try await f.store.missingChunks(of: StoreFixture.photos, limit: 9).isEmpty)
      try await f.apply([StoreFixture.entry("row-1", 4, "big", photo: StoreFixture.noise(9))])
      try await f.apply([StoreFixture.tombstone("row-1", 5)])
      #expect(try await f.names() == [])
      #expect(try await f.store.missingChunks(of: StoreFixture.photos, limit: 9).isEmpty)
    }
  }

  @Test("an entry of an older version than the row's changes nothing, also out of the waiting room")
  func monotonic() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("a", version: 8)
      try await f.apply([StoreFixture.entry(id, 7, "older")])
      #expect(try await f.names() == ["a"])
    }
  }

  @Test("what arrives for a row that is open waits until it is closed, and is then a conflict")
  func openRow() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("a", photo: [1, 2], version: 1)
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: Selection("name = 'a'"), owner: 1)
      #expect(try await f.apply([StoreFixture.entry(id, 2, "b")]).staged == 1)
      try await f.store.writeObject(opened.handle, row: 0, object: "photo", offset: 0, bytes: [5], owner: 1)
      try await f.store.closeWrite(opened.handle, owner: 1)
      #expect(try await f.rows()[0].state == .conflict)
      #expect(try await f.photo(id) == [5, 2])
      let again = try await f.synced("c", version: 9)
      let idle = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: Selection("name = 'c'"), owner: 1)
      #expect(try await f.apply([StoreFixture.entry(again, 12, "d")]).staged == 1)
      try await f.store.abandonWrite(idle.handle, owner: 1)
      #expect(try await f.names(Selection("_id = ?", [.text(again)])) == ["d"], "applied once the row is free")
    }
  }

  @Test("what arrives for a row in a push waits for its result")
  func pendingRow() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("a", version: 1)
      try await f.store.write(StoreFixture.photos, cells: [CellValue("date", .integer(1))], selection: Selection("1"))
      let plan = try #require(try await f.collect())
      #expect(try await f.apply([StoreFixture.entry(id, 6, "later")]).staged == 1)
      try await f.accept(plan, from: 5)
      #expect(try await f.names() == ["later"])
      #expect(try await f.rows()[0].version == 6)
    }
  }

  @Test("UNI-18: after a reset dirty rows are kept as new, clean ones until the resync has shown what is left")
  func reset() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let kept = try await f.synced("kept", version: 1)
      _ = try await f.synced("gone", version: 2)
      let edited = try await f.synced("edited", version: 3)
      try await f.store.write(
        StoreFixture.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = 'edited'"))
      try await f.store.reset(StoreFixture.photos)
      #expect(try await f.names() == ["kept", "gone", "edited"])
      #expect(try await f.store.syncState(of: StoreFixture.photos).token == [])
      try await f.apply([StoreFixture.entry(kept, 1, "kept again")], end: .more)
      #expect(try await f.names() == ["kept again", "gone", "edited"])
      let summary = try await f.apply([StoreFixture.entry(edited, 2, "edited elsewhere")])
      #expect(summary.removed == 1 && summary.conflicts == 1)
      #expect(try await f.names() == ["kept again", "edited"])
      #expect(try await f.rows().map(\.state) == [.clean, .conflict])
    }
  }

  @Test("fields of a newer device pass through an edit here")
  func unknownFields() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      var fields = RecordFields([3: .text("a"), 77: .text("from the future")])
      fields[78] = .asset(StoreFixture.manifest([1, 2]))
      let entry = CaravanModel.Entry(name: "row-1", version: 1, created: 1, type: 43, body: fields.body, writer: "new")
      try await f.apply([IncomingEntry(entry: entry)])
      try await f.store.stage(StoreFixture.chunks([1, 2]), for: StoreFixture.photos)
      try await f.store.write(StoreFixture.photos, cells: [CellValue("name", .text("b"))], selection: Selection("1"))
      let plan = try #require(try await f.collect())
      guard case .save(_, let body, let chunks) = plan.mutations[0].change else { throw Missing("save in the plan") }
      let sent = try RecordFields(body: body)
      #expect(sent[77] == .text("from the future") && sent[3] == .text("b") && chunks == fields.chunks)
      try await f.store.abort(plan.op)
    }
  }

  @Test("an echo of nothing says that the file is older than what it sent")
  func unexplained() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let entry = CaravanModel.Entry(name: "row-1", version: 1, created: 1, type: 42, writer: "me")
      #expect(try await f.apply([IncomingEntry(entry: entry, isOwn: true)]).isUnexplained)
      let before = await f.store.epoch
      try await f.store.beginEpoch()
      #expect(await f.store.epoch > before)
    }
  }

  @Test("registrations and the subscription list survive, in order, with a growing generation")
  func registrations() async throws {
    try await StoreFixture.with { f in
      let table = StoreFixture.photos
      let registration = SyncRegistration(periodMilliseconds: 600_000, delayToleranceMilliseconds: 60_000, link: .wifi)
      try await f.store.register(table, .write, registration)
      #expect(try await f.store.subscriptions(toldOnly: nil) == SubscriptionList())
      try await f.store.register(table, .read, registration)
      for _ in 0...1 { #expect(try await f.store.subscriptions(toldOnly: [table]).generation == 2) }
      try await f.crash()
      #expect(try await f.store.registrations().map(\.direction) == [.write, .read])
      #expect(try await f.store.subscriptions(toldOnly: [table]).generation == 2)
      for _ in 0...1 { try await f.store.unregister(table, .read) }
      #expect(try await f.store.subscriptions(toldOnly: nil) == SubscriptionList(generation: 3))
      try await f.store.createTable(
        table, schema: try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"),
        localOnly: true)
      await #expect(throws: CaravanError.self) { try await f.store.register(table, .read, registration) }
    }
  }
}

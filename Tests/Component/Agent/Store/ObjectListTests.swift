import CaravanAgentCore
import CaravanAgentStore
import CaravanChunking
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: an object of many chunks has them in a list, a chunk itself; rows stay small, and nothing leaks.
@Suite(.timeLimit(.minutes(2))) struct ObjectListTests {
  /// Objects of more than three chunks have a list.
  private static var options: LocalStoreOptions {
    var options = LocalStoreOptions()
    options.chunking = ChunkingParameters(minimum: 64, average: 256, maximum: 1_024)
    options.chunksInRow = 3
    return options
  }

  private static func with(_ body: (StoreFixture) async throws -> Void) async throws {
    try await StoreFixture.with(options: options, body)
  }

  private func asset(_ body: [UInt8]) throws -> Asset? {
    for field in try Fields(decoding: body).fields { if case .asset(let asset)? = field.value { return asset } }
    return nil
  }

  private func asset(_ plan: PushPlan) throws -> Asset? {
    guard case .save(_, let body, _)? = plan.mutations.first?.change else { return nil }
    return try asset(body)
  }

  @Test("written, read, edited, cut short and deleted: the bytes are right, and no chunk is left behind")
  func life() async throws {
    try await Self.with { f in
      try await f.agree()
      var photo = StoreFixture.noise(40_000)
      let id = try await f.write("large", photo: photo)
      #expect(try await f.photo(id) == photo)
      let plan = try #require(try await f.collect())
      #expect(try asset(plan)?.list.count == 32 && asset(plan)?.size == 40_000)
      #expect(plan.chunks.count == 1)
      #expect(try await f.store.problems() == [])
      try await f.accept(plan, from: 1)

      try await f.edit("large", at: 20_000, [1, 2, 3])
      photo.replaceSubrange(20_000..<20_003, with: [1, 2, 3])
      #expect(try await f.photo(id) == photo)
      let edit = try #require(try await f.collect())
      let unsent = try await f.store.unsentChunks(of: edit.op)
      #expect((2...8).contains(unsent.count) && unsent.allSatisfy { !$0.bases.isEmpty })
      #expect(unsent.first?.hash == edit.chunks.first, "the list is first")
      try await f.store.abort(edit.op)
      #expect(try await f.store.problems() == [])

      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text("large")]), owner: 1
      )
      try await f.store.truncateObject(opened.handle, row: 0, object: "photo", size: 100, owner: 1)
      try await f.store.closeWrite(opened.handle, owner: 1)
      #expect(try await f.photo(id) == Array(photo.prefix(100)))
      let cut = try #require(try await f.collect())
      #expect(try asset(cut)?.list == [], "a short object has its chunks in the row")
      try await f.accept(cut, from: 2)
      #expect(try await f.store.storedChunks() == 1)
      try await f.store.delete(StoreFixture.photos, selection: nil)
      try await f.accept(try #require(try await f.collect()), from: 3)
      #expect(try await f.store.storedChunks() == 0)
    }
  }

  /// Rows of another device, made by a store like this one.
  private func elsewhere(_ photo: [UInt8]) async throws -> (entry: IncomingEntry, chunks: [LocalChunk]) {
    var made: (IncomingEntry, [LocalChunk])?
    try await Self.with { f in
      try await f.agree()
      try await f.write("large", photo: photo)
      let plan = try #require(try await f.collect())
      guard case .save(_, let body, _)? = plan.mutations.first?.change else { throw Missing("save in the plan") }
      let hashes = try await f.store.unsentChunks(of: plan.op).map(\.hash)
      let chunks = try await f.store.chunks(hashes, maximumBytes: 1 << 30)
      let entry = Entry(name: "row-1", version: 1, created: 1, type: 42, body: body, writer: "elsewhere")
      made = (IncomingEntry(entry: entry), chunks)
      try await f.store.abort(plan.op)
    }
    return try #require(made)
  }

  @Test("SIM-67: a row waits for its list, then for what the list names, over a crash; then it is there, whole")
  func arrival() async throws {
    let photo = StoreFixture.noise(10_000)
    let (entry, chunks) = try await elsewhere(photo)
    try await Self.with { f in
      try await f.agree()
      #expect(try await f.apply([entry]).staged == 1)
      #expect(try await f.store.missingChunks(of: StoreFixture.photos, limit: 99).map(\.hash) == [chunks[0].hash])
      try await f.store.stage([chunks[0]], for: StoreFixture.photos)
      #expect(try await f.names() == [])
      try await f.crash()
      let missing = try await f.store.missingChunks(of: StoreFixture.photos, limit: 99).map(\.hash)
      #expect(Set(missing) == Set(chunks.dropFirst().map(\.hash)))
      #expect(try await f.store.problems() == [])
      for chunk in chunks.dropFirst() {
        #expect(try await f.names() == [])
        try await f.store.stage([chunk], for: StoreFixture.photos)
      }
      #expect(try await f.names() == ["large"])
      #expect(try await f.photo("row-1") == photo)

      // The next version names its bases: the old list, and the chunk that stood there.
      var newer = photo
      newer[5_000] ^= 1
      let (next, nextChunks) = try await elsewhere(newer)
      var second = next
      second.entry.version = 2
      #expect(try await f.apply([second]).staged == 1)
      let list = try await f.store.missingChunks(of: StoreFixture.photos, limit: 99)
      #expect(list == [ChunkNeed(hash: nextChunks[0].hash, bases: [chunks[0].hash])])
      try await f.store.stage([nextChunks[0]], for: StoreFixture.photos)
      let leaves = try await f.store.missingChunks(of: StoreFixture.photos, limit: 99)
      #expect((1...7).contains(leaves.count) && leaves.allSatisfy { !$0.bases.isEmpty })
      let arrived = nextChunks.filter { chunk in leaves.contains { $0.hash == chunk.hash } }
      try await f.store.stage(arrived, for: StoreFixture.photos)
      #expect(try await f.photo("row-1") == newer)

      // Another row with the same object has nothing to wait for.
      var twin = second
      (twin.entry.name, twin.entry.version) = ("row-2", 3)
      #expect(try await f.apply([twin]).applied == 1)
      #expect(try await f.photo("row-2") == newer)
      try await f.apply([StoreFixture.tombstone("row-1", 4), StoreFixture.tombstone("row-2", 5)])
      #expect(try await f.store.storedChunks() == 0)
    }
  }

  @Test("TRU-17: that a list, or what it names, has yet to come is no damage")
  func noDamage() async throws {
    let (entry, chunks) = try await elsewhere(StoreFixture.noise(10_000))
    try await Self.with { f in
      try await f.agree()
      let finds = Mutex(0)
      await f.store.whenDamaged { finds.withLock { $0 += 1 } }
      try await f.apply([entry])
      for chunk in chunks {
        _ = try await f.store.missingChunks(of: StoreFixture.photos, limit: 99)
        _ = try await f.store.missingChunks(of: StoreFixture.photos, limit: 99, room: 1 << 30)
        try await f.store.stage([chunk], for: StoreFixture.photos)
      }
      #expect(try await f.names() == ["large"])
      #expect(finds.withLock { $0 } == 0)
    }
  }

  @Test("an entry that is replaced or deleted while its list, or some of what it names, is here leaves nothing")
  func abandoned() async throws {
    let (entry, chunks) = try await elsewhere(StoreFixture.noise(10_000))
    for arrived in 0..<3 {
      try await Self.with { f in
        try await f.agree()
        try await f.apply([entry])
        try await f.store.stage(Array(chunks.prefix(arrived)), for: StoreFixture.photos)
        var twin = entry
        twin.entry.name = "row-2"
        try await f.apply([twin])
        #expect(try await f.store.problems() == [])
        try await f.apply([StoreFixture.entry("row-1", 2, "plain"), StoreFixture.tombstone("row-2", 3)])
        #expect(try await f.names() == ["plain"])
        #expect(try await f.store.missingChunks(of: StoreFixture.photos, limit: 9).isEmpty)
        #expect(try await f.store.storedChunks() == 0)
      }
    }
  }

  @Test("a list that is none harms its own object only")
  func damaged() async throws {
    try await Self.with { f in
      try await f.agree()
      let junk = LocalChunk(containing: [1, 2, 3])
      let body = Fields(RecordFields([3: .text("bad"), 9: .assetList(junk.hash, size: 5_000)])).encoded()
      let entry = Entry(name: "row-1", version: 1, created: 1, type: 42, body: body, writer: "elsewhere")
      try await f.apply([IncomingEntry(entry: entry), StoreFixture.entry("row-2", 2, "good")])
      try await f.store.stage([junk], for: StoreFixture.photos)
      #expect(try await f.names() == ["good", "bad"])
      await #expect { try await f.photo("row-1") } throws: { ($0 as? CaravanError)?.code == .invalidData }
      #expect(try await f.store.problems() == [])
      try await f.apply([StoreFixture.entry("row-1", 3, "better", photo: [1])])
      try await f.store.stage(StoreFixture.chunks([1]), for: StoreFixture.photos)
      #expect(try await f.photo("row-1") == [1])
    }
  }

  @Test("a conflict of two versions with lists keeps both, and settles to either, leaking nothing")
  func conflict() async throws {
    for resolution in [Resolution.mine, .theirs] {
      let theirs = StoreFixture.noise(9_000, seed: 3)
      let (entry, chunks) = try await elsewhere(theirs)
      try await Self.with { f in
        try await f.agree()
        let id = try await f.synced("large", photo: StoreFixture.noise(8_000, seed: 1), version: 1)
        try await f.edit("large", at: 0, [5])
        let mine = try await f.photo(id)
        var other = entry
        (other.entry.name, other.entry.version) = (id, 2)
        try await f.apply([other])
        for _ in 0..<2 {
          let hashes = Set(try await f.store.missingChunks(of: StoreFixture.photos, limit: 99).map(\.hash))
          try await f.store.stage(
            chunks.filter { hashes.contains($0.hash) }, for: StoreFixture.photos)
        }
        #expect(try await f.store.conflicts(StoreFixture.photos).count == 1)
        #expect(try await f.photo(id, copy: .theirs) == theirs)
        #expect(try await f.store.problems() == [])
        try await f.store.beginResolution(StoreFixture.photos, owner: 1)
        try await f.store.resolve(StoreFixture.photos, row: id, resolution, owner: 1)
        try await f.store.endResolution(StoreFixture.photos, owner: 1)
        #expect(try await f.photo(id) == (resolution == .mine ? mine : theirs))
      }
    }
  }
}

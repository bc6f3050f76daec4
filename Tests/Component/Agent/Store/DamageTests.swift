import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

/// Goal: damage on the disk is found by whoever reads it, costs one row for a while and no other row anything, and
/// never leaves the device. Method: bits turned and ends cut off in the files of a store; the cloud is what the test
/// hands it.
@Suite("Damage", .timeLimit(.minutes(2)))
struct DamageTests {
  typealias F = StoreFixture

  enum Harm: String, CaseIterable { case bit, truncation }

  enum Place: String, CaseIterable {
    case file, database

    var options: LocalStoreOptions {
      var options = LocalStoreOptions()
      options.inlineBytes = self == .file ? 0 : 1 << 30
      return options
    }
  }

  private static func refusal(_ body: () async throws -> Void) async throws -> ErrorCode? {
    do { try await body() } catch let error as CaravanError { return error.code }
    return nil
  }

  /// The chunks of the photos of a plan.
  private static func chunks(_ f: F, _ plan: PushPlan?) async throws -> [LocalChunk] {
    try await f.store.chunks(try #require(plan).chunks, maximumBytes: 64 << 20)
  }

  /// A clean row, and the chunks of its photo.
  private static func synced(
    _ f: F, _ name: String, _ photo: [UInt8], version: UInt64
  ) async throws -> (id: String, chunks: [LocalChunk]) {
    let id = try await f.write(name, photo: photo)
    let plan = try #require(try await f.collect())
    let chunks = try await Self.chunks(f, plan)
    try await f.accept(plan, from: version)
    return (id, chunks)
  }

  @Test(
    "SIM-78, SIM-79, R8: a rotten row is refused, every other one is usable, and its lost chunk makes it whole",
    arguments: Place.allCases)
  func cleanRow(place: Place) async throws {
    try await F.with(options: place.options) { f in
      try await f.agree()
      let (good, bad) = (F.noise(300_000, seed: 1), F.noise(300_000, seed: 2))
      let sound = try await Self.synced(f, "sound", good, version: 1)
      let rotten = try await Self.synced(f, "rotten", bad, version: 2)
      let lost = rotten.chunks[rotten.chunks.count / 2]
      try await f.crash { try Rot.turnBit(of: lost.bytes, in: $0) }
      #expect(try await f.photo(sound.id) == good)
      #expect(try await Self.refusal { _ = try await f.photo(rotten.id) } == .chunkDamaged)
      try await f.store.repairDamage()
      #expect(try await Self.refusal { _ = try await f.photo(rotten.id) } == .rowTorn)
      #expect(try await f.names() == ["sound"])
      #expect(try await f.status().torn == 1)
      #expect(try await f.photo(sound.id) == good)
      try await f.write("new", photo: F.noise(1_000, seed: 3))
      // What it needs is one chunk, and not forgotten by a crash.
      try await f.crash()
      #expect(try await f.store.syncState(of: F.photos).lacksChunks)
      #expect(try await f.store.missingChunks(of: F.photos, limit: 99).map(\.hash) == [lost.hash])
      _ = try await f.store.takeUpcalls(F.photos)
      try await f.store.stage([lost], for: F.photos)
      #expect(try await f.names() == ["sound", "rotten", "new"])
      #expect(try await f.photo(rotten.id) == bad)
      #expect(try await f.rows()[1].state == .clean)
      #expect(try await f.status().torn == 0)
      #expect(try await f.store.takeUpcalls(F.photos).changed.count == 1)
    }
  }

  @Test("R8: a bit turned anywhere, or the end of the file cut off: detected in every case", arguments: Harm.allCases)
  func everywhere(harm: Harm) async throws {
    let photo = F.noise(150_000, seed: 4)
    try await F.with(options: Place.file.options) { f in
      try await f.agree()
      let row = try await Self.synced(f, "a", photo, version: 1)
      var chance = SplitMix64(seed: 9)
      for _ in 0..<12 {
        let place = Int(chance.next() % UInt64(photo.count))
        let before = try #require(Files.read("\(f.directory.path)/chunks.dat"))
        try await f.crash { directory in
          switch harm {
          case .bit: try Rot.turnBit(of: Array(photo[place..<min(photo.count, place + 8)]), in: directory)
          case .truncation: Files.write(Array(before.prefix(place)), to: "\(directory)/chunks.dat")
          }
        }
        #expect(try await Self.refusal { _ = try await f.photo(row.id) } == .chunkDamaged, "at \(place)")
        try await f.crash { Files.write(before, to: "\($0)/chunks.dat") }
        #expect(try await f.photo(row.id) == photo)
      }
    }
  }

  @Test("SIM-78: the loss of a change that the cloud never had puts the row back to what it was based on")
  func rollBack() async throws {
    try await F.with(options: Place.file.options) { f in
      try await f.agree()
      let old = F.noise(100_000, seed: 1)
      let row = try await Self.synced(f, "a", old, version: 3)
      let new = F.noise(100_000, seed: 2)
      try await f.edit("a", at: 0, new)
      try await f.crash { try Rot.turnBit(of: Array(new[50_000..<50_064]), in: $0) }
      #expect(try await Self.refusal { _ = try await f.photo(row.id) } == .chunkDamaged)
      try await f.store.repairDamage()
      #expect(try await f.photo(row.id) == old)
      #expect(try await f.rows()[0].state == .clean)
      #expect(try await f.rows()[0].version == 3)
      #expect(try await f.store.takeUpcalls(F.photos).changed.count == 1, "the app is told")
      #expect(try await f.collect() == nil)
    }
  }

  @Test("SIM-82: a damaged row that the cloud never had is discarded, the app is told, and others go up")
  func neverSynced() async throws {
    try await F.with(options: Place.file.options) { f in
      try await f.agree()
      let photo = F.noise(100_000, seed: 1)
      let lost = try await f.write("lost", photo: photo)
      try await f.write("kept", photo: F.noise(100_000, seed: 2))
      _ = try await f.store.takeUpcalls(F.photos)
      try await f.crash { try Rot.turnBit(of: Array(photo[7..<71]), in: $0) }
      #expect(try await Self.refusal { _ = try await f.photo(f.rows()[0].id) } == .chunkDamaged)
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.count == 1)
      #expect(try await f.names() == ["kept"])
      try await f.crash()
      let upcalls = try await f.store.takeUpcalls(F.photos)
      #expect(upcalls.changed.count == 1 && upcalls.lost == .init(count: 1, names: [lost]))
      try await f.crash()
      #expect(try await f.store.takeUpcalls(F.photos).lost == .init(), "once")
      try await f.accept(plan, from: 1)
    }
  }

  @Test("a local change survives the loss of a chunk that it did not touch")
  func keepsTheChange() async throws {
    try await F.with(options: Place.file.options) { f in
      try await f.agree()
      var photo = F.noise(600_000, seed: 1)
      let row = try await Self.synced(f, "a", photo, version: 1)
      try await f.edit("a", at: 0, [1, 2, 3])
      photo.replaceSubrange(0..<3, with: [1, 2, 3])
      let lost = try #require(row.chunks.last)
      try await f.crash { try Rot.turnBit(of: lost.bytes, in: $0) }
      #expect(try await Self.refusal { _ = try await f.photo(row.id) } == .chunkDamaged)
      try await f.store.repairDamage()
      #expect(try await f.names() == [])
      try await f.store.stage([lost], for: F.photos)
      #expect(try await f.photo(row.id) == photo)
      #expect(try await f.rows()[0].state == .dirty)
    }
  }

  @Test("SIM-108: what is found damaged while it is pushed does not go; the row is seen to when the push is over")
  func inFlight() async throws {
    try await F.with(options: Place.file.options) { f in
      try await f.agree()
      let photo = F.noise(100_000, seed: 1)
      try await f.write("lost", photo: photo)
      try await f.write("kept")
      let plan = try #require(try await f.collect())
      Rot.turnBitInPlace(of: photo, in: f.directory.path)
      let readable = try await f.store.chunks(plan.chunks, maximumBytes: 1 << 20)
      #expect(readable.count < plan.chunks.count, "no wrong byte is handed out")
      try await f.store.repairDamage()
      #expect(try await f.rows().count == 2, "the plan stands")
      try await f.store.abort(plan.op)
      let next = try #require(try await f.collect())
      #expect(next.mutations.count == 1)
      #expect(try await f.names() == ["kept"])
      try await f.accept(next, from: 1)
    }
  }

  @Test("the list of a large object is lost: what it listed comes again with it")
  func list() async throws {
    var options = Place.file.options
    options.chunksInRow = 2
    try await F.with(options: options) { f in
      try await f.agree()
      let photo = F.noise(600_000, seed: 1)
      let id = try await f.write("a", photo: photo)
      let plan = try #require(try await f.collect())
      let all = try await f.store.unsentChunks(of: plan.op).map(\.hash)
      let chunks = try await f.store.chunks(all, maximumBytes: 64 << 20)
      let list = try #require(chunks.first { plan.chunks == [$0.hash] })
      try await f.accept(plan, from: 1)
      try await f.crash { try Rot.turnBit(of: list.bytes, in: $0) }
      #expect(try await Self.refusal { _ = try await f.photo(id) } == .chunkDamaged)
      try await f.store.repairDamage()
      var rounds = 0
      while case let missing = try await f.store.missingChunks(of: F.photos, limit: 99), !missing.isEmpty, rounds < 9 {
        let wanted = Set(missing.map(\.hash))
        try await f.store.stage(chunks.filter { wanted.contains($0.hash) }, for: F.photos)
        rounds += 1
      }
      #expect(try await f.photo(id) == photo)
    }
  }

  @Test("a copy in conflict is shown when its lost chunk has come again")
  func conflictCopy() async throws {
    try await F.with(options: Place.file.options) { f in
      try await f.agree()
      let id = try await f.synced("a", version: 1)
      try await f.store.write(F.photos, cells: [CellValue("date", .integer(5))], selection: Selection("name = 'a'"))
      let theirs = F.noise(90_000, seed: 5)
      try await f.apply([F.entry(id, 2, "b", photo: theirs)])
      try await f.store.stage(F.chunks(theirs), for: F.photos)
      #expect(try await f.photo(id, copy: .theirs) == theirs)
      try await f.crash { try Rot.turnBit(of: theirs, in: $0) }
      #expect(try await Self.refusal { _ = try await f.photo(id, copy: .theirs) } == .chunkDamaged)
      try await f.store.repairDamage()
      #expect(try await f.store.conflicts(F.photos).isEmpty)
      #expect(try await f.names() == ["a"], "its own copy is sound")
      try await f.store.stage(F.chunks(theirs), for: F.photos)
      #expect(try await f.store.conflicts(F.photos).count == 1)
      #expect(try await f.photo(id, copy: .theirs) == theirs)
    }
  }

  @Test("SIM-78, SIM-79, R8: a row whose cells are rotten is not shown, every other one is, and it comes again whole")
  func rottenCells() async throws {
    try await F.with { f in
      try await f.agree()
      let name = "a name that is long enough to be found"
      let rotten = try await f.synced(name, photo: [1, 2, 3], version: 1)
      let sound = try await f.synced("sound", version: 2)
      try await f.apply([], token: [9])
      try await f.crash { try Rot.turnBit(of: Array(name.utf8), in: $0) }
      #expect(try await f.names() == ["sound"])
      try await f.store.repairDamage()
      #expect(try await f.names() == ["sound"])
      #expect(try await f.status().torn == 1)
      #expect(try await Self.refusal { _ = try await f.photo(rotten) } == .rowTorn)
      try await f.write("new")
      #expect(try await f.store.syncState(of: F.photos).lacksRows)
      try await f.store.reset(F.photos)
      try await f.apply(
        [F.entry(rotten, 1, name, photo: [1, 2, 3]), F.entry(sound, 2, "sound")], token: [1], end: .last)
      try await f.store.stage(F.chunks([1, 2, 3]), for: F.photos)
      #expect(try await f.names() == [name, "sound", "new"])
      #expect(try await f.photo(rotten) == [1, 2, 3])
    }
  }

  @Test("TRU-19: the repair of one row reads no other; what only that row named goes with the next start")
  func alone() async throws {
    try await F.with { f in
      try await f.agree()
      let names = ["the row that is found to be rotten", "the row that nobody has read since"]
      var ids: [String] = []
      for (number, name) in names.enumerated() {
        let photo = F.noise(90_000, seed: UInt64(number))
        ids.append(try await f.synced(name, photo: photo, version: UInt64(number) + 1))
      }
      let chunks = try await f.store.storedChunks()
      try await f.crash { directory in
        for (id, name) in zip(ids, names) { try Rot.turnBit(ofRow: id, from: name, in: directory) }
      }
      #expect(try await Self.refusal { _ = try await f.photo(ids[0]) } == .rowTorn)
      try await f.store.repairDamage()
      #expect(try await f.status().torn == 1)
      // The next look finds nothing that the repair would have come across.
      try await f.store.repairDamage()
      #expect(try await f.status().torn == 1)
      #expect(try await f.store.storedChunks() == chunks)
      #expect(try await f.store.problems().count == 1, "the other one")
      try await f.store.repairDamage()
      #expect(try await f.status().torn == 2)
      try await f.crash()
      #expect(try await f.store.storedChunks() == 0)
    }
  }

  @Test("SIM-108: rotten cells are never pushed: a change is put back to what it was based on, a new row discarded")
  func rottenChange() async throws {
    try await F.with { f in
      try await f.agree()
      _ = try await f.synced("old", version: 1)
      let (change, new) = ("the change that will not be sent", "the new row that will not be sent")
      try await f.store.write(F.photos, cells: [CellValue("name", .text(change))], selection: Selection("name = 'old'"))
      try await f.write(new)
      try await f.write("kept")
      try await f.crash {
        for text in [change, new] { try Rot.turnBit(of: Array(text.utf8), in: $0) }
      }
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.count == 1)
      try await f.accept(plan, from: 2)
      try await f.store.repairDamage()
      #expect(try await f.names() == ["old", "kept"])
      #expect(try await f.rows().allSatisfy { $0.state == .clean })
      #expect(try await f.collect() == nil)
    }
  }

  @Test("a row that rots while it is in a push is seen to when the push is over")
  func rottenInFlight() async throws {
    try await F.with { f in
      try await f.agree()
      let name = "a name that rots on its way to the cloud"
      let id = try await f.write(name)
      let plan = try #require(try await f.collect())
      try await f.crash { directory in
        try Rot.turnBit(ofRow: id, from: name, in: directory)
      }
      #expect(try await f.names() == [])
      try await f.store.repairDamage()
      try await f.accept(plan, from: 3)
      try await f.store.repairDamage()
      #expect(try await f.store.syncState(of: F.photos).lacksRows)
      try await f.apply([F.entry(id, 3, name)], token: [1])
      #expect(try await f.names() == [name])
    }
  }

  private static let inPlace = RowFlags(objectDirty: true, openObjects: 1)

  @Test("SIM-78: a row torn in place is refused until its lost chunk has come, and only that row")
  func torn() async throws {
    try await F.with { f in
      try await f.agree()
      let photo = F.noise(200, seed: 1)
      let torn = try await f.synced("torn", photo: photo, version: 1)
      _ = try await f.synced("sound", photo: [4, 5, 6], version: 2)
      try await f.crash {
        try Rot.flags(Self.inPlace, ofRow: torn, in: $0)
        try Rot.turnBit(of: photo, in: $0)
      }
      #expect(try await f.names() == ["sound"])
      #expect(try await Self.refusal { _ = try await f.photo(torn) } == .rowTorn)
      #expect(try await f.store.syncState(of: F.photos).lacksChunks)
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.photo(torn) == photo)
      #expect(try await !f.store.syncState(of: F.photos).lacksChunks)
    }
  }

  @Test("SIM-77, UNI-17: a row torn in place that lost nothing is its last closed version at once")
  func tornAndWhole() async throws {
    try await F.with { f in
      try await f.agree()
      let row = try await f.synced("torn", photo: [1, 2, 3], version: 1)
      try await f.crash { try Rot.flags(Self.inPlace, ofRow: row, in: $0) }
      #expect(try await f.photo(row) == [1, 2, 3])
      #expect(try await f.rows()[0].state == .clean)
    }
  }

  @Test("SIM-82: a torn row that the cloud no longer has is gone with the end of the pull, and the app told")
  func tornAndGone() async throws {
    try await F.with { f in
      try await f.agree()
      let photo = F.noise(200, seed: 1)
      let torn = try await f.synced("torn", photo: photo, version: 1)
      try await f.crash {
        try Rot.flags(Self.inPlace, ofRow: torn, in: $0)
        try Rot.turnBit(of: photo, in: $0)
      }
      try await f.store.reset(F.photos)
      try await f.apply([F.entry("other", 5, "other")], token: [1], end: .last)
      #expect(try await f.names() == ["other"])
      #expect(try await f.status().torn == 0)
      #expect(try await f.store.takeUpcalls(F.photos).lost == .init(count: 1, names: [torn]))
    }
  }
}

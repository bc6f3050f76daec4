import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: store mode `inPlace` overwrites what the cloud has where it lies, and a write that is cut off costs nothing
/// but the way to the cloud. Method: rows that the cloud has, edited, cut off at every change of the disk; the cloud is
/// what the test hands the store.
@Suite("In place", .timeLimit(.minutes(2)))
struct InPlaceTests {
  typealias F = StoreFixture

  private static func refusal(_ body: () async throws -> Void) async throws -> ErrorCode? {
    do { try await body() } catch let error as CaravanError { return error.code }
    return nil
  }

  /// Every chunk lies in the file.
  private static func with(_ body: (F) async throws -> Void) async throws {
    var options = LocalStoreOptions()
    options.inlineBytes = 0
    try await F.with(options: options) { f in
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      try await f.agree()
      try await body(f)
    }
  }

  /// A clean row, and the chunks of its photo.
  static func synced(
    _ f: F, _ name: String, _ photo: [UInt8], version: UInt64
  ) async throws -> (id: String, chunks: [LocalChunk]) {
    let id = try await f.write(name, photo: photo)
    let plan = try #require(try await f.collect())
    let chunks = try await f.store.chunks(plan.chunks, maximumBytes: 64 << 20)
    try await f.accept(plan, from: version)
    return (id, chunks)
  }

  /// An edit of the photo that stays open.
  static func open(_ f: F, _ name: String, at offset: UInt64, _ bytes: [UInt8]) async throws -> UInt64 {
    let opened = try await f.store.openWrite(
      F.photos, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text(name)]), owner: f.owner)
    try await f.store.writeObject(
      opened.handle, row: 0, object: "photo", offset: offset, bytes: bytes, owner: f.owner)
    return opened.handle
  }

  static func edited(_ photo: [UInt8], at offset: Int, _ bytes: [UInt8]) -> [UInt8] {
    var photo = photo
    photo.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    return photo
  }

  @Test("SIM-81, SIM-53, SIM-80: overwritten bytes take no new space, and only their chunks are sent")
  func overwrites() async throws {
    try await Self.with { f in
      let old = F.noise(600_000, seed: 1)
      let row = try await Self.synced(f, "a", old, version: 1)
      let before = await f.store.chunkFileBytes()
      let patch = F.noise(5_000, seed: 2)
      let handle = try await Self.open(f, "a", at: 300_000, patch)
      #expect(await f.store.chunkFileBytes() == before)
      #expect(try await Self.refusal { _ = try await f.photo(row.id) } == .serverBusy)
      #expect(try await f.names() == ["a"])
      #expect(try await f.collect() == nil, "SIM-63: an open row is not collected")
      try await f.store.closeWrite(handle, owner: f.owner)
      #expect(await f.store.chunkFileBytes() == before)
      let new = Self.edited(old, at: 300_000, patch)
      #expect(try await f.photo(row.id) == new)
      let plan = try #require(try await f.collect())
      let sent = try await f.store.unsentChunks(of: plan.op).map(\.hash)
      #expect((1...2).contains(sent.count) && Set(sent).isDisjoint(with: row.chunks.map(\.hash)))
      try await f.accept(plan, from: 2)
      try await f.crash()
      #expect(try await f.photo(row.id) == new)
      #expect(try await f.rows()[0].state == .clean)
    }
  }

  enum End: CaseIterable { case crash, appGone, abandoned }

  @Test(
    "SIM-73 row 10, SIM-78, SIM-79: a torn row alone is unavailable, and its lost chunk makes it what it was",
    arguments: End.allCases)
  func torn(end: End) async throws {
    try await Self.with { f in
      let (photo, other) = (F.noise(600_000, seed: 1), F.noise(200_000, seed: 2))
      let row = try await Self.synced(f, "torn", photo, version: 1)
      let sound = try await Self.synced(f, "sound", other, version: 2)
      let handle = try await Self.open(f, "torn", at: 1_000, F.noise(100, seed: 3))
      switch end {
      case .crash: try await f.crash()
      case .appGone: await f.store.release(owner: f.owner)
      case .abandoned: try await f.store.abandonWrite(handle, owner: f.owner)
      }
      #expect(try await f.names() == ["sound"])
      #expect(try await f.status().torn == 1)
      #expect(try await Self.refusal { _ = try await f.photo(row.id) } == .rowTorn)
      #expect(try await f.photo(sound.id) == other)
      try await f.edit("sound", at: 0, [1])
      let needs = try await f.store.missingChunks(of: F.photos, limit: 99).map(\.hash)
      #expect(needs == [row.chunks[0].hash], "nothing but what was overwritten")
      try await f.store.stage([row.chunks[0]], for: F.photos)
      #expect(try await f.photo(row.id) == photo)
      #expect(try await f.rows(Selection("name = 'torn'"))[0].state == .clean)
      try await f.crash()
      #expect(try await f.photo(row.id) == photo)
    }
  }

  @Test("SIM-78: if the cloud has moved on, the torn row goes on with it")
  func rollForward() async throws {
    try await Self.with { f in
      let row = try await Self.synced(f, "a", F.noise(300_000, seed: 1), version: 1)
      _ = try await Self.open(f, "a", at: 0, [1, 2, 3])
      try await f.crash()
      let new = F.noise(150_000, seed: 2)
      try await f.apply([F.entry(row.id, 7, "b", photo: new)])
      try await f.store.stage(F.chunks(new), for: F.photos)
      #expect(try await f.photo(row.id) == new)
      #expect(try await f.rows()[0].version == 7)
      #expect(try await f.status().torn == 0)
    }
  }

  @Test("E8, SIM-73 row 21: what was closed while another write was open survives that one's tear")
  func closedMeanwhile() async throws {
    try await Self.with { f in
      let photo = F.noise(600_000, seed: 1)
      let row = try await Self.synced(f, "a", photo, version: 1)
      _ = try await Self.open(f, "a", at: 0, [9, 9, 9])
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(5))], selection: Selection("name = 'a'"))
      try await f.crash()
      #expect(try await f.names() == [])
      try await f.store.stage([row.chunks[0]], for: F.photos)
      #expect(try await f.photo(row.id) == photo)
      let view = try await f.rows()[0]
      #expect(view.cells.first { $0.column == "date" }?.value == .integer(5))
      #expect(view.state == .dirty)
    }
  }

  @Test("E8, I1: what the cloud does not have is not overwritten: the last closed version is here at once")
  func neverOverwritten() async throws {
    try await Self.with { f in
      let photo = F.noise(600_000, seed: 1)
      let row = try await Self.synced(f, "a", photo, version: 1)
      try await f.edit("a", at: 0, [7, 7, 7])
      _ = try await Self.open(f, "a", at: 0, [9, 9, 9])
      try await f.write("new", photo: photo.reversed())
      _ = try await Self.open(f, "new", at: 0, [9, 9, 9])
      try await f.crash()
      #expect(try await f.photo(row.id) == Self.edited(photo, at: 0, [7, 7, 7]))
      #expect(try await f.photo(f.rows(Selection("name = 'new'"))[0].id) == photo.reversed())
      #expect(try await f.rows().allSatisfy { $0.state == .dirty })
    }
  }

  @Test("SIM-82: a torn row that the cloud never had and the disk has lost is discarded, and the app told")
  func firstEver() async throws {
    try await Self.with { f in
      let photo = F.noise(200_000, seed: 1)
      try await f.write("first", photo: photo)
      try await f.write("kept")
      _ = try await Self.open(f, "first", at: 0, [1])
      _ = try await f.store.takeUpcalls(F.photos)
      let id = try await f.rows()[0].id
      try await f.crash { directory in
        try Rot.turnBit(of: Array(photo[500..<564]), in: directory)
        try Rot.flags(
          RowFlags(tableDirty: true, objectDirty: true, openObjects: 1), ofRow: id, of: F.photos, in: directory)
      }
      #expect(try await f.names() == ["kept"])
      #expect(try await f.store.takeUpcalls(F.photos).changed.count == 1)
      #expect(try #require(try await f.collect()).mutations.count == 1)
    }
  }

  @Test("I2: what others need as well stays as it is: rows of the same content, and reads that have begun")
  func shared() async throws {
    try await Self.with { f in
      let photo = F.noise(300_000, seed: 1)
      let row = try await Self.synced(f, "a", photo, version: 1)
      // The old content again, while it is being overwritten.
      let handle = try await Self.open(f, "a", at: 0, [1, 2, 3])
      let twin = try await f.write("b", photo: photo)
      #expect(try await f.photo(twin) == photo)
      try await f.store.closeWrite(handle, owner: f.owner)
      #expect(try await f.photo(twin) == photo)
      #expect(try await f.photo(row.id) == Self.edited(photo, at: 0, [1, 2, 3]))
      let plan = try #require(try await f.collect())
      try await f.accept(plan, from: 2)
      let page = try await f.store.beginRead(
        ReadRequest(table: F.photos, pageRows: 1, isHeld: true), owner: f.owner)
      let second = try await Self.open(f, "b", at: 299_000, [4, 5, 6])
      let seen = try await f.store.readObject(
        F.photos, row: twin, object: "photo", offset: 298_000, length: 2_000, cursor: page.cursor, owner: f.owner)
      #expect(seen.bytes == Array(photo[298_000...]))
      try await f.store.abandonWrite(second, owner: f.owner)
      await f.store.closeCursor(page.cursor, owner: f.owner)
      #expect(try await f.photo(twin) == photo, "nothing was overwritten, so nothing is torn")
    }
  }

  @Test("I2, SIM-63: whoever comes after a row that has gone while it was open is not open, nor overwritten")
  func successor() async throws {
    try await Self.with { f in
      let photo = F.noise(600, seed: 1)
      _ = try await Self.synced(f, "gone", photo, version: 1)
      let handle = try await Self.open(f, "gone", at: 600, [])
      // The zone has begun anew, and has a row of the same content, which takes the place of the other.
      try await f.store.reset(F.photos)
      try await f.apply([])
      #expect(try await f.names() == [])
      try await f.apply([F.entry("next", 2, "next", photo: photo)])
      let again = try await f.store.openWrite(
        F.photos, cells: [], objects: ["photo"], selection: Selection("name = 'next'"), owner: f.owner)
      try await f.store.abandonWrite(again.handle, owner: f.owner)
      try await f.store.writeObject(handle, row: 0, object: "photo", offset: 0, bytes: [1, 2, 3], owner: f.owner)
      #expect(try await f.photo("next") == photo)
      #expect(try await Self.refusal { try await f.store.closeWrite(handle, owner: f.owner) } == .noSuchObject)
      try await f.store.abandonWrite(handle, owner: f.owner)
      #expect(try await f.rows()[0].state == .clean)
      try await f.edit("next", at: 0, [4])
      #expect(try await f.collect() != nil)
    }
  }

  @Test("I2: rows that share a list of chunks keep their own bytes")
  func sharedList() async throws {
    var options = FragileStore.options
    options.chunksInRow = 3
    options.inlineBytes = 0
    try await F.with(options: options) { f in
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      try await f.agree()
      let photo = F.noise(20_000, seed: 1)
      let row = try await Self.synced(f, "a", photo, version: 1)
      let twin = try await Self.synced(f, "b", photo, version: 2)
      try await f.edit("a", at: 9_000, [1, 2, 3])
      #expect(try await f.photo(twin.id) == photo)
      #expect(try await f.photo(row.id) == Self.edited(photo, at: 9_000, [1, 2, 3]))
    }
  }

  @Test("SIM-29: random writes, truncations and appends in place read back as in one flat array", arguments: [1, 2, 3])
  func random(seed: UInt64) async throws {
    var options = FragileStore.options
    options.inlineBytes = 300
    try await F.with(options: options) { f in
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      try await f.agree()
      var photo = F.noise(20_000, seed: seed)
      let row = try await Self.synced(f, "a", photo, version: 1)
      var chance = SplitMix64(seed: seed)
      func below(_ bound: Int) -> Int { Int(chance.next() % UInt64(bound)) }
      for round in 0..<40 {
        let opened = try await f.store.openWrite(
          F.photos, cells: [], objects: ["photo"], selection: Selection("name = 'a'"), owner: f.owner)
        for _ in 0...below(6) {
          if below(6) == 0 {
            let size = below(photo.count + 500)
            photo = Array((photo + [UInt8](repeating: 0, count: 500)).prefix(size))
            try await f.store.truncateObject(
              opened.handle, row: 0, object: "photo", size: UInt64(size), owner: f.owner)
          } else {
            let (at, bytes) = (below(photo.count + 1), F.noise(1 + below(900), seed: chance.next()))
            photo += [UInt8](repeating: 0, count: max(0, at + bytes.count - photo.count))
            photo.replaceSubrange(at..<at + bytes.count, with: bytes)
            try await f.store.writeObject(
              opened.handle, row: 0, object: "photo", offset: UInt64(at), bytes: bytes, owner: f.owner)
          }
        }
        try await f.store.closeWrite(opened.handle, owner: f.owner)
        #expect(try await f.photo(row.id) == photo, "round \(round)")
        #expect(try await f.store.problems() == [])
        if below(2) == 0, let plan = try await f.collect() { try await f.accept(plan, from: UInt64(round + 2)) }
      }
    }
  }

  @Test("SIM-54, BEN-03: short objects take the places of those they replace, in one transaction")
  func short() async throws {
    try await F.with { f in
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      for name in ["a", "b"] { try await f.write(name, photo: F.noise(1_000, seed: 1)) }
      for round in 2..<6 {
        let photo = F.noise(1_000, seed: UInt64(round))
        try await f.store.write(
          F.photos, cells: [], contents: [ObjectValue("photo", photo)], selection: Selection("name = 'b'"))
        #expect(try await f.photo(f.rows()[1].id) == photo)
        #expect(try await f.photo(f.rows()[0].id) == F.noise(1_000, seed: 1))
        #expect(try await f.store.storedChunks() == 2)
      }
    }
  }

  // MARK: Every change of the disk

  /// A store whose row `a` the cloud has; gives the row's id, and what the cloud has of it.
  private static func prepared(_ bench: FragileStore, _ photo: [UInt8]) async throws -> (String, [LocalChunk]) {
    let store = bench.store
    try await store.createTable(
      F.photos, schema: try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"),
      localOnly: false, properties: TableChange(mode: .inPlace))
    try await store.agree(on: F.type, for: F.photos)
    let id = try await store.write(
      F.photos, cells: [CellValue("name", .text("a"))], contents: [ObjectValue("photo", photo)])[0]
    let plan = try #require(try await store.collect(F.photos, maximumRows: 9, maximumBytes: 1 << 20))
    let chunks = try await store.chunks(plan.chunks, maximumBytes: 1 << 20)
    try await store.record([.accepted(version: 1)], of: plan.op)
    // That it was accepted is on the disk with the next change that must be.
    try await store.note(refusal: "none", fault: nil, of: F.photos)
    return (id, chunks)
  }

  private static func edit(_ store: LocalStore, _ bytes: [UInt8]) async throws {
    let opened = try await store.openWrite(
      F.photos, cells: [CellValue("date", .integer(2))], objects: ["photo"], selection: Selection("name = 'a'"),
      owner: 1)
    for start in [700, 1_900] {
      try await store.writeObject(
        opened.handle, row: 0, object: "photo", offset: UInt64(start), bytes: bytes, owner: 1)
    }
    try await store.closeWrite(opened.handle, owner: 1)
  }

  @Test(
    "SIM-75, SIM-76, I1, I2: whenever the end comes, and comes again, the row is old or new, or asks for what it lost",
    arguments: FragileStore.Death.allCases)
  func everyChange(death: FragileStore.Death) async throws {
    let old = F.noise(3_000, seed: 1)
    let bytes = F.noise(600, seed: 2)
    let new = Self.edited(Self.edited(old, at: 700, bytes), at: 1_900, bytes)
    var (changes, tears) = (0, 0)
    var isOver = false
    while !isOver {
      let bench = try await FragileStore()
      let (id, chunks) = try await Self.prepared(bench, old)
      bench.disk.die(afterChanges: changes)
      let isAcknowledged = (try? await Self.edit(bench.store, bytes)) != nil
      isOver = !bench.disk.isDead
      try await bench.die(death, again: changes % 5)
      #expect(try await bench.store.problems() == [])
      let lacking = Set(try await bench.store.missingChunks(of: F.photos, limit: 99).map(\.hash))
      if !lacking.isEmpty {
        tears += 1
        #expect(!isAcknowledged)
        #expect(try await bench.store.beginRead(ReadRequest(table: F.photos), owner: 1).rows.isEmpty)
        try await bench.store.stage(chunks.filter { lacking.contains($0.hash) }, for: F.photos)
      }
      let row = try #require(try await bench.store.beginRead(ReadRequest(table: F.photos), owner: 1).rows.first)
      let photo = try await bench.store.readObject(
        F.photos, row: id, object: "photo", offset: 0, length: 10_000, owner: 1
      ).bytes
      let isNew = row.cells.contains(CellValue("date", .integer(2)))
      #expect(photo == (isNew ? new : old), "after \(changes) changes")
      #expect(isNew || !isAcknowledged)
      #expect(row.state == (isNew ? .dirty : .clean))
      await bench.close()
      changes += 1
    }
    #expect(changes > 10 && tears > 0)
  }
}

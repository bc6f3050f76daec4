import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a device keeps of a table what it was told to: objects when they are read, or not at all; recent rows only.
/// Method: a store, and pages and chunks as the cloud would send them.
@Suite("Partial tables", .timeLimit(.minutes(2)))
struct PartialTableTests {
  typealias F = StoreFixture

  private static func with(
    _ change: TableChange, clock: ManualClock = ManualClock(), _ body: (F) async throws -> Void
  ) async throws {
    try await F.with(clock: clock) { f in
      try await f.store.updateTable(F.photos, change)
      try await f.agree()
      try await body(f)
    }
  }

  private static func refusal(_ body: () async throws -> Void) async throws -> ErrorCode? {
    do { try await body() } catch let error as CaravanError { return error.code }
    return nil
  }

  private static func missing(_ f: F) async throws -> [ChunkHash] {
    try await f.store.missingChunks(of: F.photos, limit: 99).map(\.hash)
  }

  @Test("SIM-06, SIM-29: a lazy object's row is seen at once; a read says what it lacks, and gets no more than that")
  func lazy() async throws {
    try await Self.with(TableChange(fetch: ["Photo": .lazy])) { f in
      let photo = F.noise(350_000)
      try await f.apply([F.entry("row-1", 5, "a", photo: photo)])
      #expect(try await f.names() == ["a"])
      #expect(try await f.rows()[0].objects.first?.size == 350_000)
      #expect(try await Self.missing(f).isEmpty)
      #expect(try await Self.refusal { _ = try await f.photo("row-1") } == .chunksMissing)
      try await f.store.want(F.photos, row: "row-1", object: "photo", offset: 100_000, length: 50)
      let second = F.chunks(photo)[1]
      #expect(try await Self.missing(f) == [second.hash])
      try await f.crash()
      #expect(try await f.store.syncState(of: F.photos).lacksChunks)
      try await f.store.stage([second], for: F.photos)
      let slice = try await f.store.readObject(
        F.photos, row: "row-1", object: "photo", offset: 100_000, length: 50, owner: f.owner)
      #expect(slice.bytes == Array(photo[100_000..<100_050]))
      #expect(try await Self.missing(f).isEmpty)
      // Cells change, and go up, without the object being here.
      try await f.store.write(
        F.photos, cells: [CellValue("name", .text("b"))], selection: Selection("name = 'a'"))
      let plan = try #require(try await f.collect())
      #expect(try await f.store.unsentChunks(of: plan.op).isEmpty)
      try await f.accept(plan, from: 6)
      #expect(try await f.store.storedChunks() == 1)
    }
  }

  @Test("an object that stays in the cloud is refused with why, and comes when its column becomes eager")
  func never() async throws {
    try await Self.with(TableChange(fetch: ["photo": .none])) { f in
      let photo = F.noise(250_000)
      try await f.apply([F.entry("row-1", 5, "a", photo: photo)])
      #expect(try await Self.refusal { _ = try await f.photo("row-1") } == .networkNotPermitted)
      #expect(try await Self.missing(f).isEmpty)
      try await f.store.updateTable(F.photos, TableChange(fetch: ["photo": .eager]))
      #expect(Set(try await Self.missing(f)) == Set(F.chunks(photo).map(\.hash)))
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.photo("row-1") == photo)
      await #expect { try await f.store.updateTable(F.photos, TableChange(fetch: ["name": .lazy])) } throws: {
        ($0 as? CaravanError)?.code == .schemaViolation
      }
    }
  }

  @Test("SIM-78: what rots of a lazy object is fetched again when it is read, and tears no row")
  func rot() async throws {
    try await Self.with(TableChange(fetch: ["photo": .lazy])) { f in
      let photo = F.noise(90_000)
      try await f.apply([F.entry("row-1", 5, "a", photo: photo)])
      try await f.store.want(F.photos, row: "row-1", object: "photo", offset: 0, length: 1_000)
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.photo("row-1") == photo)
      try await f.crash { try Rot.turnBit(of: Array(photo[500..<564]), in: $0) }
      #expect(try await Self.refusal { _ = try await f.photo("row-1") } == .chunkDamaged)
      try await f.store.repairDamage()
      #expect(try await f.names() == ["a"])
      #expect(try await Self.refusal { _ = try await f.photo("row-1") } == .chunksMissing)
    }
  }

  @Test(
    "UNI-15: the rows that changed last are kept, with what is not at the cloud yet; the space of others comes back")
  func recentRows() async throws {
    try await Self.with(TableChange(replication: .recent(RecentWindow(rows: 3)))) { f in
      let mine = try await f.write("mine", photo: F.noise(10_000, seed: 9))
      try await f.apply(
        (1...5).map { F.entry("row-\($0)", UInt64($0), "\($0)", photo: F.noise(90_000, seed: UInt64($0))) })
      // Only what stays is fetched.
      let wanted = (3...5).flatMap { F.chunks(F.noise(90_000, seed: UInt64($0))) }
      #expect(Set(try await Self.missing(f)) == Set(wanted.map(\.hash)))
      try await f.store.stage(wanted, for: F.photos)
      #expect(try await f.names() == ["mine", "3", "4", "5"])
      // An older one changes, and is recent.
      try await f.apply([F.entry("row-1", 6, "1")], token: [2])
      #expect(try await f.names() == ["mine", "4", "5", "1"])
      let plan = try #require(try await f.collect())
      try await f.accept(plan, from: 7)
      #expect(try await f.names() == ["mine", "5", "1"])
      #expect(try await f.store.storedChunks() == 2)
      // Its own echo, of a row that has been left to the cloud since.
      try await f.apply((8...10).map { F.entry("row-\($0)", UInt64($0), "\($0)") }, token: [3])
      #expect(try await f.names() == ["8", "9", "10"])
      let echo = IncomingEntry(entry: Entry(name: mine, version: 7, created: 7, type: 42, writer: "me"), isOwn: true)
      #expect(try await f.apply([echo], token: [4]).isUnexplained == false)
      // More is wanted: all of it is told again.
      try await f.store.updateTable(F.photos, TableChange(replication: .full))
      #expect(try await f.store.syncState(of: F.photos).mustStartOver)
      try await f.crash()
      #expect(try await f.store.syncState(of: F.photos).mustStartOver)
      try await f.store.reset(F.photos)
      #expect(try await !f.store.syncState(of: F.photos).mustStartOver)
    }
  }

  @Test("UNI-15: a row of which a newer version waits is one row; a narrower window counts at once")
  func recentWaiting() async throws {
    try await Self.with(TableChange(replication: .recent(RecentWindow(rows: 2)))) { f in
      let photo = F.noise(90_000)
      try await f.apply([F.entry("row-1", 1, "1"), F.entry("row-2", 2, "2")])
      try await f.apply([F.entry("row-2", 3, "2", photo: photo)], token: [2])
      #expect(try await f.names() == ["1", "2"])
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["1", "2"])
      try await f.store.updateTable(F.photos, TableChange(replication: .recent(RecentWindow(rows: 1))))
      #expect(try await f.names() == ["2"])
    }
  }

  @Test(
    "UNI-15: what the cloud has taken is as recent as that, whatever older waited for its answer",
    arguments: [false, true])
  func recentAccepted(isWhole: Bool) async throws {
    try await Self.with(TableChange(replication: .recent(RecentWindow(rows: 2)))) { f in
      try await f.apply([F.entry("row-1", 1, "1")])
      try await f.store.write(F.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = '1'"))
      let plan = try #require(try await f.collect())
      let older = F.entry("row-1", 2, "one", photo: isWhole ? nil : F.noise(90_000))
      try await f.apply([older, F.entry("row-2", 3, "2"), F.entry("row-3", 4, "3")], token: [2])
      try await f.accept(plan, from: 5)
      #expect(try await f.names() == ["1", "3"])
      #expect(try await Self.missing(f).isEmpty)
    }
  }

  @Test("UNI-15: a local table takes nothing from the cloud, not even what was on its way")
  func localOnly() async throws {
    try await Self.with(TableChange()) { f in
      try await f.apply([F.entry("row-1", 1, "1")])
      try await f.store.updateTable(F.photos, TableChange(replication: .localOnly))
      #expect(try await f.apply([F.entry("row-1", 2, "one"), F.entry("row-2", 3, "2")], token: [2]).applied == 0)
      #expect(try await f.names() == ["1"])
      let state = try await f.store.syncState(of: F.photos)
      #expect(state.isLocalOnly && state.token == [1])
    }
  }

  @Test("UNI-15: what a conflict was decided to be counts among the recent rows")
  func recentDecided() async throws {
    try await Self.with(TableChange(replication: .recent(RecentWindow(rows: 2)))) { f in
      try await f.apply([F.entry("row-1", 1, "1")])
      try await f.store.write(F.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = '1'"))
      try await f.apply(
        [F.entry("row-1", 2, "one"), F.entry("row-2", 3, "2"), F.entry("row-3", 4, "3")], token: [2])
      #expect(try await f.names() == ["1", "2", "3"])
      try await f.store.beginResolution(F.photos, owner: f.owner)
      try await f.store.resolve(F.photos, row: "row-1", .theirs, owner: f.owner)
      try await f.store.endResolution(F.photos, owner: f.owner)
      #expect(try await f.names() == ["2", "3"])
    }
  }

  @Test("UNI-15: rows that are not older than so long are kept")
  func recentAge() async throws {
    let clock = ManualClock()
    try await Self.with(TableChange(replication: .recent(RecentWindow(milliseconds: 60_000))), clock: clock) { f in
      func id(_ age: Int64) -> String {
        RowID.make(milliseconds: clock.wallTime.milliseconds - age, random: [UInt8](repeating: 1, count: 10))
      }
      try await f.apply([F.entry(id(90_000), 1, "old"), F.entry(id(30_000), 2, "young")])
      #expect(try await f.names() == ["young"])
      clock.advance(by: .seconds(31))
      try await f.apply([F.entry(id(0), 3, "new")], token: [2])
      #expect(try await f.names() == ["new"])
      for window in [RecentWindow(), RecentWindow(rows: 0)] {
        await #expect {
          try await f.store.updateTable(F.photos, TableChange(replication: .recent(window)))
        } throws: {
          ($0 as? CaravanError)?.code == .invalidData
        }
      }
    }
  }

  @Test("properties survive a restart, and a table is told what it was told by its creation as well")
  func kept() async throws {
    try await Self.with(TableChange(mode: .inPlace, fetch: ["photo": .lazy])) { f in
      try await f.crash()
      let wanted = TableProperties(mode: .inPlace, fetch: ["photo": .lazy])
      #expect(try await f.status().properties == wanted)
      try await f.store.createTable(
        F.photos, schema: try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"),
        localOnly: false)
      #expect(try await f.status().properties == wanted)
    }
  }

  @Test("UNI-19: a reset keeps what is not at the cloud, or forgets it", arguments: ResetChoice.allCases)
  func reset(choice: ResetChoice) async throws {
    try await Self.with(TableChange()) { f in
      let a = try await f.synced("a", photo: F.noise(40_000), version: 1)
      try await f.store.write(F.photos, cells: [CellValue("date", .integer(3))], selection: Selection("name = 'a'"))
      try await f.write("new")
      try await f.store.note(refusal: "no", fault: .client, of: F.photos)
      try await f.crash()
      #expect(try await f.status().fault == .client)
      if choice == .takeServer {
        await #expect("what is unsent is not forgotten unasked") {
          try await f.store.reset(F.photos, choice)
        } throws: {
          ($0 as? CaravanError)?.code == .invalidData
        }
      }
      try await f.store.reset(F.photos, choice, discardingUnsent: choice == .takeServer)
      #expect(try await f.status().fault == nil)
      #expect(try await f.status().refused.isEmpty)
      try await f.apply([F.entry(a, 1, "a")], token: [9])
      switch choice {
      case .keepLocal:
        #expect(try await f.names() == ["a", "new"])
        #expect(try await f.status().conflicts == 1)
        #expect(try await f.status().dirty == 2)
      case .takeServer:
        #expect(try await f.names() == ["a"])
        #expect(try await f.rows()[0].state == .clean)
        #expect(try await f.store.storedChunks() == 0)
      }
    }
  }
}

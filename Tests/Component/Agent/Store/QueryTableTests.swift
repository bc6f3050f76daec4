import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a table that keeps what a query asks for holds that and nothing else, apart from what the cloud does not have
/// yet (UNI-15). Method: a store and pages as the cloud would send them; then devices and the real services.
@Suite("Tables kept by a query", .timeLimit(.minutes(2)))
struct QueryTableTests {
  typealias F = StoreFixture
  private static let early = TableChange(replication: .query(RowQuery("name < ?", [.text("m")])))

  private static func with(_ change: TableChange = early, _ body: (F) async throws -> Void) async throws {
    try await F.with { f in
      try await f.store.updateTable(F.photos, change)
      try await f.agree()
      try await body(f)
    }
  }

  private static func missing(_ f: F) async throws -> Set<ChunkHash> {
    Set(try await f.store.missingChunks(of: F.photos, limit: 99).map(\.hash))
  }

  @Test("UNI-15: rows move in and out of the query's set; of those outside nothing is fetched")
  func moves() async throws {
    try await Self.with { f in
      let photo = F.noise(90_000)
      try await f.apply([
        F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "zoe", photo: photo), F.entry("row-3", 3, "bob"),
      ])
      #expect(try await f.names() == ["anna", "bob"])
      #expect(try await Self.missing(f).isEmpty)
      // In with its object, out with all it has.
      let summary = try await f.apply(
        [F.entry("row-2", 4, "carl", photo: photo), F.entry("row-1", 5, "xaver")], token: [2])
      #expect(summary.staged == 1 && summary.removed == 1)
      #expect(try await f.names() == ["bob"])
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["bob", "carl"])
      try await f.apply([F.entry("row-2", 6, "yves", photo: photo)], token: [3])
      #expect(try await f.names() == ["bob"])
      #expect(try await f.store.storedChunks() == 0)
      // A waiting row that leaves is not waited for.
      try await f.apply([F.entry("row-4", 7, "dora", photo: photo)], token: [4])
      try await f.apply([F.entry("row-4", 8, "nora", photo: photo)], token: [5])
      #expect(try await Self.missing(f).isEmpty)
      try await f.crash()
      #expect(try await f.names() == ["bob"])
      #expect(try await f.status().properties.replication == Self.early.replication)
    }
  }

  @Test("UNI-15: a row with changes of its own stays until the cloud has them; a conflict stays until it is decided")
  func dirty() async throws {
    try await Self.with { f in
      try await f.write("zita")
      #expect(try await f.names() == ["zita"])
      let plan = try #require(try await f.collect())
      try await f.accept(plan, from: 1)
      #expect(try await f.names() == [])
      // Its echo says nothing new.
      let echo = IncomingEntry(
        entry: Entry(name: plan.mutations[0].name, version: 1, created: 1, type: 42, writer: "me"), isOwn: true)
      #expect(try await f.apply([echo], token: [2]).isUnexplained == false)

      try await f.apply([F.entry("row-1", 5, "anna")], token: [3])
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = 'anna'"))
      try await f.apply([F.entry("row-1", 6, "zara")], token: [4])
      #expect(try await f.status().conflicts == 1)
      #expect(try await f.names() == ["anna"])
      try await f.store.beginResolution(F.photos, owner: f.owner)
      try await f.store.resolve(F.photos, row: "row-1", .theirs, owner: f.owner)
      try await f.store.endResolution(F.photos, owner: f.owner)
      #expect(try await f.names() == [])
      #expect(try await f.status().conflicts == 0)
    }
  }

  @Test("UNI-15: another query, or none, has the table told again; strangers go at once, unsent changes never")
  func changed() async throws {
    try await Self.with(TableChange()) { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "zoe"), F.entry("row-3", 3, "yara")])
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = 'yara'"))
      try await f.store.updateTable(F.photos, Self.early)
      #expect(try await f.names() == ["anna", "yara"])
      #expect(try await !f.store.syncState(of: F.photos).mustStartOver)
      try await f.store.updateTable(F.photos, TableChange(replication: .full))
      #expect(try await f.store.syncState(of: F.photos).mustStartOver)
    }
  }

  @Test(
    "UNI-15: the status says whether the cloud can check the query, once it is known how that knows its columns",
    arguments: [("name < 'm'", false), ("name LIKE 'a%'", true), ("name < 'm' AND name LIKE 'a%'", false)])
  func picked(query: String, isPickedHere: Bool) async throws {
    try await F.with { f in
      #expect(try await !f.status().picksHere)
      try await f.store.updateTable(F.photos, TableChange(replication: .query(RowQuery(query, []))))
      #expect(try await !f.status().picksHere)
      try await f.agree()
      #expect(try await f.status().picksHere == isPickedHere)
      // Nothing is left out, whatever the query, until all has been told again.
      try await f.store.reset(F.photos, .keepLocal)
      #expect(try await f.status().picksHere == isPickedHere)
    }
  }

  @Test("UNI-15: what the cloud told before it had a row that was left to it comes too late", arguments: [false, true])
  func outdated(isWaiting: Bool) async throws {
    try await Self.with { f in
      let photo = F.noise(90_000)
      try await f.apply([F.entry("row-1", 1, "anna")])
      try await f.store.write(
        F.photos, cells: [CellValue("name", .text("zoe"))], selection: Selection("name = 'anna'"))
      let plan = try #require(try await f.collect())
      if isWaiting { try await f.apply([F.entry("row-1", 2, "anne", photo: photo)], token: [2]) }
      try await f.accept(plan, from: 3)
      if isWaiting { try await f.crash() }
      _ =
        try await isWaiting
        ? f.store.stage(F.chunks(photo), for: F.photos)
        : f.apply([F.entry("row-1", 2, "anne")], token: [2])
      let echo = IncomingEntry(
        entry: Entry(name: "row-1", version: 3, created: 1, type: 42, writer: "me"), isOwn: true)
      try await f.apply([echo], token: [3])
      #expect(try await f.names() == [])
      try await f.apply([F.entry("row-1", 4, "anne")], token: [4])
      #expect(try await f.names() == ["anne"])
    }
  }

  @Test("UNI-15: strangers go at once also when the cloud has not named them again since a reset")
  func changedInResync() async throws {
    try await Self.with(TableChange()) { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "zoe")])
      try await f.store.reset(F.photos)
      try await f.store.updateTable(F.photos, Self.early)
      #expect(try await f.names() == ["anna"])
      try await f.store.reset(F.photos)
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 3, "bob")])
      #expect(try await f.names() == ["anna", "bob"])
    }
  }

  @Test("UNI-15: after a reset the query holds for what is named again, and dirty rows are kept (UNI-18)")
  func reset() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "bob")])
      try await f.write("zita")
      try await f.store.reset(F.photos)
      try await f.apply([F.entry("row-1", 4, "zara"), F.entry("row-2", 2, "bob")], token: [2])
      #expect(try await f.names() == ["bob", "zita"])
      #expect(try await f.status().dirty == 1)
    }
  }

  private enum End: CaseIterable {
    case closed, abandoned, died
  }

  @Test(
    "UNI-15: a row that is to go while an app has it open goes when it is not",
    arguments: End.allCases, [StoreMode.copyOnWrite, .inPlace])
  private func open(end: End, mode: StoreMode) async throws {
    try await Self.with { f in
      try await f.store.updateTable(F.photos, TableChange(mode: mode))
      try await f.apply([F.entry("row-1", 1, "anna")])
      try await f.store.write(
        F.photos, cells: [CellValue("name", .text("zoe"))], selection: Selection("name = 'anna'"))
      let plan = try #require(try await f.collect())
      let write = try await f.store.openWrite(
        F.photos, cells: [], objects: ["photo"], selection: Selection("name = 'zoe'"), owner: f.owner)
      try await f.accept(plan, from: 2)
      #expect(try await f.names() == ["zoe"])
      switch end {
      case .closed:
        try await f.store.closeWrite(write.handle, owner: f.owner)
        // An object that was opened is there, if empty: that is a change.
        try await f.accept(try #require(try await f.collect()), from: 3)
      case .abandoned: try await f.store.abandonWrite(write.handle, owner: f.owner)
      case .died: try await f.crash()
      }
      #expect(try await f.names() == [])
    }
  }

  @Test("UNI-15: also one that was being written over in place when the agent died")
  func overwritten() async throws {
    try await Self.with { f in
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      try await f.write("zoe", photo: F.noise(300_000))
      let plan = try #require(try await f.collect())
      let write = try await f.store.openWrite(
        F.photos, cells: [], objects: ["photo"], selection: Selection("name = 'zoe'"), owner: f.owner)
      try await f.store.writeObject(write.handle, row: 0, object: "photo", offset: 0, bytes: [1], owner: f.owner)
      try await f.accept(plan, from: 2)
      #expect(try await f.names() == ["zoe"])
      try await f.crash()
      #expect(try await f.names() == [])
    }
  }

  @Test("UNI-15: a row that somebody else was making under its key goes when he gives up")
  func madeTwice() async throws {
    try await F.with { f in
      let table = try await Self.makeKeys(f)
      func open() async throws -> UInt64 {
        try await f.store.openWrite(
          table, cells: [CellValue("name", .text("k")), CellValue("n", .integer(9))], objects: [], owner: f.owner
        ).handle
      }
      let (first, second) = (try await open(), try await open())
      try await f.store.closeWrite(first, owner: f.owner)
      await #expect(throws: CaravanError.self) { try await f.store.closeWrite(second, owner: f.owner) }
      let plan = try #require(try await f.store.collect(table, maximumRows: 9, maximumBytes: 999))
      try await f.store.record([.accepted(version: 7)], of: plan.op)
      #expect(try await f.rows(in: table).count == 1)
      try await f.store.abandonWrite(second, owner: f.owner)
      #expect(try await f.rows(in: table).isEmpty)
    }
  }

  @Test("UNI-15: nor of one that is in conflict with it, and was reset")
  func contestedAnew() async throws {
    try await F.with { f in
      let table = try await Self.makeKeys(f)
      func write(_ number: Int64) async throws -> PushPlan {
        try await f.store.write(table, cells: [CellValue("name", .text("k")), CellValue("n", .integer(number))])
        return try #require(try await f.store.collect(table, maximumRows: 9, maximumBytes: 999))
      }
      let left = try await write(9)
      try await f.store.record([.accepted(version: 7)], of: left.op)
      try await f.store.updateTable(table, TableChange(replication: .full))
      let anew = try await write(3)
      var there = CaravanModel.Entry(name: left.mutations[0].name, version: 7, created: 1, type: 7, writer: "d")
      if case .save(_, let body, _) = left.mutations[0].change { there.body = body }
      try await f.store.record([.conflict(server: there)], of: anew.op)
      try await f.store.reset(table, lost: [], token: [])
      there.body = []
      let summary = try await f.store.apply(
        [IncomingEntry(entry: there, isOwn: true)], to: table, token: [1], end: .last)
      #expect(summary.isUnexplained)
    }
  }

  /// A table of numbers by name, of which numbers below 5 are kept.
  private static func makeKeys(_ f: F) async throws -> TableID {
    let table = TableID(app: F.app, name: "keys")
    try await f.store.createTable(
      table, schema: try SchemaText(parsing: "name VARCHAR PRIMARY KEY, n INTEGER"), localOnly: false,
      properties: TableChange(replication: .query(RowQuery("n < 5"))))
    try await f.store.agree(
      on: CaravanModel.RecordType(
        id: 7, definition: 7, name: "keys",
        fields: [
          CaravanModel.FieldDefinition(id: 1, name: "name", kind: .text),
          CaravanModel.FieldDefinition(id: 2, name: "n", kind: .integer),
        ]),
      for: table)
    return table
  }

  @Test("UNI-15: own rows that were left come again as a whole until the table's new query has been told all")
  func ownRowsAgain() async throws {
    try await Self.with { f in
      try await f.write("zita")
      try await f.accept(try #require(try await f.collect()), from: 1)
      #expect(try await f.names() == [])
      #expect(try await !f.store.syncState(of: F.photos).lacksRows)
      let late = TableChange(replication: .query(RowQuery("name > ?", [.text("m")])))
      try await f.store.updateTable(F.photos, late)
      for change in [late, TableChange(replication: .full)] {
        try await f.store.updateTable(F.photos, change)
        try await f.store.reset(F.photos)
        try await f.apply([F.entry("row-1", 2, "xaver")], token: [1], end: .more)
        #expect(try await f.store.syncState(of: F.photos).lacksRows)
        // The session that began it is over, and so is the agent.
        try await f.crash()
        #expect(try await f.store.syncState(of: F.photos).lacksRows)
        try await f.apply([F.entry("row-2", 3, "yves")], token: [2], end: .more)
        #expect(try await f.store.syncState(of: F.photos).lacksRows)
        try await f.apply([], token: [3])
        #expect(try await !f.store.syncState(of: F.photos).lacksRows)
      }
    }
  }

  @Test("UNI-15: the echo of a row that was left is no echo of one that has been made anew under its key")
  func madeAnew() async throws {
    try await F.with { f in
      let table = try await Self.makeKeys(f)
      func write(_ number: Int64) async throws -> String {
        try await f.store.write(table, cells: [CellValue("name", .text("k")), CellValue("n", .integer(number))])[0]
      }
      let id = try await write(9)
      let plan = try #require(try await f.store.collect(table, maximumRows: 9, maximumBytes: 999))
      try await f.store.record([.accepted(version: 7)], of: plan.op)
      #expect(try await f.rows(in: table).isEmpty)
      #expect(try await write(3) == id)
      // Its process has heard of version 7, the next one has not.
      try await f.crash()
      let echo = CaravanModel.Entry(name: id, version: 7, created: 1, type: 7, writer: "d")
      let summary = try await f.store.apply(
        [IncomingEntry(entry: echo, isOwn: true)], to: table, token: [1], end: .last)
      #expect(summary.isUnexplained)
      #expect(try await f.store.collect(table, maximumRows: 9, maximumBytes: 999)?.mutations.map(\.base) == [.absent])
    }
  }

  @Test(
    "a query that is no plain expression over the columns is refused, and the table is as it was",
    arguments: [
      "nobody = 1", "name IN (SELECT name FROM \"album/photos\")", "random() > 0", "name = ?", "", "1) OR (1",
    ])
  func refused(template: String) async throws {
    try await Self.with(TableChange()) { f in
      await #expect {
        try await f.store.updateTable(F.photos, TableChange(replication: .query(RowQuery(template))))
      } throws: {
        ($0 as? CaravanError)?.code == .invalidData
      }
      let kept = try await f.status().properties.replication
      #expect(kept == .full)
    }
  }

  @Test("UNI-15: what two devices write, each keeps by its own query, through a crash", arguments: [1, 2, 3])
  func converges(seed: UInt64) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let a = try await suite.start("a")
      var b = try await suite.start("b")
      for device in [a, b] { try await device.createTable() }
      let low = TableChange(replication: .query(RowQuery("number < ?", [.integer(50)])))
      try await b.store.updateTable(RunningDevice.table, low)
      for device in [a, b] { try await device.register() }
      let random = suite.cluster.host("dice").host.random
      var numbers: [String: Int64] = [:]
      for step in 0..<40 {
        let (name, number) = ("r\(random.below(12))", Int64(random.below(100)))
        if numbers[name] == nil { try await a.write(name, number) } else { try await a.update(name, number) }
        numbers[name] = number
        // Rows that b writes leave it when the cloud has them.
        if step.isMultiple(of: 8) {
          try await b.write("b\(step)", Int64(step) * 10)
          numbers["b\(step)"] = Int64(step) * 10
        }
        if step == 20 {
          try await b.kill()
          b = try await suite.start("b")
        }
        if random.below(3) == 0 { try await a.clock.sleep(for: .milliseconds(Int64(random.below(400)))) }
      }
      let (all, kept) = (numbers, numbers.filter { $0.value < 50 })
      let second = b
      try await a.until("a has all") { try await a.numbers() == all }
      try await second.until("b has its part") {
        guard try await second.numbers() == kept else { return false }
        return try await second.isSettled()
      }
      for device in [a, second] { #expect(try await device.store.problems() == []) }
    }
  }
}

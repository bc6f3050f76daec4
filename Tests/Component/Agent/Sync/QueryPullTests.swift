import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a table that is kept by a query costs what its rows cost, and misses none of them (UNI-15). Method: devices
/// and the real services in a simulated cluster; the same query in words that the cloud can tell of, and in others.
@Suite("Pulls by a query", .timeLimit(.minutes(2))) struct QueryPullTests {
  private static let table = RunningDevice.table

  private static func query(_ text: String) -> TableChange { TableChange(replication: .query(RowQuery(text))) }

  private static func bytes(_ device: RunningDevice) async throws -> Int {
    await device.bytesDown()
  }

  @Test(
    "UNI-15: of a thousand rows, of which ten match, ten travel; where the query is not understood, all",
    arguments: [("number < 10", 400...650), ("number + 0 < 10", 20_000...22_000)])
  func thousand(text: String, figure: ClosedRange<Int>) throws {
    let suite = try SuiteCluster(seed: 5)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      try await a.createTable()
      try await a.register()
      for number in 0..<1_000 { try await a.write("row \(1_000 + number) of a thousand", Int64(number)) }
      try await a.until("all are at the cloud") { try await a.isSettled() }
      let b = try await suite.start("b")
      try await b.createTable()
      try await b.store.updateTable(Self.table, Self.query(text))
      try await b.register()
      try await b.until("it has its part") { try await b.numbers().count == 10 }
      try await b.until("it is told all") { try await !b.store.syncState(of: Self.table).token.isEmpty }
      let bytes = try await Self.bytes(b)
      #expect(figure.contains(bytes))
    }
  }

  @Test(
    "UNI-15: rows that begin and cease to match, while the device is there and while it is away", arguments: [3, 4])
  func moves(seed: UInt64) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      var b = try await suite.start("b")
      for device in [a, b] { try await device.createTable() }
      try await b.store.updateTable(Self.table, Self.query("number < 50"))
      for device in [a, b] { try await device.register() }
      for (name, number) in [("in", 1), ("out", 90), ("in to out", 2), ("out to in", 91)] as [(String, Int64)] {
        try await a.write(name, number)
      }
      let first = b
      try await first.until("it has its part") { try await first.numbers() == ["in": 1, "in to out": 2] }
      try await a.update("in to out", 92)
      try await a.update("out to in", 3)
      try await first.until("they have moved") { try await first.numbers() == ["in": 1, "out to in": 3] }

      try await b.kill()
      try await a.write("made meanwhile", 93)
      try await a.update("out", 94)
      try await a.until("a has pushed") { try await a.isSettled() }
      try await a.update("made meanwhile", 4)
      try await a.update("in", 95)
      try await a.delete("out to in")
      try await a.until("a has pushed") { try await a.isSettled() }
      b = try await suite.start("b")
      let second = b
      try await second.until("it has what has come of it") { try await second.numbers() == ["made meanwhile": 4] }
      #expect(try await second.store.problems() == [])
    }
  }

  @Test(
    "UNI-15, SIM-68: a row that was changed here and left the query's set elsewhere is a conflict with what it is there"
  )
  func contested() throws {
    let suite = try SuiteCluster(seed: 7)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      let b = try await suite.start("b")
      for device in [a, b] { try await device.createTable() }
      try await b.store.updateTable(Self.table, Self.query("number < 50"))
      try await a.register()
      let reading = SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .roaming)
      try await b.store.register(Self.table, .read, reading)
      await b.agent.engine.registrationsChanged(of: Self.table)
      try await a.write("one", 1)
      try await a.write("two", 2)
      try await b.until("both are here") { try await b.numbers().count == 2 }
      try await b.update("one", 11)
      try await a.update("two", 92)
      try await a.update("one", 91)
      try await b.until("it is a conflict") {
        try await b.store.status(of: Self.table.app).first?.conflicts == 1
      }
      #expect(try await b.numbers() == ["one": 11])
      let conflict = try #require(try await Self.conflict(b))
      #expect(conflict == .integer(91))
    }
  }

  /// What the cloud has of the row in conflict.
  private static func conflict(_ device: RunningDevice) async throws -> CaravanModel.Value? {
    try await device.store.beginResolution(table, owner: 1)
    let view = try await device.store.conflicts(table).first?.theirs
    return view?.cells.first { $0.column == "number" }?.value
  }

  @Test("UNI-15, UNI-18: another query is told from the beginning, without what neither asks for")
  func another() throws {
    let suite = try SuiteCluster(seed: 9)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      let b = try await suite.start("b")
      for device in [a, b] { try await device.createTable() }
      try await b.store.updateTable(Self.table, Self.query("number < 10"))
      for device in [a, b] { try await device.register() }
      for number in 0..<300 { try await a.write("row \(1_000 + number)", Int64(number)) }
      try await b.until("it has its part") { try await b.numbers().count == 10 }
      try await a.until("a has pushed") { try await a.isSettled() }
      let before = try await Self.bytes(b)
      try await b.store.updateTable(Self.table, Self.query("number BETWEEN 5 AND 14"))
      await b.agent.engine.askForWhatIsLacking()
      try await b.until("it has its other part") { try await Set(b.numbers().values) == Set(5...14) }
      #expect(try await Self.bytes(b) - before < 2_000)
      try await b.store.updateTable(Self.table, TableChange(replication: .full))
      await b.agent.engine.askForWhatIsLacking()
      try await b.until("it has all") { try await b.numbers().count == 300 }
    }
  }
}

import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentNetwork
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: devices of one user whose tables have different columns lose nothing of each other's (CK-26). Method: the real
/// services in a simulated cluster; one device gains a column, the other does not.
@Suite("Tables that gain columns, among devices", .timeLimit(.minutes(2))) struct ExtensionTests {
  private static let table = RunningDevice.table
  private static let wider = RunningDevice.columns + ", note VARCHAR"

  private static func extend(_ device: RunningDevice) async throws {
    try await device.store.createTable(table, schema: SchemaText(parsing: wider), localOnly: false)
    await device.agent.engine.askForWhatIsLacking()
  }

  private static func write(_ note: String, _ device: RunningDevice) async throws {
    try await device.store.write(table, cells: [CellValue("note", .text(note))], selection: Selection("name = 'x'"))
  }

  private static func note(_ device: RunningDevice) async throws -> CaravanModel.Value? {
    try await device.rows().first?.cells.first { $0.column == "note" }?.value
  }

  @Test(
    "CK-26, TRU-15: under every conflict policy an older device neither loses nor clobbers the new column",
    arguments: ConflictPolicy.allCases)
  func policies(_ policy: ConflictPolicy) throws {
    let suite = try SuiteCluster(seed: 7)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      try await suite.registerType(TypeSettings(conflicts: policy, fallback: .lastWriterWins))
      let older = try await suite.start("a")
      var newer = try await suite.start("b")
      for device in [older, newer] {
        try await device.createTable()
        try await device.register()
      }
      try await older.write("x", 1)
      try await newer.until("x is at b") { try await newer.numbers() == ["x": 1] }
      // What was written and not sent before the table gains a column, and after it, over a restart.
      suite.faults.cut("b", "sync")
      try await newer.update("x", 2)
      try await Self.extend(newer)
      try await Self.write("mine", newer)
      try await newer.kill()
      suite.faults.healAll()
      newer = try await suite.start("b")
      let device = newer
      try await device.until("both changes have gone") { try await device.isSettled() }
      try await older.until("they are at a") { try await older.numbers() == ["x": 2] }
      for number in Int64(3)...5 {
        try await older.update("x", number)
        try await device.until("\(number) is at b") { try await device.numbers() == ["x": number] }
        #expect(try await Self.note(device) == .text("mine"))
      }
      // The older device follows.
      try await Self.extend(older)
      try await older.until("what was kept for it shows") { try await Self.note(older) == .text("mine") }
      try await Self.write("theirs", older)
      try await device.until("and what it writes comes") { try await Self.note(device) == .text("theirs") }
    }
  }

  @Test("CK-26, TRU-15: two devices that add different columns get both, and sync on")
  func branches() throws {
    let suite = try SuiteCluster(seed: 8)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      try await a.write("x", 1)
      try await b.until("x is at b") { try await b.numbers() == ["x": 1] }
      try await Self.extend(a)
      try await Self.write("of a", a)
      try await a.until("it has gone") { try await a.isSettled() }
      try await b.until("b has that version") { try await b.rows().first?.version == a.rows().first?.version }
      let other = RunningDevice.columns + ", rating INTEGER"
      try await b.store.createTable(Self.table, schema: SchemaText(parsing: other), localOnly: false)
      try await b.store.write(
        Self.table, cells: [CellValue("rating", .integer(5))], selection: Selection("name = 'x'"))
      try await b.until("it has gone") { try await b.isSettled() }
      try await b.update("x", 2)
      try await a.until("b's change is here") { try await a.numbers() == ["x": 2] }
      #expect(try await Self.note(a) == .text("of a"))
    }
  }

  @Test("TRU-17: what a table is said to have carried is what went, its objects and what goes ahead included")
  func figures() throws {
    let suite = try SuiteCluster(seed: 9)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      let photo = SeededRandom(seed: 3).bytes(3 << 20)
      try await a.writePhoto("x", photo)
      try await b.until("it is at b") { try await b.photo("x") == photo }
      try await a.until("all is quiet") { try await a.isSettled() }
      for (device, direction) in [(a, "up"), (b, "down")] {
        let status = await device.agent.engine.status()
        let total = status.totals[Self.table] ?? UsageLedger.Bytes()
        let wire = status.counters.reduce(UInt64(0)) { sum, counter in
          let isOfWire = counter.name.hasPrefix("caravan_agent_wire_bytes_total")
          return sum + (isOfWire && counter.name.contains("direction=\(direction)") ? counter.value : 0)
        }
        let (table, own) =
          direction == "up" ? (total.up, status.deviceTotal.up) : (total.down, status.deviceTotal.down)
        #expect(table + own == wire && table > 3 << 20 && own < 4_096, "\(table) + \(own) of \(wire)")
      }
      // Also over a restart.
      let before = await a.agent.engine.status().totals[Self.table]
      await a.agent.engine.meter.save()
      try await a.kill()
      let again = try await suite.start("a")
      try await again.until("it runs") { await again.agent.engine.status().totals[Self.table]?.up ?? 0 > 0 }
      #expect(await again.agent.engine.status().totals[Self.table]?.up ?? 0 >= before?.up ?? 0)
    }
  }
}

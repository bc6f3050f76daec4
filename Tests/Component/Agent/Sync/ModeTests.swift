import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: how a table's sync stands is known; an error lasts until somebody resets it, and nothing else starves a row.
/// Method: an engine against a scripted cloud, and devices in a simulated cluster that is killed in between.
@Suite("Modes", .timeLimit(.minutes(1)))
struct ModeTests {
  typealias Bench = EngineBench

  private static func registered(_ bench: Bench) {
    bench.store.add(Bench.album, agreed: true)
    bench.store.register(Bench.album, .write)
  }

  private static func refuse(_ bench: Bench, _ error: CaravanError) {
    bench.cloud.script(.refuse { kind in if case .push = kind { error } else { nil } })
  }

  @Test("REC-27: modes in the order of their gravity; the errors need a reset")
  func order() {
    func mode(
      _ fault: TableFault?, resetting: Bool = false, connected: Bool = true, working: Bool = false
    ) -> CaravanAgentCore.SyncMode {
      CaravanAgentCore.SyncMode(fault: fault, isResetting: resetting, isConnected: connected, isAtWork: working)
    }
    let modes = [
      mode(nil), mode(nil, working: true), mode(nil, connected: false, working: true),
      mode(nil, resetting: true, connected: false), mode(.client, connected: false),
      mode(.internal, resetting: true), .notRecoverable,
    ]
    #expect(mode(.schema) == mode(.client))
    #expect(modes == CaravanAgentCore.SyncMode.allCases)
    #expect(modes == modes.sorted())
    for code in ErrorCode.allCases {
      let error = CaravanError(code, "")
      if error.isWorthRetrying { #expect(TableFault(error) == nil, "\(code)") }
    }
  }

  @Test("REC-05, REC-27, UNI-19: what the cloud will not take rests until it is reset, whatever is written meanwhile")
  func clientError() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      Self.refuse(bench, CaravanError(.schemaViolation, "field 'x' is text, not integer"))
      bench.write("a", "1")
      try await bench.until("it is refused") { bench.store.table(Bench.album).fault == .schema }
      bench.write("a", "2")
      try await bench.pass(.seconds(600))
      #expect(bench.pushes.count == 1)
      let refusal = await #expect(throws: CaravanError.self) {
        try await bench.engine.syncNow(Bench.album, write: true, read: false)
      }
      #expect(refusal?.message.contains("field 'x' is text") == true)
      #expect(refusal?.message.contains("a reset alone does not help") == true)
      try await bench.engine.reset(Bench.album, .keepLocal, discardingUnsent: false)
      try await bench.until("it is at the cloud") { bench.store.isClean(Bench.album) }
      #expect(bench.cloud.state.withLock { $0.zones["album"]?["a"]?.body } == Array("2".utf8))
    }
  }

  @Test("REC-07: an error inside the cloud is tried again for long, and then rests as well")
  func internalError() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      for _ in 0..<Int(EngineLimits.attemptsBeforeFault) + 20 {
        bench.cloud.script(
          .refuse { kind in
            switch kind {
            case .push, .settle: CaravanError(.internalError, "a bug")
            default: nil
            }
          })
      }
      bench.write("a", "1")
      try await bench.until("it has given up", within: .seconds(3_000), every: .seconds(1)) {
        bench.store.table(Bench.album).fault == .internal
      }
    }
  }

  @Test(
    "E17, I16: a push that the cloud keeps quiet about, with the connection alive, does not starve its row",
    arguments: [ScriptedCloud.Mishap.loseFrame, .loseAnswer])
  func stuckSession(mishap: ScriptedCloud.Mishap) throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.cloud.script(mishap)
      bench.write("a", "1")
      try await bench.until("it is on its way") { bench.pushes.count == 1 }
      bench.write("a", "2")
      try await bench.until("it is at the cloud", within: EngineLimits.exchangeDeadline * 2) {
        bench.store.isClean(Bench.album)
      }
      #expect(bench.pushes.prefix(2) == [1, 1], "the same op again")
      #expect(bench.cloud.state.withLock { $0.applied.values.allSatisfy { $0 == 1 } })
      #expect(bench.cloud.state.withLock { $0.zones["album"]?["a"]?.body } == Array("2".utf8))
    }
  }

  @Test(
    "REC-27, REC-08: an error outlives the agent, and a reset brings the cloud's rows",
    arguments: CaravanAgentCore.ResetChoice.allCases)
  func outlives(choice: CaravanAgentCore.ResetChoice) throws {
    let suite = try SuiteCluster(seed: 3)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      try await a.write("x", 1)
      try await b.until("x is at b") { try await b.numbers() == ["x": 1] }
      try await b.store.note(refusal: "no", fault: .client, of: RunningDevice.table)
      try await b.update("x", 2)
      try await b.kill()
      let again = try await suite.start("b")
      try await again.clock.sleep(for: .seconds(60))
      #expect(try await again.store.status(of: RunningDevice.table.app).first?.fault == .client)
      #expect(try await again.store.status(of: RunningDevice.table.app).first?.dirty == 1)
      try await again.until("it is reset") {
        do { try await again.agent.engine.reset(RunningDevice.table, choice, discardingUnsent: true) } catch {
          return false
        }
        return true
      }
      let number: Int64 = choice == .keepLocal ? 2 : 1
      try await again.until("b is as it was decided") {
        if try await !again.store.conflicts(RunningDevice.table).isEmpty {
          try await again.store.beginResolution(RunningDevice.table, owner: 1)
          try await again.store.resolve(
            RunningDevice.table, row: again.rows()[0].id, .mine, owner: 1)
          try await again.store.endResolution(RunningDevice.table, owner: 1)
        }
        guard try await again.isSettled() else { return false }
        return try await again.numbers() == ["x": number]
      }
      try await a.until("a has the same") { try await a.numbers() == ["x": number] }
    }
  }

  @Test("SIM-29, UNI-15: a lazy photo comes over the network when it is read, and not before")
  func lazyPhoto() throws {
    let suite = try SuiteCluster(seed: 4)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      try await b.store.updateTable(RunningDevice.table, TableChange(fetch: ["photo": .lazy]))
      for device in [a, b] { try await device.register() }
      let photo = SeededRandom(seed: 5).bytes(300_000)
      try await a.writePhoto("x", photo)
      try await b.until("the row is at b") { try await b.rows().count == 1 }
      #expect(try await b.store.storedChunks() == 0)
      let session = AppSession(app: RunningDevice.table.app, owner: 5, store: b.store, sync: b.agent.engine)
      let read = ReadObject(table: "album", row: try await b.rows()[0].id, object: "photo", offset: 0, length: 1 << 20)
      guard case .objectBytes(let bytes) = await session.fetch(read) else {
        Issue.record("the photo did not come")
        return
      }
      #expect(bytes.data == photo)
      #expect(try await b.photo("x") == photo)
    }
  }
}

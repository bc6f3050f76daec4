import CaravanAgentCore
import CaravanBus
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what a session came to is counted, and what waits for a slow app is bounded. Method: values; an engine against
/// a scripted cloud; devices in a simulated cluster, killed in between.
@Suite("Reports of sessions", .timeLimit(.minutes(1)))
struct SessionReportTests {
  @Test("REC-28: events that nobody takes are bounded: those of one table and direction become one")
  func folded() {
    for capacity in [4, 7] {
      var queue = SyncEventQueue(capacity: capacity)
      for n in 1...100 {
        for (table, isWrite) in [("a", true), ("a", false), ("b", true), ("b", false)] {
          queue.add(
            CaravanWire.SyncEvent(
              table: table, write: isWrite, rowsSent: isWrite ? 2 : 0, deletionsSent: isWrite ? 1 : 0,
              rowsReceived: isWrite ? 0 : 3, resumed: n == 7, complete: n == 100, sessions: 1))
        }
      }
      var events: [CaravanWire.SyncEvent] = []
      while let event = queue.next() { events.append(event) }
      #expect(events.count <= capacity)
      for (table, isWrite) in [("a", true), ("a", false), ("b", true), ("b", false)] {
        let own = events.filter { $0.table == table && $0.write == isWrite }
        #expect(own.reduce(0) { $0 + $1.rowsSent } == (isWrite ? 200 : 0))
        #expect(own.reduce(0) { $0 + $1.deletionsSent } == (isWrite ? 100 : 0))
        #expect(own.reduce(0) { $0 + $1.rowsReceived } == (isWrite ? 0 : 300))
        #expect(own.reduce(0) { $0 + $1.sessions } == 100)
        #expect(own.contains(where: \.resumed) && own.last?.complete == true)
      }
    }
  }

  @Test("REC-28: who takes its events in time gets each")
  func each() {
    var queue = SyncEventQueue(capacity: 4)
    for n in 1...4 { queue.add(CaravanWire.SyncEvent(table: "a", write: true, rowsSent: UInt64(n), sessions: 1)) }
    for n in 1...4 { #expect(queue.next()?.rowsSent == UInt64(n)) }
    #expect(queue.next() == nil)
  }

  @Test("REC-28: of a push count what the cloud took, deletions apart")
  func counters() {
    let save = CaravanModel.Mutation.Change.save(type: 1, body: [], chunks: [])
    let mutations = [save, .delete, save, .delete, save, save].enumerated().map {
      CaravanModel.Mutation(name: "r\($0)", base: .absent, change: $1)
    }
    let outcomes: [CaravanModel.Outcome] = [
      .accepted(version: 1), .accepted(version: 2), .merged(version: 3, server: nil), .conflict(server: nil), .aborted,
      .refused(CaravanError(.invalidData, "no")),
    ]
    #expect(SessionCounters(mutations, outcomes) == SessionCounters(sent: 2, deleted: 1))
  }

  @Test("REC-28: a session that takes up one that was cut off says so, and no other does")
  func resumed() throws {
    typealias Bench = EngineBench
    let reports = Mutex<[SessionReport]>([])
    let rows: [(String, ScriptedCloud.Mishap?)] = [("a", nil), ("b", .loseAnswer), ("c", nil)]
    try Bench.run { bench in
      bench.store.add(Bench.album, agreed: true)
      bench.store.register(Bench.album, .write)
    } _: { bench in
      await bench.engine.whenSessionsEnd { report in reports.withLock { $0.append(report) } }
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      for (row, mishap) in rows {
        if let mishap { bench.cloud.script(mishap) }
        bench.write(row, "1")
        try await bench.until("\(row) is at the cloud", within: EngineLimits.exchangeDeadline * 2) {
          bench.store.isClean(Bench.album)
        }
        try await bench.pass(.seconds(1))
      }
    }
    let sent = reports.withLock { $0.filter { $0.counters.sent > 0 } }
    #expect(sent.map(\.counters.sent) == [1, 1, 1] && sent.allSatisfy { $0.direction == .write && $0.isWhole })
    #expect(sent.map(\.isResumed) == [false, true, false])
  }

  @Test("REC-28: a row whose object was cut off counts when it is here, in a session that is told as resumed")
  func objectCutOff() throws {
    let suite = try SuiteCluster(seed: 6)
    let cutOff = Mutex<[SessionReport]>([])
    let reports = Mutex<[SessionReport]>([])
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let a = try await suite.start("a")
      let b = try await suite.start("b", in: "\(suite.directory.path)/b", LocalStoreOptions()) { agent in
        await agent.engine.whenSessionsEnd { report in cutOff.withLock { $0.append(report) } }
      }
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      suite.faults.cut("storage", "b")
      try await a.write("w", 1)
      try await a.writePhoto("x", SeededRandom(seed: 5).bytes(300_000))
      try await b.until("its object is awaited") { try await b.store.syncState(of: RunningDevice.table).lacksChunks }
      try await b.kill()
      suite.faults.healAll()
      let again = try await suite.start("b", in: "\(suite.directory.path)/b", LocalStoreOptions()) { agent in
        await agent.engine.whenSessionsEnd { report in reports.withLock { $0.append(report) } }
      }
      try await again.until("it is here") { try await again.rows().count == 2 }
      try await again.clock.sleep(for: .seconds(1))
    }
    let first = cutOff.withLock { $0.filter { $0.direction == .read && $0.counters.received > 0 } }
    #expect(first.reduce(0) { $0 + $1.counters.received } == 1)
    let read = reports.withLock { $0.filter { $0.direction == .read } }
    #expect(read.reduce(0) { $0 + $1.counters.received } == 1)
    #expect(read.first?.isResumed == true && read.first?.isWhole == true)
  }

  @Test("REC-28: whether anything is left is as the store has it when the app is told")
  func left() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let session = AppSession(app: StoreFixture.app, owner: 3, store: f.store, sync: ScriptedSync())
      func isComplete(isWrite: Bool, isWhole: Bool = true) async -> Bool {
        let table = StoreFixture.photos.name
        return await session.completed(CaravanWire.SyncEvent(table: table, write: isWrite, complete: isWhole)).complete
      }
      #expect(await isComplete(isWrite: true))
      #expect(await !isComplete(isWrite: true, isWhole: false))
      try await f.write("x")
      #expect(await !isComplete(isWrite: true))
      #expect(await isComplete(isWrite: false))
      let plan = try #require(try await f.collect())
      #expect(await !isComplete(isWrite: true), "it is in flight")
      try await f.accept(plan, from: 1)
      #expect(await isComplete(isWrite: true))
    }
  }
}

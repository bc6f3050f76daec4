import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what an app changes together is there as a whole or not at all, at its device, at the cloud, and on another
/// device that shows snapshots, whatever hits the device in the middle (REC-23, UNI-13). Method: as for Table 7, with
/// two rows that change in batches, and tables that show snapshots.
@Suite("Rows that belong together × blows", .timeLimit(.minutes(5)))
struct TogetherFaultTests {
  typealias Content = FaultBench.Content
  typealias Moment = FaultMatrixTests.Moment

  private static func with(
    _ mode: StoreMode, link: LinkClass = .wired, padding: Int = 0,
    _ body: @escaping @Sendable (FaultBench) async throws -> Void
  ) throws {
    let strike = Strike()
    let suite = try SuiteCluster(seed: 12, policy: strike)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      try await body(FaultBench(suite, strike, mode, link: link, together: true, padding: padding))
    }
  }

  @Test(
    "REC-23: a batch that is closed when the agent ends, at any change to the disk, stands or never was",
    arguments: [Blow.agentKill, .powerCut, .recoveryCut], [StoreMode.copyOnWrite, .inPlace])
  func close(blow: Blow, mode: StoreMode) throws {
    let outcomes = Mutex<Set<Bool>>([])
    for changes in [0, 3, 5, 6, 7, 8] {
      try Self.with(mode) { bench in
        let new = FaultBench.Part.row.changed(2)
        bench.mayBecome(new)
        let held = try await bench.open(new, cells: [CellValue("number", .integer(new.number))], at: bench.device)
        bench.disk.die(afterChanges: changes)
        let store = bench.device.store
        let isClosed = (try? await store.closeWrites(held, isAtomic: true, owner: FaultBench.app)) != nil
        try await bench.carryOn(after: blow)
        if mode == .inPlace { try await bench.whole() }
        let after = try await FaultBench.content(at: bench.device)
        #expect(after == new || !isClosed && after == .base, "after \(changes) changes")
        outcomes.withLock { _ = $0.insert(after == new) }
        let end = try await bench.settle()
        #expect(end.content == after && !end.hadConflict)
      }
    }
    #expect(outcomes.withLock { $0 } == [true, false], "the blows fell before and after it was done")
  }

  @Test(
    "REC-23: of a batch not closed nothing is left when the app ends, and all of one that was when the connection does",
    arguments: [Blow.network, .appKill], [StoreMode.copyOnWrite, .inPlace])
  func open(blow: Blow, mode: StoreMode) throws {
    try Self.with(mode) { bench in
      let new = FaultBench.Part.row.changed(2)
      bench.mayBecome(new)
      if blow == .network { bench.strike.cut() }
      let held = try await bench.open(new, cells: [CellValue("number", .integer(new.number))], at: bench.device)
      if blow == .network {
        try await bench.device.store.closeWrites(held, isAtomic: true, owner: FaultBench.app)
      }
      try await bench.carryOn(after: blow)
      if mode == .inPlace { try await bench.whole() }
      let expected = blow == .network ? new : .base
      #expect(try await FaultBench.content(at: bench.device) == expected)
      let end = try await bench.settle()
      #expect(end.content == expected && !end.hadConflict)
    }
  }

  @Test(
    "REC-23, UNI-07: a batch on its way is at the cloud as one, once, whatever is cut off",
    arguments: [
      (FaultBench.Part.cells, Moment.request), (.cells, .answer), (.row, .upload), (.row, .answer),
    ],
    Blow.allCases)
  func push(what: (part: FaultBench.Part, moment: Moment), blow: Blow) throws {
    for mode in [StoreMode.copyOnWrite, .inPlace] {
      try Self.with(mode, link: what.moment == .upload ? .cellular : .wired) { bench in
        #expect(await bench.change(what.part, to: 2, at: bench.device))
        try await FaultMatrixTests.hit(bench, blow, at: what.moment) { engine in
          try? await engine.syncNow(FaultBench.table, write: true, read: false)
        }
        if blow.endsTheAgent { #expect(try #require(bench.found).pending == 2) }
        let end = try await bench.settle()
        #expect(end.content == what.part.changed(2) && !end.hadConflict)
      }
    }
  }

  @Test(
    "UNI-13, CK-53: what comes of a snapshot shows as one, whatever is cut off while it comes",
    arguments: [(FaultBench.Part.cells, Moment.request), (.cells, .answer), (.row, .answer), (.row, .download)],
    Blow.allCases)
  func pull(what: (part: FaultBench.Part, moment: Moment), blow: Blow) throws {
    try Self.with(.copyOnWrite) { bench in
      #expect(await bench.change(what.part, to: 3, at: bench.other))
      try await bench.other.until("it is at the cloud") { try await bench.other.isSettled() }
      try await FaultMatrixTests.hit(bench, blow, at: what.moment) { engine in
        try? await engine.syncNow(FaultBench.table, write: false, read: true)
      }
      let end = try await bench.settle()
      #expect(end.content == what.part.changed(3) && !end.hadConflict)
    }
  }

  @Test(
    "UNI-13: what has come of a snapshot when the next page is cut off stays aside",
    arguments: [Blow.network, .agentKill, .powerCut, .recoveryCut])
  func pages(blow: Blow) throws {
    try Self.with(.copyOnWrite, padding: 3_000) { bench in
      // A row a page.
      for _ in 0..<8 { bench.device.agent.engine.exchanger.mistrustAnswers() }
      #expect(bench.device.agent.engine.exchanger.fragment.isLeast)
      #expect(await bench.change(.cells, to: 3, at: bench.other))
      try await bench.other.until("it is at the cloud") { try await bench.other.isSettled() }
      let answers = Mutex(0)
      bench.strike.arm("device", cuts: true) { passage in
        Moment.answer.isHere(passage)
          && answers.withLock {
            $0 += 1; return $0 == 2
          }
      } blow: {
      }
      let engine = bench.device.agent.engine
      let sync = bench.suite.cluster.start { try? await engine.syncNow(FaultBench.table, write: false, read: true) }
      try await bench.other.until("the first page is aside") {
        try await bench.device.store.syncState(of: FaultBench.table).keepsEntries
      }
      #expect(try await FaultBench.content(at: bench.device) == .base)
      try await bench.carryOn(after: blow)
      sync.cancel()
      try await sync.value()
      if let found = bench.found, blow != .powerCut { #expect(found.waiting == 1) }
      let end = try await bench.settle()
      #expect(end.content == FaultBench.Part.cells.changed(3) && !end.hadConflict)
    }
  }

  @Test(
    "UNI-13: the transaction that shows a snapshot stands or never was, cut off at any change to the disk",
    arguments: [Blow.agentKill, .powerCut, .recoveryCut])
  func show(blow: Blow) throws {
    var outcomes: Set<Content> = []
    for changes in 2...6 {
      let after = Mutex<Content?>(nil)
      try Self.with(.copyOnWrite) { bench in
        #expect(await bench.change(.row, to: 3, at: bench.other))
        try await bench.other.until("it is at the cloud") { try await bench.other.isSettled() }
        bench.disk.die(afterChanges: changes)
        try? await bench.device.agent.engine.syncNow(FaultBench.table, write: false, read: true)
        try await bench.carryOn(after: blow)
        let content = try await FaultBench.content(at: bench.device)
        after.withLock { $0 = content }
        let end = try await bench.settle()
        #expect(end.content == FaultBench.Part.row.changed(3) && !end.hadConflict, "after \(changes) changes")
      }
      outcomes.insert(try #require(after.withLock { $0 }))
    }
    #expect(outcomes == [.base, FaultBench.Part.row.changed(3)], "the blows fell before and after it was done")
  }
}

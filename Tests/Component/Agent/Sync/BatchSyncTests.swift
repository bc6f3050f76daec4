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

/// Goal: what an app changes together is together everywhere. Method: devices and the real services; groups by
/// themselves.
@Suite("Batches between devices (REC-23, UNI-05)", .timeLimit(.minutes(3)))
struct BatchSyncTests {
  private static func pair(_ suite: SuiteCluster) async throws -> (RunningDevice, RunningDevice) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    for device in [a, b] { try await device.createTable() }
    try await b.store.updateTable(RunningDevice.table, TableChange(consistency: .snapshot))
    for device in [a, b] { try await device.register() }
    return (a, b)
  }

  private static func number(_ device: RunningDevice, _ number: Int64, where text: String) async throws {
    let held = try await device.store.openWrite(
      RunningDevice.table, cells: [CellValue("number", .integer(number))], objects: [], selection: Selection(text),
      owner: 1, isHeld: true)
    try await device.store.closeWrites([held.handle], isAtomic: true, owner: 1)
  }

  /// - Returns: how many rows have each number.
  private static func spread(_ device: RunningDevice) async throws -> [Int64: Int] {
    var spread: [Int64: Int] = [:]
    var request = ReadRequest(table: RunningDevice.table, columns: ["number"])
    request.pageRows = 1_000
    var page = try await device.store.beginRead(request, owner: 1)
    while true {
      for row in page.rows {
        if case .integer(let number)? = row.cells.first?.value { spread[number, default: 0] += 1 }
      }
      guard page.hasMore else { return spread }
      page = try await device.store.nextPage(page.cursor, owner: 1)
    }
  }

  @Test("REC-23: of what one device changes together, another sees all or nothing, through losses and restarts")
  func allOrNothing() throws {
    let suite = try SuiteCluster(seed: 11)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      var (a, b) = try await Self.pair(suite)
      for name in ["x", "y", "z"] { try await a.write(name, 0) }
      try await b.until("the rows") { try await Self.spread(b) == [0: 3] }
      suite.faults.set(FaultPlan.Rates(lost: 200))
      for round in 1...20 {
        try await Self.number(a, Int64(round), where: "1")
        if round % 5 == 0 {
          try await a.kill()
          a = try await suite.start("a")
        }
        try await b.until("round \(round)") {
          let spread = try await Self.spread(b)
          #expect(spread.count == 1 && spread.values.first == 3, "\(spread)")
          return spread[Int64(round)] == 3
        }
      }
      for device in [a, b] { try await device.kill() }
    }
  }

  @Test("REC-23, SIM-25: a row that another device has changed holds the others back at the cloud until it is resolved")
  func conflict() throws {
    let suite = try SuiteCluster(seed: 12)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = try await Self.pair(suite)
      for name in ["x", "y"] { try await a.write(name, 0) }
      try await b.until("the rows") { try await Self.spread(b) == [0: 2] }
      await a.agent.engine.linkChanged(to: nil)
      try await b.update("x", 7)
      try await b.until("it is at the cloud") { try await b.isSettled() }
      try await Self.number(a, 1, where: "1")
      try await a.store.write(RunningDevice.table, cells: [CellValue("name", .text("alone"))])
      await a.agent.engine.linkChanged(to: Link(.wired))
      try await b.until("what was written later") { try await b.rows().count == 3 }
      try await a.until("the conflict") { try await a.store.conflicts(RunningDevice.table).count == 1 }
      try await a.clock.sleep(for: .seconds(30))
      #expect(try await b.numbers() == ["x": 7, "y": 0])
      let row = try #require(try await a.store.conflicts(RunningDevice.table).first?.mine.id)
      try await a.store.beginResolution(RunningDevice.table, owner: 1)
      try await a.store.resolve(RunningDevice.table, row: row, .mine, owner: 1)
      try await a.store.endResolution(RunningDevice.table, owner: 1)
      try await b.until("both") { try await b.numbers() == ["x": 1, "y": 1] }
      for device in [a, b] { try await device.kill() }
    }
  }

  @Test(
    "UNI-05, REC-21: a batch larger than a push goes in parts and shows at once, wherever the device is killed between",
    arguments: [nil, 1, 2, 3])
  func large(killedAfter parts: Int?) throws {
    let rows = 1_300
    let watch = PartWatch()
    let suite = try SuiteCluster(seed: 13, policy: watch)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      var (a, b) = try await Self.pair(suite)
      for start in stride(from: 0, to: rows, by: 400) {
        var held: [UInt64] = []
        for n in start..<min(start + 400, rows) {
          let cells = [CellValue("name", .text("n\(n)")), CellValue("number", .integer(0))]
          held.append(
            try await a.store.openWrite(RunningDevice.table, cells: cells, objects: [], owner: 1, isHeld: true).handle)
        }
        try await a.store.closeWrites(held, owner: 1)
      }
      try await b.until("the rows") { try await Self.spread(b) == [0: rows] }
      try await a.until("they are settled") { try await a.isSettled() }
      watch.begin(stopAfter: parts)
      try await Self.number(a, 1, where: "1")
      if parts != nil {
        try await a.until("enough has passed") { watch.isStopped }
        try await a.kill()
        #expect(try await Self.spread(b) == [0: rows])
        watch.goOn()
        a = try await suite.start("a")
      }
      try await b.until("all of it") {
        let spread = try await Self.spread(b)
        #expect(spread.count == 1, "\(spread)")
        return spread == [1: rows]
      }
      try await a.until("a knows") { try await a.isSettled() }
      // Of the last part, with 100 rows, nobody takes notice.
      #expect(watch.largeFrames == 3, "a part that had arrived was sent again")
      for device in [a, b] { try await device.kill() }
    }
  }

  /// Lets so many large messages of the device pass, and nothing of it after them.
  private final class PartWatch: FaultPolicy {
    struct State: Sendable {
      var largeFrames = 0
      var left: Int?
      var isStopped = false
    }

    private let state = Mutex(State())

    var largeFrames: Int { state.withLock { $0.largeFrames } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func begin(stopAfter parts: Int?) { state.withLock { $0 = State(left: parts) } }
    func goOn() { state.withLock { ($0.left, $0.isStopped) = (nil, false) } }

    func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
      guard passage.sender == "a" else { return [.zero] }
      return state.withLock { state in
        guard state.left != 0 else {
          state.isStopped = true
          return []
        }
        guard passage.bytes > 4_000 else { return [.zero] }
        state.largeFrames += 1
        state.left = state.left.map { $0 - 1 }
        return [.zero]
      }
    }
  }

  // MARK: Groups by themselves

  private static func plan(_ rows: Int, bytes: Int = 10, isAtomic: Bool = true) -> PushPlan {
    PushPlan(
      op: 5, epoch: 1, table: RunningDevice.table, type: 1,
      mutations: (0..<rows).map {
        Mutation(
          name: "r\($0)", base: .absent, change: .save(type: 1, body: [UInt8](repeating: 0, count: bytes), chunks: []))
      }, isAtomic: isAtomic)
  }

  private static func parts(_ plan: PushPlan, from state: OperationState) throws -> [Int] {
    var group = try #require(GroupUpload(plan))
    let isOpen = group.begin(GroupUpload.Progress(state))
    #expect(isOpen)
    var counts: [Int] = []
    while case .upload(let part) = group.next.operation(of: plan, floor: 1) {
      #expect(part.op == plan.op && part.mutations.first?.name == plan.mutations[Int(part.part) * 400].name)
      counts.append(part.mutations.count)
      group.took()
    }
    guard case .commitGroup(let commit) = group.next.operation(of: plan, floor: 1) else {
      Issue.record("no commit at the end")
      return []
    }
    #expect(commit.atomic && commit.parts == 3 && commit.op == plan.op)
    return counts
  }

  @Test(
    "UNI-05: a plan that one push takes is no group, nor is one of rows by themselves; parts are as large as pushes")
  func parts() throws {
    #expect(GroupUpload(Self.plan(400)) == nil)
    #expect(GroupUpload(Self.plan(1_000, isAtomic: false)) == nil)
    #expect(GroupUpload(Self.plan(1, bytes: 3 << 20)) == nil)
    #expect(GroupUpload(Self.plan(3, bytes: 600 << 10)) != nil)
    #expect(try Self.parts(Self.plan(1_000), from: OperationState(status: .notStarted)) == [400, 400, 200])
  }

  @Test(
    "REC-21: a group that was cut off is asked for, unless what the cloud decides conflicts by is not known any more")
  func afterRestart() {
    let parts = Self.plan(1_000)
    #expect(!PlanInFlight(parts, mustSettle: true).mustSettle)
    #expect(PlanInFlight(Self.plan(400), mustSettle: true).mustSettle)
    let poor = PushPlan(
      op: 5, epoch: 1, table: parts.table, type: 1, mutations: parts.mutations, isAtomic: true, canBeSent: false)
    #expect(PlanInFlight(poor, mustSettle: true).mustSettle)
  }

  @Test("REC-21: a group goes on behind the parts that the cloud has; one that has ended is asked for, or given up")
  func resumed() throws {
    let plan = Self.plan(1_000)
    #expect(try Self.parts(plan, from: OperationState(status: .notStarted, parts: 2)) == [200])
    #expect(try Self.parts(plan, from: OperationState(status: .notStarted, parts: 3)) == [])
    #expect(try Self.parts(plan, from: OperationState(status: .successfulCompletion, parts: 3)) == [])
    var group = try #require(GroupUpload(plan))
    let isOpen = group.begin(GroupUpload.Progress(OperationState(status: .failedBeforeTransfer)))
    #expect(!isOpen)
  }
}

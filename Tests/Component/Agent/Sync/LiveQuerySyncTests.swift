import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: an app whose table keeps a part of its rows follows what others write of the rest, and spends no more on that
/// than its table may. Method: two devices and the real services in one simulated cluster.
@Suite("Live queries and the cloud", .timeLimit(.minutes(2))) struct LiveQuerySyncTests {
  private static let table = RunningDevice.table

  /// An app that follows a live query, as its client would.
  private final class Follower: Sendable {
    struct State {
      var rows: [(name: String, isHere: Bool)] = []
      var isComplete = false
      var refusal: String?
      var differences = 0
    }
    let state = Mutex(State())

    var text: String {
      state.withLock { $0.rows.map { $0.name + ($0.isHere ? "" : "*") }.joined(separator: " ") }
    }
    var refusal: String? { state.withLock { $0.refusal } }

    func follow(_ session: AppSession) async throws {
      let begun = await session.answer(
        .beginLive(BeginLive(table: table.name, order: [OrderBy(column: "number")], live: 1)))
      guard case .done = begun, let handle = await session.lives[1] else { throw NotYet(what: "\(begun)") }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await session.askCloud(for: handle) }
        while case .livePart(let part) = await session.answer(.nextLive(LiveRef(live: 1))) { take(part) }
      }
    }

    private func take(_ part: CaravanWire.LivePart) {
      var difference = ListDifference()
      var rows: [Int: (String, Bool)] = [:]
      func name(_ row: CaravanWire.Row) -> String {
        guard case .text(let name)? = row.cells.first(where: { $0.column == "name" })?.value else { return "" }
        return name
      }
      for step in part.steps {
        let (from, to) = (Int(step.from), Int(step.to))
        switch step.kind {
        case .deleted: difference.deletions.append(from)
        case .moved: difference.moves.append(.init(from: from, to: to))
        case .inserted(let row):
          difference.insertions.append(to)
          rows[to] = (name(row), !step.elsewhere)
        case .updated(let row):
          difference.updates.append(to)
          rows[to] = (name(row), !step.elsewhere)
        case nil: continue
        }
      }
      state.withLock { state in
        let isApplied = difference.apply(to: &state.rows) { rows[$0] }
        #expect(isApplied && !part.more)
        (state.isComplete, state.refusal) = (part.complete, part.refused?.code)
        state.differences += 1
      }
    }
  }

  private static func start(_ suite: SuiteCluster) async throws -> (RunningDevice, RunningDevice, Follower) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    try await a.createTable()
    try await a.register()
    for number in 1...3 { try await a.write("\(number)", Int64(number)) }
    try await a.until("they are at the cloud") { try await a.isSettled() }
    try await b.store.createTable(
      table, schema: try SchemaText(parsing: RunningDevice.columns), localOnly: false,
      properties: TableChange(replication: .recent(RecentWindow(rows: 1))))
    // As the agent's server does.
    let news = b.store.cloudNews
    await b.agent.engine.whenSessionsEnd { news.synced($0.table) }
    await b.agent.engine.whenConnected { news.connected() }
    try await b.register()
    let (follower, session) = (Follower(), b.agent.makeSession(app: table.app))
    _ = suite.cluster.start { try await follower.follow(session) }
    return (a, b, follower)
  }

  @Test("UNI-15, CK-80: what others write shows, also of rows that the device does not keep, and what it keeps changes")
  func follows() throws {
    let suite = try SuiteCluster(seed: 51, hasQuery: true)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b, follower) = try await Self.start(suite)
      try await b.until("all rows") { follower.text == "1* 2* 3" }
      #expect(follower.state.withLock { $0.isComplete })
      try await a.update("1", 7)
      try await b.until("a row that changed elsewhere") { follower.text == "2* 3* 1" || follower.text == "2* 3 1" }
      try await a.delete("2")
      try await b.until("a deletion") { !follower.text.contains("2") }
      try await b.write("own", 0)
      try await b.until("its own row") { follower.text.hasPrefix("own ") }
      try await b.until("what left the device for it") { follower.text == "own 3* 1*" }
      #expect(try await b.rows().count == 1)
    }
  }

  @Test("UNI-15: offline the device's rows are live; what happened meanwhile shows with the next connection")
  func offline() throws {
    let suite = try SuiteCluster(seed: 52, hasQuery: true)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b, follower) = try await Self.start(suite)
      try await b.until("all rows") { follower.text == "1* 2* 3" }
      await b.agent.engine.linkChanged(to: nil)
      try await b.write("own", 0)
      try await b.until("its own row") { follower.text.hasPrefix("own ") }
      try await a.write("4", 4)
      try await a.until("it is at the cloud") { try await a.isSettled() }
      await b.agent.engine.linkChanged(to: .wired)
      try await b.until("all rows") { follower.text.contains("4") && follower.state.withLock { $0.isComplete } }
    }
  }

  @Test("UNI-15: the cloud is not asked over a link that the table is not to be read over, and is when that ends")
  func links() throws {
    let suite = try SuiteCluster(seed: 53, hasQuery: true)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let b = try await suite.start("b")
      try await b.store.createTable(
        Self.table, schema: try SchemaText(parsing: RunningDevice.columns), localOnly: false,
        properties: TableChange(replication: .recent(RecentWindow(rows: 1))))
      try await b.store.register(
        Self.table, .read,
        SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .wifi))
      await b.agent.engine.registrationsChanged(of: Self.table)
      await b.agent.engine.linkChanged(to: .cellular)
      let (follower, session) = (Follower(), b.agent.makeSession(app: Self.table.app))
      _ = suite.cluster.start { try await follower.follow(session) }
      try await b.until("it is refused") { follower.refusal == ErrorCode.networkNotPermitted.rawValue }
      let a = try await suite.start("a")
      try await a.createTable()
      try await a.register()
      try await a.write("1", 1)
      try await a.write("2", 2)
      try await a.until("they are at the cloud") { try await a.isSettled() }
      try await b.clock.sleep(for: .seconds(60))
      #expect(follower.text == "" && follower.refusal == ErrorCode.networkNotPermitted.rawValue)
      await b.agent.engine.linkChanged(to: .wifi)
      try await b.until("all rows") { follower.text == "1* 2" && follower.state.withLock { $0.isComplete } }
    }
  }
}

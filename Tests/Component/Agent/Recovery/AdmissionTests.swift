import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a device whose credentials are refused says so, for as long as it is so, and leaves the broker alone. Method:
/// the decisions as values; an agent in simulated time before a door that opens as told, killed in between.
@Suite("Devices that the broker refuses", .timeLimit(.minutes(1)))
struct AdmissionTests {
  @Test("REC-08: only refusals in a row mark a device, once; acceptance, a reset and other credentials end it")
  func decisions() {
    var admission = Admission(credentials: "a")
    func refusals(_ count: Int, at time: Int64) -> Int { (0..<count).count { _ in admission.refused("a", at: time) } }
    let others = EngineLimits.refusalsBeforeMark - 1
    #expect(refusals(others, at: 1) == 0)
    let wasMarked = admission.clear()
    #expect(!wasMarked && admission.refusal == nil && admission.rest(random: 5) == nil)
    #expect(refusals(others, at: 2) == 0)
    #expect(refusals(1, at: 3) == 1)
    #expect(refusals(5, at: 4) == 0, "it is marked already")
    let mark = Admission.Refusal(credentials: "a", since: 3)
    #expect(admission.refusal == mark)
    let hour = EngineLimits.refusedRetryMilliseconds * 1_000_000
    for random in [0, 1, hour, .max] {
      #expect(admission.rest(random: random).map { (hour...hour / 4 * 5).contains($0) } == true)
    }
    #expect(Admission(credentials: "a", known: mark).refusal == mark)
    #expect(Admission(credentials: "b", known: mark).refusal == nil)
    let isCleared = admission.clear()
    #expect(isCleared && admission.refusal == nil)
    #expect(refusals(others, at: 5) == 0, "it counts anew")
    #expect(refusals(1, at: 6) == 1)
    let renewed = admission.refused("b", at: 7)
    #expect(!renewed && admission.refusal == nil, "credentials that were renewed count for themselves")
  }

  /// Where agents ask for a bus.
  private final class Door: Sendable {
    enum State { case open, closed, gone }
    struct Account {
      var state = State.closed
      var attempts: [Instant] = []
    }

    let account = Mutex(Account())
    let hub: InProcessHub

    init(_ cluster: Simulation) {
      let net = cluster.host("net").host
      hub = InProcessHub(clock: net.clock, random: net.random)
    }

    func become(_ state: State) { account.withLock { $0.state = state } }

    /// Attempts since it was asked last.
    func attempts() -> [Instant] {
      account.withLock { account in
        defer { account.attempts = [] }
        return account.attempts
      }
    }

    func enter(_ host: Host) throws(CaravanError) -> any MessageBus {
      let state = account.withLock { account in
        account.attempts.append(host.clock.now)
        return account.state
      }
      switch state {
      case .open: return hub.connect(as: "device")
      case .closed: throw CaravanError(.notAuthenticated, "the door is closed")
      case .gone: throw CaravanError(.unavailable, "there is no door")
      }
    }
  }

  private struct Incarnation: Sendable {
    let agent: Agent
    let host: Host

    func status() async throws -> AgentStatus {
      guard case .status(let status) = await agent.makeSession(app: RunningDevice.table.app).answer(.status(Empty()))
      else { throw CaravanError(.internalError, "no status") }
      return status
    }

    var gauge: Double? {
      let family = host.metrics.snapshot().families.values.first { $0.name == "caravan_agent_refused" }
      guard case .gauge(let value)? = family?.series.values.first else { return nil }
      return value
    }

    func pass(_ duration: Duration) async throws { try await host.clock.sleep(for: duration) }
  }

  private static func live(
    _ cluster: Simulation, _ name: String, credentials: String = "one", in directory: TemporaryDirectory, _ door: Door,
    _ body: @escaping @Sendable (Incarnation) async throws -> Void
  ) async throws {
    let host = cluster.host(name).host
    var options = LocalStoreOptions()
    options.isDurable = false
    let identity = DeviceIdentity(device: EngineBench.identity.device, credentials: credentials)
    let agent = try await Agent(
      Agent.Configuration(directory: directory.path, identity: identity, link: .cellular, store: options), host: host
    ) { () throws(CaravanError) in try door.enter(host) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await agent.run() }
      defer { group.cancelAll() }
      try await body(Incarnation(agent: agent, host: host))
    }
  }

  private static func expectMarked(_ life: Incarnation, since: UInt64? = nil) async throws {
    let status = try await life.status()
    #expect(status.mode == .notRecoverable && life.gauge == 1)
    #expect(status.refused == Admission.Refusal.reason && status.remedy.contains("enrol the device again"))
    #expect(status.refusedSinceMilliseconds > 0)
    if let since { #expect(status.refusedSinceMilliseconds == since) }
  }

  private static func expectUnmarked(_ life: Incarnation) async throws {
    let status = try await life.status()
    #expect(status.mode != .notRecoverable && life.gauge == 0)
    #expect(status.refused.isEmpty && status.remedy.isEmpty && status.refusedSinceMilliseconds == 0)
  }

  @Test("REC-08, REC-27, UNI-19: a refused device is marked across restarts, tries hourly, and is reset at once")
  func marked() throws {
    let cluster = Simulation(seed: 7)
    let directory = try TemporaryDirectory()
    try cluster.run(deadline: .seconds(400_000)) {
      let door = Door(cluster)
      let since = Mutex<UInt64>(0)
      try await Self.live(cluster, "first", in: directory, door) { life in
        door.become(.gone)
        try await life.pass(.seconds(3_600))
        try await Self.expectUnmarked(life)
        let gone = try await life.status().unreachable
        door.become(.closed)
        _ = door.attempts()
        try await life.pass(.seconds(120))
        try await Self.expectUnmarked(life)
        let refused = try await life.status().unreachable
        #expect(!gone.isEmpty && !refused.isEmpty && gone != refused, "the reason is told before there is a mark")
        try await life.pass(.seconds(3_600))
        #expect(door.attempts().count >= EngineLimits.refusalsBeforeMark)
        try await Self.expectMarked(life)
        let marked = try await life.status().refusedSinceMilliseconds
        since.withLock { $0 = marked }
        _ = door.attempts()
        try await life.pass(.seconds(86_400))
        #expect((19...24).contains(door.attempts().count), "once an hour or a little less")
        let refusal = await #expect(throws: CaravanError.self) {
          try await life.agent.store.createTable(
            RunningDevice.table, schema: SchemaText(parsing: "name VARCHAR"), localOnly: false)
          try await life.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
        }
        #expect(refusal?.code == .networkNotConnected && refusal?.message.contains("refuses") == true)
      }
      _ = door.attempts()
      try await Self.live(cluster, "second", in: directory, door) { life in
        try await life.pass(.seconds(600))
        try await Self.expectMarked(life, since: since.withLock { $0 })
        #expect(door.attempts().count == 1, "a start is worth one attempt")
        _ = await life.agent.makeSession(app: RunningDevice.table.app).answer(.resetDevice(Empty()))
        try await Self.expectUnmarked(life)
        try await life.pass(.seconds(1))
        #expect(!door.attempts().isEmpty, "at once")
        try await life.pass(.seconds(600))
        try await Self.expectMarked(life)
        #expect(try await life.status().refusedSinceMilliseconds > since.withLock { $0 })
      }
    }
  }

  @Test("REC-08: the mark ends when the broker takes the same credentials again, and with other credentials")
  func unmarked() throws {
    let cluster = Simulation(seed: 8)
    let directory = try TemporaryDirectory()
    try cluster.run(deadline: .seconds(400_000)) {
      let door = Door(cluster)
      try await Self.live(cluster, "refused", in: directory, door) { life in
        try await life.pass(.seconds(600))
        try await Self.expectMarked(life)
        door.become(.open)
        try await life.pass(.seconds(3_000))
        try await Self.expectMarked(life)
        try await life.pass(.seconds(1_600))
        try await Self.expectUnmarked(life)
        let status = try await life.status()
        #expect(status.connected && status.unreachable.isEmpty)
      }
      door.become(.gone)
      try await Self.live(cluster, "mended", in: directory, door) { life in
        try await life.pass(.seconds(60))
        try await Self.expectUnmarked(life)
        door.become(.closed)
        try await life.pass(.seconds(600))
        try await Self.expectMarked(life)
      }
      door.become(.gone)
      for credentials in ["two", "one"] {
        try await Self.live(cluster, "as \(credentials)", credentials: credentials, in: directory, door) { life in
          try await life.pass(.seconds(60))
          try await Self.expectUnmarked(life)
        }
      }
    }
  }

  @Test("REC-27: a table that an older agent marked as not recoverable has no fault, and is synced")
  func olderStore() async throws {
    try await StoreFixture.with { f in
      try await f.write("a")
      try await f.crash { directory in
        let database = try Connection(.file("\(directory)/agent.db"), ConnectionOptions())
        defer { database.close() }
        try database.statement(text: "UPDATE tables SET fault = 3, refused = 'no'").run()
        try database.statement(text: "DROP TABLE refused_credentials").run()
      }
      let state = try await f.store.syncState(of: StoreFixture.photos)
      #expect(state.fault == nil && state.dirtyRows == 1)
      #expect(try await f.store.networkRecord().refusal == nil)
    }
  }
}

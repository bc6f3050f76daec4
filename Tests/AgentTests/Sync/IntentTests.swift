import AgentCore
import Bus
import Model
import Runtime
import TestKit
import Testing
import Wire

@testable import AgentDriver

/// Goal: apps get what they declared, from the write to the cloud. Method: a whole agent on a store of its own, against
/// a scripted cloud, in virtual time.
@Suite struct IntentTests {
  private static let app = ContainerID(unchecked: "car")
  private static let samples = TableID(app: app, name: "samples")
  private static let chat = TableID(app: app, name: "chat")

  private struct Device: Sendable {
    let agent: Agent
    let cloud: ScriptedCloud
    let clock: any Clock

    func pass(_ duration: Duration) async throws { try await clock.sleep(for: duration) }

    func write(
      _ text: String, to table: TableID, _ intent: AgentCore.WriteIntent = AgentCore.WriteIntent()
    ) async throws {
      try await agent.store.write(table, cells: [CellValue("text", .text(text))], intent: intent)
    }

    func register(
      _ table: TableID, period: UInt32 = 0, loss: AgentCore.LossTolerance? = nil
    ) async throws {
      try await agent.store.createTable(table, schema: SchemaText(parsing: "text VARCHAR"), localOnly: false)
      let registration = SyncRegistration(
        periodMilliseconds: period * 1000, delayToleranceMilliseconds: 0, link: .roaming)
      try await agent.store.register(table, .write, registration, loss: loss)
      await agent.engine.registrationsChanged(of: table)
    }

    func ledger() async throws -> LossLedger {
      let status = try await agent.store.status(of: IntentTests.app).first { $0.table == IntentTests.samples }
      return try #require(status?.loss)
    }

    func rows(in table: TableID) -> Int { cloud.state.withLock { $0.zones[table.name]?.count ?? 0 } }

    /// Transfers begun, by what made them due.
    func transfers() async -> [String: UInt64] {
      var counts: [String: UInt64] = [:]
      for counter in await agent.engine.status().counters {
        guard let trigger = counter.name.firstRange(of: "_transfers_total{trigger=") else { continue }
        if counter.value > 0 { counts[String(counter.name[trigger.upperBound...].dropLast())] = counter.value }
      }
      return counts
    }
  }

  private static func run(_ body: @escaping @Sendable (Device) async throws -> Void) throws {
    let world = Simulation(seed: 5)
    let directory = try TemporaryDirectory()
    try world.run(deadline: .seconds(100_000)) {
      let net = world.host("net").host
      let hub = InProcessHub(clock: net.clock, random: net.random)
      let cloud = ScriptedCloud(hub)
      var options = LocalStoreOptions()
      options.isDurable = false
      let host = world.host("device").host
      let agent = try await Agent(
        Agent.Configuration(directory: directory.path, identity: EngineBench.identity, link: .wifi, store: options),
        host: host
      ) { () throws(CaravanError) in hub.connect(as: "device") }
      let device = Device(agent: agent, cloud: cloud, clock: host.clock)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await cloud.run() }
        group.addTask { try await agent.run() }
        defer { group.cancelAll() }
        try await body(device)
      }
    }
  }

  @Test("MOB-05: rows that may be lost start no transfer, and go with the device's own")
  func onlyRides() throws {
    try Self.run { device in
      try await device.register(Self.samples, period: 600, loss: LossTolerance(maximumPermille: 0_500))
      for number in 0..<360 {
        try await device.write("\(number)", to: Self.samples)
        try await device.pass(.seconds(10))
      }
      #expect(Set(await device.transfers().keys) == ["control"])
      let ledger = try await device.ledger()
      // A sign of life comes more often than the period at whose end they would be given up.
      #expect(ledger.lost == 0 && ledger.settled > 300)
      #expect(device.rows(in: Self.samples) == Int(ledger.settled))
    }
  }

  @Test("MOB-05, MOB-06: without a link half of them are given up, as declared; the rest goes when there is one")
  func withoutLink() throws {
    try Self.run { device in
      try await device.register(Self.samples, loss: LossTolerance(maximumPermille: 500))
      try await device.pass(.seconds(1))
      await device.agent.engine.linkChanged(to: nil)
      for number in 0..<100 {
        try await device.write("\(number)", to: Self.samples)
        try await device.pass(.seconds(10))
      }
      try await device.pass(.seconds(200))
      let ledger = try await device.ledger()
      #expect((ledger.accepted, ledger.lostInQueue, ledger.lostToServer, ledger.waiting) == (100, 50, 0, 50))
      await device.agent.engine.linkChanged(to: .wifi)
      try await device.pass(.seconds(5))
      #expect(device.rows(in: Self.samples) == 50)
      #expect(Set(await device.transfers().keys) == ["control"])
    }
  }

  @Test("MOB-08, MOB-06: what a busy cloud refuses is given up as far as it may be; everything else gets there")
  func busyCloud() throws {
    try Self.run { device in
      try await device.register(Self.samples, loss: LossTolerance(maximumPermille: 250))
      try await device.register(Self.chat)
      try await device.write("first", to: Self.chat)
      try await device.pass(.seconds(1))
      for number in 0..<40 { try await device.write("\(number)", to: Self.samples) }
      // The first transfer of the samples agrees on their type.
      try await device.write("second", to: Self.chat)
      try await device.pass(.seconds(1))
      #expect(device.rows(in: Self.samples) == 40)
      for number in 40..<80 { try await device.write("\(number)", to: Self.samples) }
      device.cloud.script(.refuseFrame(CaravanError(.serverBusy, "busy", retryAfterMilliseconds: 500)))
      try await device.write("third", to: Self.chat)
      try await device.pass(.milliseconds(100))
      let busy = try await device.ledger()
      #expect((busy.accepted, busy.lostToServer, busy.lostInQueue) == (80, 20, 0))
      try await device.write("fourth", to: Self.chat)
      try await device.pass(.seconds(10))
      #expect(device.rows(in: Self.chat) == 4)
      #expect(device.rows(in: Self.samples) == 60)
      #expect(try await device.ledger().waiting == 0)
    }
  }

  @Test("MOB-01, MOB-02: one write's own deadline holds in a table that is looked at every ten minutes")
  func deadline() throws {
    try Self.run { device in
      try await device.register(Self.samples, period: 600)
      try await device.pass(.seconds(2))
      try await device.write("patient", to: Self.samples)
      try await device.pass(.seconds(20))
      #expect(device.rows(in: Self.samples) == 0)
      try await device.write("urgent", to: Self.samples, WriteIntent(withinMilliseconds: 5_000))
      try await device.pass(.milliseconds(4_900))
      #expect(device.rows(in: Self.samples) == 0)
      try await device.pass(.milliseconds(200))
      #expect(device.rows(in: Self.samples) == 2)
      #expect(await device.transfers()["deadline"] == 1)
    }
  }
}

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

/// A whole agent on a store of its own, against a scripted cloud, in virtual time.
enum AgentCluster {
  static let app = ContainerID(unchecked: "car")
  static let samples = TableID(app: app, name: "samples")
  static let chat = TableID(app: app, name: "chat")

  struct Device: Sendable {
    let agent: Agent
    let cloud: ScriptedCloud
    let machine: SimulatedHost
    var clock: any Clock { machine.host.clock }

    func pass(_ duration: Duration) async throws { try await clock.sleep(for: duration) }

    func write(
      _ text: String, to table: TableID, _ intent: CaravanAgentCore.WriteIntent = CaravanAgentCore.WriteIntent()
    ) async throws {
      try await agent.store.write(table, cells: [CellValue("text", .text(text))], intent: intent)
    }

    func register(
      _ table: TableID, period: UInt32 = 0, link: CaravanModel.LinkClass = .roaming,
      loss: CaravanAgentCore.LossTolerance? = nil
    ) async throws {
      try await agent.store.createTable(table, schema: SchemaText(parsing: "text VARCHAR"), localOnly: false)
      let registration = SyncRegistration(
        periodMilliseconds: period * 1000, delayToleranceMilliseconds: 0, link: link)
      try await agent.store.register(table, .write, registration, loss: loss)
      await agent.engine.registrationsChanged(of: table)
    }

    func ledger() async throws -> LossLedger {
      let status = try await agent.store.status(of: app).first { $0.table == samples }
      return try #require(status?.loss)
    }

    /// That are at the cloud.
    func rows(in table: TableID) -> Int { cloud.state.withLock { $0.zones[table.name]?.count ?? 0 } }

    func counters(_ family: String) async -> [String: UInt64] {
      var counts: [String: UInt64] = [:]
      for counter in await agent.engine.status().counters {
        guard let range = counter.name.firstRange(of: "\(family){"), counter.value > 0 else { continue }
        counts[String(counter.name[range.upperBound...].dropLast())] = counter.value
      }
      return counts
    }

    /// Transfers begun, by what made them due.
    func transfers() async -> [String: UInt64] {
      let counts = await counters("_transfers_total")
      return Dictionary(uniqueKeysWithValues: counts.map { (String($0.key.drop { $0 != "=" }.dropFirst()), $0.value) })
    }

    /// Payload bytes, both directions.
    func bytesOnWire() async -> UInt64 { await counters("_wire_bytes_total").values.reduce(0, +) }
  }

  /// - Parameter lives: how often the agent is killed and started again on the same store; `body` is told which it is.
  static func run(
    lives: Int = 1, link: CaravanModel.LinkClass? = .wifi,
    _ body: @escaping @Sendable (Device, Int) async throws -> Void
  ) throws {
    let cluster = Simulation(seed: 5)
    let directory = try TemporaryDirectory()
    try cluster.run(deadline: .seconds(400_000)) {
      let net = cluster.host("net").host
      let hub = InProcessHub(clock: net.clock, random: net.random)
      let cloud = ScriptedCloud(hub)
      var options = LocalStoreOptions()
      options.isDurable = false
      try await withThrowingTaskGroup(of: Void.self) { clouds in
        clouds.addTask { try await cloud.run() }
        defer { clouds.cancelAll() }
        for life in 0..<lives {
          let machine = cluster.host("device\(life)")
          let agent = try await Agent(
            Agent.Configuration(
              directory: directory.path, identity: EngineBench.identity, link: link, store: options), host: machine.host
          ) { () throws(CaravanError) in hub.connect(as: "device") }
          let device = Device(agent: agent, cloud: cloud, machine: machine)
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await agent.run() }
            defer { group.cancelAll() }
            try await body(device, life)
          }
        }
      }
    }
  }

  static func run(
    link: CaravanModel.LinkClass? = .wifi, _ body: @escaping @Sendable (Device) async throws -> Void
  ) throws {
    try run(lives: 1, link: link) { device, _ in try await body(device) }
  }
}

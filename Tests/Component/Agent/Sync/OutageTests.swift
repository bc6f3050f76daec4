import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps

/// Goal: a device that cannot reach its cloud says so soon, and once. Method: a broker that is not there for a day, in
/// simulated time, and the agent's log.
@Suite("Outages")
struct OutageTests {
  @Test("the log says so within seconds, once a day or a week may it last, and when it is over")
  func log() throws {
    let cluster = Simulation(seed: 3)
    let directory = try TemporaryDirectory()
    let sink = MemoryLogSink()
    try cluster.run(deadline: .seconds(400_000)) {
      let net = cluster.host("net").host
      let hub = InProcessHub(clock: net.clock, random: net.random)
      let plain = cluster.host("device").host
      let host = plain.with(log: Log(level: .info, clock: plain.clock, sink: sink))
      let back = plain.clock.now + .seconds(86_400)
      let agent = try await Agent(
        Agent.Configuration(directory: directory.path, identity: EngineBench.identity, link: .wifi), host: host
      ) { () throws(CaravanError) in
        if plain.clock.now >= back { return hub.connect(as: "device") }
        try? await plain.clock.sleep(for: .seconds(30))
        throw CaravanError(.unavailable, "no broker")
      }
      func told(_ level: LogLevel, _ text: String) -> Int {
        sink.records.count { $0.level == level && $0.message.contains(text) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await agent.run() }
        defer { group.cancelAll() }
        try await plain.clock.sleep(for: .seconds(6))
        #expect(told(.warning, "cannot be reached") == 1)
        try await plain.clock.sleep(for: .seconds(86_000))
        #expect(told(.warning, "cannot be reached") == 1 && told(.info, "cannot be reached") == 0)
        try await plain.clock.sleep(for: .seconds(10_000))
        #expect(told(.info, "is reached again") == 1)
      }
    }
  }
}

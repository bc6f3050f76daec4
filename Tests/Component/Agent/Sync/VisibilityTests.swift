import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentCore
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what a device does on the wire can be counted, and ends with what it was done for. Method: a whole agent on a
/// store of its own, against a scripted cloud, in virtual time; the frame codec alone.
@Suite struct VisibilityTests {
  private static let samples = AgentCluster.samples
  private static let chat = AgentCluster.chat

  @Test("MOB-04: each of the three triggers is counted: data that cannot wait, enough data, the end of a tolerance")
  func triggers() throws {
    try AgentCluster.run { device in
      try await device.register(Self.chat)
      try await device.write("first", to: Self.chat)
      try await device.pass(.seconds(1))
      let hour = CaravanAgentCore.WriteIntent(withinMilliseconds: 3_600_000)
      let text = String(repeating: "0123456789abcdef", count: 2 << 10)
      let actions: [(trigger: String, count: Int, intent: CaravanAgentCore.WriteIntent, wait: Duration)] = [
        ("delaySensitive", 1, CaravanAgentCore.WriteIntent(), .seconds(1)),
        ("deadline", 1, CaravanAgentCore.WriteIntent(withinMilliseconds: 30_000), .seconds(31)),
        ("volume", 40, hour, .seconds(1)),
      ]
      for action in actions {
        let before = await device.transfers()
        let rows = device.rows(in: Self.chat)
        for number in 0..<action.count {
          try await device.write("\(action.trigger) \(number) \(text)", to: Self.chat, action.intent)
        }
        try await device.pass(action.wait)
        // What did not fit into a frame may go for another reason.
        #expect(await device.transfers()[action.trigger] == (before[action.trigger] ?? 0) + 1)
        #expect(device.rows(in: Self.chat) > rows)
      }
    }
  }

  @Test("MOB-35: frames are counted by whether the entropy test had them compressed")
  func compression() throws {
    let registry = MetricsRegistry()
    var codec = FrameCodec(metrics: registry)
    let noise = StoreFixture.noise(20_000)
    for (token, outcome) in [(noise, "plain"), ([UInt8](repeating: 7, count: 20_000), "compressed")] {
      func counted() -> [String: UInt64] {
        var counts: [String: UInt64] = [:]
        for (labels, value) in registry.snapshot().families["caravan_agent_frames_sent_total"]?.series ?? [:] {
          if case .counter(let count) = value { counts[labels[.outcome] ?? ""] = count }
        }
        return counts
      }
      let before = counted()
      let exchange = Exchange(operations: [CaravanWire.Operation(kind: .pull(Pull(token: token)))])
      let frame = try Frame.decode(codec.encode(exchange, nil, clock: 0))
      #expect((frame.compression == .zstd) == (outcome == "compressed"))
      #expect(counted().filter { $0.value != before[$0.key] } == [outcome: 1])
    }
  }

  @Test("SIM-12: with a table go its registrations, its timers, what of it was to be sent, and its subscription")
  func dropped() throws {
    try AgentCluster.run { device in
      for table in [Self.samples, Self.chat] {
        try await device.register(table, period: 60)
        try await device.agent.store.register(
          table, .read, SyncRegistration(periodMilliseconds: 60_000, delayToleranceMilliseconds: 0, link: .wifi))
        await device.agent.engine.registrationsChanged(of: table)
      }
      try await device.pass(.seconds(300))
      func heard() -> Set<String> { Set(device.cloud.state.withLock { $0.list?.subscriptions ?? [] }.map(\.zone)) }
      #expect(heard() == ["samples", "chat"])
      try await device.write("never", to: Self.samples)
      try await device.agent.store.dropTable(Self.samples, discardingUnsent: true)
      await device.agent.engine.tableDropped(Self.samples)
      let frames = device.cloud.frames.count
      device.cloud.save("row", "elsewhere", in: "samples")
      try await device.pass(.seconds(600))
      #expect(heard() == ["chat"])
      let later = device.cloud.frames.dropFirst(frames).joined()
      #expect(!later.isEmpty && later.allSatisfy { !"\($0)".contains("samples") })
      let schedule = await device.agent.engine.schedule
      #expect(schedule.registrations.keys.allSatisfy { $0.table == Self.chat })
      let timers = schedule.coalescer
      #expect(timers.registrations.keys.allSatisfy { $0.table == Self.chat })
      #expect(timers.waiting.keys.allSatisfy { $0.table == Self.chat })
    }
  }
}

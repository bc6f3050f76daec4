import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// What the in-process hub can do to its clients.
@Suite("Faults of the in-process bus", .timeLimit(.minutes(1)))
struct FaultTests {
  let plan = FaultPlan()
  let subject = Subject.changes(Partition.all[1])

  /// What arrives of `count` messages under the plan's rates, in a simulated cluster.
  private func arrivals(_ rates: FaultPlan.Rates, seed: UInt64, count: Int = 1_000) throws -> [UInt8] {
    let cluster = Simulation(seed: seed)
    return try cluster.run {
      let host = cluster.host("hub").host
      plan.set(rates)
      let hub = InProcessHub(clock: host.clock, random: host.random, faults: plan)
      let (sender, receiver) = (hub.connect(as: "s"), hub.connect(as: "r"))
      let subscription = try await receiver.subscribe(.everyChange, group: nil, capacity: 4 * count)
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await hub.run() }
        for number in 0..<count { try await sender.publish(Message([UInt8(number & 0xff)]), to: subject) }
        hub.shutDown()
        try await group.waitForAll()
        subscription.cancel()
        var payloads: [UInt8] = []
        while case .message(let incoming)? = await subscription.next() { payloads += incoming.message.payload }
        return payloads
      }
    }
  }

  @Test("Rates are kept, and one seed gives one history")
  func rates() throws {
    #expect(try arrivals(.init(), seed: 1).count == 1_000)
    let lossy = try arrivals(.init(lost: 300), seed: 1)
    #expect((620...780).contains(lossy.count))
    #expect((1_220...1_380).contains(try arrivals(.init(duplicated: 300), seed: 1).count))
    let late = FaultPlan.Rates(lost: 100, duplicated: 100, delayed: 500, longestDelay: .seconds(3))
    let history = try arrivals(late, seed: 7)
    #expect(history != history.sorted())
    #expect(try arrivals(late, seed: 7) == history)
    #expect(try arrivals(late, seed: 8) != history)
  }

  @Test("Between peers that are cut apart nothing passes; others are not touched; healing heals")
  func cut() async throws {
    let host = Host.quiet
    let hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1), faults: plan)
    let (a, b, c) = (hub.connect(as: "a"), hub.connect(as: "b"), hub.connect(as: "c"))
    let service = ServiceHost(
      name: "schema", version: "1.0.0", bus: a, host: host, endpoints: [ServiceHostTests.echo()])
    try await running([service]) {
      try await eventually("served") { service.isServing(.exact(.echo)) }
      plan.cut("b", "a")
      let ask = { (bus: InProcessBus, deadline: Duration) in
        await failure { try await bus.request(Message(), to: .echo, deadline: deadline) }?.code
      }
      #expect(await ask(b, .milliseconds(50)) == .timedOut)
      #expect(await ask(c, .seconds(20)) == nil)
      plan.heal("a", "b")
      #expect(await ask(b, .seconds(20)) == nil)
    }
  }

  @Test("A client that is closed or let go of is gone for others, as after a crash")
  func crash() async throws {
    let host = Host.quiet
    let hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1))
    let client = hub.connect(as: "c")
    var server: InProcessBus? = hub.connect(as: "s")
    let subscription = try await server?.subscribe(.exact(.echo), group: nil, capacity: 1)
    let ask = {
      await failure { try await client.request(Message(), to: .echo, deadline: .milliseconds(50)) }?.code
    }
    #expect(await ask() == .timedOut)
    server = nil
    #expect(await ask() == .unavailable)
    _ = subscription
    client.close()
    #expect(await failure { try await client.publish(Message(), to: .echo) }?.code == .unavailable)
  }
}

import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentNetwork
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: the user's word holds: no byte over a link that is not allowed, none beyond a budget, and all of it known.
/// Method: a whole agent against a scripted cloud, in virtual time.
@Suite struct NetworkPolicyTests {
  private static let chat = AgentCluster.chat
  private static let text = String(repeating: "0123456789abcdef", count: 64)

  @Test("I13, MOB-47: a day's budget is never exceeded, what is left over goes the next day or over another link")
  func budget() throws {
    try AgentCluster.run(link: .cellular) { device in
      let budget: UInt64 = 60_000
      try await device.agent.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: budget]))
      try await device.register(Self.chat)
      // Virtual time begins at 22:13:20 UTC.
      for number in 0..<600 {
        try await device.write("\(number) \(number &* 7_919 % 1_000_003) " + Self.text, to: Self.chat)
        try await device.pass(.seconds(10))
        if number == 500 { #expect(await device.bytesOnWire() <= budget) }
      }
      let today = device.rows(in: Self.chat)
      #expect(today > 100 && today < 600)
      #expect(await device.bytesOnWire() <= budget)
      #expect(device.agent.engine.meter.spent(over: .cellular) <= budget)
      let refused = await #expect(throws: CaravanError.self) {
        try await device.agent.engine.syncNow(Self.chat, write: true, read: false)
      }
      #expect(refused?.code == .networkNotPermitted)
      try await device.pass(.seconds(1_000))
      #expect(device.rows(in: Self.chat) == 600)
      #expect(await device.bytesOnWire() <= 2 * budget)
    }
  }

  @Test("MOB-47: where the clock is set to the next day, or the device has slept into it, the new budget is there soon")
  func clockIsSet() throws {
    try AgentCluster.run(link: .cellular) { device in
      try await device.agent.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 12_000]))
      try await device.register(Self.chat)
      for number in 0..<60 {
        try await device.write("\(number * 7_919)" + Self.text, to: Self.chat)
        try await device.pass(.seconds(1))
      }
      let before = device.rows(in: Self.chat)
      #expect(before < 60)
      try await device.pass(.seconds(1_200))
      device.machine.adjustWallTime(by: .seconds(2 * 3_600))
      try await device.pass(.seconds(1_000))
      #expect(device.rows(in: Self.chat) > before)
    }
  }

  @Test("MOB-47: a row too large for what is left of a budget holds back no smaller one, and goes the next day")
  func tooLarge() throws {
    try AgentCluster.run(link: .cellular) { device in
      let dice = SeededRandom(seed: 3)
      func noise(_ count: Int) -> String {
        String(decoding: (0..<count).map { _ in UInt8(33 + dice.below(90)) }, as: UTF8.self)
      }
      try await device.agent.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 200_000]))
      try await device.register(Self.chat)
      for _ in 0..<2 {
        try await device.write(noise(150_000), to: Self.chat)
        try await device.pass(.seconds(10))
      }
      for number in 1...3 {
        try await device.write("\(number)", to: Self.chat)
        try await device.pass(.seconds(10))
        #expect(device.rows(in: Self.chat) == 1 + number)
      }
      let refused = await #expect(throws: CaravanError.self) {
        try await device.agent.engine.syncNow(Self.chat, write: true, read: false)
      }
      #expect(refused?.code == .networkNotPermitted)
      try await device.pass(.seconds(7_000))
      #expect(device.rows(in: Self.chat) == 5)
    }
  }

  @Test("MOB-47: of many photos as many go as a budget has room for, and none is begun in vain")
  func photos() throws {
    let suite = try SuiteCluster(seed: 1)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let device = try await suite.start("phone")
      let engine = device.agent.engine
      await engine.linkChanged(to: nil)
      try await engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 500_000]))
      try await device.createTable()
      try await device.register()
      let dice = SeededRandom(seed: 3)
      for number in 0..<8 { try await device.writePhoto("\(number)", dice.bytes(100_000)) }
      try await device.write("note", 1)
      await engine.linkChanged(to: .cellular)
      try await device.clock.sleep(for: .seconds(600))
      #expect(try await device.store.status(of: RunningDevice.table.app).first?.dirty == 4)
      #expect((400_000..<450_000).contains(engine.meter.spent(over: .cellular)))
      await engine.linkChanged(to: .wifi)
      try await device.until("all have gone") { try await device.isSettled() }
    }
  }

  @Test(
    "MOB-47: a photo that a budget turns out too small for, before or after its row was sent, holds back no other row",
    arguments: [(budget: 100_200, isSent: false), (100_800, true)])
  func turnsOutTooLarge(budget: UInt64, isSent: Bool) throws {
    let suite = try SuiteCluster(seed: 1)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let device = try await suite.start("phone")
      let engine = device.agent.engine
      await engine.linkChanged(to: nil)
      try await engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: budget]))
      try await device.createTable()
      try await device.register()
      try await device.writePhoto("photo", SeededRandom(seed: 3).bytes(100_000))
      await engine.linkChanged(to: .cellular)
      try await device.clock.sleep(for: .seconds(60))
      #expect(await engine.status().counters.contains { $0.name.contains("settled") && $0.value > 0 } == isSent)
      try await device.write("note", 1)
      try await device.clock.sleep(for: .seconds(60))
      #expect(try await device.store.status(of: RunningDevice.table.app).first?.dirty == 1)
    }
  }

  /// A device whose link has a budget, and what another has written before.
  private func receiving(
    budget: UInt64, _ writes: @escaping @Sendable (RunningDevice) async throws -> Void,
    _ body: @escaping @Sendable (RunningDevice, _ writer: RunningDevice) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: 1)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let (writer, reader) = (try await suite.start("camera"), try await suite.start("tablet"))
      try await reader.agent.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: budget]))
      await reader.agent.engine.linkChanged(to: nil)
      for device in [writer, reader] {
        try await device.createTable()
        try await device.register()
      }
      try await writes(writer)
      try await writer.until("all have gone") { try await writer.isSettled() }
      await reader.agent.engine.linkChanged(to: .cellular)
      try await reader.clock.sleep(for: .seconds(60))
      try await body(reader, writer)
      #expect(reader.agent.engine.meter.spent(over: .cellular) <= budget)
    }
  }

  @Test("MOB-47: a photo that a budget has room for comes, whatever its chunks might be")
  func fittingPhoto() throws {
    try receiving(budget: 180_000) { writer in
      try await writer.writePhoto("photo", SeededRandom(seed: 3).bytes(150_000))
    } _: { reader, _ in
      let photo = try await reader.photo("photo")
      #expect(photo?.count == 150_000)
    }
  }

  @Test("MOB-47: a photo too large for the rest of a budget holds back no smaller one and no row, now or later")
  func tooLargeToPull() throws {
    try receiving(budget: 80_000) { writer in
      for number in 0..<3 {
        try await writer.writePhoto("large \(number)", SeededRandom(seed: UInt64(number)).bytes(400_000))
      }
      try await writer.writePhoto("small", SeededRandom(seed: 9).bytes(12_000))
      let dice = SeededRandom(seed: 3)
      for number in 0..<30 {
        let noise = String(decoding: (0..<1_000).map { _ in UInt8(33 + dice.below(90)) }, as: UTF8.self)
        try await writer.write("row \(number) \(noise)", Int64(number))
      }
    } _: { reader, writer in
      #expect(try await reader.photo("small")?.count == 12_000)
      #expect(try await reader.rows().count == 31)
      try await writer.write("late", 1)
      try await writer.writePhoto("late photo", SeededRandom(seed: 10).bytes(6_000))
      try await reader.clock.sleep(for: .seconds(60))
      #expect(try await reader.photo("late photo")?.count == 6_000)
      #expect(try await reader.rows().count == 33)
      let refused = await #expect(throws: CaravanError.self) {
        try await reader.agent.engine.syncNow(RunningDevice.table, write: false, read: true)
      }
      #expect(refused?.code == .networkNotPermitted)
      await reader.agent.engine.linkChanged(to: .wifi)
      try await reader.until("all have come") { try await reader.rows().count == 36 }
    }
  }

  @Test(
    "I13, MOB-46: rows come with notifications only over a link that their table permits and that has no budget",
    arguments: [false, true])
  func unasked(hasBudget: Bool) throws {
    let suite = try SuiteCluster(seed: 1)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let (writer, reader) = (try await suite.start("camera"), try await suite.start("tablet"))
      for device in [writer, reader] {
        try await device.createTable()
        try await device.register()
      }
      let engine = reader.agent.engine
      if hasBudget {
        try await engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 1_000_000]))
      } else {
        try await reader.store.register(
          RunningDevice.table, .read,
          SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .wifi))
        await engine.registrationsChanged(of: RunningDevice.table)
      }
      func write(_ name: String) async throws {
        try await reader.clock.sleep(for: .seconds(5))
        try await writer.write(
          name + String(decoding: SeededRandom(seed: 4).bytes(3_000).map { $0 % 90 + 33 }, as: UTF8.self), 1)
        try await reader.clock.sleep(for: .seconds(5))
      }
      func takenIn() async -> UInt64 {
        await engine.status().counters.first { $0.name.contains("notifications_total{outcome=takenIn") }?.value ?? 0
      }
      func cameOverCellular() async -> UInt64 {
        await engine.status().usage.filter { $0.account.link == .cellular }.reduce(0) { $0 + $1.bytes.down }
      }
      try await write("a")
      try await write("b")
      let before = await takenIn()
      #expect(before > 0)
      await engine.linkChanged(to: .cellular)
      try await write("c")
      try await write("d")
      #expect(await takenIn() == before)
      #expect(try await reader.rows().count == (hasBudget ? 4 : 2))
      if !hasBudget { #expect(await cameOverCellular() < 1_000) }
      await engine.linkChanged(to: .wifi)
      try await write("e")
      #expect(try await reader.rows().count == 5)
      #expect(await takenIn() == before + 1)
    }
  }

  @Test("MOB-47: a row is held back by what travels of it, not by what the cloud has of it already")
  func unchangedPhoto() throws {
    let suite = try SuiteCluster(seed: 1)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let device = try await suite.start("phone")
      let engine = device.agent.engine
      try await device.createTable()
      try await device.register()
      try await device.writePhoto("photo", SeededRandom(seed: 3).bytes(400_000))
      try await device.until("it has gone") { try await device.isSettled() }
      await engine.linkChanged(to: nil)
      try await engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 100_000]))
      try await device.writePhoto("other", SeededRandom(seed: 4).bytes(400_000))
      try await device.update("photo", 2)
      await engine.linkChanged(to: .cellular)
      try await device.clock.sleep(for: .seconds(60))
      #expect(try await device.store.status(of: RunningDevice.table.app).first?.dirty == 1)
    }
  }

  @Test(
    "MOB-47: pages beside a push are asked for no larger than it leaves room for",
    arguments: [0, 6_000, 12_000, 18_000], [1, 3])
  func pagesBesidePush(bytes: Int, pulls: Int) throws {
    try EngineBench.run { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      try await bench.pass(.seconds(1))
      await bench.engine.linkChanged(to: .cellular)
      try await bench.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 20_000]))
      let table = EngineBench.album
      let body = SeededRandom(seed: 3).bytes(bytes)
      let push = Push(
        container: table.app.text, zone: table.name, op: 900,
        mutations: [CaravanWire.Mutation(name: "row", kind: .save, basedOn: 0, type: 1, body: body)])
      let pull = Pull(container: table.app.text, zone: table.name, maxBytes: 64 << 10)
      let operations = [.push(push)] + Array(repeating: CaravanWire.Operation.Kind.pull(pull), count: pulls)
      let results = try await bench.engine.exchanger.exchange(operations, through: [])
      #expect(results.count == operations.count)
      let asked = bench.cloud.frames.last?.compactMap { if case .pull(let pull) = $0 { pull.maxBytes } else { nil } }
      #expect(asked?.allSatisfy { 1...20_000 ~= $0 } == true)
    }
  }

  @Test("MOB-44, MOB-47: a link without a budget takes over what another has no room for")
  func otherLink() throws {
    try AgentCluster.run(link: .cellular) { device in
      try await device.agent.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 12_000]))
      try await device.register(Self.chat)
      for number in 0..<60 { try await device.write("\(number)" + Self.text, to: Self.chat) }
      try await device.pass(.seconds(60))
      for number in 0..<60 {
        try await device.write("\(number * 7_919)" + Self.text, to: Self.chat)
        try await device.pass(.seconds(1))
      }
      #expect(device.rows(in: Self.chat) < 120)
      await device.agent.engine.linkChanged(to: .wifi)
      try await device.pass(.seconds(10))
      #expect(device.rows(in: Self.chat) == 120)
      #expect(device.agent.engine.meter.spent(over: .cellular) <= 12_000)
    }
  }

  @Test("MOB-45: what the user does not allow is not used, whatever apps prefer or demand; metered counts as cellular")
  func userOverride() throws {
    try AgentCluster.run(link: .cellular) { device in
      try await device.pass(.seconds(1))
      try await device.agent.engine.setPolicy(NetworkPolicy(maximumLink: .wifi))
      let before = await device.bytesOnWire()
      try await device.register(Self.chat)
      try await device.write("a", to: Self.chat)
      try await device.pass(.seconds(600))
      await #expect(throws: CaravanError.self) {
        try await device.agent.engine.syncNow(Self.chat, write: true, read: false)
      }
      await device.agent.engine.linkChanged(to: Link(.wifi, isMetered: true))
      try await device.pass(.seconds(600))
      #expect(await device.bytesOnWire() == before)
      #expect(await !device.agent.engine.status().isConnected)
      await device.agent.engine.linkChanged(to: .wifi)
      try await device.pass(.seconds(5))
      #expect(device.rows(in: Self.chat) == 1)
      try await device.agent.engine.setPolicy(NetworkPolicy(maximumLink: nil))
      try await device.write("b", to: Self.chat)
      try await device.pass(.seconds(600))
      #expect(device.rows(in: Self.chat) == 1)
    }
  }

  @Test("I13, MOB-45, MOB-47: policy and accounts of an earlier life hold from the start, before the agent runs")
  func heldFromTheStart() throws {
    let carried = UsageLedger.Account(link: .cellular, table: EngineBench.album)
    let record = NetworkRecord(
      policy: NetworkPolicy(maximumLink: .wifi, dailyBytes: [.cellular: 5_000]),
      day: 1_700_000_000_000 / UsageLedger.dayMilliseconds,
      grants: [.cellular: 4_000], accounts: [carried: .init(up: 1_000, down: 2_037)])
    let cluster = Simulation(seed: 1)
    try cluster.run(deadline: .seconds(3_600)) {
      let bench = EngineBench(cluster, remembering: record, link: .cellular)
      // A watched link may change before the store has been read.
      await bench.engine.linkChanged(to: Link(.wifi, isMetered: true))
      #expect(await !bench.engine.schedule.permitsSpeaking)
      let status = await bench.engine.status()
      #expect(status.policy == record.policy)
      #expect(bench.engine.meter.spent(over: .cellular) == 4_000)
      #expect(status.usage.map(\.account) == [carried])
    }
  }

  @Test("A crash neither forgets the policy nor gives the budget again")
  func restart() throws {
    try AgentCluster.run(lives: 4, link: .cellular) { device, life in
      if life == 0 { try await device.agent.engine.setPolicy(NetworkPolicy(dailyBytes: [.cellular: 40_000])) }
      try await device.register(Self.chat)
      try await device.pass(.seconds(1))
      for number in 0..<40 {
        try await device.write("\(life) \(number * 104_729)" + Self.text, to: Self.chat)
        try await device.pass(.seconds(1))
      }
      #expect(await device.agent.engine.status().policy.dailyBytes == [.cellular: 40_000])
      let frames = device.cloud.state.withLock { $0.bytesIn }
      #expect(frames <= 40_000)
    }
  }

  @Test("SIM-45, MOB-47: all bytes are in the accounts, by link and table, and outlive the agent")
  func accounts() throws {
    try AgentCluster.run(lives: 2) { device, life in
      try await device.register(Self.chat)
      try await device.register(AgentCluster.samples)
      if life == 0 {
        for number in 0..<20 { try await device.write("\(number)" + Self.text, to: Self.chat) }
        try await device.write("one", to: AgentCluster.samples)
        try await device.pass(.seconds(70))
        let usage = await device.agent.engine.status().usage
        #expect(usage.reduce(0) { $0 + $1.bytes.up + $1.bytes.down } == (await device.bytesOnWire()))
        let tables = usage.map(\.account.table)
        #expect(tables.contains(Self.chat) && tables.contains(AgentCluster.samples) && tables.contains(nil))
        #expect(usage.allSatisfy { $0.account.link == .wifi })
        try await device.pass(.seconds(70))
      } else {
        let usage = await device.agent.engine.status().usage
        #expect(usage.first { $0.account.table == Self.chat }?.bytes.up ?? 0 > 100)
      }
    }
  }
}

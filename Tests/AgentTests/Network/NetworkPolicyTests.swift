import AgentCore
import Model
import Runtime
import TestKit
import Testing

@testable import AgentDriver

/// Goal: the user's word holds: no byte over a link that is not allowed, none beyond a budget, and all of it known.
/// Method: a whole agent against a scripted cloud, in virtual time.
@Suite struct NetworkPolicyTests {
  private static let chat = AgentWorld.chat
  private static let text = String(repeating: "0123456789abcdef", count: 64)

  @Test("I13, MOB-47: a day's budget is never exceeded, what is left over goes the next day or over another link")
  func budget() throws {
    try AgentWorld.run(link: .cellular) { device in
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
    try AgentWorld.run(link: .cellular) { device in
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
    try AgentWorld.run(link: .cellular) { device in
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
    let suite = try SuiteWorld(seed: 1)
    try suite.world.run(deadline: .seconds(20_000)) {
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
    let suite = try SuiteWorld(seed: 1)
    try suite.world.run(deadline: .seconds(20_000)) {
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

  @Test("MOB-44, MOB-47: a link without a budget takes over what another has no room for")
  func otherLink() throws {
    try AgentWorld.run(link: .cellular) { device in
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
    try AgentWorld.run(link: .cellular) { device in
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

  @Test("A crash neither forgets the policy nor gives the budget again")
  func restart() throws {
    try AgentWorld.run(lives: 4, link: .cellular) { device, life in
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
    try AgentWorld.run(lives: 2) { device, life in
      try await device.register(Self.chat)
      try await device.register(AgentWorld.samples)
      if life == 0 {
        for number in 0..<20 { try await device.write("\(number)" + Self.text, to: Self.chat) }
        try await device.write("one", to: AgentWorld.samples)
        try await device.pass(.seconds(70))
        let usage = await device.agent.engine.status().usage
        #expect(usage.reduce(0) { $0 + $1.bytes.up + $1.bytes.down } == (await device.bytesOnWire()))
        let tables = usage.map(\.account.table)
        #expect(tables.contains(Self.chat) && tables.contains(AgentWorld.samples) && tables.contains(nil))
        #expect(usage.allSatisfy { $0.account.link == .wifi })
        try await device.pass(.seconds(70))
      } else {
        let usage = await device.agent.engine.status().usage
        #expect(usage.first { $0.account.table == Self.chat }?.bytes.up ?? 0 > 100)
      }
    }
  }
}

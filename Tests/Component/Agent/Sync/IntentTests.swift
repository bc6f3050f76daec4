import CaravanAgentCore
import CaravanModel
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: apps get what they declared, from the write to the cloud. Method: a whole agent on a store of its own, against
/// a scripted cloud, in virtual time.
@Suite struct IntentTests {
  private typealias Device = AgentCluster.Device
  private static let samples = AgentCluster.samples
  private static let chat = AgentCluster.chat

  @Test("MOB-05: rows that may be lost start no transfer, and go with the device's own")
  func onlyRides() throws {
    try AgentCluster.run { device in
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
    try AgentCluster.run { device in
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
    try AgentCluster.run { device in
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
    try AgentCluster.run { device in
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

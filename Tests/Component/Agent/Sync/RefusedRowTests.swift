import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what the cloud refuses is neither sent again and again nor forgotten, and nothing waits behind it (SIM-83).
/// Method: a whole agent against a scripted cloud, in virtual time.
@Suite("Rows that the cloud refuses", .timeLimit(.minutes(2)))
struct RefusedRowTests {
  private static let chat = AgentCluster.chat
  private static let no = CaravanError(.referenceViolation, "no such owner")

  /// Names of the rows of each push.
  private static func pushes(_ device: AgentCluster.Device) -> [[String]] {
    device.cloud.frames.joined().compactMap { if case .push(let push) = $0 { push.mutations.map(\.name) } else { nil } }
  }

  private static func refuse(_ device: AgentCluster.Device, whole: Bool) {
    device.cloud.state.withLock { state in
      if whole {
        state.script = Array(
          repeating: .refuse { if case .push = $0 { CaravanError(.limitExceeded, "too much") } else { nil } },
          count: 1_000)
      } else {
        state.refusal = { String(decoding: $0.body, as: UTF8.self).contains("bad") ? Failure(no) : nil }
      }
    }
  }

  @Test(
    "what is refused is tried again after an hour, when an app demands it, and by the next agent",
    arguments: [false, true])
  func rests(whole: Bool) throws {
    try AgentCluster.run(lives: 2) { device, life in
      if life == 0 { Self.refuse(device, whole: whole) }
      try await device.register(Self.chat)
      try await device.pass(.seconds(1))
      let before = Self.pushes(device).count
      if life == 0 { try await device.write("bad", to: Self.chat) }
      try await device.pass(.seconds(3_000))
      #expect(Self.pushes(device).count == before + (life == 0 ? 1 : 0))
      let status = try await device.agent.store.status(of: AgentCluster.app).first { $0.table == Self.chat }
      #expect(status?.dirty == 1 && status?.refused == (whole ? "too much" : Self.no.message))
      try await device.pass(.seconds(1_000))
      #expect(Self.pushes(device).count == before + (life == 0 ? 2 : 1))
      await #expect(throws: CaravanError.self) {
        try await device.agent.engine.syncNow(Self.chat, write: true, read: false)
      }
      #expect(Self.pushes(device).count == before + (life == 0 ? 3 : 2))
    }
  }

  @Test("what an app writes does not wait for what was refused, and does not take it along")
  func others() throws {
    try AgentCluster.run { device in
      Self.refuse(device, whole: false)
      try await device.register(Self.chat)
      try await device.write("bad", to: Self.chat)
      for number in 1...3 {
        try await device.pass(.seconds(10))
        try await device.write("\(number)", to: Self.chat)
      }
      try await device.pass(.seconds(10))
      #expect(device.rows(in: Self.chat) == 3 && Self.pushes(device).map(\.count) == [1, 1, 1, 1])
      // The hour is not over sooner or later for them.
      try await device.pass(.seconds(3_500))
      #expect(Self.pushes(device).count == 4)
      device.cloud.state.withLock { $0.refusal = nil }
      try await device.pass(.seconds(200))
      #expect(device.rows(in: Self.chat) == 4)
    }
  }

  @Test("TRU-04: a row that is another user's to change stays here and says so; it is no conflict, and not lost")
  func foreign() throws {
    try AgentCluster.run { device in
      let denied = CaravanError(.accessDenied, "another user made it")
      device.cloud.state.withLock { state in
        state.refusal = { String(decoding: $0.body, as: UTF8.self).contains("bad") ? Failure(denied) : nil }
      }
      try await device.register(Self.chat)
      for name in ["bad", "good"] { try await device.write(name, to: Self.chat) }
      try await device.pass(.seconds(600))
      #expect(device.rows(in: Self.chat) == 1)
      let status = try #require(
        try await device.agent.store.status(of: AgentCluster.app).first { $0.table == Self.chat })
      #expect(status.rows == 2 && status.dirty == 1 && status.conflicts == 0 && status.fault == nil)
      #expect(status.refused == denied.message)
      let pushed = Self.pushes(device).count
      try await device.pass(.seconds(600))
      #expect(Self.pushes(device).count == pushed, "it rests")
    }
  }

  @Test("many refused rows hold back no row beyond what a push takes")
  func many() throws {
    try AgentCluster.run { device in
      Self.refuse(device, whole: false)
      await device.agent.engine.linkChanged(to: nil)
      try await device.register(Self.chat)
      for number in 0..<(2 * EngineLimits.rowsPerPush) { try await device.write("bad \(number)", to: Self.chat) }
      for number in 0..<(2 * EngineLimits.rowsPerPush) { try await device.write("good \(number)", to: Self.chat) }
      await device.agent.engine.linkChanged(to: .wifi)
      try await device.pass(.seconds(60))
      #expect(device.rows(in: Self.chat) == 2 * EngineLimits.rowsPerPush)
      #expect(Self.pushes(device).count == 4)
    }
  }

  @Test("TRU-19: 5,000 refused rows hold back no new one, and none goes again before its rest is over")
  func thousands() throws {
    try AgentCluster.run { device in
      Self.refuse(device, whole: false)
      await device.agent.engine.linkChanged(to: nil)
      try await device.register(Self.chat)
      for number in 0..<5_000 { try await device.write("bad \(number)", to: Self.chat) }
      await device.agent.engine.linkChanged(to: .wifi)
      while Set(Self.pushes(device).joined()).count < 5_000 { try await device.pass(.seconds(1)) }
      for number in 1...3 {
        try await device.write("good", to: Self.chat)
        try await device.pass(.seconds(900))
        #expect(device.rows(in: Self.chat) == number)
      }
      #expect(Self.pushes(device).joined().count == 5_003, "no row has gone twice")
      try await device.pass(.seconds(1_000))
      #expect(Self.pushes(device).joined().count > 5_003, "the hour is over")
    }
  }
}

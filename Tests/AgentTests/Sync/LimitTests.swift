import AgentCore
import Model
import Runtime
import Testing
import Wire

@testable import AgentDriver

/// Goal: what the cloud does not take now is kept, shown, and sent when it may be (CK-101, CK-102, MOB-08). Method: a
/// whole agent against a scripted cloud, in virtual time.
@Suite struct LimitTests {
  private typealias Device = AgentWorld.Device
  private static let samples = AgentWorld.samples
  private static let chat = AgentWorld.chat

  private static func pushes(_ device: Device, to table: TableID) -> [Push] {
    device.cloud.frames.flatMap { $0 }.compactMap { operation in
      if case .push(let push) = operation, push.zone == table.name { push } else { nil }
    }
  }

  private static func refusing(
    _ table: TableID, _ error: CaravanError, where isRefused: @escaping @Sendable (Push) -> Bool = { _ in true }
  ) -> ScriptedCloud.Mishap {
    .refuse { operation in
      if case .push(let push) = operation, push.zone == table.name, isRefused(push) { error } else { nil }
    }
  }

  @Test("CK-101: who is told to come later keeps everything and asks no sooner, not even on demand")
  func rateLimited() throws {
    try AgentWorld.run { device in
      try await device.register(Self.chat)
      try await device.register(Self.samples, loss: LossTolerance(maximumPermille: 1000))
      try await device.write("first", to: Self.chat)
      try await device.pass(.seconds(1))
      let limited = CaravanError(.rateLimited, "too much at once", retryAfterMilliseconds: 20_000)
      device.cloud.script(Self.refusing(Self.chat, limited))
      try await device.write("second", to: Self.chat)
      try await device.pass(.seconds(1))
      let sent = Self.pushes(device, to: Self.chat).count
      async let demand: Void = device.agent.engine.syncNow(Self.chat, write: true, read: false)
      for second in 1...18 {
        if second.isMultiple(of: 2) { try await device.write("more \(second)", to: Self.chat) }
        try await device.pass(.seconds(1))
        #expect(Self.pushes(device, to: Self.chat).count == sent, "asked again after \(second + 1) s")
      }
      try await demand
      #expect(device.rows(in: Self.chat) == 11)
    }
  }

  @Test("CK-102: without room rows wait and the status says why; deletions go; it goes on by itself when there is room")
  func quota() throws {
    try AgentWorld.run { device in
      try await device.register(Self.chat)
      try await device.write("old", to: Self.chat)
      try await device.pass(.seconds(1))
      let full = CaravanError(.quotaExceeded, "user 'ada' uses 1 of 1 records")
      let isFull: @Sendable (Push) -> Bool = { push in push.mutations.contains { $0.kind == .save } }
      for _ in 0..<40 { device.cloud.script(Self.refusing(Self.chat, full, where: isFull)) }
      for number in 0..<5 { try await device.write("new \(number)", to: Self.chat) }
      try await device.pass(.seconds(10))
      func refused() async throws -> String? {
        try await device.agent.store.status(of: AgentWorld.app).first { $0.table == Self.chat }?.refused
      }
      #expect(try await refused() == full.message)
      #expect(device.rows(in: Self.chat) == 1)
      #expect(Self.pushes(device, to: Self.chat).count < 12, "no hot retry")
      try await device.agent.store.delete(Self.chat, selection: Selection("text = 'old'"))
      try await device.pass(.seconds(120))
      #expect(Self.pushes(device, to: Self.chat).contains { $0.mutations.map(\.kind) == [.delete] }, "it goes alone")
      #expect(device.rows(in: Self.chat) == 0)
      device.cloud.state.withLock { $0.script = [] }
      try await device.pass(.seconds(120))
      #expect(device.rows(in: Self.chat) == 5)
      #expect(try await refused() == "")
    }
  }

  @Test("MOB-06, MOB-08: what is put off comes back when it was told, and nothing of it is given up")
  func deferred() throws {
    try AgentWorld.run { device in
      try await device.register(Self.samples, loss: LossTolerance(maximumPermille: 1000))
      try await device.register(Self.chat)
      try await device.write("first", to: Self.chat)
      try await device.write("0", to: Self.samples)
      try await device.write("second", to: Self.chat)
      try await device.pass(.seconds(2))
      var later = CaravanError(.serverBusy, "this can wait", retryAfterMilliseconds: 3_000)
      later.isDeferral = true
      device.cloud.script(Self.refusing(Self.chat, later))
      try await device.write("third", to: Self.chat)
      try await device.write("1", to: Self.samples)
      try await device.pass(.milliseconds(2_900))
      #expect(device.rows(in: Self.chat) == 2)
      try await device.pass(.milliseconds(200))
      #expect(device.rows(in: Self.chat) == 3)
      #expect(try await device.ledger().lost == 0)
    }
  }
}

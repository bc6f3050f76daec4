internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// Users who let a device carry so many bytes more today, and think better of it after a while (MOB-47).
struct ByteBudget: Rarity {
  private let suite: Suite
  private var dice: Dice

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "thrift")
  }

  /// Until `end`; what is still limited then stays so.
  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(1_000...20_000))) != nil, clock.now < end else { break }
      let device = dice.pick(suite.devices)
      // How well a secret is packed differs by a few bytes, and so would what its device may still send.
      guard device.user != suite.ground.secret?.user else { continue }
      let bytes: UInt64 = dice.pick([0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 64_000, 400_000])
      suite.ground.recorder.note("\(device.name) may carry \(bytes) bytes more today")
      await device.allow(bytes)
      guard (try? await clock.sleep(for: dice.milliseconds(3_000...60_000))) != nil else { break }
      if dice.happens(700) { await device.allow(nil) }
    }
  }
}

extension SimulatedDevice {
  /// - Parameter more: so many bytes, beside what today's links have carried; nil: there is no budget.
  func allow(_ more: UInt64?) async {
    egressGuard.ration(name, nil)
    guard let session = slot.session, let record = try? await session.store.networkRecord() else { return }
    var policy = NetworkPolicy()
    if let more {
      // After a life that ended without a word all of its grants count as carried.
      for link in LinkClass.allCases {
        policy.dailyBytes[link] = max(record.carried(over: link), record.grants[link] ?? 0) + more
      }
    }
    slot.remember(policy)
    let answer = await ask(session) { [policy] (session) throws(CaravanError) in
      try await session.engine.setPolicy(policy)
    }
    guard case .done = answer, slot.policy == policy, let link = slot.link else { return }
    egressGuard.ration(name, policy.dailyBytes[link].map { $0 - record.carried(over: link) })
  }

  /// Also where its agent has yet to come up.
  func haveNoBudget(_ clock: any Clock) async {
    while let policy = slot.policy, !policy.dailyBytes.isEmpty {
      await allow(nil)
      try? await clock.sleep(for: .milliseconds(100))
    }
  }
}

extension NetworkRecord {
  fileprivate func carried(over link: LinkClass) -> UInt64 {
    accounts.reduce(0) { sum, account in sum + (account.key.link == link ? account.value.up + account.value.down : 0) }
  }
}

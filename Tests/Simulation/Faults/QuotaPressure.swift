internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit

/// Now and then a user has no more room than they use (CK-102).
struct QuotaPressure: Rarity {
  private let suite: Suite
  private var dice: Dice
  private var account: Account { .user(UserID(unchecked: suite.scale.users[0]), .development) }

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "squeeze")
  }

  /// Until `end`; then there is room.
  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(8_000...40_000))) != nil else { break }
      await tighten()
      guard (try? await clock.sleep(for: dice.milliseconds(3_000...30_000))) != nil else { break }
      await loosen(clock)
    }
  }

  func tighten() async {
    guard let store = suite.vault.store, let used = try? await store.account(account).used else { return }
    let quota = Quota(records: UInt64(clamping: used.records), bytes: UInt64(clamping: used.bytes))
    guard (try? await store.setQuota(quota, of: account)) != nil else { return }
    suite.ground.recorder.note("\(account) has no room beyond \(used.records) records, \(used.bytes) bytes")
  }

  /// As soon as there is a store that can be told.
  func loosen(_ clock: any Clock) async {
    while true {
      if let store = suite.vault.store, (try? await store.setQuota(nil, of: account)) != nil { break }
      guard (try? await clock.sleep(for: .seconds(1))) != nil else { return }
    }
    suite.ground.recorder.note("\(account) has room")
  }
}

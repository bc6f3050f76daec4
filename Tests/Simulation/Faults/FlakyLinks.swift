internal import CaravanBus
internal import CaravanRuntime
internal import CaravanTestKit

/// A link that breaks whenever so many bytes have passed since it last did.
struct FlakyLink: Sendable {
  let bytes: Int
  /// The connection is seen to be lost, and is back after this long. Nil: it stays, and only what was on its way is
  /// lost.
  let outage: Duration?
  private var passed = 0

  init(bytes: Int, outage: Duration?) {
    self.bytes = bytes
    self.outage = outage
  }

  /// - Returns: whether it breaks before so many more have passed.
  mutating func breaks(under more: Int) -> Bool {
    guard passed + more > bytes else {
      passed += more
      return false
    }
    passed = 0
    return true
  }
}

/// Devices whose links break in the middle of transfers, for a while or to the end (MOB-23).
struct FlakyLinks: Rarity {
  private let suite: Suite
  private var dice: Dice
  /// With the largest message that cannot be cut, a link lets pass as many as this.
  private static let least = 12_000

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "frailties")
  }

  /// Until `end`; some links stay as they are then.
  mutating func run(until end: Instant, clock: any Clock) async {
    let egressGuard = suite.ground.egressGuard
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(1_000...15_000))) != nil, clock.now < end else { break }
      let device = dice.pick(suite.devices)
      let flakyLink = flakyLink([1_000, 2_000, 4_000, 8_000, 16_000, 40_000])
      // How well a secret is packed differs by a few bytes, and so would what still passes.
      guard device.user != suite.ground.secret?.user else { continue }
      suite.ground.recorder.note("\(device.name)'s link breaks after \(flakyLink.bytes) bytes, again and again")
      egressGuard.weaken(device.name, flakyLink)
      guard (try? await clock.sleep(for: dice.milliseconds(3_000...40_000))) != nil else { break }
      egressGuard.weaken(device.name, nil)
    }
    for device in suite.devices where dice.happens(400) && device.user != suite.ground.secret?.user {
      egressGuard.weaken(device.name, flakyLink([Self.least, 2 * Self.least]))
    }
  }

  private mutating func flakyLink(_ bytes: [Int]) -> FlakyLink {
    FlakyLink(bytes: dice.pick(bytes), outage: dice.happens(500) ? dice.milliseconds(10...2_000) : nil)
  }
}

internal import CaravanBus
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanTokens

/// Clients that meet in one zone, in some of the clusters, beside the devices: what they see is held against CK-22 and
/// CK-23.
struct Witnesses: Sendable {
  static let container = ContainerID(unchecked: "witnesses")
  /// Of so many clusters one has witnesses: what they cost, all others need not pay.
  private static let rarity = 6
  private static let count = 3

  static func areHere(_ seed: UInt64) -> Bool {
    var dice = Dice(seed: seed, "witnesses")
    return dice.below(rarity) == 0
  }

  private let suite: Suite
  private let seed: UInt64
  private let recorder = CallRecorder()
  private let clock: any Clock

  private let settings: Witness.Settings

  /// - Returns: nil: not in this cluster.
  init?(_ suite: Suite, seed: UInt64) throws {
    guard Self.areHere(seed) else { return nil }
    self.suite = suite
    self.seed = seed
    clock = suite.ground.simulation.host("witnesses").host.clock
    let user = UserID(unchecked: suite.scale.users[0])
    let zone = try ZoneID(DatabaseID(container: Self.container, environment: .development, owner: user), "history")
    settings = Witness.Settings(container: Self.container) { [keyring = suite.keyring] in
      try? TokenSeal(key: keyring.key).open($0, of: zone).seq
    }
  }

  /// Until `end`.
  func run(until end: Instant) async {
    await withDiscardingTaskGroup { group in
      for number in 1...Self.count { group.addTask { await watch("w\(number)", until: end) } }
    }
  }

  private func watch(_ name: String, until end: Instant) async {
    let bus = connect(name)
    defer { bus.close() }
    var dice = Dice(seed: seed, name)
    var witness = witness(bus, seed: dice.word())
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(1...12_000))) != nil else { return }
      // Some at once, so that they meet.
      for _ in 0..<dice.within(1...3) where clock.now < end { await witness.act() }
    }
  }

  private func connect(_ name: String) -> InProcessBus {
    suite.ground.connect(name, as: .device(EnrolledDevice(suite.scale.users[0], name)))
  }

  private func witness(_ bus: InProcessBus, seed: UInt64) -> Witness {
    let host = suite.ground.simulation.host(bus.name).host
    return Witness(
      EnrolledDevice(suite.scale.users[0], bus.name, in: .development), settings, bus: bus, host: host,
      recorder: recorder, seed: seed)
  }

  /// The last look, once all is quiet: what was acknowledged is there.
  func conclude() async throws {
    let bus = connect("w-last")
    defer { bus.close() }
    var witness = witness(bus, seed: seed)
    guard await witness.look() else { throw SeedFailure(what: "nobody answers a witness, and all is quiet") }
    suite.ground.recorder.witnessed(recorder.calls)
  }
}

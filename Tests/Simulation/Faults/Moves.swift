internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageDriver
internal import CaravanTestKit
internal import CaravanWire

/// Users are moved from store to store again and again, and storage often dies in the middle of it (CK-100): devices
/// must not be able to tell.
struct Moves: Rarity {
  private let suite: Suite
  private var dice: Dice

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "moves")
  }

  /// Until `end`; a move under way goes on.
  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(2_000...14_000))) != nil else { return }
      let user = dice.pick(suite.scale.users)
      let target = dice.pick(["main", Suite.secondStore])
      let isCutOff = dice.happens(300)
      let (delay, pause) = (dice.milliseconds(0...40), dice.milliseconds(100...3_000))
      guard let mover = suite.vault.mover, let owner = try? UserID(user) else { continue }
      suite.ground.recorder.note("\(user) is to move to \(target)")
      _ = try? await mover.move(owner, to: target)
      guard isCutOff else { continue }
      try? await clock.sleep(for: delay)
      let storage = suite.services[0]
      guard storage.isUp else { continue }
      suite.crash(storage)
      try? await clock.sleep(for: pause)
      storage.start()
    }
  }
}

extension Suite {
  /// What is being moved lies in two places.
  func waitForMoves() async throws {
    guard let mover = vault.mover else { return }
    for user in scale.users {
      for round in 0... {
        let reply = try await mover.move(UserID(user), to: nil)
        if reply.to.isEmpty && reply.leaving.isEmpty { break }
        guard round < 120 else { throw SeedFailure(what: "\(user) is still being moved: \(reply.problem)") }
        try await ground.simulation.host("inspector").host.clock.sleep(for: .seconds(1))
      }
    }
  }
}

internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit

/// An app whose rows may be lost, up to a share of them (MOB-05).
struct Sampler: Rarity {
  private static let maximumPermille = 200

  private let device: SimulatedDevice
  private let suite: Suite
  private let place: Place
  private var dice: Dice
  private var counts = (accepted: 0, unknown: 0)

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    device = suite.devices[0]
    place = Place(user: device.user, app: "samples", table: "s")
    dice = Dice(seed: seed, "sampler")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(500...4_000))) != nil else { return }
      guard clock.now < end, let session = device.slot.session, await prepare(session) else { continue }
      let cells = [CellValue("v", .integer(Int64(dice.below(1_000))))]
      switch await device.ask(
        session, { [place] (session) throws(CaravanError) in try await session.store.write(place.id, cells: cells) })
      {
      case .done: counts.accepted += 1
      case .unknown: counts.unknown += 1
      case .refused: continue
      }
    }
  }

  private func prepare(_ session: AgentSlot.Session) async -> Bool {
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.createTable(place.id, schema: SchemaText(parsing: "v INTEGER"), localOnly: false)
      let known = try await session.store.registrations().contains { $0.table == place.id }
      guard !known else { return }
      let registration = SyncRegistration(periodMilliseconds: 5_000, delayToleranceMilliseconds: 0, link: .cellular)
      let loss = LossTolerance(maximumPermille: UInt32(Self.maximumPermille))
      try await session.store.register(place.id, .write, registration, loss: loss)
      await session.engine.registrationsChanged(of: place.id)
    }
    if case .done = answer { return true } else { return false }
  }

  /// Once all is quiet: what still waits for company is sent, and what is missing then was lost.
  func conclude(_ clock: any Clock) async throws {
    var arrived = 0
    for _ in 0..<20 {
      guard let session = device.slot.session, let store = suite.vault.store, await prepare(session) else { continue }
      _ = await device.ask(session) { (session) throws(CaravanError) in
        try await session.engine.syncNow(place.id, write: true, read: true)
      }
      arrived = try await store.entries(of: place).count
      if arrived >= counts.accepted { break }
      try await clock.sleep(for: .seconds(2))
    }
    let samples = Samples(
      device: device.name, accepted: counts.accepted, unknown: counts.unknown, arrived: arrived,
      maximumPermille: Self.maximumPermille)
    suite.ground.recorder.saw("of \(samples.accepted) samples \(arrived) arrived") { $0.samples.append(samples) }
  }
}

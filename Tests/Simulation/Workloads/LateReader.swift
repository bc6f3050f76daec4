internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit
internal import CaravanWire

/// Reads a table after pauses that are often longer than tombstones are kept for who is away (I17): past the bus, for
/// what is tried is the store.
struct LateReader: Rarity {
  private let place: Place
  private let suite: Suite
  private var dice: Dice
  private var rows: [String: ChangeTag] = [:]
  private var position: CaravanModel.ChangePosition?
  private var isFresh = false

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "late reader")
    place = dice.pick(suite.scale.places(of: suite.scale.users[0])).place
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(5_000...90_000))) != nil else { return }
      _ = await read()
    }
  }

  mutating func conclude(_ clock: any Clock) async throws {
    guard await read() else { throw SeedFailure(what: "a late reader cannot read, and all is quiet") }
    let observation = Latecomer(place, rows: rows)
    suite.ground.recorder.saw("a late reader has \(rows.count) rows of \(place)") { $0.latecomers.append(observation) }
  }

  /// To the end of what there is.
  private mutating func read() async -> Bool {
    guard let store = suite.vault.store, let zone = try? ZoneID(place.database, place.table) else { return false }
    while true {
      let query = ChangeQuery(
        zone: zone, position: position, maxRecords: 7, reader: .init(writer: "late", epoch: 1), isFresh: isFresh)
      guard let page = try? await store.changes(query), suite.vault.store === store else { return false }
      guard !page.resetRequired else {
        (rows, position, isFresh) = ([:], nil, true)
        continue
      }
      guard let next = page.next, let entries = try? EntryPage.decode(page.page).entries else { return true }
      for entry in entries { rows[entry.name] = Recorder.tag(of: entry.model()) }
      (position, isFresh) = (next, false)
      if !page.more { return true }
    }
  }
}

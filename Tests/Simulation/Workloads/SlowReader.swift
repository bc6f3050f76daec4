internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit
internal import CaravanWire

/// Reads a table by snapshots, more slowly than it is written (CK-53): past the bus, for what is tried is the store.
struct SlowReader: Rarity {
  private let place: Place
  private let suite: Suite
  private var dice: Dice
  private var rows: [String: ChangeTag] = [:]
  private var position: CaravanModel.ChangePosition?
  /// It has been reset: what it holds counts for nothing.
  private var isFresh = false
  /// Pages since the last consistent state, from one life of the store.
  private var pages = (count: 0, store: nil as ObjectIdentifier?)

  init(in suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "slow reader")
    place = dice.pick(suite.scale.places(of: suite.scale.users[0])).place
  }

  /// Until `end`.
  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(500...3_000))) != nil else { return }
      await read()
    }
  }

  private mutating func read() async {
    guard let store = suite.vault.store, let zone = try? ZoneID(place.database, place.table) else { return }
    if pages.store != ObjectIdentifier(store) { pages = (0, ObjectIdentifier(store)) }
    let query = ChangeQuery(
      zone: zone, position: position, maxRecords: dice.within(1...3), reader: .init(writer: "slow", epoch: 1),
      isFresh: isFresh, bySnapshots: true)
    // What a store answers that is dead by now is nobody's word.
    guard let page = try? await store.changes(query), suite.vault.store === store else { return }
    guard !page.resetRequired else {
      (rows, position, isFresh, pages.count) = ([:], nil, true, 0)
      return
    }
    guard let next = page.next, let entries = try? EntryPage.decode(page.page).entries else { return }
    // There is no table yet, or no more.
    guard next.incarnation != 0 else {
      (position, isFresh, pages.count) = (next, false, 0)
      return
    }
    for entry in entries { rows[entry.name] = Recorder.tag(of: entry.model()) }
    (position, isFresh) = (next, false)
    pages.count += 1
    if page.isConsistent {
      pages.count = 0
      suite.ground.recorder.read(
        SeenSnapshot(place, incarnation: next.incarnation, seq: next.seq, rows: rows))
    } else if pages.count > Self.patience, pages.count > limit {
      suite.ground.recorder.starved("\(place): \(pages.count) pages and no state")
    }
  }

  /// Pages after which the limit is looked at.
  private static let patience = 20

  /// A snapshot has no more entries than there are rows; a page has one at least.
  private var limit: Int {
    let rows = suite.ground.recorder.history.versions.lazy.filter { [place] in $0.row.place == place }.map(\.row)
    return 2 * Set(rows).count + 4
  }
}

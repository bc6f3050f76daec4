import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

import struct Synchronization.Atomic

/// The stores that the conformance suite runs on.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// One connection, no waiting for the disk: what simulations use.
  case memory
  /// As shipped: files on disk, readers beside the writers, fsync.
  case files
  case postgres

  var testDescription: String { rawValue }
  static let reopening: [StoreKind] = [.files, .postgres]
}

/// Hears of commits.
final class Listener: CommitObserver {
  private let heard = Mutex<[CommittedChange]>([])
  private let gaps = Atomic<Int>(0)
  var changes: [CommittedChange] { heard.withLock { $0 } }
  /// How often it was told that it may have missed some.
  var misses: Int { gaps.load(ordering: .relaxed) }
  func committed(_ group: [CommittedChange]) { heard.withLock { $0 += group } }
  func missed() { gaps.add(1, ordering: .relaxed) }
}

/// The time of day is the test's; who waits for a while waits for it truly.
private struct PassingClock: CaravanRuntime.Clock {
  let day: ManualClock
  let passing: any CaravanRuntime.Clock

  var wallTime: WallTime { day.wallTime }
  var now: Instant { passing.now }
  func sleep(until instant: Instant) async throws { try await passing.sleep(until: instant) }
  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) { passing.call(at: instant, body) }
}

/// A store under test, with time in the test's hands and an op id for every commit.
final class StoreBench: Sendable {
  /// How the store is opened, and opened again.
  enum Plan: Sendable {
    case sqlite(StoreOptions)
    case postgres(PostgresOptions)
  }

  /// What is open.
  private enum Opened: Sendable {
    case sqlite(StoreSQLite)
    case postgres(StorePostgres)

    var store: any Store {
      switch self {
      case .sqlite(let store): store
      case .postgres(let store): store
      }
    }
  }

  let clock = ManualClock()
  let listener = Listener()
  let host: Host
  private let plan: Plan
  private let current: Mutex<Opened?> = Mutex(nil)
  private let ops = Atomic<UInt64>(0)

  /// Gives `body` a new store, and removes it afterwards.
  static func with(
    _ kind: StoreKind, tombstones: TombstoneRule = TombstoneRule(), _ body: (StoreBench) async throws -> Void
  ) async throws {
    switch kind {
    case .memory:
      var options = StoreOptions.simulation(.memory)
      options.tombstones = tombstones
      try await with(StoreBench(.sqlite(options)), body)
    case .files:
      try await withTemporaryDirectory { path in
        var options = StoreOptions(.directory(path))
        options.tombstones = tombstones
        try await with(StoreBench(.sqlite(options)), body)
      }
    case .postgres:
      let server = try PostgresServer.shared.get()
      try await server.withSchema { address in
        var options = PostgresOptions(try ConnectionString(address))
        (options.writers, options.readers) = (2, 2)
        options.tombstones = tombstones
        try await with(StoreBench(.postgres(options)), body)
      }
    }
  }

  private static func with(_ bench: StoreBench, _ body: (StoreBench) async throws -> Void) async throws {
    try await bench.open()
    do { try await body(bench) } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }

  init(_ plan: Plan) {
    let live = Host.live(logLevel: .error)
    var waiting: any CaravanRuntime.Clock = clock
    // As with an object store: it costs commits with objects a little, and others nothing.
    switch plan {
    case .sqlite(var options):
      options.queuesObjects = true
      self.plan = .sqlite(options)
    case .postgres(var options):
      options.clock = clock
      options.queuesObjects = true
      options.isWhole = Sample.isWhole
      self.plan = .postgres(options)
      // Between its attempts it pauses, and nobody would move time on.
      waiting = PassingClock(day: clock, passing: live.clock)
    }
    host = Host(
      clock: waiting, random: SeededRandom(seed: 7), executors: live.executors, log: live.log,
      metrics: MetricsRegistry())
  }

  private var opened: Opened {
    guard let opened = current.withLock({ $0 }) else { preconditionFailure("the store was not opened") }
    return opened
  }

  var store: any Store { opened.store }

  func open() async throws {
    let opened: Opened =
      switch plan {
      case .sqlite(let options): .sqlite(try await StoreSQLite(options, host: host, observer: listener))
      case .postgres(let options): .postgres(try await StorePostgres(options, host: host, observer: listener))
      }
    current.withLock { $0 = opened }
  }

  func close() async {
    switch opened {
    case .sqlite(let store): await store.close()
    case .postgres(let store): await store.close()
    }
  }

  /// `kill -9` of a store on SQLite; `open` is its new start. PostgreSQL's crashes are those of its server.
  func kill() {
    if case .sqlite(let store) = opened { store.crash() }
  }

  // MARK: Commits

  func op(_ writer: String = "phone", epoch: UInt64 = 1) -> OpID {
    OpID(writer: writer, epoch: epoch, number: ops.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  @discardableResult
  func commit(
    _ zone: ZoneID, _ mutations: [CaravanModel.Mutation], op: OpID? = nil, floor: UInt64 = 0, atomic: Bool = false
  ) async throws -> CommitResult {
    try await store.commit(
      Commit(zone: zone, op: op ?? self.op(), opFloor: floor, isAtomic: atomic, mutations: mutations))
  }

  /// The outcomes, where the commit was applied.
  func outcomes(
    _ zone: ZoneID, _ mutations: [CaravanModel.Mutation], op: OpID? = nil, atomic: Bool = false
  ) async throws -> [CaravanModel.Outcome] {
    let result = try await commit(zone, mutations, op: op, atomic: atomic)
    guard case .applied(let outcomes, _, _, _) = result else { throw Unexpected(result) }
    return outcomes
  }

  // MARK: Reading

  /// Entries of one page, as a device decodes them.
  func page(_ query: ChangeQuery) async throws -> (page: ChangePage, entries: [CaravanWire.Entry]) {
    let page = try await store.changes(query)
    let entries = try EntryPage.decode(page.page).entries
    #expect(entries.count == page.count, "a page says how many entries it has")
    return (page, entries)
  }

  /// Everything after a position, in pages of at most `maxRecords`.
  func pull(
    _ zone: ZoneID, from position: CaravanModel.ChangePosition? = nil, maxRecords: Int = 1_000
  ) async throws -> [CaravanWire.Entry] {
    var query = ChangeQuery(zone: zone, position: position, maxRecords: maxRecords)
    var all: [CaravanWire.Entry] = []
    while true {
      let (page, entries) = try await page(query)
      #expect(!page.resetRequired)
      let (before, after) = (query.position?.seq ?? 0, page.next?.seq ?? 0)
      #expect(entries.count <= maxRecords && after >= before)
      all += entries
      guard page.more else { return all }
      #expect(after > before, "a page moves on")
      query.position = page.next
    }
  }
}

extension CommitResult {
  var accepted: [Seq] {
    guard case .applied(let outcomes, _, _, _) = self else { return [] }
    return outcomes.compactMap { if case .accepted(let version) = $0 { version } else { nil } }
  }
}

extension StoreStatus {
  /// Without what is only about right.
  var counted: StoreStatus {
    var status = self
    status.recordBytes = 0
    return status
  }
}

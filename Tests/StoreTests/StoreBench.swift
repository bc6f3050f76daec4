import Model
import Runtime
import SQLite
import Store
import StoreSQLite
import TestKit
import Testing
import Wire

import struct Synchronization.Atomic

/// The stores that the conformance suite runs on.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// One connection, no waiting for the disk: what simulations use.
  case memory
  /// As shipped: files on disk, readers beside the writers, fsync.
  case files

  var testDescription: String { rawValue }
  static let reopening: [StoreKind] = [.files]
}

/// Hears of commits.
final class Listener: CommitObserver {
  private let heard = Mutex<[CommittedChange]>([])
  var changes: [CommittedChange] { heard.withLock { $0 } }
  func committed(_ group: [CommittedChange]) { heard.withLock { $0 += group } }
}

/// A store under test, with time in the test's hands and an op id for every commit.
final class StoreBench: Sendable {
  let clock = ManualClock()
  let listener = Listener()
  let host: Host
  private let options: StoreOptions
  private let current: Mutex<StoreSQLite?> = Mutex(nil)
  private let ops = Atomic<UInt64>(0)

  /// Gives `body` a new store, and removes it afterwards.
  static func with(_ kind: StoreKind, _ body: (StoreBench) async throws -> Void) async throws {
    try await withTemporaryDirectory { path in
      var options = StoreOptions(.directory(path))
      if kind == .memory { options = .simulation(.memory) }
      let bench = StoreBench(options)
      try await bench.open()
      try await body(bench)
      await bench.sqlite.close()
    }
  }

  init(_ options: StoreOptions) {
    self.options = options
    let live = Host.live(logLevel: .error)
    host = Host(
      clock: clock, random: SeededRandom(seed: 7), executors: live.executors, log: live.log, metrics: MetricsRegistry())
  }

  var sqlite: StoreSQLite {
    guard let store = current.withLock({ $0 }) else { preconditionFailure("the store was not opened") }
    return store
  }

  var store: any Store { sqlite }

  func open() async throws {
    let store = try await StoreSQLite(options, host: host, observer: listener)
    current.withLock { $0 = store }
  }

  /// `kill -9` and a new start.
  func crash() async throws {
    sqlite.crash()
    try await open()
  }

  // MARK: Commits

  func op(_ writer: String = "phone", epoch: UInt64 = 1) -> OpID {
    OpID(writer: writer, epoch: epoch, number: ops.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  @discardableResult
  func commit(
    _ zone: ZoneID, _ mutations: [Model.Mutation], op: OpID? = nil, floor: UInt64 = 0, atomic: Bool = false
  ) async throws -> CommitResult {
    try await store.commit(
      Commit(zone: zone, op: op ?? self.op(), opFloor: floor, isAtomic: atomic, mutations: mutations))
  }

  /// The outcomes, where the commit was applied.
  func outcomes(
    _ zone: ZoneID, _ mutations: [Model.Mutation], op: OpID? = nil, atomic: Bool = false
  ) async throws -> [Model.Outcome] {
    let result = try await commit(zone, mutations, op: op, atomic: atomic)
    guard case .applied(let outcomes, _, _) = result else { throw Unexpected(result) }
    return outcomes
  }

  // MARK: Reading

  /// Entries of one page, as a device decodes them.
  func page(_ query: ChangeQuery) async throws -> (page: ChangePage, entries: [Wire.Entry]) {
    let page = try await store.changes(query)
    let entries = try EntryPage.decode(page.page).entries
    #expect(entries.count == page.count, "a page says how many entries it has")
    return (page, entries)
  }

  /// Everything after a position, in pages of at most `maxRecords`.
  func pull(
    _ zone: ZoneID, after: Seq = 0, incarnation: Incarnation = 0, maxRecords: Int = 1_000
  ) async throws -> [Wire.Entry] {
    var query = ChangeQuery(zone: zone, after: after, incarnation: incarnation, maxRecords: maxRecords)
    var all: [Wire.Entry] = []
    while true {
      let (page, entries) = try await page(query)
      #expect(!page.resetRequired)
      #expect(entries.count <= maxRecords && page.last >= query.after)
      all += entries
      guard page.more else { return all }
      #expect(page.last > query.after, "a page moves on")
      (query.after, query.incarnation) = (page.last, page.incarnation)
    }
  }
}

extension CommitResult {
  var accepted: [Seq] {
    guard case .applied(let outcomes, _, _) = self else { return [] }
    return outcomes.compactMap { if case .accepted(let version) = $0 { version } else { nil } }
  }
}

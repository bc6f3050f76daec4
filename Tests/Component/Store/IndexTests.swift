import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Hears every statement that a store runs.
private final class Overheard: StatementTap {
  private let heard = Mutex<Set<String>>([])
  var statements: [String] { heard.withLock { $0.sorted() } }

  func forget() { heard.withLock { $0 = [] } }

  func fate(of sql: String) -> StatementFate {
    heard.withLock { _ = $0.insert(sql) }
    return .runs
  }
}

/// Goal: what a store answers it finds by an index, and the indices of one commit come and go with it. Method: the
/// plans of all statements that questions run; commits that fail.
@Suite(.timeLimit(.minutes(2))) struct IndexTests {
  @Test("SIM-35: which rows changed since a version is answered without a scan of the table, in every mode")
  func noScan() async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      let tap = Overheard()
      var options = StoreOptions.simulation(.directory(path))
      (options.statements, options.readersPerFile) = (tap, 1)
      let bench = StoreBench(.sqlite(options))
      try await bench.open()
      let zone = try Sample.zone()
      for number in 0..<40 { try await bench.commit(zone, [Sample.save("r\(number)"), Sample.save("again")]) }
      let reader = ChangeQuery.Reader(writer: "tablet", epoch: 1)
      let token = try await bench.store.changes(ChangeQuery(zone: zone, maxRecords: 5)).next
      tap.forget()
      for mode in [ChangeQuery.Mode.forward, .reverse] {
        for bySnapshots in [false, true] {
          for position in [nil, token] {
            _ = try await bench.store.changes(
              ChangeQuery(
                zone: zone, position: position, mode: mode, maxRecords: 3, reader: reader, bySnapshots: bySnapshots))
          }
        }
      }
      let asked = tap.statements.filter { $0.contains("SELECT") }
      #expect(asked.contains { $0.contains("FROM entries") }, "the tap was asked: \(asked)")
      let file = "\(path)/store-\(Int(Partition(of: zone.database).number) % options.files).db"
      let db = try Connection(.file(file), ConnectionOptions())
      for sql in asked {
        var steps: [String] = []
        try db.statement(text: "EXPLAIN QUERY PLAN \(sql)").visit { row in
          steps.append(row.text(3))
          return true
        }
        let scans = steps.filter { $0.hasPrefix("SCAN") && !$0.contains("CONSTANT") }
        #expect(!steps.isEmpty && scans.isEmpty, "\(scans) in \(sql)")
      }
      db.close()
      await bench.close()
    }
  }

  @Test(
    "CK-29: references, times and changes are indexed in the commit that makes them, or not at all",
    arguments: StoreKind.allCases)
  func transactional(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("parent")])
      let over = WriteTerms(references: [CaravanModel.Reference(to: "parent", .validating)], expiry: .at(1))
      let child = Sample.save("child", [1: .reference(CaravanModel.Reference(to: "parent", .validating))], over)
      func found() async throws -> (expired: [String], changed: [String], isHeld: Bool) {
        let expired = try await bench.store.expired(after: nil, atMost: 9).map(\.name)
        let changed = try await bench.pull(zone).map(\.name)
        let deletion = try await bench.outcomes(
          zone, [Sample.delete("parent"), Sample.read("none", base: .version(9))], atomic: true)
        if case .refused = deletion[0] { return (expired, changed, true) }
        return (expired, changed, false)
      }
      // A batch that fails leaves no index behind.
      _ = try await bench.outcomes(zone, [child, Sample.save("parent", base: .absent)], atomic: true)
      var now = try await found()
      #expect(now.expired.isEmpty && now.changed == ["parent"] && !now.isHeld)
      try await bench.commit(zone, [child])
      now = try await found()
      #expect(now.expired == ["child"] && now.changed == ["parent", "child"] && now.isHeld, "\(now)")
      try await bench.commit(zone, [Sample.delete("child")])
      now = try await found()
      #expect(now.expired.isEmpty && now.changed.prefix(1) == ["parent"] && !now.isHeld, "\(now)")
    }
  }
}

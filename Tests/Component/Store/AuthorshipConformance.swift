import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: every record says when and by whom it was made and last changed, by the store's clock, wherever it is read.
@Suite(.timeLimit(.minutes(2))) struct AuthorshipConformance {
  private static func op(_ writer: String, _ number: UInt64) -> OpID { OpID(writer: writer, epoch: 9, number: number) }

  @Test("TRU-18: records say when and by whom, in every way they are read", arguments: StoreKind.allCases)
  func told(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      bench.clock.advance(by: .seconds(100))
      let first = bench.clock.wallTime.milliseconds
      try await bench.commit(zone, [Sample.save("a"), Sample.save("b")], op: Self.op("ada/phone/1", 1))
      bench.clock.advance(by: .seconds(10))
      let second = bench.clock.wallTime.milliseconds
      try await bench.commit(zone, [Sample.save("a", body: [9])], op: Self.op("ada/tablet/1", 1))
      let a = Authorship(modified: second, created: first, creator: "ada/phone/1")
      let b = Authorship(modified: first, created: first, creator: "ada/phone/1")
      let entries = try await bench.store.fetch(["a", "b"], in: zone)
      #expect(entries.map(\.authorship) == [a, b] && entries.map(\.writer) == ["ada/tablet/1", "ada/phone/1"])
      let pulled = try await bench.pull(zone).map { $0.model() }
      #expect(pulled.map(\.name) == ["b", "a"] && pulled.map(\.authorship) == [b, a])
      let back = try await bench.page(ChangeQuery(zone: zone, mode: .reverse)).entries.map { $0.model().authorship }
      #expect(back == [a, b])
      let heard = bench.listener.changes.flatMap(\.entries)
      #expect(heard.map(\.authorship) == [b, b, a], "whoever follows the log hears the same")
      let conflict = try await bench.outcomes(zone, [Sample.save("a", base: .absent)], op: Self.op("ada/phone/1", 2))
      guard case .conflict(let shown?)? = conflict.first else { throw Unexpected(conflict) }
      #expect(shown.authorship == a)
      let own = ChangeQuery.Reader(writer: "ada/tablet/1", epoch: 9)
      let echo = try await bench.page(ChangeQuery(zone: zone, reader: own)).entries.map { $0.model() }
      #expect(echo.last?.authorship == a, "what a device wrote itself comes without a body, but with its time")
    }
  }

  @Test(
    "TRU-18: a tombstone keeps its record's origin; what comes after it is made anew",
    arguments: StoreKind.allCases)
  func tombstones(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      bench.clock.advance(by: .seconds(100))
      let times = try await Self.run(bench) { number in
        switch number {
        case 0: try await bench.commit(zone, [Sample.save("a")], op: Self.op("ada/phone/1", 1))
        case 1: try await bench.commit(zone, [Sample.delete("a")], op: Self.op("ada/tablet/1", 1))
        default: try await bench.commit(zone, [Sample.save("a")], op: Self.op("ada/watch/1", 1))
        }
        return try await bench.store.fetch(["a"], in: zone).map(\.authorship)
      }
      #expect(
        times.map(\.shown) == [
          [Authorship(modified: times[0].time, created: times[0].time, creator: "ada/phone/1")],
          [Authorship(modified: times[1].time, created: times[0].time, creator: "ada/phone/1")],
          [Authorship(modified: times[2].time, created: times[2].time, creator: "ada/watch/1")],
        ])
    }
  }

  private static func run(
    _ bench: StoreBench, _ body: (Int) async throws -> [Authorship]
  ) async throws -> [(time: Int64, shown: [Authorship])] {
    var all: [(Int64, [Authorship])] = []
    for number in 0..<3 {
      bench.clock.advance(by: .seconds(1))
      all.append((bench.clock.wallTime.milliseconds, try await body(number)))
    }
    return all
  }

  @Test("TRU-18: a clock that goes back takes no record's time back", arguments: StoreKind.allCases)
  func clockGoesBack(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      bench.clock.advance(by: .seconds(100_000))
      let late = bench.clock.wallTime.milliseconds
      try await bench.commit(zone, [Sample.save("a")], op: Self.op("ada/phone/1", 1))
      bench.clock.adjustWallTime(by: .seconds(-50))
      try await bench.commit(zone, [Sample.save("b")], op: Self.op("ada/phone/1", 2))
      #expect(try await bench.store.fetch(["b"], in: zone).first?.authorship.created == late)
      // Another zone knows nothing of it.
      let other = try Sample.zone("other")
      try await bench.commit(other, [Sample.save("c")], op: Self.op("ada/phone/1", 3))
      #expect(try await bench.store.fetch(["c"], in: other).first?.authorship.created == late - 50_000)
    }
  }

  @Test("TRU-18: a snapshot shows the times that it is of", arguments: StoreKind.allCases)
  func snapshots(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      bench.clock.advance(by: .seconds(100))
      let first = bench.clock.wallTime.milliseconds
      for name in ["a", "b", "c"] {
        try await bench.commit(zone, [Sample.save(name)], op: Self.op("ada/phone/1", UInt64(name.utf8.first ?? 0)))
      }
      var query = ChangeQuery(zone: zone, maxRecords: 1, reader: .init(writer: "ada/x/1", epoch: 1), bySnapshots: true)
      query.position = try await bench.page(query).page.next
      bench.clock.advance(by: .seconds(100))
      try await bench.commit(zone, [Sample.save("b")], op: Self.op("ada/tablet/1", 1))
      query.maxRecords = 10
      let shown = try await bench.page(query).entries.map { $0.model() }
      let b = try #require(shown.first { $0.name == "b" })
      #expect(b.version == 2 && b.writer == "ada/phone/1")
      #expect(b.authorship == Authorship(modified: first, created: first, creator: "ada/phone/1"))
    }
  }

  @Test(
    "CK-04, CK-65: both stores keep to a commit's rights, also when the answer is given again",
    arguments: StoreKind.allCases)
  func rights(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let database = DatabaseID(container: ContainerID(unchecked: "wiki"), environment: .development, owner: nil)
      let zone = try ZoneID(database, DefaultZone.name)
      bench.clock.advance(by: .seconds(100))
      func outcome(
        _ mutation: CaravanModel.Mutation, by writer: String, _ number: UInt64, _ others: CaravanModel.TypeGrants.Rights
      ) async throws -> CaravanModel.Outcome? {
        let rights = [CaravanModel.TypeRights(types: [1], own: [.create, .read, .write], others: others)]
        let result = try await bench.store.commit(
          Commit(zone: zone, op: Self.op(writer, number), isAtomic: false, mutations: [mutation], rights: rights))
        guard case .applied(let outcomes, _, _, _) = result else { throw Unexpected(result) }
        return outcomes.first
      }
      let read = CaravanModel.Mutation(name: "a", base: .any, change: .read)
      #expect(try await outcome(Sample.save("a"), by: "ada/phone/1", 1, .create) == .accepted(version: 1))
      #expect(try await outcome(Sample.save("b"), by: "eve/phone/1", 1, .read)?.isRefused == true)
      for _ in 0..<2 {
        #expect(try await outcome(Sample.save("a"), by: "eve/phone/1", 2, .read)?.isRefused == true)
        #expect(try await outcome(read, by: "eve/phone/1", 3, .create) == .read(nil))
        let late = Sample.save("a", base: .version(1))
        #expect(try await outcome(late, by: "eve/phone/1", 4, .create) == .conflict(server: nil))
        #expect(try await outcome(Sample.delete("a"), by: "eve/phone/1", 5, .create) == .accepted(version: 0))
      }
      #expect(try await bench.store.fetch(["a"], in: zone).first?.version == 1)
      #expect(
        try await outcome(Sample.save("a", body: [9]), by: "eve/phone/1", 6, [.read, .write])
          == .accepted(version: 2))
      guard case .read(let shown?) = try await outcome(read, by: "eve/phone/1", 7, .read) else { throw Missing("a") }
      #expect(shown.version == 2)
    }
  }
}

extension CaravanModel.Outcome {
  fileprivate var isRefused: Bool {
    if case .refused(let error) = self { error.code == .accessDenied } else { false }
  }
}

import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: who reads a zone by snapshots comes again and again to a state that the zone once had, however fast others
/// write, and no such state lacks what the reader wrote itself. Method: the protocol only; random lives are held
/// against every state the zone ever had.
@Suite(.timeLimit(.minutes(2))) struct SnapshotConformance {
  private static func query(
    _ zone: ZoneID, _ device: String? = nil, from position: CaravanModel.ChangePosition? = nil, maxRecords: Int
  ) -> ChangeQuery {
    ChangeQuery(
      zone: zone, position: position, maxRecords: maxRecords, reader: device.map { .init(writer: $0, epoch: 1) },
      bySnapshots: true)
  }

  @Test("CK-50: D, F1 and F2; snapshots at 5 and 15; D again at 20", arguments: StoreKind.allCases)
  func workedExample(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      func fill(upTo seq: Seq, from first: Seq) async throws {
        for number in first...seq { try await bench.commit(zone, [Sample.save("other\(number)")]) }
      }
      try await bench.commit(zone, [Sample.save("D", body: [1])])
      try await bench.commit(zone, [Sample.save("F1")])
      try await bench.commit(zone, [Sample.save("F2")])
      try await fill(upTo: 5, from: 4)
      let (early, _) = try await bench.page(Self.query(zone, "early", maxRecords: 1))
      #expect(early.next?.target == 5 && !early.isConsistent)
      try await fill(upTo: 15, from: 6)
      let (first, _) = try await bench.page(Self.query(zone, "late", maxRecords: 2))
      #expect(first.next?.target == 15 && first.next?.seq == 2)
      try await fill(upTo: 19, from: 16)
      try await bench.commit(zone, [Sample.save("D", body: [20])])

      // (1, D) is the latest up to 15 though D has moved on, and (2, F1) is so because it has not.
      var start = try #require(first.next)
      start.seq = 0
      let (page, entries) = try await bench.page(Self.query(zone, "late", from: start, maxRecords: 100))
      #expect(entries.prefix(3).map(\.name) == ["D", "F1", "F2"] && entries.first?.body == [1])
      #expect(entries.map(\.version) == Array(1...15) && page.next?.seq == 15)
      #expect(page.isConsistent && page.more && page.next?.target == 0)
      let (news, more) = try await bench.page(Self.query(zone, "late", from: page.next, maxRecords: 100))
      #expect(more.map(\.version) == Array(16...20) && news.isConsistent && !news.more)

      // Without snapshots nobody hears of the D that was.
      #expect(try await bench.pull(zone).first?.name == "F1")
      // The other snapshot has it as well.
      var begin = try #require(early.next)
      begin.seq = 0
      let (_, old) = try await bench.page(Self.query(zone, "early", from: begin, maxRecords: 100))
      #expect(old.map(\.version) == Array(1...5))
    }
  }

  @Test("CK-51: who writes beyond its snapshot is forwarded; others are not", arguments: StoreKind.allCases)
  func ownWrites(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<6).map { Sample.save("r\($0)") }, op: bench.op("tablet"))
      let (tablet, _) = try await bench.page(Self.query(zone, "tablet", maxRecords: 2))
      let (watch, _) = try await bench.page(Self.query(zone, "watch", maxRecords: 2))
      #expect(tablet.next?.target == 6 && watch.next?.target == 6, "what it wrote before is in the snapshot")
      try await bench.commit(zone, [Sample.save("r5", body: [9])], op: bench.op("tablet"))
      let (forwarded, seen) = try await bench.page(Self.query(zone, "tablet", from: tablet.next, maxRecords: 2))
      #expect(seen.map(\.name) == ["r2", "r3"] && !forwarded.isConsistent && forwarded.next?.target == 7)
      let (end, rest) = try await bench.page(Self.query(zone, "tablet", from: forwarded.next, maxRecords: 9))
      #expect(rest.map(\.version) == [5, 7] && end.isConsistent && !end.more)
      let (other, entries) = try await bench.page(Self.query(zone, "watch", from: watch.next, maxRecords: 9))
      #expect(entries.map(\.version) == [3, 4, 5, 6] && other.isConsistent && other.more)
    }
  }

  @Test("CK-51: the way back knows no snapshots; the way forward after it does", arguments: StoreKind.allCases)
  func wayBack(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<5).map { Sample.save("r\($0)") })
      var query = Self.query(zone, maxRecords: 2)
      query.mode = .reverse
      while query.position?.isReverse ?? true {
        let (page, _) = try await bench.page(query)
        #expect(page.next?.target == 0 && !page.isConsistent)
        try await bench.commit(zone, [Sample.save("r0", body: [7]), Sample.save("new\(page.next?.below ?? 0)")])
        query.position = page.next
      }
      let (page, _) = try await bench.page(query)
      let target = try #require(page.next?.target)
      #expect(target == page.head && !page.isConsistent)
    }
  }

  @Test(
    "CK-52: what only a snapshot had goes with its last reader, and its chunks with it", arguments: StoreKind.allCases)
  func collected(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      try await bench.commit(
        zone, [Sample.save("a", chunks: [Sample.hash(1)]), Sample.save("b"), Sample.save("c"), Sample.save("d")])
      let (start, _) = try await bench.page(Self.query(zone, "tablet", maxRecords: 1))
      try await bench.commit(zone, [Sample.save("a"), Sample.save("d", body: [4])])
      var kept = start
      for name in ["b", "c"] {
        while try await bench.store.collect() {}
        bench.clock.advance(by: StoreLimits.snapshotPatience - .seconds(60))
        while try await bench.store.collect() {}
        let (page, shown) = try await bench.page(Self.query(zone, "tablet", from: kept.next, maxRecords: 1))
        #expect(shown.map(\.name) == [name] && page.next?.target == 4, "it still reads")
        kept = page
      }
      while try await bench.store.collect() {}
      bench.clock.advance(by: .seconds(3_600))
      while try await bench.store.collect() {}
      bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(60))
      while try await bench.store.collect() {}
      #expect(try await bench.store.missing([Sample.hash(1)], in: zone.database) == [Sample.hash(1)])

      // Nobody has its snapshot any more: it goes on to what there is.
      let (page, rest) = try await bench.page(Self.query(zone, "tablet", from: kept.next, maxRecords: 9))
      #expect(rest.map(\.version) == [5, 6] && page.isConsistent && !page.more)
      try await bench.commit(zone, [Sample.save("b"), Sample.save("b")])
      let (again, _) = try await bench.page(Self.query(zone, "tablet", from: start.next, maxRecords: 1))
      #expect(again.next?.target == 8, "a snapshot that is gone does not come back")
    }
  }

  @Test("CK-52: a zone whose newest snapshot is being collected is read as ever", arguments: StoreKind.allCases)
  func readWhileCollected(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
      let (start, _) = try await bench.page(Self.query(zone, "tablet", maxRecords: 1))
      try await bench.commit(zone, [Sample.save("b", body: [3])])
      bench.clock.advance(by: StoreLimits.snapshotPatience + .seconds(60))
      var hasMore = true
      while hasMore {
        hasMore = try await bench.store.collect()
        let (_, plain) = try await bench.page(ChangeQuery(zone: zone))
        #expect(plain.map(\.version) == [1, 3])
      }
      let (page, rest) = try await bench.page(Self.query(zone, "tablet", from: start.next, maxRecords: 9))
      #expect(rest.map(\.version) == [3] && page.isConsistent)
    }
  }

  @Test("CK-53: a reader half as fast as the writer comes to consistent states", arguments: StoreKind.allCases)
  func liveness(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<20).map { Sample.save("r\($0)") }, op: bench.op("@server"))
      var query = Self.query(zone, "slow", maxRecords: 3)
      var states = 0
      for round in 0..<60 {
        let page = try await bench.store.changes(query)
        query.position = page.next
        if page.isConsistent { states += 1 }
        for step in 0..<6 {
          let name = "r\((round * 6 + step) % 20)"
          try await bench.commit(zone, [Sample.save(name, body: [UInt8(round), UInt8(step)])], op: bench.op("@server"))
        }
        if round % 7 == 0 { _ = try await bench.store.collect() }
      }
      #expect(states >= 4, "\(states) of 60 pages")
    }
  }

  // MARK: Random lives

  @Test(
    "CK-49, I15: every consistent state is one that the zone had, and never an older one",
    arguments: StoreKind.allCases,
    1...6 as ClosedRange<UInt64>)
  func lives(kind: StoreKind, seed: UInt64) async throws {
    try await StoreBench.with(kind) { bench in
      var cluster = try Cluster(bench, seed: seed)
      for _ in 0..<300 { try await cluster.step() }
      #expect(cluster.states > 5, "\(cluster.states)")
    }
  }

  private struct Cluster {
    let bench: StoreBench
    let zone: ZoneID
    var random: SplitMix64
    /// What the zone had after each version that ends a batch.
    var history: [Seq: [String: Seq]] = [0: [:]]
    var readers: [Reader]
    var states = 0

    struct Reader {
      let name: String
      let isWriter: Bool
      var rows: [String: Seq] = [:]
      var position: CaravanModel.ChangePosition?
      var shown: Seq = 0
      /// Its latest own write.
      var own: Seq = 0
    }

    init(_ bench: StoreBench, seed: UInt64) throws {
      self.bench = bench
      zone = try Sample.zone()
      random = SplitMix64(seed: seed)
      readers = [("phone", true), ("tablet", false), ("watch", false)].map { Reader(name: $0.0, isWriter: $0.1) }
    }

    mutating func step() async throws {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9: try await write(as: "@server")
      case 9:
        let version = try await write(as: "phone")
        readers[0].own = max(readers[0].own, version)
      case 10..<18: try await read(Int.random(in: 0..<readers.count, using: &random))
      case 18: bench.clock.advance(by: .seconds(Int.random(in: 0..<900, using: &random)))
      default: while try await bench.store.collect() {}
      }
    }

    @discardableResult
    private mutating func write(as writer: String) async throws -> Seq {
      let names = Set((0...Int.random(in: 0..<5, using: &random)).map { _ in Int.random(in: 0..<12, using: &random) })
      let mutations = names.sorted().map { number in
        Bool.random(using: &random) || Bool.random(using: &random)
          ? Sample.save("r\(number)") : Sample.delete("r\(number)")
      }
      let result = try await bench.commit(zone, mutations, op: bench.op(writer))
      guard case .applied(let outcomes, let seq, _, _) = result else { throw Unexpected(result) }
      var state = history[history.keys.max() ?? 0] ?? [:]
      for (mutation, outcome) in zip(mutations, outcomes) {
        guard case .accepted(let version) = outcome else { throw Unexpected(outcome) }
        if case .save = mutation.change { state[mutation.name] = version } else { state[mutation.name] = nil }
      }
      history[seq] = state
      return seq
    }

    private mutating func read(_ index: Int) async throws {
      var reader = readers[index]
      let size = Int.random(in: 1..<7, using: &random)
      let (page, entries) = try await bench.page(
        SnapshotConformance.query(zone, reader.name, from: reader.position, maxRecords: size))
      guard !page.resetRequired else {
        readers[index] = Reader(name: reader.name, isWriter: reader.isWriter)
        readers[index].own = reader.own
        return
      }
      for entry in entries { reader.rows[entry.name] = entry.deleted ? nil : entry.version }
      reader.position = page.next
      if page.isConsistent, let next = page.next {
        #expect(reader.rows == history[next.seq], "\(reader.name) at \(next.seq)")
        #expect(next.seq >= reader.shown && next.seq >= reader.own)
        reader.shown = next.seq
        states += 1
      }
      readers[index] = reader
    }
  }
}

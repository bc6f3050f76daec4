import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: any store answers the planner truly and writes what it decides. Method: the protocol only; then random commits
/// beside the planner's zone in memory, entry by entry.
@Suite(.timeLimit(.minutes(2))) struct TermsConformance {
  @Test("CK-25, UNI-11: merged records are stored, and are no echo to their writer", arguments: StoreKind.allCases)
  func merges(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("r", [1: .text("a"), 2: .integer(2)])], op: bench.op("tablet"))
      let patch = Sample.save("r", [2: .integer(3)], WriteTerms(scope: .changed))
      #expect(try await bench.outcomes(zone, [patch]) == [.accepted(version: 2)])
      let reader = ChangeQuery.Reader(writer: "phone", epoch: 1)
      let (_, entries) = try await bench.page(ChangeQuery(zone: zone, reader: reader))
      #expect(entries.map(\.own) == [false] && entries.map(\.writer) == ["phone"])
      #expect(try RecordFields(body: entries[0].body).values == [1: .text("a"), 2: .integer(3)])
      let log = try await bench.store.log(of: Partition(of: zone.database), after: 0, atMost: 9)
      #expect(log.entries.map(\.writer) == ["tablet", ""], "nobody is left out who does not know the record")
    }
  }

  @Test(
    "UNI-02: what a policy settled comes back with the record, also when asked again", arguments: StoreKind.allCases)
  func policies(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let terms = WriteTerms(scope: .changed, policy: .fieldMerge)
      try await bench.commit(zone, [Sample.save("r", base: .absent, [1: .text("a")], terms)])
      try await bench.commit(
        zone, [Sample.save("r", base: .version(1), [1: .text("b")], terms)], op: bench.op("tablet"))
      let op = bench.op()
      let mutations = [Sample.save("r", base: .version(1), [2: .integer(2)], terms)]
      let outcomes = try await bench.outcomes(zone, mutations, op: op)
      let server = try #require(try await bench.store.fetch(["r"], in: zone).first)
      #expect(outcomes == [.merged(version: 3, server: server)])
      #expect(try RecordFields(body: server.body).values == [1: .text("b"), 2: .integer(2)])
      let versions = FieldHistory(encoded: server.fields, writer: server.writer)
      #expect(versions?.items.mapValues(\.writer) == [1: "tablet", 2: "phone"])
      #expect(try await bench.outcomes(zone, mutations, op: op) == outcomes)
      let pulled = try await bench.pull(zone)
      #expect(pulled.map(\.fields) == [server.fields])
    }
  }

  @Test("CK-23: an atomic batch of reads and updates; reads show the records", arguments: StoreKind.allCases)
  func reads(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a", body: [1]), Sample.save("b")])
      let a = try #require(try await bench.store.fetch(["a"], in: zone).first)
      let batch = [Sample.read("a", base: .version(1)), Sample.read("none"), Sample.save("b", base: .version(2))]
      #expect(
        try await bench.outcomes(zone, batch, atomic: true) == [.read(a), .read(nil), .accepted(version: 3)])
      #expect(
        try await bench.outcomes(zone, batch, atomic: true).map(\.isAborted) == [true, true, false], "b has moved on")
    }
  }

  @Test(
    "CK-27, CK-28: references are kept in the commit that changes them, and die with their zone",
    arguments: StoreKind.allCases)
  func references(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let owned = CaravanModel.Reference(to: "p", .owning)
      try await bench.commit(zone, [Sample.save("p"), Sample.save("q")])
      try await bench.commit(
        zone,
        [
          Sample.link("c", to: [owned, .init(to: "p", .validating)]),
          Sample.link("v", to: [.init(to: "q", .validating)]),
        ])
      let refused = try await bench.outcomes(zone, [Sample.delete("q")])
      #expect(refused.map(\.refusal) == [.referenceViolation])
      #expect(try await bench.outcomes(zone, [Sample.delete("p")]) == [.accepted(version: 5)])
      #expect(try await bench.pull(zone).map(\.name) == ["q", "v"])
      let heard = bench.listener.changes.last?.entries.map(\.name)
      #expect(heard == ["p", "c"] && bench.listener.changes.last?.log.writer == "")
      #expect(try await bench.store.status().records == 2)
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      while try await bench.store.collect() {}
      try await bench.commit(zone, [Sample.save("q")])
      #expect(try await bench.outcomes(zone, [Sample.delete("q")]).map(\.refusal) == [nil])
    }
  }

  @Test("CK-24: a fetch gives the fields asked for, and no other", arguments: StoreKind.allCases)
  func partial(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("r", [1: .text("a"), 2: .integer(2), 3: .real(3)]), Sample.save("s")])
      let two = try await bench.store.fetch(["r"], fields: [1, 3, 9], in: zone)
      #expect(try two.map { try RecordFields(body: $0.body).values } == [[1: .text("a"), 3: .real(3)]])
      #expect(two.map(\.version) == [1])
      let none = try await bench.store.fetch(["r"], fields: [], in: zone)
      #expect(none.map(\.body) == [[]])
    }
  }

  @Test("CK-45: zones can be made empty, once; the log tells of it", arguments: StoreKind.allCases)
  func creation(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let made = try await bench.store.createZone(zone, writer: "phone")
      #expect(made.zone == zone && made.seq == 0 && made.incarnation > 0)
      #expect(try await bench.store.createZone(zone, writer: "tablet") == made)
      #expect(bench.listener.changes.map(\.log.writer) == ["phone"])
      try await bench.commit(zone, [Sample.save("a")])
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      let again = try await bench.store.createZone(zone, writer: "phone")
      #expect(again.seq == 1 && again.incarnation != made.incarnation, "versions continue, the life is another")
      #expect(try await bench.store.zones(in: Partition(of: zone.database), .everything) == [again])
    }
  }

  @Test("CK-08: chunks of merged records are counted once, whatever is kept and dropped", arguments: StoreKind.allCases)
  func chunks(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let (x, y) = (Sample.chunk(1), Sample.chunk(2))
      func asset(_ chunk: ChunkBytes) -> CaravanModel.Value {
        .asset(AssetManifest(parts: [.init(hash: chunk.hash, length: 100)]))
      }
      try await bench.store.stage([x], in: zone.database)
      try await bench.commit(zone, [Sample.save("r", [1: asset(x), 2: asset(x)])])
      let patch = Sample.save("r", [2: asset(y)], WriteTerms(scope: .changed))
      #expect(try await bench.commit(zone, [patch]) == .missing([y.hash]))
      try await bench.store.stage([y], in: zone.database)
      try await bench.commit(zone, [patch])
      try await bench.commit(zone, [Sample.save("r", [1: .null], WriteTerms(scope: .changed))])
      bench.clock.advance(by: StoreLimits.stagingLease * 2)
      while try await bench.store.collect() {}
      let found = try await bench.store.chunks([x.hash, y.hash], in: zone.database, maxBytes: 1_000)
      #expect(found.map { $0.bytes != nil } == [false, true])
    }
  }

  @Test(
    "CK-08, CK-26: chunks that a list names are kept by a record that is made of some of its fields",
    arguments: StoreKind.allCases)
  func listed(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let part = Sample.chunk(1)
      let manifest = AssetManifest(parts: [.init(hash: part.hash, length: 100)])
      let bytes = CaravanWire.Asset(manifest).encoded()
      let list = ChunkBytes(hash: try #require(ChunkHash(SHA256.hash(bytes).bytes)), bytes: bytes)
      let body = RecordFields([1: .assetList(list.hash, size: 100)]).body
      var save = CaravanModel.Mutation(
        name: "r", base: .any, change: .save(type: 1, body: body, chunks: [list.hash, part.hash]))
      save.terms = WriteTerms(scope: .changed)
      try await bench.store.stage([list], in: zone.database)
      #expect(try await bench.commit(zone, [save]) == .missing([part.hash]), "before there is such a record")
      try await bench.store.stage([part], in: zone.database)
      for _ in 0..<2 {
        try await bench.commit(zone, [save])
        bench.clock.advance(by: StoreLimits.stagingLease * 2)
        while try await bench.store.collect() {}
        let found = try await bench.store.chunks([list.hash, part.hash], in: zone.database, maxBytes: 1_000)
        #expect(found.allSatisfy { $0.bytes != nil })
      }
    }
  }

  // MARK: Random commits

  @Test(
    "I3, I6: a store does what the planner says, commit for commit", arguments: StoreKind.allCases,
    1...8 as ClosedRange<UInt64>)
  func random(kind: StoreKind, seed: UInt64) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      var random = SplitMix64(seed: seed)
      var planned = PlannedZone()
      let policy = CaravanModel.ConflictPolicy.allCases[Int(seed) % CaravanModel.ConflictPolicy.allCases.count]
      for step in 0..<120 {
        bench.clock.advance(by: .milliseconds(3))
        planned.now = bench.clock.wallTime.milliseconds
        let names = Set((0...Int.random(in: 0..<5, using: &random)).map { _ in Int.random(in: 0..<15, using: &random) })
        let mutations = names.sorted().map { Self.mutation("r\($0)", policy, planned, &random) }
        let isAtomic = Bool.random(using: &random)
        let writer = ["phone", "tablet"][Int.random(in: 0..<2, using: &random)]
        let verdicts = planned.commit(mutations, atomic: isAtomic, by: writer)
        let outcomes = try await bench.outcomes(zone, mutations, op: bench.op(writer), atomic: isAtomic)
        #expect(verdicts.map(\.kind) == outcomes.map(\.kind), "step \(step), seed \(seed)")
      }
      let stored = try await bench.store.fetch((0..<15).map { "r\($0)" }, in: zone)
      #expect(stored == (0..<15).compactMap { planned.entries["r\($0)"] })
      #expect(try await bench.store.status().records == UInt64(planned.live.count))
      #expect(try await bench.pull(zone).map(\.name).sorted() == planned.live)
    }
  }

  private static func mutation(
    _ name: String, _ policy: CaravanModel.ConflictPolicy, _ zone: PlannedZone, _ random: inout SplitMix64
  ) -> CaravanModel.Mutation {
    let version = zone.entries[name]?.version ?? 1
    let base: Base =
      [.any, .absent, .version(version), .version(version), .version(max(version, 3) - 2)]
      .randomElement(using: &random) ?? .any
    var terms = WriteTerms(
      policy: policy, stamp: HybridStamp(milliseconds: zone.now - Int64.random(in: 0..<20, using: &random)))
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return Sample.delete(name, base: base, terms)
    case 1: return Sample.read(name, base: base)
    case 2: return Sample.save(name, base: base, body: RecordFields([1: .integer(Int64(version))]).body)
    default: break
    }
    terms.scope = [.whole, .changed, .known(upTo: 2)].randomElement(using: &random) ?? .whole
    var fields: [UInt32: CaravanModel.Value] = [:]
    for id in 1...4 as ClosedRange<UInt32> where Bool.random(using: &random) {
      fields[id] = Bool.random(using: &random) ? .integer(Int64.random(in: 0..<3, using: &random)) : .null
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      let target = "r\(Int.random(in: 0..<15, using: &random))"
      let reference = CaravanModel.Reference(to: target, Bool.random(using: &random) ? .owning : .validating)
      fields[5] = .reference(reference)
      terms.references = [reference]
    }
    return Sample.save(name, base: base, fields, terms)
  }
}

extension CaravanModel.Outcome {
  fileprivate var isAborted: Bool { self == .aborted }

  fileprivate var refusal: ErrorCode? {
    if case .refused(let error) = self { error.code } else { nil }
  }

  /// Without what it shows.
  fileprivate var kind: String {
    switch self {
    case .accepted(let version): "accepted \(version)"
    case .conflict: "conflict"
    case .aborted: "aborted"
    case .merged: "merged"
    case .read: "read"
    case .refused(let error): "refused \(error.code)"
    }
  }
}

extension ZoneCommit.Verdict {
  fileprivate var kind: String {
    switch self {
    case .accepted(let version): "accepted \(version)"
    case .conflict: "conflict"
    case .aborted: "aborted"
    case .merged: "merged"
    case .read: "read"
    case .refused(let error): "refused \(error.code)"
    }
  }
}

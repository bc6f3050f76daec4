import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: whatever commits, groups, deletions and collections do, the chunks that stay are those that something needs
/// (I3). Method: random work against a model that knows who refers to what; time in the test's hands.
@Suite(.timeLimit(.minutes(2))) struct StagingConformance {
  /// What should refer to chunks.
  private struct Expected {
    var records: [String: Set<UInt8>] = [:]
    var groups: [OpID: Set<UInt8>] = [:]
    var needed: Set<UInt8> { records.values.reduce(Set()) { $0.union($1) }.union(groups.values.joined()) }
  }

  private struct Player {
    let bench: StoreBench
    let zone: ZoneID
    var random: SeededRandom
    var model = Expected()

    func below(_ bound: UInt64) -> UInt64 { random.below(bound) }
    func some() -> Set<UInt8> { Set((0..<1 + below(3)).map { _ in UInt8(1 + below(12)) }) }

    private func stage(_ chunks: Set<UInt8>) async throws {
      try await bench.store.stage(chunks.map { Sample.chunk($0) }, in: zone.database)
    }

    mutating func step() async throws {
      let name = "r\(below(5))"
      let chunks = some()
      switch below(9) {
      case 0: try await stage(chunks)
      case 1, 2:
        try await stage(chunks)
        try await bench.commit(zone, [Sample.save(name, chunks: chunks.map { Sample.hash($0) })])
        model.records[name] = chunks
      case 3:
        try await bench.commit(zone, [Sample.delete(name)])
        model.records[name] = nil
      case 4:
        if model.groups.count == Limits.openGroupsPerUser { try await end() }
        try await stage(chunks)
        let op = bench.op()
        _ = try await bench.store.beginGroup(op, floor: 0, in: zone)
        guard case .staged = try await bench.store.stage(Groups.part(op, zone, 0, chunks: chunks)) else {
          throw Missing("room for the part")
        }
        model.groups[op] = chunks
      case 5: try await end()
      case 6: try await bench.collectAll()
      case 7, 8:
        bench.clock.advance(by: StoreLimits.groupLease / 3)
        // Whoever uploads goes on with the group.
        for op in model.groups.keys {
          _ = try await bench.store.stage(Groups.part(op, zone, 0, chunks: model.groups[op] ?? []))
        }
      default: break
      }
    }

    private mutating func end() async throws {
      guard let (op, chunks) = model.groups.first else { return }
      model.groups[op] = nil
      switch below(3) {
      case 0: try await bench.store.removeGroup(op, in: zone)
      case 1: _ = try await bench.store.settle(op, in: zone)
      default:
        let save = Sample.save("g", chunks: chunks.map { Sample.hash($0) })
        _ = try await bench.store.commit(
          Commit(zone: zone, op: op, isAtomic: true, mutations: [save], parts: 1))
        model.records["g"] = chunks
      }
    }

    func check(isQuiet: Bool) async throws {
      let all = (1...12).map { UInt8($0) }
      let found = try await bench.store.chunks(all.map { Sample.hash($0) }, in: zone.database, maxBytes: 1 << 20)
      let here = Set(zip(all, found).filter { $0.1.bytes != nil }.map(\.0))
      #expect(here.isSuperset(of: model.needed), "what is needed is here")
      if isQuiet { #expect(here == model.needed, "and nothing else") }
      if isQuiet { #expect(try await bench.store.status().chunks == UInt64(model.needed.count)) }
    }
  }

  @Test("I3: no chunk that is needed goes, no other stays", arguments: StoreKind.allCases)
  func random(kind: StoreKind) async throws {
    for seed in 1...(kind == .memory ? 4 : 1) as ClosedRange<UInt64> {
      try await StoreBench.with(kind) { bench in
        var player = Player(bench: bench, zone: try Sample.zone(), random: SeededRandom(seed: seed))
        for round in 0..<80 {
          try await player.step()
          if round.isMultiple(of: 10) { try await player.check(isQuiet: false) }
        }
        // Now nobody does anything any more but those whose groups are open.
        player.model.groups = [:]
        for _ in 0..<3 {
          bench.clock.advance(by: StoreLimits.groupLease + StoreLimits.stagingGrace + .seconds(1))
          try await bench.collectAll()
        }
        try await player.check(isQuiet: true)
      }
    }
  }

  @Test(
    "TRU-12: what was staged while the clock was years ahead is collected once it is right",
    arguments: StoreKind.allCases)
  func stagedAhead(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let (zone, years) = (try Sample.zone(), Duration.seconds(10 * 365 * 86_400))
      bench.clock.adjustWallTime(by: years)
      try await bench.store.stage([Sample.chunk(1), Sample.chunk(2)], in: zone.database)
      #expect(try await bench.commit(zone, [Sample.save("photo", chunks: [Sample.hash(2)])]).accepted == [1])
      _ = try await bench.store.beginGroup(bench.op(), floor: 0, in: zone)
      bench.clock.adjustWallTime(by: .zero - years)
      try await bench.commit(zone, [Sample.delete("photo")])
      try await bench.collectAll()
      #expect(try await bench.store.status().chunks == 2, "somebody may still want them")
      bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(120))
      try await bench.collectAll()
      #expect(try await bench.store.status().chunks == 0)
    }
  }

  @Test(
    "UNI-06: a commit that lacks chunks says which; those it found are there when they have come",
    arguments: StoreKind.allCases)
  func slowUpload(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      let save = Sample.save("photo", chunks: [Sample.hash(1), Sample.hash(2)])
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      // A device that uploads for longer than a lease asks, between, what is still to be sent.
      for _ in 0..<4 {
        bench.clock.advance(by: StoreLimits.stagingLease - .seconds(60))
        try await bench.collectAll()
        #expect(try await bench.store.missing([Sample.hash(1), Sample.hash(2)], in: zone.database) == [Sample.hash(2)])
      }
      try await bench.store.stage([Sample.chunk(2)], in: zone.database)
      #expect(try await bench.commit(zone, [save], op: op).accepted == [1])
    }
  }

  @Test(
    "UNI-06, UNI-07: a commit brings its chunks; again it changes nothing; what it lacks still is named",
    arguments: StoreKind.allCases)
  func bringing(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let save = Sample.save("photo", chunks: [Sample.hash(1), Sample.hash(2)])
      let commit = Commit(zone: zone, op: bench.op(), isAtomic: false, mutations: [save])
      let lacking = try await bench.store.commit(commit, bringing: [Sample.chunk(1)])
      #expect(lacking == .missing([Sample.hash(2)]))
      for _ in 0..<2 {
        let result = try await bench.store.commit(commit, bringing: [Sample.chunk(1), Sample.chunk(2)])
        #expect(result.accepted == [1])
      }
      #expect(try await bench.store.status().chunks == 2)
    }
  }
}

extension StoreBench {
  func collectAll() async throws { while try await store.collect() {} }
}

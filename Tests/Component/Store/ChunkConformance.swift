import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: no dangling reference and no leak (I3). Method: staging, references and time by hand, then collection.
@Suite(.timeLimit(.minutes(2))) struct ChunkConformance {
  private static let lease = StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1)

  private static func collect(_ bench: StoreBench) async throws {
    while try await bench.store.collect() {}
  }

  @Test(
    "UNI-06: a commit that lacks chunks applies nothing, keeps no outcome, and works once they are staged",
    arguments: StoreKind.allCases)
  func missing(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      let mutations = [
        Sample.save("row"), Sample.save("photo", chunks: [Sample.hash(1), Sample.hash(2), Sample.hash(1)]),
      ]
      #expect(try await bench.commit(zone, mutations, op: op) == .missing([Sample.hash(1), Sample.hash(2)]))
      #expect(try await bench.store.fetch(["row", "photo"], in: zone).isEmpty)
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      #expect(try await bench.commit(zone, mutations, op: op) == .missing([Sample.hash(2)]))
      try await bench.store.stage([Sample.chunk(2), Sample.chunk(1)], in: zone.database)
      #expect(try await bench.commit(zone, mutations, op: op).accepted == [1, 2])
      let other = try Sample.zone(of: "bob")
      #expect(
        try await bench.commit(other, mutations) == .missing([Sample.hash(1), Sample.hash(2)]),
        "another database's chunks are not ours")
    }
  }

  @Test("chunks are read in the order asked, absent ones without bytes, as many as fit", arguments: StoreKind.allCases)
  func reading(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let database = Sample.database()
      #expect(try await bench.store.missing([Sample.hash(1)], in: database) == [Sample.hash(1)])
      try await bench.store.stage([Sample.chunk(1, size: 90_000), Sample.chunk(2, size: 70_000)], in: database)
      #expect(
        try await bench.store.missing([3, 2, 4, 1].map { Sample.hash($0) }, in: database) == [
          Sample.hash(3), Sample.hash(4),
        ])
      let found = try await bench.store.chunks([2, 3, 1].map { Sample.hash($0) }, in: database, maxBytes: 160_000)
      #expect(found.map(\.hash) == [2, 3, 1].map { Sample.hash($0) })
      #expect(found.map(\.bytes) == [Sample.chunk(2, size: 70_000).bytes, nil, Sample.chunk(1, size: 90_000).bytes])
      let some = try await bench.store.chunks([1, 2].map { Sample.hash($0) }, in: database, maxBytes: 100)
      #expect(some.map(\.hash) == [Sample.hash(1)], "the first always fits")
      #expect(try await bench.store.chunks([Sample.hash(1)], in: Sample.database("bob"), maxBytes: 9)[0].bytes == nil)
    }
  }

  @Test(
    "I3, UNI-06: a staged chunk nobody refers to goes after lease and grace; asking about it keeps it",
    arguments: StoreKind.allCases)
  func staging(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let database = Sample.database()
      try await bench.store.stage([Sample.chunk(1), Sample.chunk(2)], in: database)
      bench.clock.advance(by: Self.lease - .seconds(60))
      try await Self.collect(bench)
      #expect(try await bench.store.missing([Sample.hash(1)], in: database).isEmpty)
      bench.clock.advance(by: .seconds(60))
      try await Self.collect(bench)
      #expect(try await bench.store.missing([Sample.hash(1), Sample.hash(2)], in: database) == [Sample.hash(2)])
      #expect(try await bench.store.status().chunks == 1)
    }
  }

  @Test("I3: a referenced chunk stays; it goes a grace after its last record", arguments: StoreKind.allCases)
  func references(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let all = (1...5).map { Sample.hash($0) }
      try await bench.store.stage((1...5).map { Sample.chunk($0) }, in: zone.database)
      try await bench.commit(
        zone, [Sample.save("a", chunks: [all[0], all[1], all[0]]), Sample.save("b", chunks: [all[1], all[2]])])
      try await bench.commit(zone, [Sample.save("a", chunks: [all[1], all[3]])])
      func lacking() async throws -> [ChunkHash] {
        bench.clock.advance(by: Self.lease)
        try await Self.collect(bench)
        let found = try await bench.store.chunks(all, in: zone.database, maxBytes: 1 << 20)
        return found.filter { $0.bytes == nil }.map(\.hash)
      }
      #expect(try await lacking() == [all[0], all[4]], "replaced, and never referred to")
      try await bench.commit(zone, [Sample.delete("a")])
      #expect(try await lacking() == [all[0], all[3], all[4]])
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      try await Self.collect(bench)
      #expect(try await bench.store.status().chunks == 2, "the grace begins when the reference goes")
      #expect(try await lacking() == all)
      #expect(try await bench.store.status() == StoreStatus())
    }
  }

  @Test("a conflict or an aborted batch takes no reference", arguments: StoreKind.allCases)
  func refused(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      try await bench.commit(zone, [Sample.save("a")])
      let save = Sample.save("a", base: .absent, chunks: [Sample.hash(1)])
      try await bench.commit(zone, [save])
      try await bench.commit(zone, [Sample.save("n", chunks: [Sample.hash(1)]), save], atomic: true)
      bench.clock.advance(by: Self.lease)
      try await Self.collect(bench)
      #expect(try await bench.store.status().chunks == 0)
    }
  }
}

import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: in a public database a hash is no permission: a commit names chunks that its user has staged or that the
/// record has which it changes, and nothing tells whether the database has others. Method: the protocol only, on every
/// kind of store, with two users, and chunks that neither has staged.
@Suite(.timeLimit(.minutes(2))) struct StagerConformance {
  private static let database = DatabaseID(
    container: ContainerID(unchecked: "notes"), environment: .development, owner: nil)
  private static let account = Account.container(ContainerID(unchecked: "notes"), .development)
  private static let ann = ChunkView.staged(by: "ann")
  private static let eve = ChunkView.staged(by: "eve")
  private static let lease = StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1)

  /// Ann has record `r` with chunks 1 and 2, and has staged chunk 3.
  private static func with(
    _ kind: StoreKind, _ body: (StoreBench, ZoneID) async throws -> Void
  ) async throws {
    try await StoreBench.with(kind) { bench in
      bench.clock.advance(by: .seconds(100))
      let zone = try ZoneID(database, "board")
      try await bench.store.stage((1...3).map { Sample.chunk($0) }, in: database, as: ann)
      let made = try await bench.outcomes(zone, [save("r", 1, 2)], op: bench.op("ann/phone"))
      #expect(made == [.accepted(version: 1)])
      try await body(bench, zone)
    }
  }

  private static func save(_ name: String, base: Base = .any, _ chunks: UInt8...) -> Mutation {
    Sample.save(name, base: base, chunks: chunks.map { Sample.hash($0) })
  }

  private static func collect(_ bench: StoreBench) async throws {
    while try await bench.store.collect() {}
  }

  @Test(
    "CK-65: a chunk that another has staged, or that a record has which one does not change, is missing to a commit",
    arguments: StoreKind.allCases)
  func commits(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let named = (1...4).map { Sample.hash($0) }
      for writer in ["eve/phone", "@sync/eve/phone", "nobody"] {
        for (index, hash) in named.enumerated() {
          let lone = try await bench.commit(
            zone, [Self.save("e", UInt8(index + 1))], op: bench.op(writer))
          #expect(lone == .missing([hash]), "\(writer): chunk \(index + 1)")
        }
        let all = try await bench.commit(zone, [Self.save("e", 1, 2, 3, 4)], op: bench.op(writer))
        #expect(all == .missing(named), "\(writer)")
      }
      #expect(try await bench.store.missing(named, in: Self.database, as: Self.eve) == named)
      try await bench.store.stage([Sample.chunk(1)], in: Self.database, as: Self.eve)
      #expect(try await bench.store.missing(named, in: Self.database, as: Self.eve) == Array(named[1...]))
      let own = try await bench.outcomes(zone, [Self.save("e", 1)], op: bench.op("eve/phone"))
      #expect(own.map(\.isAccepted) == [true], "whoever has the bytes may name them")
      let tablet = try await bench.outcomes(zone, [Self.save("s", 3)], op: bench.op("ann/tablet"))
      #expect(tablet.map(\.isAccepted) == [true], "all devices of a user are one")
      let service = try await bench.outcomes(zone, [Self.save("t", 2)], op: bench.op("@backend"))
      #expect(service.map(\.isAccepted) == [true])
    }
  }

  @Test(
    "CK-65: chunks of a record are its own to keep, and not those of what it was before, or of what it is not any more",
    arguments: StoreKind.allCases)
  func held(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      bench.clock.advance(by: Self.lease)
      try await Self.collect(bench)
      #expect(try await bench.store.missing([Sample.hash(1)], in: Self.database, as: Self.ann) == [Sample.hash(1)])
      func commit(_ mutation: Mutation) async throws -> CommitResult {
        try await bench.commit(zone, [mutation], op: bench.op("ann/phone"))
      }
      #expect(try await commit(Self.save("other", 1)) == .missing([Sample.hash(1)]), "it is another record's")
      #expect(try await commit(Self.save("r", 2)).outcomes.map(\.isAccepted) == [true])
      #expect(try await commit(Self.save("r", 1, 2)) == .missing([Sample.hash(1)]), "it was the version's before")
      let terms = WriteTerms(expiry: .after(1_000), hidesExpired: true)
      var short = Self.save("r", 2)
      short.terms = terms
      #expect(try await commit(short).outcomes.map(\.isAccepted) == [true])
      bench.clock.advance(by: .seconds(2))
      let taken = try await bench.commit(zone, [Self.save("r", base: .absent, 2)], op: bench.op("eve/phone"))
      #expect(taken == .missing([Sample.hash(2)]), "what has expired out of sight is nobody's to copy")
      #expect(try await commit(Sample.delete("r")).outcomes.map(\.isAccepted) == [true])
      #expect(try await commit(Self.save("r", 2)) == .missing([Sample.hash(2)]), "and what was deleted")
    }
  }

  @Test("CK-24: a record's chunks are seen at its version, as long as it is there", arguments: StoreKind.allCases)
  func views(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let all = (1...4).map { Sample.hash($0) }
      let head = try #require(
        try await bench.store.zones(in: Partition(of: Self.database), .database(Self.database)).first)
      func seen(_ change: (inout RecordVersion) -> Void = { _ in }) async throws -> Set<ChunkHash> {
        var record = RecordVersion(zone: zone, incarnation: head.incarnation, name: "r", version: 1)
        change(&record)
        return try await bench.store.visible(all, in: Self.database, as: .record(record))
      }
      #expect(try await seen() == Set(all[..<2]))
      #expect(try await bench.store.visible(all, in: Self.database, as: Self.ann) == Set(all[..<3]))
      #expect(try await bench.store.visible(all, in: Self.database, as: Self.eve).isEmpty)
      let other = try ZoneID(Sample.database("ann"), "board")
      let zones = try ZoneID(Self.database, "else")
      for change: (inout RecordVersion) -> Void in [
        { $0.version = 2 }, { $0.incarnation += 1 }, { $0.name = "s" }, { $0.zone = zones }, { $0.zone = other },
      ] { #expect(try await seen(change).isEmpty) }
      try await bench.commit(zone, [Self.save("r", 2)], op: bench.op("ann/phone"))
      #expect(try await seen().isEmpty, "it has another version")
      #expect(try await seen { $0.version = 2 } == [all[1]])
      try await bench.commit(zone, [Sample.delete("r")], op: bench.op("ann/phone"))
      #expect(try await seen { $0.version = 3 }.isEmpty)
      #expect(try await seen { $0.version = 2 }.isEmpty)
    }
  }

  @Test(
    "CK-102, CK-65: whoever stages a chunk is charged for it, whether or not the database has it; until the lease ends",
    arguments: StoreKind.allCases)
  func charges(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      func used() async throws -> Int64 { try await bench.store.account(Self.account).used.bytes }
      let before = try await used()
      try await bench.store.stage([Sample.chunk(1)], in: Self.database, as: Self.eve)
      let there = try await used() - before
      try await bench.store.stage([Sample.chunk(9)], in: Self.database, as: Self.eve)
      #expect(try await used() - before - there == there && there == 100, "there, and not there, are the same")
      try await bench.store.stage([Sample.chunk(1), Sample.chunk(9)], in: Self.database, as: Self.eve)
      #expect(try await used() == before + 200, "the second time costs nothing")
      let quota = UInt64(try await used() + 150)
      _ = try await bench.store.setQuota(Quota(records: nil, bytes: quota), of: Self.account)
      for number in [2, 8] as [UInt8] {
        let error = await #expect(throws: CaravanError.self) {
          let some = [Sample.chunk(number), Sample.chunk(number + 20)]
          try await bench.store.stage(some, in: Self.database, as: Self.eve)
        }
        #expect(error?.code == .quotaExceeded)
      }
      #expect(try await bench.store.missing([Sample.hash(2)], in: Self.database, as: Self.eve) == [Sample.hash(2)])
      bench.clock.advance(by: Self.lease)
      try await Self.collect(bench)
      #expect(try await used() == before - 100, "of ann's, chunk 3 has no record")
    }
  }

  @Test("TRU-19: a user stages so many chunks in a public database and no more", arguments: StoreKind.allCases)
  func bound(kind: StoreKind) async throws {
    #expect(throws: CaravanError.self) {
      try StagerRules.check(held: StoreLimits.chunksStagedByUser, adding: 1)
    }
    try await Self.with(kind) { bench, zone in
      func chunk(_ number: Int) -> ChunkBytes {
        var bytes = [UInt8](repeating: 7, count: ChunkHash.byteCount)
        (bytes[0], bytes[1]) = (UInt8(number >> 8), UInt8(number & 0xff))
        return ChunkBytes(hash: ChunkHash(bytes) ?? Sample.hash(0), bytes: [1])
      }
      let most = StoreLimits.chunksStagedByUser
      for start in stride(from: 0, to: most, by: 4_096) {
        try await bench.store.stage((start..<start + 4_096).map(chunk), in: Self.database, as: Self.eve)
      }
      let error = await #expect(throws: CaravanError.self) {
        try await bench.store.stage([chunk(most)], in: Self.database, as: Self.eve)
      }
      #expect(error?.code == .limitExceeded)
      try await bench.store.stage([chunk(0)], in: Self.database, as: Self.eve)
      try await bench.store.stage([chunk(most)], in: Self.database, as: Self.ann)
    }
  }
}

extension Outcome {
  fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}

extension CommitResult {
  fileprivate var outcomes: [Outcome] {
    if case .applied(let outcomes, _, _, _) = self { outcomes } else { [] }
  }
}

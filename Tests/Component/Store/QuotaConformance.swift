import CaravanModel
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: any store counts exactly what an account holds, and lets it hold no more than it may (CK-102).
@Suite(.timeLimit(.minutes(2))) struct QuotaConformance {
  private static let ada = Account.user(UserID(unchecked: "ada"), .development)

  /// Six bytes with the name.
  private static func row(_ name: String, _ size: Int = 5) -> Mutation {
    Sample.save(name, body: [UInt8](repeating: 1, count: size))
  }

  private static func used(_ bench: StoreBench, by account: Account = ada) async throws -> [Int64] {
    let used = try await bench.store.account(account).used
    return [used.records, used.bytes]
  }

  @Test(
    "CK-102: use is exact after saves, updates, deletes, conflicts, chunks and whole zones",
    arguments: StoreKind.allCases)
  func accounting(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let (zone, other) = (try Sample.zone(), try ZoneID(Sample.database("ada", "photos"), "t"))
      try await bench.commit(zone, [Self.row("a"), Self.row("b", 9)])
      #expect(try await Self.used(bench) == [2, 16])
      try await bench.commit(other, [Self.row("c")])
      try await bench.commit(try Sample.zone(of: "bob"), [Self.row("d")])
      #expect(try await Self.used(bench) == [3, 22], "every database of the user, and of nobody else")
      try await bench.commit(zone, [Self.row("a", 1), Sample.save("b", base: .absent, body: [1, 2])])
      #expect(try await Self.used(bench) == [3, 18], "a conflict changes nothing")
      let op = bench.op()
      for _ in 0..<2 { try await bench.commit(zone, [Sample.delete("b"), Self.row("e"), Self.row("e", 7)], op: op) }
      #expect(try await Self.used(bench) == [3, 16], "a commit that comes again is counted once")
      try await bench.store.stage([Sample.chunk(1), Sample.chunk(2, size: 50)], in: zone.database)
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      #expect(try await Self.used(bench) == [3, 166])
      _ = try await bench.store.deleteZone(other, writer: "phone")
      #expect(try await Self.used(bench) == [2, 160])
      bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1))
      while try await bench.store.collect() {}
      #expect(try await Self.used(bench) == [2, 10], "chunks that nobody holds are gone")
      #expect(try await bench.store.account(.container(zone.database.container, .development)).used == Usage())
    }
  }

  @Test(
    "CK-102: what goes beyond is refused by itself; what fits, shrinks or goes is taken", arguments: StoreKind.allCases)
  func refusals(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Self.row("a"), Self.row("b")])
      let set = try await bench.store.setQuota(Quota(records: 4, bytes: 30), of: Self.ada)
      #expect(set.used == Usage(records: 2, bytes: 12) && !set.isDefault && set.quota == Quota(records: 4, bytes: 30))
      let outcomes = try await bench.outcomes(
        zone, [Self.row("c", 18), Self.row("d"), Self.row("e"), Self.row("f"), Sample.delete("a")])
      #expect(outcomes.map(\.isQuotaExceeded) == [true, false, false, true, false])
      #expect(try await Self.used(bench) == [3, 18])
      guard case .refused(let error) = outcomes[0] else { throw Unexpected(outcomes[0]) }
      #expect(error.isTransient && error.message.contains("2 of 4 records") && error.message.contains("12 of 30 bytes"))
      // Much less is allowed now than there is.
      _ = try await bench.store.setQuota(Quota(records: 1, bytes: 10), of: Self.ada)
      let tight = try await bench.outcomes(
        zone, [Self.row("b", 6), Self.row("b", 4), Self.row("new"), Sample.delete("d"), Sample.read("e")])
      #expect(tight.map(\.isQuotaExceeded) == [true, false, true, false, false])
      let atomic = try await bench.outcomes(zone, [Sample.delete("e"), Self.row("x", 40)], atomic: true)
      #expect(atomic.map(\.isQuotaExceeded) == [false, true] && atomic[0] == .aborted)
      // Room by itself: the same rows pass under a new op.
      try await bench.commit(zone, [Sample.delete("e"), Sample.delete("b")])
      #expect(try await Self.used(bench) == [0, 0])
      #expect(try await bench.outcomes(zone, [Self.row("new")]).map(\.isQuotaExceeded) == [false])
      let reset = try await bench.store.setQuota(nil, of: Self.ada)
      #expect(reset.isDefault && reset.quota == .unlimited)
      #expect(try await bench.outcomes(zone, [Self.row("large", 900)]).map(\.isQuotaExceeded) == [false])
    }
  }

  @Test(
    "TRU-19: a quota holds over all shards of default zones, but for what comes within seconds",
    arguments: StoreKind.allCases, [false, true])
  func shards(kind: StoreKind, isPublic: Bool) async throws {
    try await StoreBench.with(kind) { bench in
      let base =
        isPublic
        ? DatabaseID(container: ContainerID(unchecked: "notes"), environment: .development, owner: nil)
        : Sample.database()
      let account = try #require(Account(of: base))
      func refused(_ shard: UInt32, _ mutation: Mutation) async throws -> Bool {
        let zone = try ZoneID(base.shard(shard), DefaultZone.name)
        return try await bench.outcomes(zone, [mutation]).map(\.isQuotaExceeded) == [true]
      }
      _ = try await bench.store.setQuota(Quota(records: 4), of: account)
      // Each shard has a partition of its own, with a writer that sees no other one.
      for shard in [UInt32(0), 1, 2] { #expect(try await !refused(shard, Self.row("a"))) }
      func sum() async throws {
        bench.clock.advance(by: StoreLimits.spreadFreshness)
        while try await bench.store.collect() {}
      }
      try await sum()
      #expect(try await !refused(0, Self.row("b")), "there is room for one")
      try await sum()
      for shard in [UInt32(0), 1, 2, 7] { #expect(try await refused(shard, Self.row("c")), "shard \(shard)") }
      #expect(try await !refused(1, Self.row("a")), "what does not grow is taken")
      for shard in [UInt32(1), 2] { #expect(try await !refused(shard, Sample.delete("a"))) }
      #expect(try await bench.store.account(account).used.records == 2)
      try await sum()
      for _ in 0..<2 {
        #expect(try await !refused(7, Self.row("d")), "there is room again")
        try await sum()
      }
      #expect(try await !refused(7, Self.row("e")))
      #expect(try await refused(7, Self.row("f")), "of its own partition a writer knows at once")
      try await sum()
      #expect(try await refused(0, Self.row("g")))
      #expect(try await bench.store.account(account).used.records == 4)
    }
  }

  @Test("CK-102: chunks count; the container pays for what is public", arguments: StoreKind.allCases)
  func chunks(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      _ = try await bench.store.setQuota(Quota(bytes: 150), of: Self.ada)
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      await #expect { try await bench.store.stage([Sample.chunk(2)], in: zone.database) } throws: {
        ($0 as? CaravanError)?.code == .quotaExceeded
      }
      try await bench.store.stage([Sample.chunk(1), Sample.chunk(3, size: 50)], in: zone.database)
      #expect(try await Self.used(bench) == [0, 150])
      let shared = DatabaseID(container: zone.database.container, environment: .development, owner: nil)
      let app = Account.container(shared.container, .development)
      _ = try await bench.store.setQuota(Quota(records: 1), of: app)
      let open = try ZoneID(shared, "board")
      #expect(try await bench.outcomes(open, [Self.row("a"), Self.row("b")]).map(\.isQuotaExceeded) == [false, true])
      #expect(try await Self.used(bench, by: app) == [1, 6])
    }
  }

  @Test(
    "CK-10, CK-102: of shards an account is told the sum, and each is held to the quota by itself",
    arguments: StoreKind.allCases)
  func shards(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zones = try (0..<4).map { try ZoneID(Sample.database().shard($0), DefaultZone.name) }
      let set = try await bench.store.setQuota(Quota(records: 2), of: Self.ada)
      #expect(set.quota == Quota(records: 2) && !set.isDefault)
      for zone in zones {
        for (name, isRefused) in [("a", false), ("b", false), ("c", true)] {
          #expect(try await bench.outcomes(zone, [Self.row(name)]).map(\.isQuotaExceeded) == [isRefused])
        }
        try await bench.commit(zone, [Sample.delete("b")])
      }
      #expect(try await Self.used(bench) == [4, 24])
      #expect(try await bench.store.deleteZone(zones[3], writer: "phone"))
      #expect(try await Self.used(bench) == [3, 18])
      let state = try await bench.store.setQuota(nil, of: Self.ada)
      #expect(state.isDefault && state.used == Usage(records: 3, bytes: 18))
      for name in ["b", "c"] {
        #expect(try await bench.outcomes(zones[2], [Self.row(name)]).map(\.isQuotaExceeded) == [false])
      }
    }
  }

  @Test(
    "TRU-04: what is in development takes nothing of production's quota, nor the other way round",
    arguments: StoreKind.allCases)
  func environments(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      for owner in [UserID(unchecked: "ada"), nil] {
        let container = ContainerID(unchecked: "notes")
        let homes = CaravanModel.Environment.allCases.map {
          DatabaseID(container: container, environment: $0, owner: owner)
        }
        let accounts = try homes.map { try #require(Account(of: $0)) }
        #expect(accounts.map { Account(key: $0.key) } == accounts && Set(accounts.map(\.key)).count == 2)
        for (number, account) in accounts.enumerated() {
          let set = try await bench.store.setQuota(Quota(records: UInt64(number + 1)), of: account)
          #expect(set.quota.records == UInt64(number + 1))
        }
        for (number, home) in homes.enumerated() {
          let zone = try ZoneID(home, DefaultZone.name)
          for index in 0..<3 {
            let refused = try await bench.outcomes(zone, [Self.row("r\(index)")]).map(\.isQuotaExceeded)
            #expect(refused == [index > number])
          }
          #expect(try await Self.used(bench, by: accounts[number]).first == Int64(number + 1))
        }
      }
    }
  }

  @Test("CK-102: use and quotas outlive the store's process", arguments: StoreKind.reopening)
  func reopening(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      _ = try await bench.store.setQuota(Quota(records: 2), of: Self.ada)
      try await bench.commit(zone, [Self.row("a")])
      await bench.close()
      try await bench.open()
      #expect(try await bench.store.account(Self.ada).used == Usage(records: 1, bytes: 6))
      #expect(try await bench.outcomes(zone, [Self.row("b"), Self.row("c")]).map(\.isQuotaExceeded) == [false, true])
    }
  }

  @Test("CK-102: Caravan's own records are nobody's")
  func own() throws {
    #expect(Account(of: DatabaseID.system(UserID(unchecked: "ada"))) == nil)
    #expect(Account(of: Sample.database())?.partition == Partition(of: Sample.database()))
    let shared = DatabaseID(container: ContainerID(unchecked: "notes"), environment: .development, owner: nil)
    #expect(Account(of: shared)?.partition == Partition(of: shared))
  }
}

extension CaravanModel.Outcome {
  fileprivate var isQuotaExceeded: Bool {
    if case .refused(let error) = self { error.code == .quotaExceeded } else { false }
  }
}

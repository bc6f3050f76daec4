import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: one owner at a time, and an old one can do no harm. Method: the store's clock in the test's hands.
@Suite(.timeLimit(.minutes(2))) struct OwnershipConformance {
  @Test(
    "REC-25, UNI-04: a lease has one holder, is renewed by asking again, and ends by itself",
    arguments: StoreKind.allCases)
  func leases(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let store = bench.store
      func lease(_ holder: String, _ seconds: Int) async throws -> Lease {
        try #require(try await store.lease(["notify/3"], holder: holder, ttl: .seconds(seconds)).first)
      }
      let mine = try await lease("one", 10)
      #expect(mine == Lease(name: "notify/3", isGranted: true, token: 1, holder: "one", remaining: .seconds(10)))
      bench.clock.advance(by: .seconds(4))
      let refused = try await lease("two", 10)
      #expect(refused == Lease(name: "notify/3", isGranted: false, token: 1, holder: "one", remaining: .seconds(6)))
      #expect(try await lease("one", 10) == mine, "already held: success, same token")
      bench.clock.advance(by: .seconds(9))
      #expect(try await lease("two", 10).isGranted == false)
      bench.clock.advance(by: .seconds(1))
      let theirs = try await lease("two", 10)
      #expect(theirs.isGranted && theirs.token == 2)
      #expect(try await lease("one", 0).isGranted == false, "only the holder can release")
      #expect(try await lease("one", 10).holder == "two")
      #expect(try await lease("two", 0).holder.isEmpty)
      let again = try await lease("two", 10)
      #expect(again.isGranted && again.token == 3, "a new tenure has a new token")
    }
  }

  @Test("TRU-03: what ended long ago is forgotten, and no token is given twice", arguments: StoreKind.allCases)
  func forgotten(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      func token(_ name: String) async throws -> UInt64? {
        try await bench.store.lease([name], holder: "one", ttl: .seconds(10)).first?.token
      }
      for _ in 1...3 {
        #expect(try await token("lock/often") != nil)
        bench.clock.advance(by: .seconds(20))
      }
      for number in 1...600 { #expect(try await token("lock/\(number)") == 1) }
      #expect(try await token("lock/new") == 1, "all are remembered")
      bench.clock.advance(by: StoreLimits.endedLeasesKept + .seconds(20))
      while try await bench.store.collect() {}
      #expect(try await token("lock/newer") == 4)
      #expect(try await token("lock/often") == 4)
      #expect(try await token("lock/7") == 4)
      #expect(try await bench.store.leases(beginning: "lock/").count == 3)
    }
  }

  @Test("several names at once; lists show what is held now", arguments: StoreKind.allCases)
  func lists(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let store = bench.store
      _ = try await store.lease(["notify/2"], holder: "two", ttl: .seconds(5))
      let grants = try await store.lease(["notify/1", "notify/2", "query/1"], holder: "one", ttl: .seconds(10))
      #expect(
        grants.map(\.isGranted) == [true, false, true] && grants.map(\.name) == ["notify/1", "notify/2", "query/1"])
      #expect(try await store.leases(beginning: "notify/").map(\.holder) == ["one", "two"])
      bench.clock.advance(by: .seconds(6))
      let left = try await store.leases(beginning: "")
      #expect(left.map(\.name) == ["notify/1", "query/1"] && left.map(\.remaining) == [.seconds(4), .seconds(4)])
      #expect(try await store.leases(beginning: "notify/1x").isEmpty)
    }
  }

  @Test("of many who ask at once one is granted", arguments: StoreKind.allCases)
  func contention(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
        for holder in 0..<32 {
          group.addTask { try await bench.store.lease(["x"], holder: "h\(holder)", ttl: .seconds(9))[0].isGranted }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(granted == 1)
    }
  }

  @Test("TRU-12: a lease given before the store's time went back by years keeps nobody waiting for them")
  func leaseOfTheFuture() {
    let ahead = LeaseHolder(holder: "one", token: 3, expires: 1 << 40)
    let decision = LeaseHolder.decide("x", ahead, holder: "two", ttl: .seconds(9), now: 1_000)
    #expect(decision.answer.isGranted && decision.answer.token == 4)
    #expect(throws: CaravanError.self) {
      try LeaseProof(lease: "x", token: 3).check(ahead, holder: "one", now: 1_000)
    }
    let near = LeaseHolder(holder: "one", token: 3, expires: 1_000 + 3_600_000)
    #expect(!LeaseHolder.decide("x", near, holder: "two", ttl: .seconds(9), now: 1_000).answer.isGranted)
  }

  @Test("a cursor moves only under the newest token of a live lease", arguments: StoreKind.allCases)
  func cursors(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let store = bench.store
      let partition = try Partition(9)
      func move(_ position: UInt64, _ token: UInt64) async -> ErrorCode? {
        do throws(CaravanError) {
          try await store.moveCursor(
            of: "notify", in: partition, to: position, proof: LeaseProof(lease: "notify/9", token: token))
          return nil
        } catch { return error.code }
      }
      #expect(try await store.cursor(of: "notify", in: partition) == 0)
      #expect(await move(5, 0) == .lockNotHeld)
      let first = try await store.lease(["notify/9"], holder: "one", ttl: .seconds(5))[0]
      #expect(await move(5, first.token) == nil)
      bench.clock.advance(by: .seconds(5))
      #expect(await move(6, first.token) == .lockNotHeld, "expired")
      let second = try await store.lease(["notify/9"], holder: "two", ttl: .seconds(5))[0]
      #expect(await move(7, first.token) == .lockNotHeld, "overtaken")
      #expect(await move(8, second.token) == nil)
      #expect(try await store.cursor(of: "notify", in: partition) == 8)
      #expect(try await store.cursor(of: "query", in: partition) == 0)
      #expect(try await store.cursor(of: "notify", in: Partition(8)) == 0)
    }
  }
}

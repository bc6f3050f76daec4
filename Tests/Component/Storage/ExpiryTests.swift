import CaravanModel
import CaravanRuntime
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Testing

/// Goal: records whose time is over go by themselves, once, for all to hear. Method: the sweep on a store in memory,
/// with time in the test's hands.
@Suite(.timeLimit(.minutes(1))) struct ExpiryTests {
  private static func with(_ body: (StoreSQLite, StorageBench) async throws -> Void) async throws {
    let bench = try StorageBench()
    let store = try await StoreSQLite(.simulation(.memory), host: bench.host)
    try await body(store, bench)
    await store.close()
  }

  private static func save(_ name: String, _ references: [CaravanModel.Reference] = [], seconds: Int64? = nil)
    -> Mutation
  {
    var mutation = StorageBench.save(name, body: [])
    mutation.terms = WriteTerms(references: references, expiry: seconds.map { .after($0 * 1_000) } ?? .keep)
    return mutation
  }

  private static func commit(
    _ store: StoreSQLite, _ number: UInt64, _ mutations: [Mutation], to zone: ZoneID? = nil
  ) async throws {
    let op = OpID(writer: "phone", epoch: 1, number: number)
    let commit = Commit(zone: try zone ?? StorageBench.zone(), op: op, isAtomic: false, mutations: mutations)
    guard case .applied(let outcomes, _, _, _) = try await store.commit(commit) else {
      throw Missing("outcome of the commit")
    }
    #expect(outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }, "\(outcomes)")
  }

  private static func expiry(_ store: StoreSQLite, _ bench: StorageBench) -> Expiry {
    Expiry(store: store, actions: DelayedActions(store: store, host: bench.host), host: bench.host)
  }

  /// Steps until there is no more to do.
  private static func sweep(_ expiry: inout Expiry) async throws -> Int {
    var deleted = 0
    for _ in 0..<100 {
      let step = try await expiry.step()
      deleted += step.deleted
      guard step.hasMore else { return deleted }
    }
    throw CaravanError(.internalError, "a sweep does not end")
  }

  @Test("CK-30, CK-32: what is over goes with what it owns, and everybody hears of it; the rest stays")
  func sweep() async throws {
    try await Self.with { store, bench in
      let zone = try StorageBench.zone()
      try await Self.commit(store, 1, [Self.save("over", seconds: 1), Self.save("later", seconds: 60), Self.save("r")])
      try await Self.commit(store, 2, [Self.save("owned", [CaravanModel.Reference(to: "over", .owning)])])
      var expiry = Self.expiry(store, bench)
      #expect(try await Self.sweep(&expiry) == 0)
      bench.clock.advance(by: .seconds(2))
      #expect(try await Self.sweep(&expiry) == 1)
      let entries = try await store.fetch(["over", "later", "r", "owned"], in: zone)
      #expect(entries.map(\.isDeleted) == [true, false, false, true])
      let log = try await store.log(of: StorageBench.partition, after: 2, atMost: 9)
      #expect(log.entries.count == 1 && log.entries.allSatisfy { $0.writer != "phone" })
      #expect(try await Self.sweep(&expiry) == 0)
    }
  }

  @Test("CK-10, CK-30: in default zones, too, where there are no batches, and in each of their shards")
  func defaultZones() async throws {
    try await Self.with { store, bench in
      let database = try StorageBench.zone().database
      for shard in 0..<2 as Range<UInt32> {
        let zone = try ZoneID(database.shard(shard), DefaultZone.name)
        for number in 1...3 as ClosedRange<UInt64> {
          try await Self.commit(store, UInt64(shard) * 9 + number, [Self.save("r\(number)", seconds: 1)], to: zone)
        }
      }
      bench.clock.advance(by: .seconds(2))
      var expiry = Self.expiry(store, bench)
      #expect(try await Self.sweep(&expiry) == 6)
    }
  }

  @Test("CK-28: what is referred to stays until it is not, and keeps nothing else from going")
  func referredTo() async throws {
    try await Self.with { store, bench in
      try await Self.commit(store, 1, [Self.save("held", seconds: 1), Self.save("free", seconds: 2)])
      try await Self.commit(store, 2, [Self.save("holder", [CaravanModel.Reference(to: "held", .validating)])])
      bench.clock.advance(by: .seconds(3))
      var expiry = Self.expiry(store, bench)
      #expect(try await Self.sweep(&expiry) == 1)
      try await Self.commit(store, 3, [Mutation(name: "holder", base: .any, change: .delete)])
      #expect(try await Self.sweep(&expiry) == 1)
    }
  }

  @Test("CK-28, CK-30: many of one time that are referred to keep nothing from going, and nobody busy")
  func manyReferredTo() async throws {
    try await Self.with { store, bench in
      let expiries = WriteTerms.Expiry.at(bench.clock.wallTime.milliseconds + 1_000)
      var number: UInt64 = 0
      for batch in 0..<4 {
        let names = (0..<128).map { "\(batch).\($0)" } + (batch == 3 ? ["free"] : [])
        let saves = names.map { name in
          var save = Self.save(name)
          save.terms?.expiry = expiries
          return save
        }
        let holders = names.filter { $0 != "free" }.map {
          Self.save("holder of \($0)", [CaravanModel.Reference(to: $0, .validating)])
        }
        for mutations in [saves, holders] {
          number += 1
          try await Self.commit(store, number, mutations)
        }
      }
      bench.clock.advance(by: .seconds(2))
      var expiry = Self.expiry(store, bench)
      // Two pages of what cannot go, which is not tried again at once.
      #expect(try await Self.sweep(&expiry) == 1)
      #expect(try await store.fetch(["free"], in: StorageBench.zone()).map(\.isDeleted) == [true])
    }
  }

  @Test("CK-30: what was renewed, or lives on for ever, between the look and the deletion stays")
  func renewed() async throws {
    try await Self.with { store, bench in
      let names = ["gone", "renewed", "kept", "written"]
      try await Self.commit(store, 1, names.map { Self.save($0, seconds: 1) })
      bench.clock.advance(by: .seconds(2))
      let over = try await store.expired(after: nil, atMost: 9)
      #expect(over.map(\.name) == names.sorted())
      var kept = Self.save("kept")
      kept.terms?.expiry = .never
      try await Self.commit(store, 2, [Self.save("renewed", seconds: 60), kept, Self.save("written")])
      var expiry = Self.expiry(store, bench)
      #expect(try await expiry.delete(over) == 1)
      let entries = try await store.fetch(names, in: StorageBench.zone())
      #expect(entries.map(\.isDeleted) == [true, false, false, false])
      // Written without a word about its end, which has passed: it goes now, in its newer version.
      #expect(try await Self.sweep(&expiry) == 1)
      #expect(try await store.fetch(names, in: StorageBench.zone()).map(\.isDeleted) == [true, false, false, true])
    }
  }

  @Test("CK-32: more than one step takes go in several; of two processes one works, until its lease ends")
  func shared() async throws {
    try await Self.with { store, bench in
      for batch in 0..<3 as Range<UInt64> {
        try await Self.commit(store, batch + 1, (0..<100).map { Self.save("\(batch).\($0)", seconds: 1) })
      }
      bench.clock.advance(by: .seconds(2))
      var (one, other) = (Self.expiry(store, bench), Self.expiry(store, bench))
      let first = try await one.step()
      #expect(first.deleted == 256 && first.hasMore)
      let idle = try await other.step()
      #expect(idle.deleted == 0 && !idle.hasMore)
      bench.clock.advance(by: .seconds(31))
      #expect(try await Self.sweep(&other) == 44)
    }
  }
}

import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a commit larger than a batch is as one: staged where nobody sees it, made visible at once, or not at all
/// (UNI-05). Method: the protocol only, on every kind of store.
@Suite(.timeLimit(.minutes(2))) struct GroupConformance {
  private static func saves(_ range: Range<Int>, base: Base = .any) -> [CaravanModel.Mutation] {
    range.map { Sample.save("r\($0 + 100_000)", base: base, body: [UInt8](repeating: UInt8($0 % 251), count: 20)) }
  }

  private static func refusal(_ work: () async throws -> Void) async -> ErrorCode? {
    do {
      try await work()
      return nil
    } catch { return (error as? CaravanError)?.code }
  }

  @Test(
    "UNI-05, REC-23: parts are seen by nobody; the commit makes all of them visible in one run of versions",
    arguments: StoreKind.allCases)
  func visible(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("before")])
      let (op, mutations) = (bench.op(), Self.saves(0..<1_000))
      let parts = try await bench.stage(mutations, of: op, in: zone)
      #expect(parts == 3)
      #expect(try await bench.pull(zone).map(\.name) == ["before"])
      #expect(try await bench.store.fetch([mutations[0].name], in: zone).isEmpty)
      #expect(try await bench.store.group(op, in: zone)?.stage == .open)
      #expect(try await bench.store.parts(of: op, in: zone).count == 3)

      let result = try await bench.commit(group: op, mutations, parts: parts, in: zone)
      #expect(result.accepted == (2...1_001).map { Seq($0) })
      let entries = try await bench.pull(zone, maxRecords: 300)
      #expect(entries.map(\.version) == (1...1_001).map { Seq($0) })
      #expect(try await bench.store.group(op, in: zone)?.stage == .committed)
      let heard = bench.listener.changes.last
      #expect(heard?.log.low == 1 && heard?.log.high == 1_001, "one entry of the log, one message to whoever listens")
    }
  }

  @Test(
    "UNI-05, I2: a page ends where a group ends; a group larger than a page says more until all of it is there",
    arguments: StoreKind.allCases)
  func pages(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      for start in [0, 500, 1_000] {
        let (op, mutations) = (bench.op(), Self.saves(start..<start + 500))
        let parts = try await bench.stage(mutations, of: op, in: zone)
        _ = try await bench.commit(group: op, mutations, parts: parts, in: zone)
      }
      let (fitting, _) = try await bench.page(ChangeQuery(zone: zone, maxRecords: 700))
      #expect(fitting.count == 500 && fitting.more, "two groups do not fit, and half of one is not shown")
      var (read, pages, more) = (0, 0, true)
      var query = ChangeQuery(zone: zone, maxRecords: 200)
      while more {
        let (page, _) = try await bench.page(query)
        read += page.count
        pages += 1
        more = page.more
        #expect(more == (read < 1_500), "whoever shows nothing before there is no more shows no half group")
        query.position = page.next
      }
      #expect(read == 1_500 && pages == 9)
    }
  }

  @Test(
    "REC-25, UNI-07: begin, part, commit and removal may each come again, and then do nothing",
    arguments: StoreKind.allCases)
  func again(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      let mutations = Self.saves(0..<3)
      let first = try await bench.store.beginGroup(op, floor: 0, in: zone)
      #expect(try await bench.store.beginGroup(op, floor: 0, in: zone) == first)
      let part = Groups.part(op, zone, 0, records: 3)
      for _ in 0..<3 {
        guard case .staged(let group) = try await bench.store.stage(part) else { throw Unexpected("not staged") }
        #expect(group.parts == 1 && group.records == 3 && group.bytes == 1)
      }
      let other = await Self.refusal {
        _ = try await bench.store.stage(Groups.part(op, zone, 0, records: 3, body: [8]))
      }
      #expect(other == .invalidData, "another part under its number")
      let result = try await bench.commit(group: op, mutations, parts: 1, in: zone)
      #expect(result.accepted == [1, 2, 3])
      for _ in 0..<2 { #expect(try await bench.commit(group: op, [], parts: 1, in: zone) == result) }
      guard case .staged(let late) = try await bench.store.stage(part) else { throw Unexpected("not staged") }
      #expect(late.stage == .committed)
      #expect(try await bench.store.beginGroup(op, floor: 0, in: zone).stage == .committed)
      #expect(try await bench.store.settle(op, in: zone) == result)
      for _ in 0..<2 { try await bench.store.removeGroup(op, in: zone) }
      try await bench.collectAll()
      #expect(try await bench.store.group(op, in: zone) == nil)
      #expect(try await bench.pull(zone).count == 3)
    }
  }

  @Test(
    "UNI-05, REC-13: one conflict fails an atomic group, record by record; others keep what is not in conflict",
    arguments: StoreKind.allCases)
  func conflicts(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("r100450", body: [9])])
      let mutations = Self.saves(0..<600, base: .absent)
      for atomic in [true, false] {
        let op = bench.op()
        let parts = try await bench.stage(mutations, of: op, in: zone)
        let result = try await bench.commit(group: op, mutations, parts: parts, in: zone, atomic: atomic)
        guard case .applied(let outcomes, _, _, _) = result, case .conflict(let server?) = outcomes[450] else {
          throw Unexpected(result)
        }
        #expect(outcomes.count == 600 && server.body == [9])
        #expect(result.accepted.count == (atomic ? 0 : 599))
        #expect(outcomes.count { $0 == .aborted } == (atomic ? 599 : 0))
        #expect(try await bench.store.group(op, in: zone)?.stage == (atomic ? .refused : .committed))
        #expect(try await bench.pull(zone).count == (atomic ? 1 : 600))
      }
    }
  }

  @Test("a group is given up by settling, removing, or time; then nothing of it applies", arguments: StoreKind.allCases)
  func ends(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      let mutations = [Sample.save("a", chunks: [Sample.hash(1)])]
      let (settled, removed, late) = (bench.op(), bench.op(), bench.op())
      for op in [settled, removed, late] { try await bench.stage(mutations, of: op, in: zone) }
      #expect(try await bench.store.settle(settled, in: zone) == .aborted)
      try await bench.store.removeGroup(removed, in: zone)
      bench.clock.advance(by: StoreLimits.groupLease - .seconds(1))
      _ = try await bench.store.stage(Groups.part(late, zone, 1))
      bench.clock.advance(by: .seconds(2))
      try await bench.collectAll()
      #expect(try await bench.store.group(late, in: zone)?.stage == .open, "whoever goes on with it has more time")
      bench.clock.advance(by: StoreLimits.groupLease)
      try await bench.collectAll()
      #expect(try await bench.store.group(late, in: zone)?.stage == .expired)
      #expect(try await bench.store.group(settled, in: zone)?.stage == .aborted)
      #expect(try await bench.store.group(removed, in: zone) == nil)
      for op in [settled, removed, late] {
        #expect(try await bench.commit(group: op, mutations, parts: 1, in: zone) == .aborted)
      }
      #expect(try await bench.pull(zone).isEmpty)
      bench.clock.advance(by: StoreLimits.operationKept + StoreLimits.stagingGrace)
      try await bench.collectAll()
      #expect(try await bench.store.group(late, in: zone) == nil, "remembered for so long and no longer")
      #expect(try await bench.store.status().chunks == 0, "I3")
    }
  }

  @Test(
    "a part without its chunks is not taken; with them it keeps them from collection", arguments: StoreKind.allCases)
  func chunks(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      _ = try await bench.store.beginGroup(op, floor: 0, in: zone)
      let part = Groups.part(op, zone, 0, chunks: [1, 2])
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      #expect(try await bench.store.stage(part) == .missing([Sample.hash(2)]))
      #expect(try await bench.store.group(op, in: zone)?.parts == 0)
      try await bench.store.stage([Sample.chunk(2)], in: zone.database)
      guard case .staged = try await bench.store.stage(part) else { throw Unexpected("not staged") }
      for _ in 0..<3 {
        bench.clock.advance(by: StoreLimits.groupLease - .seconds(1))
        _ = try await bench.store.stage(part)
        try await bench.collectAll()
      }
      let save = Sample.save("a", chunks: [Sample.hash(1), Sample.hash(2)])
      #expect(try await bench.commit(group: op, [save], parts: 1, in: zone).accepted == [1])
      bench.clock.advance(by: StoreLimits.operationKept)
      try await bench.collectAll()
      #expect(try await bench.store.status().chunks == 2, "the record has them now")
    }
  }

  @Test("groups keep to their limits", arguments: StoreKind.allCases)
  func limits(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let (zone, other) = (try Sample.zone(), try ZoneID(Sample.database("ada", "albums"), "x"))
      let ops = (0..<Limits.openGroupsPerUser).map { _ in bench.op() }
      for (index, op) in ops.enumerated() {
        _ = try await bench.store.beginGroup(op, floor: 0, in: index.isMultiple(of: 2) ? zone : other)
      }
      let beyond = bench.op()
      #expect(await Self.refusal { _ = try await bench.store.beginGroup(beyond, floor: 0, in: zone) } == .quotaExceeded)
      _ = try await bench.store.beginGroup(bench.op(), floor: 0, in: Sample.zone(of: "bob"))
      _ = try await bench.store.settle(ops[1], in: other)
      _ = try await bench.store.beginGroup(beyond, floor: 0, in: zone)

      func refused(_ part: StagedPart) async -> ErrorCode? {
        await Self.refusal { _ = try await bench.store.stage(part) }
      }
      #expect(await refused(Groups.part(ops[0], zone, Limits.groupParts)) == .limitExceeded)
      #expect(await refused(Groups.part(ops[0], zone, 0, records: Limits.groupRecords + 1)) == .limitExceeded)
      #expect(await refused(Groups.part(bench.op(), zone, 0)) == .noOperationId)
      #expect(await refused(Groups.part(ops[0], other, 0)) == .invalidData, "of another zone")
      let elsewhere = await Self.refusal { _ = try await bench.store.beginGroup(ops[0], floor: 0, in: other) }
      #expect(elsewhere == .invalidData, "the op is a group's of another zone")
      let whole = Groups.part(ops[0], zone, 0, records: Limits.groupRecords)
      #expect(await refused(whole) == nil)
      #expect(await refused(Groups.part(ops[0], zone, 1)) == .limitExceeded)
      let short = await Self.refusal { _ = try await bench.commit(group: ops[0], [], parts: 2, in: zone) }
      #expect(short == .invalidData, "a part is missing")
    }
  }

  @Test(
    "UNI-04, REC-12: a commit under a lost lock is refused; what was committed under it stays answered",
    arguments: StoreKind.allCases)
  func fencing(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let partition = Partition(of: zone.database)
      func lock(_ wish: LockWish, _ holder: String) async throws -> Lease {
        try await bench.store.lock("lock/x", wish, holder: holder, in: partition)
      }
      func commit(_ op: OpID, _ token: UInt64) async -> ErrorCode? {
        await Self.refusal {
          let fence = LeaseProof(lease: "lock/x", token: token)
          _ = try await bench.store.commit(
            Commit(zone: zone, op: op, isAtomic: true, mutations: [Sample.save("a")], fence: fence))
        }
      }
      let mine = try await lock(.take(ttl: .seconds(10)), "phone")
      #expect(try await lock(.take(ttl: .seconds(10)), "phone").token == mine.token, "held already: success")
      #expect(await Self.refusal { _ = try await lock(.take(ttl: .seconds(1)), "tablet") } == .lockAlreadyHeld)
      let done = bench.op()
      #expect(await commit(done, mine.token) == nil)
      #expect(await commit(bench.op("tablet"), mine.token) == .lockNotHeld, "a token is its holder's")
      bench.clock.advance(by: .seconds(8))
      #expect(try await lock(.renew(token: mine.token, ttl: .seconds(10)), "phone").token == mine.token)
      bench.clock.advance(by: .seconds(11))
      #expect(await commit(bench.op(), mine.token) == .leaseExpired)
      #expect(await Self.refusal { _ = try await lock(.renew(token: 1, ttl: .seconds(9)), "phone") } == .leaseExpired)
      let theirs = try await lock(.take(ttl: .seconds(10)), "tablet")
      #expect(theirs.token > mine.token)
      #expect(await commit(bench.op(), mine.token) == .lockNotHeld)
      #expect(await Self.refusal { _ = try await lock(.renew(token: 1, ttl: .seconds(9)), "phone") } == .lockNotHeld)
      #expect(await commit(done, mine.token) == nil, "an answer that was lost comes again")
      _ = try await lock(.release(token: mine.token), "phone")
      #expect(await commit(bench.op("tablet"), theirs.token) == nil, "a late release does nothing to a later tenure")
      for _ in 0..<2 { _ = try await lock(.release(token: theirs.token), "tablet") }
      #expect(try await lock(.take(ttl: .seconds(1)), "phone").token > theirs.token)
    }
  }

  @Test("REC-20, REC-21: what was staged survives a crash; the rest follows", arguments: StoreKind.reopening)
  func crash(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      let mutations = Self.saves(0..<800)
      _ = try await bench.store.beginGroup(op, floor: 0, in: zone)
      _ = try await bench.store.stage(Groups.part(op, zone, 0, records: 400))
      if kind == .files { bench.kill() } else { await bench.close() }
      try await bench.open()
      #expect(try await bench.store.group(op, in: zone)?.parts == 1)
      _ = try await bench.store.stage(Groups.part(op, zone, 0, records: 400))
      _ = try await bench.store.stage(Groups.part(op, zone, 1, records: 400))
      let result = try await bench.commit(group: op, mutations, parts: 2, in: zone)
      if kind == .files { bench.kill() } else { await bench.close() }
      try await bench.open()
      #expect(try await bench.commit(group: op, [], parts: 2, in: zone) == result)
      #expect(try await bench.pull(zone).count == 800)
      #expect(try await bench.store.group(op, in: zone)?.stage == .committed)
    }
  }
}

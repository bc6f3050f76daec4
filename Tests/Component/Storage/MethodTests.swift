import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: the store is on the bus as storage.proto says, and whatever comes in cannot harm it.
@Suite(.timeLimit(.minutes(2))) struct MethodTests {
  @Test("a row's way: commit, replay, changes, fetch, settle, log, drop")
  func row() async throws {
    try await StorageBench.with { bench in
      let zone = try StorageBench.zone()
      let first = try await bench.commit(1, [StorageBench.save("a", body: [7])], to: zone)
      #expect(first.outcomes.map(\.verdict) == [.accepted] && first.zoneSeq == 1 && first.incarnation > 0)
      #expect(try await bench.commit(1, [StorageBench.save("a", body: [7])], to: zone) == first)

      let request = ReadChangesRequest(zone: ZoneRef(zone), reader: "phone", readerEpoch: 1)
      let changes = try await bench.storage.changes(of: zone, request)
      let entries = try EntryPage.decode(changes.page).entries
      #expect(entries.map(\.name) == ["a"] && entries[0].own && entries[0].body.isEmpty)
      #expect(
        changes.next?.seq == 1 && changes.head == 1 && changes.next?.incarnation == first.incarnation && !changes.more)
      #expect(try await bench.storage.fetch(["a", "b"], from: zone).map(\.body) == [[7]])

      let op = OpID(writer: "phone", epoch: 1, number: 1)
      #expect(try await bench.storage.settle(op, in: zone) == first)
      let late = OpID(writer: "phone", epoch: 1, number: 2)
      #expect(try await bench.storage.settle(late, in: zone).aborted)
      #expect(try await bench.commit(2, [StorageBench.save("b")], to: zone).aborted)

      #expect(try await bench.storage.zones(of: zone.database).map(\.seq) == [1])
      #expect(try await bench.storage.zones(ofOwner: StorageBench.user).count == 1)
      #expect(try await bench.storage.zones(named: "t", in: StorageBench.partition).count == 1)
      let status = try await bench.status()
      #expect(status == StorageStatus(zones: 1, records: 1))
      #expect(try await bench.storage.drop(zone, writer: "phone"))
      let log = try await bench.storage.log(of: StorageBench.partition, after: 0, atMost: 10)
      #expect(try await bench.storage.logHeads()[Int(StorageBench.partition.number)] == 2)
      #expect(try await bench.storage.logHeads().reduce(0, +) == 2)
      #expect(
        log.entries.map(\.position) == [1, 2] && log.entries.map(\.zoneDeleted) == [false, true] && log.head == 2)
    }
  }

  @Test("UNI-07: each commit of a batch is as if it had come by itself, whatever becomes of the others")
  func batch() async throws {
    try await StorageBench.with { bench in
      func commit(_ op: UInt64, _ user: String, _ mutation: CaravanModel.Mutation) throws -> CommitRequest {
        let database = DatabaseID(
          container: try ContainerID("notes"), environment: .development, owner: try UserID(user))
        let op = OpID(writer: user, epoch: 1, number: op)
        return CommitRequest(
          Commit(zone: try ZoneID(database, "t"), op: op, isAtomic: false, mutations: [mutation]))
      }
      let new = CaravanModel.Mutation(name: "a", base: .absent, change: .save(type: 1, body: [1], chunks: []))
      func ask(_ commits: [CommitRequest]) async throws(CaravanError) -> [CommitAnswer] {
        let subject = StorageMethod.commits.subject(in: StorageBench.partition)
        let reply: CommitBatchReply = try await bench.bus.call(CommitBatch(commits: commits), to: subject)
        return reply.answers
      }
      let users = (1...6).map { "user-\($0)" }
      let first = try await ask(users.map { try commit(1, $0, new) })
      for answer in first {
        guard case .reply(let reply)? = answer.kind else { throw CaravanError(.internalError, "\(answer)") }
        #expect(reply.outcomes.map(\.verdict) == [.accepted] && reply.zoneSeq == 1)
      }
      let second = try await ask([
        try commit(1, users[0], new), try commit(2, users[1], new), try commit(2, users[2], StorageBench.save("")),
        CommitRequest(), try commit(2, users[3], StorageBench.save("b")),
      ])
      #expect(second[0] == first[0], "the same op has the same outcome")
      guard case .reply(let conflict)? = second[1].kind, case .failure(let name)? = second[2].kind,
        case .failure(let empty)? = second[3].kind, case .reply(let accepted)? = second[4].kind
      else { throw CaravanError(.internalError, "\(second)") }
      #expect(conflict.outcomes.map(\.verdict) == [.conflict] && conflict.outcomes[0].server?.body == [1])
      #expect(name.model().code == .invalidData && empty.model().code == .invalidData)
      #expect(accepted.outcomes.map(\.verdict) == [.accepted] && accepted.zoneSeq == 2)
      let many = [CommitRequest](repeating: CommitRequest(), count: BatchLimits.commits + 1)
      let refusal = await #expect(throws: CaravanError.self) { try await ask(many) }
      #expect(refusal?.code == .invalidData)
    }
  }

  @Test("leases and cursors over the bus, with fencing")
  func ownership() async throws {
    try await StorageBench.with { bench in
      let partition = try Partition(3)
      let mine = try await bench.storage.lease(["notify/3"], holder: "one", for: .seconds(10), in: partition).grants
      #expect(mine[0].granted && mine[0].remainingMilliseconds == 10_000)
      let (theirs, living) = try await bench.storage.lease(
        ["notify/3", "query/3"], holder: "two", for: .seconds(10), listing: "notify/", in: Partition(40))
      #expect(!theirs[0].granted && theirs[0].holder == "one", "leases are one space, whatever the partition asked")
      #expect(living.map(\.name) == ["notify/3"] && living.map(\.holder) == ["one"])
      func cursor(_ position: UInt64?, token: UInt64) async throws -> CursorReply {
        try await bench.storage.call(
          .cursor, in: partition,
          CursorRequest(
            consumer: "notify", partition: 3, position: position, lease: "notify/3", fencingToken: token))
      }
      #expect(try await cursor(17, token: mine[0].token).position == 17)
      let refused = await #expect(throws: CaravanError.self) { try await cursor(18, token: mine[0].token + 1) }
      #expect(refused?.code == .lockNotHeld)
      #expect(try await cursor(nil, token: 0).position == 17)
    }
  }

  @Test("hints: contiguous by `previous`, entries ride along when small, a zone's end is told")
  func hints() async throws {
    try await StorageBench.with { bench in
      let zone = try StorageBench.zone()
      let changes = try await bench.bus.subscribe(.everyChange, group: nil, capacity: 100)
      _ = try await bench.commit(1, [StorageBench.save("a", body: [7]), StorageBench.save("b")], to: zone)
      _ = try await bench.commit(2, [StorageBench.save("big", body: [UInt8](repeating: 1, count: 70_000))], to: zone)
      _ = try await bench.storage.drop(zone, writer: "phone")
      var position: UInt64 = 0
      var hints: [ChangeHint] = []
      while position < 3, case .message(let incoming)? = await changes.next() {
        #expect(incoming.subject == .changes(StorageBench.partition))
        let hint = try ChangeHint.decode(incoming.message.payload)
        // Where the logs stood when storage began, or nothing.
        if hint.log.isEmpty { continue }
        #expect(hint.previous == position && hint.log.first?.position == position + 1)
        #expect(hint.pages.isEmpty || hint.pages.count == hint.log.count)
        position += UInt64(hint.log.count)
        hints.append(hint)
      }
      let log = hints.flatMap(\.log)
      #expect(
        log.map(\.high) == [2, 3, 3] && log.map(\.low) == [0, 2, 3] && log.map(\.zoneDeleted) == [false, false, true])
      let first = try EntryPage.decode(#require(hints.first?.pages.first))
      #expect(first.entries.map(\.name) == ["a", "b"])
      let big = hints.first { $0.log.contains { $0.high == 3 && $0.low == 2 } }
      #expect(big?.pages.isEmpty == true, "70,000 bytes are read from the log")
      changes.cancel()
    }
  }

  @Test(
    "garbage, and requests that miss or lie: a typed refusal on every method, and life goes on",
    arguments: StorageMethod.allCases)
  func garbage(method: StorageMethod) async throws {
    try await StorageBench.with { bench in
      var random = SplitMix64(seed: 11)
      let subject = method.subject(in: StorageBench.partition)
      for size in [1, 2, 7, 40, 300, 5_000] {
        let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        do throws(CaravanError) {
          _ = try await bench.bus.request(Message(bytes), to: subject, deadline: .seconds(5))
        } catch { #expect(error.code != .timedOut && error.code != .internalError, "\(error)") }
      }
      if ![.status, .heads, .log, .actions, .damage, .time].contains(method) {
        let empty = await #expect(throws: CaravanError.self) {
          try await bench.bus.request(Message(), to: subject, deadline: .seconds(5))
        }
        #expect(empty?.code == .invalidData || empty?.code == .limitExceeded)
      }
      let status = try await bench.status()
      #expect(status == StorageStatus())
    }
  }

  @Test("what is too large or in the wrong place is refused by name")
  func bounds() async throws {
    try await StorageBench.with { bench in
      let zone = try StorageBench.zone()
      let elsewhere = Partition.all.first { $0 != StorageBench.partition }!
      func code(_ body: () async throws -> Void) async -> ErrorCode? {
        do { try await body() } catch { return (error as? CaravanError)?.code }
        return nil
      }
      let save = CaravanWire.Mutation(StorageBench.save("a"))
      func commit(_ mutations: [CaravanWire.Mutation], in partition: Partition = StorageBench.partition) async throws {
        let request = CommitRequest(zone: ZoneRef(zone), writer: "phone", epoch: 1, op: 1, mutations: mutations)
        _ = try await bench.storage.commit(request, in: partition)
      }
      #expect(await code { try await commit([save], in: elsewhere) } == .invalidData)
      #expect(await code { try await commit([CaravanWire.Mutation](repeating: save, count: 401)) } == .limitExceeded)
      let big = StorageBench.save("a", body: [UInt8](repeating: 0, count: Limits.recordBytes + 1))
      #expect(await code { try await commit([CaravanWire.Mutation(big)]) } == .limitExceeded)
      #expect(await code { try await commit([CaravanWire.Mutation(StorageBench.save(""))]) } == .invalidData)
      #expect(await code { try await commit([CaravanWire.Mutation(StorageBench.save("a\n"))]) } == .invalidData)
      #expect(await code { try await commit([CaravanWire.Mutation(name: "a")]) } == .invalidData)
      #expect(
        await code { try await commit([CaravanWire.Mutation(name: "a", kind: .save, chunks: [1])]) } == .invalidData)
      let names = (0...StoreLimits.fetchedNames).map { "r\($0)" }
      #expect(await code { _ = try await bench.storage.fetch(names, from: zone) } == .limitExceeded)
      let foreign = ReadLogRequest(partition: elsewhere.number)
      #expect(
        await code { let _: ReadLogReply = try await bench.storage.call(.log, in: StorageBench.partition, foreign) }
          == .invalidData)
      #expect(
        await code { _ = try await bench.storage.lease([""], holder: "h", for: .seconds(1), in: elsewhere) }
          == .invalidData)
      let lists = ListZonesRequest(partition: elsewhere.number, database: DatabaseRef(zone.database))
      #expect(
        await code { let _: ListZonesReply = try await bench.storage.call(.zones, in: elsewhere, lists) }
          == .invalidData)
      #expect(try await bench.status() == StorageStatus())
    }
  }

  @Test("maintenance runs by itself: what nobody refers to is gone after its lease")
  func maintenance() async throws {
    try await StorageBench.with { bench in
      _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: [Chunk([1, 2, 3])]))
      #expect(try await bench.status().chunks == 1)
      await bench.clock.untilSleepers()
      bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1))
      try await eventually("the chunk is collected") {
        bench.clock.advance(by: StorageLimits.maintenanceInterval)
        return try await bench.status().chunks == 0
      }
    }
  }

  @Test("many clients at once: every row once, every commit answered")
  func load() async throws {
    try await withTemporaryDirectory { path in
      try await StorageBench.with(StoreOptions(.directory(path))) { bench in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for client in 0..<32 {
            group.addTask {
              let user = UserID(unchecked: "user-\(client % 8)")
              let zone = try ZoneID(
                DatabaseID(container: ContainerID(unchecked: "notes"), environment: .development, owner: user), "t")
              for row in 0..<20 {
                let result = try await bench.storage.commit(to: zone, [StorageBench.save("\(client).\(row)")])
                guard case .applied = result else { throw CaravanError(.internalError, "\(result)") }
              }
            }
          }
          try await group.waitForAll()
        }
        #expect(try await bench.status() == StorageStatus(zones: 8, records: 640))
      }
    }
  }
}

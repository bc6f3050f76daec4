import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what is put off is done when its time has come, once, unless it is called off, whatever dies meanwhile
/// (CK-32). Method: the actions on a store in memory, with time in the test's hands; and once through the service.
@Suite(.timeLimit(.minutes(1))) struct DelayedActionTests {
  private static let month: Int64 = 30 * 86_400_000

  /// What one process has in memory.
  private struct Process {
    let actions: DelayedActions
    var expiry: Expiry

    init(_ store: StoreSQLite, _ bench: StorageBench) {
      actions = DelayedActions(store: store, host: bench.host)
      expiry = Expiry(store: store, actions: actions, host: bench.host)
    }

    mutating func sweep() async throws -> Int {
      var done = 0
      for _ in 0..<100 {
        let progress = try await expiry.step()
        done += progress.actions
        guard progress.hasMore else { return done }
      }
      throw CaravanError(.internalError, "a sweep does not end")
    }
  }

  private static func with(_ body: (StoreSQLite, StorageBench) async throws -> Void) async throws {
    let bench = try StorageBench()
    let store = try await StoreSQLite(.simulation(.memory), host: bench.host)
    try await body(store, bench)
    await store.close()
  }

  private static func zone(_ name: String, of user: String = "ada", shard: UInt32 = 0) throws -> ZoneID {
    let database = DatabaseID(
      container: ContainerID(unchecked: "notes"), environment: .development, owner: UserID(unchecked: user),
      shard: shard)
    return try ZoneID(database, name)
  }

  private static func exists(_ zone: ZoneID, _ store: StoreSQLite) async throws -> Bool {
    try await store.zones(in: Partition(of: zone.database), .database(zone.database)).contains { $0.zone == zone }
  }

  private static func target(_ zone: ZoneID) -> DelayedAction { DelayedAction(target: .zone(ZoneRef(zone))) }

  private static func code(_ body: () async throws -> Void) async -> ErrorCode? {
    do { try await body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  @Test("CK-32: a log says what went, and how much of it")
  func told() async throws {
    let bench = try StorageBench()
    let sink = MemoryLogSink()
    let host = bench.host.with(log: Log(level: .info, clock: bench.clock, sink: sink))
    let store = try await StoreSQLite(.simulation(.memory), host: host)
    let actions = DelayedActions(store: store, host: host)
    var expiry = Expiry(store: store, actions: actions, host: host)
    for (number, name) in ["t", "u", "v"].enumerated() {
      let saves = (0...number).map { StorageBench.save("r\($0)") }
      _ = try await store.commit(
        Commit(
          zone: try Self.zone(name), op: OpID(writer: "phone", epoch: 1, number: UInt64(number + 1)), isAtomic: true,
          mutations: saves))
    }
    _ = try await actions.schedule(Self.target(try Self.zone("u")), after: Self.month)
    _ = try await actions.schedule(DelayedAction(target: .user("ada")), after: Self.month + 1_000)
    let ends: [(LogKey, String, Int, Int)] = [(.zone, "\(try Self.zone("u"))", 1, 2), (.user, "ada", 2, 4)]
    for (key, what, zones, records) in ends {
      bench.clock.advance(by: key == .zone ? .milliseconds(Self.month) : .milliseconds(1_000))
      while try await expiry.step().hasMore {}
      let line = try #require(sink.records.last)
      #expect(line.level == .info && line.message == "a deletion whose time has come is done")
      #expect(line.fields[key] == .string(what))
      #expect(line.fields[.zones] == .int(Int64(zones)) && line.fields[.records] == .int(Int64(records)))
      #expect((line.fields[.bytes]?.intValue ?? 0) > 0)
    }
    #expect(sink.records.count == 2)
    await store.close()
  }

  @Test("CK-32: a zone goes when its grace is over, not before, and once; who asks twice waits no longer")
  func zone() async throws {
    try await Self.with { store, bench in
      let (zone, other) = (try Self.zone("t"), try Self.zone("u"))
      for zone in [zone, other] { _ = try await store.createZone(zone, writer: "phone") }
      var process = Process(store, bench)
      let start = bench.clock.wallTime.milliseconds
      let first = try await process.actions.schedule(Self.target(zone), after: Self.month)
      #expect(first.dueMilliseconds == UInt64(start + Self.month))
      bench.clock.advance(by: .seconds(86_400))
      #expect(try await process.actions.schedule(Self.target(zone), after: Self.month) == first)
      #expect(try await process.actions.list().actions == [first])
      #expect(try await process.sweep() == 0)
      #expect(try await Self.exists(zone, store))
      bench.clock.advance(by: .seconds(29 * 86_400 + 1))
      #expect(try await process.sweep() == 1)
      #expect(try await !Self.exists(zone, store))
      #expect(try await Self.exists(other, store))
      #expect(try await process.actions.list().actions.isEmpty)
      #expect(try await process.sweep() == 0)
    }
  }

  @Test("TRU-09: with everything that a user has, how they are called in containers goes, in both environments")
  func aliases() async throws {
    try await Self.with { store, bench in
      let devices = [EnrolledDevice("ada", "phone"), EnrolledDevice("ada", "tablet"), EnrolledDevice("ada2", "phone")]
      var zones: [ZoneID] = []
      for (number, environment) in CaravanModel.Environment.allCases.enumerated() {
        for container in ["album", "notes"] {
          let zone = try AliasNames.zone(of: ContainerID(container), in: environment)
          zones.append(zone)
          var texts: [String: String] = [:]
          for (index, device) in devices.enumerated() {
            for name in [AliasNames.name(device.user), AliasNames.name(device)] {
              texts[name] = "alias\(number)\(index)\(name.count)"
              texts[AliasNames.name(alias: texts[name] ?? "")] = name
            }
          }
          let saves = texts.map { name, text in
            StorageBench.save(name, body: RecordFields([AliasNames.content: .text(text)]).body)
          }
          let op = OpID(writer: "@sync", epoch: UInt64(number + 1), number: UInt64(zones.count))
          _ = try await store.commit(Commit(zone: zone, op: op, isAtomic: true, mutations: saves))
        }
      }
      var process = Process(store, bench)
      _ = try await process.actions.schedule(DelayedAction(target: .user("ada")), after: 1_000)
      bench.clock.advance(by: .seconds(2))
      #expect(try await process.sweep() == 1)
      for zone in zones {
        let page = try await store.changes(ChangeQuery(zone: zone))
        let left = try EntryPage.decode(page.page).entries.filter { !$0.deleted }
        let texts = try left.map { "\($0.name) \(try RecordFields(body: $0.body)[AliasNames.content])" }
        #expect(left.count == 4 && texts.allSatisfy { !$0.contains("ada/") && !$0.contains("user:ada ") }, "\(texts)")
      }
    }
  }

  @Test("CK-32: what is called off is not done; what has begun, or is not there, cannot be called off")
  func cancel() async throws {
    try await Self.with { store, bench in
      let zone = try Self.zone("t")
      _ = try await store.createZone(zone, writer: "phone")
      var process = Process(store, bench)
      _ = try await process.actions.schedule(Self.target(zone), after: 1_000)
      _ = try await process.actions.cancel(Self.target(zone))
      bench.clock.advance(by: .seconds(2))
      #expect(try await process.sweep() == 0)
      #expect(try await Self.exists(zone, store))
      #expect(await Self.code { _ = try await process.actions.cancel(Self.target(zone)) } == .noSuchObject)
      // Late, and not begun.
      _ = try await process.actions.schedule(Self.target(zone), after: 1_000)
      bench.clock.advance(by: .seconds(2))
      _ = try await process.actions.cancel(Self.target(zone))
      #expect(try await process.sweep() == 0)
      let nowhere = Self.target(try Self.zone("nowhere"))
      #expect(await Self.code { _ = try await process.actions.schedule(nowhere, after: 1) } == .zoneDoesNotExist)
      for grace in [-1, 367 * 86_400_000] as [Int64] {
        let code = await Self.code { _ = try await process.actions.schedule(Self.target(zone), after: grace) }
        #expect(code == .limitExceeded)
      }
      #expect(await Self.code { _ = try await process.actions.cancel(DelayedAction()) } == .invalidData)
    }
  }

  @Test("CK-32, CK-45: a zone made anew under the name is not the one that was meant, also for who begins again")
  func anotherIncarnation() async throws {
    try await Self.with { store, bench in
      let zone = try Self.zone("t")
      _ = try await store.createZone(zone, writer: "phone")
      var process = Process(store, bench)
      _ = try await process.actions.schedule(Self.target(zone), after: 1_000)
      _ = try await store.deleteZone(zone, writer: "phone")
      _ = try await store.createZone(zone, writer: "phone")
      bench.clock.advance(by: .seconds(2))
      #expect(try await process.sweep() == 1)
      #expect(try await Self.exists(zone, store))
      // An action for the life before gives way to one for this.
      _ = try await process.actions.schedule(Self.target(zone), after: 1_000)
      _ = try await store.deleteZone(zone, writer: "phone")
      _ = try await store.createZone(zone, writer: "phone")
      let again = try await process.actions.schedule(Self.target(zone), after: 9_000)
      #expect(again.dueMilliseconds == UInt64(bench.clock.wallTime.milliseconds + 9_000))
      bench.clock.advance(by: .seconds(10))
      #expect(try await process.sweep() == 1)
      #expect(try await !Self.exists(zone, store))
    }
  }

  @Test("CK-32: everything of a user goes, shards of default zones too, in bounded steps; others' stays")
  func user() async throws {
    try await Self.with { store, bench in
      let zones =
        try (0..<150).map { try Self.zone("z\($0)") }
        + [Self.zone(DefaultZone.name, shard: 3), Self.zone(DefaultZone.name, shard: 40)]
      let others = [try Self.zone("t", of: "adam"), try Self.zone(DefaultZone.name, of: "ad", shard: 3)]
      for zone in zones + others { _ = try await store.createZone(zone, writer: "phone") }
      var process = Process(store, bench)
      _ = try await process.actions.schedule(DelayedAction(target: .user("ada")), after: Self.month)
      bench.clock.advance(by: .milliseconds(Self.month + 1))
      let progress = try await process.expiry.step()
      #expect(progress.actions == 0 && progress.hasMore)
      #expect(try await process.actions.list().actions.map(\.begun) == [true])
      let cancelled = await Self.code { _ = try await process.actions.cancel(DelayedAction(target: .user("ada"))) }
      #expect(cancelled == .noSuchObject)
      // The process dies, and another takes over when the lease of the first is over.
      var next = Process(store, bench)
      bench.clock.advance(by: .seconds(31))
      #expect(try await next.sweep() == 1)
      for zone in zones { #expect(try await !Self.exists(zone, store), "\(zone)") }
      for zone in others { #expect(try await Self.exists(zone, store), "\(zone)") }
    }
  }

  @Test("CK-32: the service does it by itself, for who asks on the bus, and says how often")
  func service() async throws {
    try await StorageBench.with { bench in
      let zone = try StorageBench.zone()
      _ = try await bench.commit(1, [StorageBench.save("r")], to: zone)
      let target = DelayedAction.Target.zone(ZoneRef(zone))
      let action = try await bench.storage.schedule(target, after: .seconds(60), by: "phone")
      #expect(action.requestedBy == "phone" && !action.begun)
      #expect(try await bench.storage.actions().actions == [action])
      #expect(try await bench.storage.cancel(target) == action)
      _ = try await bench.storage.schedule(target, after: .seconds(60), by: "phone")
      try await eventually("the zone is gone") {
        bench.clock.advance(by: .seconds(10))
        return try await bench.storage.zones(of: zone.database).isEmpty
      }
      try await eventually("it is counted") { bench.actions("done") == 1 }
      #expect(bench.actions("scheduled") == 2 && bench.actions("cancelled") == 1)
    }
  }
}

extension StorageBench {
  fileprivate func actions(_ outcome: String) -> UInt64 {
    host.metrics.counter(CounterName("caravan_storage_actions_total", ""), [.outcome: outcome]).value
  }
}

import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: any number of processes work on one database. Method: stores that know nothing of each other, on one.
@Suite(.timeLimit(.minutes(2))) struct PostgresSharingTests {
  struct Pair {
    let stores: [StorePostgres]
    let listeners: [Listener]
  }

  /// Two stores that were opened at the same moment.
  private func withPair(_ body: (Pair) async throws -> Void) async throws {
    try await PostgresServer.shared.get().withSchema { address in
      let listeners = [Listener(), Listener()]
      let (one, two) = (try Self.options(address, writers: 3), try Self.options(address, writers: 2))
      let host = Host.live(logLevel: .error)
      async let first = StorePostgres(one, host: host, observer: listeners[0])
      async let second = StorePostgres(two, host: host, observer: listeners[1])
      let pair = Pair(stores: [try await first, try await second], listeners: listeners)
      try await body(pair)
      for store in pair.stores { await store.close() }
    }
  }

  @Test("stores on one database have one name, and those on another have another")
  func names() async throws {
    func names() async throws -> [String?] {
      let names = Mutex<[String?]>([])
      try await withPair { pair in
        for store in pair.stores {
          let name = try await store.sharedName()
          names.withLock { $0.append(name) }
        }
      }
      return names.withLock { $0 }
    }
    let (here, there) = (try await names(), try await names())
    #expect(here[0] != nil && here[0] == here[1] && there[0] != here[0])
  }

  private static func options(_ address: String, writers: Int) throws -> PostgresOptions {
    var options = PostgresOptions(try ConnectionString(address))
    options.isWhole = Sample.isWhole
    (options.writers, options.readers) = (writers, 2)
    return options
  }

  @Test("I6: two stores commit to the same zones; no update is lost, seqs and log have no holes")
  func counters() async throws {
    try await withPair { pair in
      let zones = try (0..<3).map { try Sample.zone("z\($0)", of: "user-\($0 % 2)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for client in 0..<12 {
          group.addTask {
            for round in 1...15 {
              let op = UInt64(round) * 1_000
              try await Self.increment(zones[client % 3], client: client, op: op, pair.stores[(client + round) % 2])
            }
          }
        }
        try await group.waitForAll()
      }
      for zone in zones {
        let entries = try await pair.stores[0].fetch(["count"], in: zone)
        #expect(entries.first?.body == [60] && entries.first?.version == 60, "an increment was lost")
      }
      try await checkLogs(pair, of: zones)
    }
  }

  /// Reads the counter and saves it one higher, until nobody was quicker.
  private static func increment(_ zone: ZoneID, client: Int, op: UInt64, _ store: StorePostgres) async throws {
    var op = op
    while true {
      let entry = try await store.fetch(["count"], in: zone).first
      let base = entry.map { Base.version($0.version) } ?? .absent
      let save = Sample.save("count", base: base, body: [(entry?.body.first ?? 0) + 1])
      let result = try await store.commit(
        Commit(zone: zone, op: OpID(writer: "w\(client)", epoch: 1, number: op), isAtomic: false, mutations: [save]))
      if !result.accepted.isEmpty { return }
      op += 1
    }
  }

  private func checkLogs(_ pair: Pair, of zones: [ZoneID]) async throws {
    for partition in Set(zones.map { Partition(of: $0.database) }) {
      let page = try await pair.stores[1].log(of: partition, after: 0, atMost: 4_096)
      #expect(page.entries.map(\.position) == (1...page.head).map { $0 })
      for zone in zones where Partition(of: zone.database) == partition {
        let ranges = page.entries.filter { $0.zone == zone }
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.high == $1.low }, "ranges of versions join")
      }
      // Each hears of its own commits in order, and together they hear of all.
      let heard = pair.listeners.map { $0.changes.filter { $0.partition == partition }.map(\.log) }
      for own in heard { #expect(zip(own, own.dropFirst()).allSatisfy { $0.position < $1.position }) }
      #expect((heard[0] + heard[1]).sorted { $0.position < $1.position } == page.entries)
      #expect(heard.allSatisfy { !$0.isEmpty })
    }
  }

  @Test("UNI-07: the same op at two stores at once has one result")
  func sameOp() async throws {
    try await withPair { pair in
      let zone = try Sample.zone()
      for number in 1...40 as ClosedRange<UInt64> {
        let commit = Commit(
          zone: zone, op: OpID(writer: "phone", epoch: 1, number: number), isAtomic: false,
          mutations: [Sample.save("r", base: .any), Sample.save("n\(number)", base: .absent)])
        async let first = pair.stores[0].commit(commit)
        async let second = pair.stores[1].commit(commit)
        let (one, other) = try await (first, second)
        #expect(one == other && one.accepted == [2 * number - 1, 2 * number])
      }
    }
  }

  @Test("REC-25: leases go by the database's clock, whatever the processes' clocks say; fencing holds across them")
  func leases() async throws {
    try await PostgresServer.shared.get().withSchema { address in
      let options = PostgresOptions(try ConnectionString(address))
      let live = Host.live(logLevel: .error)
      var stores: [StorePostgres] = []
      for year in [1980, 2100] {
        let clock = ManualClock(epoch: WallTime(milliseconds: Int64(year - 1970) * 365 * 86_400_000))
        let host = Host(
          clock: clock, random: live.random, executors: live.executors, log: live.log, metrics: MetricsRegistry())
        stores.append(try await StorePostgres(options, host: host))
      }
      func take(_ store: Int, _ holder: String, _ ttl: Duration) async throws -> Lease {
        try #require(try await stores[store].lease(["notify/1"], holder: holder, ttl: ttl).first)
      }
      let mine = try await take(0, "one", .seconds(60))
      #expect(mine.isGranted && mine.token == 1)
      let refused = try await take(1, "two", .seconds(60))
      #expect(!refused.isGranted && refused.remaining > .seconds(50) && refused.remaining <= .seconds(60))
      #expect(try await stores[1].leases(beginning: "notify/").map(\.holder) == ["one"])
      _ = try await take(0, "one", .milliseconds(1))
      try await eventually("the lease runs out") { try await take(1, "two", .seconds(60)).isGranted }
      let partition = try Partition(1)
      let late = await #expect(throws: CaravanError.self) {
        try await stores[0].moveCursor(
          of: "notify", in: partition, to: 5, proof: LeaseProof(lease: "notify/1", token: mine.token))
      }
      #expect(late?.code == .lockNotHeld)
      try await stores[1].moveCursor(
        of: "notify", in: partition, to: 7, proof: LeaseProof(lease: "notify/1", token: 2))
      #expect(try await stores[0].cursor(of: "notify", in: partition) == 7)
      for store in stores { await store.close() }
    }
  }

  @Test("any number of processes may make the tables at once")
  func making() async throws {
    try await PostgresServer.shared.get().withSchema { address in
      let options = PostgresOptions(try ConnectionString(address))
      let host = Host.live(logLevel: .error)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { await (try StorePostgres(options, host: host)).close() } }
        try await group.waitForAll()
      }
      let store = try await StorePostgres(options, host: host)
      #expect(try await store.status() == StoreStatus())
      await store.close()
    }
  }

  @Test("two processes tidy up while both write; what is counted stays right")
  func maintenance() async throws {
    try await withPair { pair in
      let zone = try Sample.zone("big")
      for batch in 0..<6 {
        _ = try await pair.stores[0].commit(Self.batch(zone, batch, of: 200))
      }
      #expect(try await pair.stores[1].deleteZone(zone, writer: "phone"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in pair.stores {
          group.addTask { while try await store.collect() {} }
          group.addTask { for batch in 10..<20 { _ = try await store.commit(Self.batch(zone, batch, of: 10)) } }
        }
        try await group.waitForAll()
      }
      let page = try await pair.stores[0].changes(ChangeQuery(zone: zone))
      #expect(try EntryPage.decode(page.page).entries.count == 100, "the same ten batches, twice")
      #expect(try await pair.stores[1].status().counted == StoreStatus(zones: 1, records: 100))
    }
  }

  private static func batch(_ zone: ZoneID, _ batch: Int, of size: Int) -> Commit {
    Commit(
      zone: zone, op: OpID(writer: "phone", epoch: 1, number: UInt64(batch)), isAtomic: false,
      mutations: (0..<size).map { Sample.save("\(batch).\($0)") })
  }
}

import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

@testable import CaravanStorePostgres

/// Goal: no owner uses up the ids of zones of a partition, and whoever runs it hears when they are few (TRU-03).
/// Method: more zones than an owner has room for, put into the table.
@Suite(.timeLimit(.minutes(4))) struct ZoneShareTests {
  private static func with(
    _ log: Log? = nil, _ body: (StorePostgres, Connection, Host) async throws -> Void
  ) async throws {
    try await PostgresServer.shared.get().withSchema { address in
      var options = PostgresOptions(try ConnectionString(address))
      (options.writers, options.readers) = (2, 1)
      let live = Host.live(logLevel: .error)
      let host = log.map { live.with(log: $0) } ?? live
      let store = try await StorePostgres(options, host: host, observer: Listener())
      let db = try Connection(.maintenance(ConnectionString(address)))
      defer { db.close() }
      try await body(store, db, host)
      await store.close()
    }
  }

  /// Dead zones of the same owner as the one that is there, which were deleted then.
  private static func add(_ numbers: ClosedRange<Int>, time: String, _ db: Connection) throws {
    try db.execute(
      """
      INSERT INTO caravan_zones(partition, id, database, name, seq, records, bytes, stage, linked, changed, purged,
        snapshot, oldest_snapshot, incarnation, lost_through, time)
      SELECT partition, 1 + g, convert_to('ada/app' || g % 3 || '/development', 'UTF8'),
        convert_to('z' || g, 'UTF8'), g, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, \(time)
      FROM caravan_zones, generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS g WHERE id = 1
      """)
    try db.execute("UPDATE caravan_partitions SET last_zone = 1 + \(numbers.upperBound) WHERE last_zone > 0")
  }

  private static let now = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"

  @Test("TRU-03: an owner has so many zones in a partition, deleted ones counted; another's are others")
  func share() async throws {
    try await Self.with { store, db, _ in
      _ = try await store.createZone(Sample.zone(), writer: "")
      try Self.add(1...StoreLimits.zonesOfOwner - 2, time: Self.now, db)
      _ = try await store.createZone(Sample.zone("last"), writer: "")
      let refusal = await #expect(throws: CaravanError.self) {
        try await store.createZone(Sample.zone("more"), writer: "")
      }
      #expect(refusal?.code == .limitExceeded && refusal?.message.contains("30 days") == true)
      let op = OpID(writer: "ada/phone/1", epoch: 1, number: 1)
      let commit = Commit(zone: try Sample.zone("more"), op: op, isAtomic: false, mutations: [Sample.save("a")])
      await #expect(throws: CaravanError.self) { try await store.commit(commit) }
      _ = try await store.createZone(Sample.zone("last"), writer: "")
      _ = try await store.createZone(Sample.zone(of: "ada2"), writer: "")
      _ = try await store.createZone(Sample.zone(of: "bob"), writer: "")
    }
  }

  @Test("TRU-03: zones that were deleted long ago are forgotten, and count no more")
  func forgotten() async throws {
    try await Self.with { store, db, _ in
      let zone = try Sample.zone()
      _ = try await store.createZone(zone, writer: "")
      let recent = StoreLimits.zonesOfOwner - 100
      try Self.add(1...recent, time: Self.now, db)
      try Self.add(
        recent + 1...StoreLimits.zonesOfOwner - 1, time: "\(Self.now) - 31 * CAST(86400000 AS bigint)", db)
      await #expect(throws: CaravanError.self) { try await store.createZone(Sample.zone("more"), writer: "") }
      for _ in 0..<2 * Partition.all.count { while try await store.collect() {} }
      let left = try db.run("SELECT count(*), max(seq) FROM caravan_zones").first
      #expect(left?.integer(0) == Int64(recent) + 4, "beside the others, the zone that is there and one a database")
      #expect(left?.unsigned(1) == UInt64(StoreLimits.zonesOfOwner - 1), "behind which the next ones begin")
      _ = try await store.createZone(Sample.zone("more"), writer: "")
    }
  }

  @Test("TRU-03: a partition whose ids of zones run out says so in a metric and, once, in the log")
  func warning() async throws {
    let sink = MemoryLogSink()
    try await Self.with(Log(level: .warning, clock: ManualClock(), sink: sink)) { store, db, host in
      _ = try await store.status()
      #expect(host.metrics.snapshot().prometheusText.contains(#"caravan_storage_numbers_used_ratio{kind="zones"} 0"#))
      try db.execute("UPDATE caravan_partitions SET last_zone = \(PostgresLimits.highestZone) WHERE partition = 7")
      for _ in 0..<3 { _ = try await store.status() }
      #expect(host.metrics.snapshot().prometheusText.contains(#"caravan_storage_numbers_used_ratio{kind="zones"} 1"#))
      #expect(sink.records.filter { $0.message.contains("numbers for zones") }.count == 1)
    }
  }
}

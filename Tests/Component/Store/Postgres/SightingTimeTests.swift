import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import Testing

/// Goal: when a device was last seen is said in the time of the database's server, by which tombstones are purged, and
/// not in that of storage's machine (TRU-12). Method: a store whose machine is years ahead.
@Suite(.timeLimit(.minutes(1))) struct SightingTimeTests {
  private struct WrongClock: CaravanRuntime.Clock {
    let right: any CaravanRuntime.Clock

    var wallTime: WallTime { WallTime(milliseconds: right.wallTime.milliseconds + 10 * 365 * 86_400_000) }
    var now: Instant { right.now }
    func sleep(until instant: Instant) async throws { try await right.sleep(until: instant) }
    func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) { right.call(at: instant, body) }
  }

  @Test("TRU-12: a machine whose clock is ahead keeps no device in sight for years")
  func aheadOfTheServer() async throws {
    try await PostgresServer.shared.get().withSchema { address in
      var options = PostgresOptions(try ConnectionString(address))
      (options.writers, options.readers) = (2, 1)
      let live = Host.live(logLevel: .error)
      let store = try await StorePostgres(options, host: live.with(clock: WrongClock(right: live.clock)))
      let zone = try Sample.zone()
      let op = OpID(writer: "ada/phone/1", epoch: 1, number: 1)
      _ = try await store.commit(Commit(zone: zone, op: op, isAtomic: false, mutations: [Sample.save("a")]))
      let reader = ChangeQuery.Reader(writer: "ada/tablet/1", epoch: 1)
      _ = try await store.changes(ChangeQuery(zone: zone, reader: reader))
      while try await store.collect() {}
      let db = try Connection(ConnectionOptions(ConnectionString(address)))
      defer { db.close() }
      let age = try db.run(
        "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint) - sighted FROM caravan_sightings"
      ).first?.integer(0)
      #expect((0..<60_000).contains(try #require(age)))
      await store.close()
    }
  }
}

import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

@testable import CaravanStorePostgres

/// Goal: what a device can leave behind in PostgreSQL is bounded (TRU-03). Method: devices with more epochs and
/// outcomes than are kept, one step of maintenance, and the tables.
@Suite(.timeLimit(.minutes(4))) struct OutcomeMaintenanceTests {
  private static func with(_ body: (StorePostgres, Connection, ZoneID) async throws -> Void) async throws {
    try await PostgresServer.shared.get().withSchema { address in
      var options = PostgresOptions(try ConnectionString(address))
      (options.writers, options.readers) = (2, 1)
      let store = try await StorePostgres(options, host: .live(logLevel: .error), observer: Listener())
      let db = try Connection(.maintenance(ConnectionString(address)))
      defer { db.close() }
      try await body(store, db, try Sample.zone())
      await store.close()
    }
  }

  @Test("TRU-03, TRU-19: outcomes of epochs that a device has left behind go, those of a service and of groups stay")
  func epochs() async throws {
    try await Self.with { store, db, zone in
      let most = UInt64(StoreLimits.epochsOfDevice)
      _ = try await store.beginGroup(OpID(writer: "ada/phone/1", epoch: 1, number: 2), floor: 0, in: zone)
      for epoch in 1...most + 10 {
        for writer in ["ada/phone/1", "@sync"] {
          _ = try await store.settle(OpID(writer: writer, epoch: epoch, number: 1), in: zone)
        }
      }
      for number in 1...5 as ClosedRange<UInt64> {
        _ = try await store.settle(OpID(writer: "ada/laptop/1", epoch: 1, number: number), in: zone)
      }
      while try await store.collect() {}
      func count(_ writer: String) throws -> Int64? {
        try db.run("SELECT count(*) FROM caravan_ops WHERE writer = $1", writer).first?.integer(0)
      }
      #expect(try count("ada/phone/1") == Int64(most) + 1)
      #expect(try count("@sync") == Int64(most) + 10)
      #expect(try count("ada/laptop/1") == 5)
    }
  }

  @Test("TRU-03: a device that never says what it has heard keeps so many outcomes")
  func outcomes() async throws {
    try await Self.with { store, db, zone in
      _ = try await store.settle(OpID(writer: "ada/phone/1", epoch: 1, number: 1), in: zone)
      try db.run(
        """
        INSERT INTO caravan_ops SELECT partition, writer, epoch, g, zone, outcome
        FROM caravan_ops, generate_series(2, $1) AS g
        """, Int64(StoreLimits.outcomesKept) + 100)
      while try await store.collect() {}
      let kept = try db.run("SELECT count(*), min(number) FROM caravan_ops").first
      #expect(kept?.integer(0) == Int64(StoreLimits.outcomesKept / 4 * 3))
      let newest = OpID(writer: "ada/phone/1", epoch: 1, number: UInt64(StoreLimits.outcomesKept) + 100)
      #expect(try await store.settle(newest, in: zone) == .aborted)
      await #expect(throws: CaravanError.self) {
        try await store.settle(OpID(writer: "ada/phone/1", epoch: 1, number: 1), in: zone)
      }
    }
  }
}

import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

@testable import CaravanStorePostgres

/// Goal: what updates leave of the index by version goes (BEN-16). Method: few records, each written many times.
@Suite(.timeLimit(.minutes(2))) struct IndexMaintenanceTests {
  @Test("BEN-16: an index that has thinned out is built anew, and nothing is lost by it")
  func rebuild() async throws {
    try await PostgresServer.shared.get().withSchema { address in
      var options = PostgresOptions(try ConnectionString(address))
      (options.writers, options.readers) = (1, 1)
      let store = try await StorePostgres(options, host: Host.live(logLevel: .error))
      let zone = try Sample.zone()
      for round in 0..<20 {
        let op = OpID(writer: "phone", epoch: 1, number: UInt64(round + 1))
        let mutations = (0..<100).map { Sample.save("r\($0)", body: [UInt8(round)]) }
        _ = try await store.commit(Commit(zone: zone, op: op, isAtomic: true, mutations: mutations))
      }
      let session = try Connection(.maintenance(ConnectionString(address)))
      defer { session.close() }
      let (thin, sound) = (IndexMaintenance(db: session, slack: 1 << 15), IndexMaintenance(db: session))
      #expect(try !sound.run(), "so small an index is let be")
      #expect(try thin.run())
      #expect(try !thin.run(), "it is dense now")
      let page = try await store.changes(ChangeQuery(zone: zone))
      #expect(page.count == 100 && page.head == 2_000)
      _ = try await store.collect()
      await store.close()
    }
  }
}

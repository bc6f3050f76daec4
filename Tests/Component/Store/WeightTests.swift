import CaravanModel
import CaravanPostgreSQL
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import Testing

/// Goal: what a store is said to take is what was put into it. Method: a few records, one of which only a snapshot has.
@Suite(.timeLimit(.minutes(1))) struct WeightTests {
  @Test("names, bodies, writers and what snapshots keep are counted", arguments: BackupTests.Engine.allCases)
  func weight(engine: BackupTests.Engine) async throws {
    try await BackupTests.with(engine) { place in
      func weigh() throws -> StoreWeight {
        switch engine {
        case .sqlite: try StoreSQLite.weigh(place.address)
        case .postgres: try StorePostgres.weigh(ConnectionString(place.address), isSettled: true)
        }
      }
      #expect(throws: CaravanError.self, "there is no store yet") { try weigh() }
      let bench = StoreBench(try place.plan)
      try await bench.open()
      let (zone, other) = (try Sample.zone(), try Sample.zone(of: "bob"))
      for number in 0..<10 {
        try await bench.commit(
          number < 8 ? zone : other, [Sample.save("r\(number)", body: [UInt8](repeating: 1, count: 98))])
      }
      let before = try weigh()
      #expect(before.records == 10 * 100 && before.writerNames == 10 * 6 && before.supersededRows == 0)
      #expect(before.log >= 10 * 8 && before.writers >= 10 && before.tables > before.records)
      _ = try await bench.page(
        ChangeQuery(zone: zone, maxRecords: 1, reader: .init(writer: "watch", epoch: 1), bySnapshots: true))
      try await bench.commit(zone, [Sample.save("r1", body: [1])])
      let after = try weigh()
      #expect(after.records == 9 * 100 + 3 && after.supersededRows == 1 && after.superseded > 98)
      await bench.close()
    }
  }
}

import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import Testing

/// Goal: a session that holds one partition of the database stops nobody who writes to others, though they share a
/// connection with those who write to it (TRU-13). Method: a store with one writer, clients of both kinds, and a
/// transaction that holds a row.
@Suite(.timeLimit(.minutes(2))) struct HeldPartitionTests {
  private static func save(
    _ zone: ZoneID, _ writer: String, _ number: UInt64, to store: StorePostgres
  ) async -> ErrorCode? {
    let op = OpID(writer: writer, epoch: 1, number: number)
    do throws(CaravanError) {
      _ = try await store.commit(
        Commit(zone: zone, op: op, isAtomic: false, mutations: [Sample.save("\(writer)-\(number)")]))
      return nil
    } catch { return error.code }
  }

  @Test("TRU-13: who writes to other partitions goes on while one is held, and that one once it is free")
  func held() async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      var options = PostgresOptions(try ConnectionString(address))
      (options.writers, options.readers) = (1, 1)
      let store = try await StorePostgres(options, host: .live(logLevel: .error), observer: Listener())
      let (ada, bob) = (try Sample.zone(), try Sample.zone(of: "bob"))
      let partition = Partition(of: ada.database).number
      try #require(partition != Partition(of: bob.database).number)
      for zone in [ada, bob] { #expect(await Self.save(zone, "first", 1, to: store) == nil) }
      let other = try server.connect(address)
      try other.execute("BEGIN")
      try other.execute("SELECT 1 FROM caravan_partitions WHERE partition = \(partition) FOR UPDATE")
      let isFree = Latch()
      let clock = Host.live().clock
      await withTaskGroup(of: Void.self) { group in
        for client in 0..<4 {
          group.addTask {
            var number: UInt64 = 0
            while !isFree.isOpen {
              number += 1
              _ = await Self.save(ada, "waits\(client)", number, to: store)
              try? await clock.sleep(for: .milliseconds(10))
            }
          }
        }
        group.addTask {
          let start = clock.now
          for number in 1...100 as ClosedRange<UInt64> {
            #expect(await Self.save(bob, "goes on", number, to: store) == nil)
            try? await clock.sleep(for: .milliseconds(5))
          }
          #expect(clock.now - start < .seconds(15))
          isFree.open()
        }
      }
      #expect(await Self.save(ada, "refused", 1, to: store) == .serverBusy)
      try other.execute("COMMIT")
      other.close()
      try await eventually("the partition is written to again", within: .seconds(10)) {
        await Self.save(ada, "last", 1, to: store) == nil
      }
      #expect(try await store.fetch(["last-1"], fields: nil, in: ada).count == 1)
      await store.close()
    }
  }
}

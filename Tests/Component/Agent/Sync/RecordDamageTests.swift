import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what the cloud's disk damages of records is shown to no device, is taken from none that has it, and comes back
/// as long as one has it (TRU-10). Method: rows of the cloud's store are changed under devices with real stores,
/// in one simulated cluster.
@Suite(.timeLimit(.minutes(2))) struct RecordDamageTests {
  private static func photo(_ number: Int) -> [UInt8] { SeededRandom(seed: 700 + UInt64(number)).bytes(2_000) }

  /// A byte of every record of the table is another.
  private static func damageRecords(_ suite: SuiteCluster) throws {
    let db = try CaravanSQLite.Connection(.file("\(suite.cloud)/store-0.db"))
    defer { db.close() }
    try db.execute(
      """
      UPDATE entries SET body = CAST(body || x'00' AS BLOB) WHERE NOT flags & 1 AND key >> 40 IN (
        SELECT z.id FROM zones z JOIN databases d ON d.id = z.database WHERE z.name = '\(RunningDevice.table.name)')
      """)
    #expect(db.changedRows > 0)
  }

  @Test("TRU-10: a record that the cloud has damaged comes back from the device that has it")
  func broughtBack() throws {
    let suite = try SuiteCluster(seed: 1, hasFiles: true)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      try await a.register()
      for number in 0..<3 { try await a.writePhoto("x\(number)", Self.photo(number)) }
      try await a.until("all is at the cloud") { try await a.rows().filter { $0.state == .clean }.count == 3 }
      try Self.damageRecords(suite)
      try await b.register()
      try await b.until("it is at b", within: .seconds(3_600)) { try await b.rows().count == 3 }
      for number in 0..<3 { #expect(try await b.photo("x\(number)") == Self.photo(number)) }
      try await a.until("nothing waits to be sent") { try await a.rows().allSatisfy { $0.state == .clean } }
      let told = suite.cluster.log.records.filter { $0.level == .warning && $0.message.contains("records are damaged") }
      #expect(!told.isEmpty, "storage says so")
    }
  }

  @Test("TRU-10: a table that starts over keeps what the cloud names and cannot show")
  func startsOver() throws {
    let suite = try SuiteCluster(seed: 1, hasFiles: true)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let a = try await suite.start("a")
      try await a.createTable()
      try await a.register()
      for number in 0..<3 { try await a.writePhoto("x\(number)", Self.photo(number)) }
      try await a.until("all is at the cloud") { try await a.rows().filter { $0.state == .clean }.count == 3 }
      try Self.damageRecords(suite)
      try await a.agent.store.reset(RunningDevice.table, lost: [], token: [])
      _ = try? await a.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
      try await a.until("it has started over", within: .seconds(3_600)) {
        try await !a.agent.store.syncState(of: RunningDevice.table).isResyncing
      }
      try await a.until("all is there and clean", within: .seconds(3_600)) {
        try await a.rows().filter { $0.state == .clean }.count == 3
      }
      for number in 0..<3 { #expect(try await a.photo("x\(number)") == Self.photo(number)) }
    }
  }
}

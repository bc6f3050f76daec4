import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

/// Goal: R13, a store that an older agent left opens as if this one had written it. Method: a store taken back to the
/// format before, with everything in it that the format has.
@Suite("Store formats")
struct FormatTests {
  /// In format 7 columns are of fewer kinds; in format 6 nobody asks who changed rows; in format 5 each row goes to the
  /// cloud by itself; in format 4 no table shows its zone as it once was; in format 3 pushes in vain are not
  /// remembered; in format 2 rows have no checksum and tables no properties; in format 1 all chunks are in the
  /// database, and have none either.
  private static func make(format: Int, in directory: String) throws {
    let database = try Connection(.file("\(directory)/agent.db"), ConnectionOptions())
    defer { database.close() }
    try database.setUserVersion(format)
    guard format < 7 else { return }
    let table = "\(StoreFixture.photos.app)/\(StoreFixture.photos.name)"
    for altered in [table, "incoming"] {
      for column in ["_authored", "_modified", "_created", "_writer", "_creator"] {
        try database.statement(text: "ALTER TABLE \"\(altered)\" DROP COLUMN \(column)").run()
      }
    }
    guard format < 6 else { return }
    try database.statement(text: "DROP TABLE batch_rows").run()
    try database.statement(text: "ALTER TABLE plans DROP COLUMN batch").run()
    guard format < 5 else { return }
    for index in ["incoming_by_version", "incoming_lacking"] {
      try database.statement(text: "DROP INDEX \(index)").run()
    }
    try database.statement(text: "ALTER TABLE tables DROP COLUMN point").run()
    if format < 4 { try database.statement(text: "DROP TABLE pushed").run() }
    guard format < 3 else { return }
    try database.statement(text: "ALTER TABLE \"\(table)\" DROP COLUMN _sum").run()
    for column in ["properties", "fault"] {
      try database.statement(text: "ALTER TABLE tables DROP COLUMN \(column)").run()
    }
    guard format == 1 else { return }
    for column in ["place", "length", "sum"] {
      try database.statement(text: "ALTER TABLE chunks DROP COLUMN \(column)").run()
    }
  }

  @Test(
    "formats 1 to 7 become format 8: rows, dirty ones, plans and objects are there; what is new gets checksums",
    arguments: [1, 2, 3, 4, 5, 6, 7])
  func older(format: Int) async throws {
    var options = LocalStoreOptions()
    options.inlineBytes = 1 << 30
    try await StoreFixture.with(options: options) { f in
      try await f.agree()
      let (old, dirty) = (StoreFixture.noise(200_000, seed: 1), StoreFixture.noise(90_000, seed: 2))
      let synced = try await f.synced("synced", photo: old, version: 4)
      let waiting = try await f.write("dirty", photo: dirty)
      let plan = try #require(try await f.collect())
      try await f.crash { try Self.make(format: format, in: $0) }
      #expect(try await f.photo(synced) == old)
      #expect(try await f.photo(waiting) == dirty)
      #expect(try await f.rows().map(\.state) == [.clean, .pending])
      #expect(try await f.store.plansInFlight() == [plan])
      try await f.store.record([.aborted], of: plan.op)
      try await f.accept(try #require(try await f.collect()), from: 5)
      let new = StoreFixture.noise(100_000, seed: 3)
      let fresh = try await f.write("new", photo: new)
      try await f.edit("synced", at: 0, [1, 2, 3])
      #expect(try await f.photo(synced) == [1, 2, 3] + old.dropFirst(3))
      try await f.crash { try Rot.turnBit(of: new, in: $0) }
      await #expect { try await f.photo(fresh) } throws: { ($0 as? CaravanError)?.code == .chunkDamaged }
      try await f.store.repairDamage()
      #expect(try await f.names() == ["synced", "dirty"], "a row the cloud never had is discarded (SIM-82)")
    }
  }

  @Test("a store of a newer format is refused, and says which agent to use")
  func newer() async throws {
    let directory = try TemporaryDirectory()
    let store = try await LocalStore.open(directory.path, host: StoreFixture.host())
    await store.close()
    let database = try Connection(.file("\(directory.path)/agent.db"), ConnectionOptions())
    try database.setUserVersion(99)
    database.close()
    await #expect {
      _ = try await LocalStore.open(directory.path, host: StoreFixture.host())
    } throws: { error in
      (error as? CaravanError)?.message.contains("format 99") == true
    }
  }
}

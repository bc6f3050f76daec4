import CaravanAgentCore
import CaravanModel
import CaravanSyncCore
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: a table that keeps the newest rows is told of those, and of nothing that is older (UNI-15). Method: a store
/// and pages as the cloud would send them; then devices and the real services.
@Suite struct NewestFirstTests {
  private typealias F = StoreFixture

  private static func keep(_ rows: UInt64) -> TableChange {
    TableChange(replication: .recent(RecentWindow(rows: rows)))
  }

  private static func with(_ body: @Sendable (F) async throws -> Void) async throws {
    try await F.with { f in
      try await f.store.updateTable(F.photos, keep(4))
      try await f.agree()
      try await body(f)
    }
  }

  @Test("UNI-15: it reads backwards until it has so many, its own old ones not counted, and goes on where it died")
  func backwards() async throws {
    try await Self.with { f in
      func wanted() async throws -> UInt64? { try await f.store.syncState(of: F.photos).newestFirst }
      for number in 0..<3 { try await f.write("mine \(number)") }
      try await f.accept(try #require(try await f.collect()), from: 1)
      #expect(try await wanted() == 4)
      var summary = try await f.apply([F.entry("row-9", 9, "9"), F.entry("row-8", 8, "8")], end: .older)
      #expect(summary.lacksOlder)
      try await f.crash()
      #expect(try await wanted() == 4)
      summary = try await f.apply([F.entry("row-7", 7, "7"), F.entry("row-6", 6, "6")], token: [2], end: .older)
      #expect(!summary.lacksOlder)
      #expect(try await wanted() == nil)
      #expect(try await Set(f.names()) == ["6", "7", "8", "9"])
      try await f.store.reset(F.photos)
      #expect(try await wanted() == nil, "a resync goes forward")
    }
  }

  @Test("UNI-15: fewer than that are all there are")
  func few() async throws {
    try await Self.with { f in
      let summary = try await f.apply([F.entry("row-9", 9, "9")], end: .last)
      #expect(!summary.lacksOlder)
      #expect(try await f.store.syncState(of: F.photos).newestFirst == nil)
    }
  }

  @Test(
    "UNI-15, CK-103: of many rows a new device fetches the newest, if the cloud goes back; old ones that change come",
    arguments: [true, false])
  func fetchesLittle(canGoBack: Bool) throws {
    let suite = try SuiteCluster(seed: 5, features: canGoBack ? .all : try Features(disabling: "reverse"))
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      try await a.createTable()
      try await a.register()
      for number in 0..<2_000 { try await a.write("r\(number)", Int64(number)) }
      try await a.until("all are at the cloud") { try await a.isSettled() }
      let b = try await suite.start("b")
      try await b.createTable()
      try await b.store.updateTable(RunningDevice.table, Self.keep(20))
      try await b.register()
      let newest = Dictionary(uniqueKeysWithValues: (1_980..<2_000).map { ("r\($0)", Int64($0)) })
      try await b.until("it has the newest") { try await b.numbers() == newest }
      let fetched = await b.bytesDown()
      #expect((fetched < 30_000) == canGoBack, "\(fetched) bytes")
      try await a.update("r5", 7)
      try await b.until("r5 is new") { try await b.numbers()["r5"] == 7 }
      #expect(try await b.numbers()["r1980"] == nil)
      try await a.delete("r1990")
      try await b.until("r1990 is gone") { try await b.numbers()["r1990"] == nil }
      #expect(try await b.numbers().count == 19)
    }
  }
}

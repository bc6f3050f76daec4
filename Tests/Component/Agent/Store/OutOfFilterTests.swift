import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: a row of which the cloud says no more than that it is none of the query's leaves the device, unless something
/// of it is here only; then its content is asked for (UNI-15). Method: a store and pages as the cloud would send them.
@Suite("Strangers", .timeLimit(.minutes(1))) struct OutOfFilterTests {
  typealias F = StoreFixture
  private static let early = TableChange(replication: .query(RowQuery("name < ?", [.text("m")])))

  private static func with(_ body: (F) async throws -> Void) async throws {
    try await F.with { f in
      try await f.store.updateTable(F.photos, early)
      try await f.agree()
      try await body(f)
    }
  }

  private static func stranger(_ id: String, _ version: UInt64) -> IncomingEntry {
    IncomingEntry(entry: Entry(name: id, version: version, created: 0, writer: ""), isOutsideFilter: true)
  }

  private static func filter(_ f: F) async throws -> RowFilter? { try await f.store.syncState(of: F.photos).filter }

  @Test("UNI-15: a clean row leaves, with what waited for it; one that is not here is no news")
  func clean() async throws {
    try await Self.with { f in
      #expect(try await Self.filter(f) != nil)
      let photo = F.noise(90_000)
      try await f.apply([
        F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "bob"), F.entry("row-3", 3, "cleo", photo: photo),
      ])
      let summary = try await f.apply(
        [Self.stranger("row-1", 4), Self.stranger("row-2", 2), Self.stranger("row-3", 5), Self.stranger("row-9", 6)],
        token: [2])
      #expect(summary.removed == 1 && !summary.lacksBodies)
      #expect(try await f.names() == ["bob"])
      #expect(try await f.store.missingChunks(of: F.photos, limit: 9).isEmpty)
      // It begins to match again.
      try await f.apply([F.entry("row-1", 7, "anne")], token: [3])
      #expect(try await f.names() == ["bob", "anne"])
    }
  }

  private enum Tie: CaseIterable {
    case dirty, pushed, open, deleted
  }

  @Test("UNI-15: of one that is changed, on its way or open here nothing is taken in", arguments: Tie.allCases)
  private func tied(tie: Tie) async throws {
    try await Self.with { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "bob")])
      let anna = Selection("name = 'anna'")
      switch tie {
      case .dirty, .pushed:
        try await f.store.write(F.photos, cells: [CellValue("date", .integer(1))], selection: anna)
        if tie == .pushed { _ = try #require(try await f.collect()) }
      case .open:
        _ = try await f.store.openWrite(F.photos, cells: [], objects: ["photo"], selection: anna, owner: f.owner)
      case .deleted: try await f.store.delete(F.photos, selection: anna)
      }
      let names = try await f.names()
      let summary = try await f.apply([Self.stranger("row-2", 3), Self.stranger("row-1", 4)], token: [2])
      #expect(summary.lacksBodies && summary.removed == 0)
      #expect(try await f.names() == names)
      #expect(try await f.store.syncState(of: F.photos).token == [1])
      // The same page as a whole, whichever session asks for it.
      #expect(try await Self.filter(f) == nil)
      try await f.apply([F.entry("row-2", 3, "zoe"), F.entry("row-1", 4, "zara")], token: [2])
      #expect(try await Self.filter(f) != nil)
      #expect(try await f.names() == names.filter { $0 != "bob" })
      #expect(try await f.status().conflicts == (tie == .dirty || tie == .deleted ? 1 : 0))
    }
  }

  @Test("UNI-15, UNI-18: a resync of clean rows names no strangers; what it does not name goes")
  func resync() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "bob")])
      try await f.write("new here")
      try await f.store.reset(F.photos)
      #expect(try await Self.filter(f) != nil)
      try await f.crash()
      #expect(try await Self.filter(f) != nil)
      let summary = try await f.apply([F.entry("row-2", 2, "bob")], token: [2])
      #expect(summary.removed == 1 && !summary.lacksOutOfFilter)
      #expect(try await f.names() == ["bob", "new here"])
    }
  }

  @Test("UNI-15, UNI-18: where something was changed here, a resync names all there are")
  func changedRows() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "bob")])
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = 'anna'"))
      try await f.store.reset(F.photos)
      #expect(try await Self.filter(f) == nil)
      try await f.apply([F.entry("row-1", 9, "zara")], token: [2])
      #expect(try await f.status().conflicts == 1)
      #expect(try await Self.filter(f) != nil, "the resync is over")
    }
  }

  @Test(
    "UNI-15, UNI-18: what is changed while a resync leaves strangers out is told of by another",
    arguments: [false, true])
  func changedMeanwhile(isOpen: Bool) async throws {
    try await Self.with { f in
      try await f.apply([F.entry("row-1", 1, "anna"), F.entry("row-2", 2, "bob")])
      try await f.store.reset(F.photos)
      try await f.apply([F.entry("row-2", 2, "bob")], token: [2], end: .more)
      let anna = Selection("name = 'anna'")
      if isOpen {
        _ = try await f.store.openWrite(F.photos, cells: [], objects: ["photo"], selection: anna, owner: f.owner)
      } else {
        try await f.store.write(F.photos, cells: [CellValue("date", .integer(1))], selection: anna)
      }
      let summary = try await f.apply([], token: [3])
      #expect(summary.lacksOutOfFilter && summary.removed == 0)
      #expect(try await f.names() == ["anna", "bob"])
      #expect(try await f.store.syncState(of: F.photos).isResyncing)
      try await f.store.reset(F.photos)
      #expect(try await Self.filter(f) == nil)
      try await f.apply([F.entry("row-2", 2, "bob"), F.entry("row-1", 4, "zara")], token: [4])
      #expect(try await f.status().conflicts == (isOpen ? 0 : 1))
      #expect(try await f.names() == ["anna", "bob"])
    }
  }

  @Test("UNI-15, MOB-41: notifications bring no rows of a table that is kept by a query")
  func toldOnly() async throws {
    try await F.with { f in
      let registration = SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .wifi)
      try await f.store.register(F.photos, .read, registration)
      let before = try await f.store.subscriptions(toldOnly: [])
      #expect(before.toldOnly.isEmpty)
      try await f.store.updateTable(F.photos, Self.early)
      let after = try await f.store.subscriptions(toldOnly: [])
      #expect(after.toldOnly == [F.photos] && after.generation > before.generation)
    }
  }

  @Test("MOB-57: the list says how long a table's news may wait, and is another one when its link forbids to fetch it")
  func tolerance() async throws {
    try await F.with { f in
      let registration = SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 60_000, link: .wifi)
      try await f.store.register(F.photos, .read, registration)
      let usual = try await f.store.subscriptions(toldOnly: [])
      #expect(usual.items.map(\.toleranceMilliseconds) == [60_000])
      let dear = try await f.store.subscriptions(toldOnly: [F.photos], deferrable: [F.photos])
      #expect(dear.items.map(\.toleranceMilliseconds) == [.max] && dear.generation == usual.generation + 1)
      let again = try await f.store.subscriptions(toldOnly: [F.photos], deferrable: [F.photos])
      #expect(again == dear)
      // A budget: what comes unasked brings no rows, and may be fetched.
      let budget = try await f.store.subscriptions(toldOnly: [F.photos])
      #expect(budget.items.map(\.toleranceMilliseconds) == [60_000] && budget.generation == dear.generation + 1)
    }
  }
}

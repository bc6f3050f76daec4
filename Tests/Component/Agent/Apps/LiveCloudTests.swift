import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanClient

/// Goal: of a table that keeps a part of its rows, a live query has the others from the cloud, each row once, and what
/// the device holds of one is what counts. Method: clients at a socket of an agent whose cloud is scripted.
@Suite("Live queries of partial tables", .timeLimit(.minutes(1))) struct LiveCloudTests {
  typealias F = StoreFixture

  private static let photos = LiveAppTests.photos

  /// What the cloud finds: id, name and date of each row.
  private static func page(_ rows: [(String, String, Int64)], cursor: [UInt8] = []) -> CloudPage {
    let records = rows.map { id, name, date in
      CloudPage.Record(
        zone: "photos", entry: Entry(name: id, version: 3, created: 1, type: 42, writer: "ada/phone/1"),
        fields: RecordFields([3: .text(name), 5: .integer(date)]))
    }
    return CloudPage(records: records, type: F.type, cursor: cursor, count: 0)
  }

  private static func with(
    _ pages: [CloudPage], _ body: @Sendable (AppFixture, Table) async throws -> Void
  ) async throws {
    let sync = ScriptedSync()
    sync.state.withLock { $0.pages = pages }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let properties = TableProperties(replication: .recent(rows: 2))
        let table = try await client.createTable("photos", AppFixture.schema, properties: properties)
        try await f.store.agree(on: F.type, for: photos)
        try await body(f, table)
      }
    }
  }

  private static func names(_ rows: [LiveRow]) -> [String] {
    rows.map { ($0.row["name"].textValue ?? "") + ($0.isHere ? "" : "*") }
  }

  /// Until the cloud's part is there, or cannot be.
  private static func joined(_ live: inout LiveRows.AsyncIterator, _ shown: inout [LiveRow]) async throws
    -> LiveDifference
  {
    while true {
      let change = try await LiveAppTests.next(&live, &shown)
      if change.isComplete || change.refusal != nil { return change }
    }
  }

  @Test("UNI-15, CK-80: the device's rows at once, then the cloud's between them; the question is the query's")
  func joined() async throws {
    let found = Self.page([("r1", "a", 1), ("r2", "old", 2), ("r3", "c", 3), ("r4", "d", 4)])
    try await Self.with([found]) { f, table in
      try await f.store.apply([F.entry("r2", 5, "b")], to: Self.photos, token: [1], end: .last)
      var shown: [LiveRow] = []
      var live = table.live(.init("name <> ?", [.text("x")]), columns: ["name"], orderBy: [("date", false)], limit: 3)
        .makeAsyncIterator()
      let first = try await LiveAppTests.next(&live, &shown)
      #expect(!first.isComplete && Self.names(shown) == ["b"])
      let change = try await Self.joined(&live, &shown)
      // What the device holds of r2 counts: it has no date, and is the first.
      #expect(change.isComplete && Self.names(shown) == ["b", "a*", "c*"])
      #expect(shown[1].row.state == .clean && shown[1].row.version == 3 && shown[1].row.cells.count == 1)

      // An unsent write and a deletion count as well, and a row that comes to the device is there from then on.
      try await f.store.apply([F.entry("r3", 6, "C")], to: Self.photos, token: [1], end: .last)
      try await LiveAppTests.next(&live, &shown)
      #expect(Self.names(shown) == ["b", "C", "a*"])
      try await table.update(.init("name = 'C'"), ["date": .integer(9)])
      try await LiveAppTests.next(&live, &shown)
      #expect(Self.names(shown) == ["b", "a*", "d*"])
      try await table.delete(.init("name = 'b'"))
      try await LiveAppTests.next(&live, &shown)
      #expect(Self.names(shown) == ["a*", "d*", "C"])
      try await table.update(.init("name = 'C'"), ["name": .text("x")])
      try await LiveAppTests.next(&live, &shown)
      #expect(Self.names(shown) == ["a*", "d*"])

      let questions = f.sync.state.withLock { $0.questions }
      let question = try #require(questions.first)
      #expect(questions.count == 1 && question.zone == "photos" && question.readOf == Self.photos)
      #expect(question.text == Query.Text("name <> ?", arguments: [.text("x")]) && question.limit == 3)
      #expect(question.sort == [SortKey("date")] && question.fields == ["name", "date"] && !question.isPublic)
    }
  }

  @Test("UNI-15: as many pages are asked for as the answer needs, past those that the device hides")
  func pages() async throws {
    let pages = [
      Self.page([("r1", "a", 1), ("r2", "b", 2)], cursor: [1]), Self.page([("r3", "c", 3)], cursor: [2]),
      Self.page([("r4", "d", 4)], cursor: [3]),
    ]
    try await Self.with(pages) { f, table in
      try await f.store.apply([F.entry("r1", 5, "hidden")], to: Self.photos, token: [1], end: .last)
      try await table.delete(.all)
      var shown: [LiveRow] = []
      var live = table.live(orderBy: [("date", false)], limit: 2).makeAsyncIterator()
      _ = try await Self.joined(&live, &shown)
      #expect(Self.names(shown) == ["b*", "c*"])
      #expect(f.sync.state.withLock { $0.questions.map(\.cursor) } == [[], [1]], "the third page is not needed")
    }
  }

  @Test("UNI-15: what the cloud does not bring is said, and no more of it is kept than a query may have")
  func tooMuch() async throws {
    let rows = (0..<StoreLimits.liveCloudRows).map { ("r\($0)", "n", Int64($0)) }
    try await Self.with([Self.page(rows, cursor: [1]), Self.page([("x", "x", 0)])]) { f, table in
      var shown: [LiveRow] = []
      var live = table.live().makeAsyncIterator()
      let change = try await Self.joined(&live, &shown)
      #expect(!change.isComplete && change.refusal?.code == .limitExceeded && shown.count == rows.count)
      #expect(f.sync.state.withLock { $0.questions.count } == 1)
    }
  }

  @Test("UNI-15: without a connection, or over a link that is not permitted, the device's rows show, and are live")
  func offline() async throws {
    try await Self.with([]) { f, table in
      try await table.write(["name": .text("mine")])
      var shown: [LiveRow] = []
      var live = table.live(orderBy: [("name", false)]).makeAsyncIterator()
      let change = try await Self.joined(&live, &shown)
      #expect(!change.isComplete && change.refusal?.code == .networkNotConnected && Self.names(shown) == ["mine"])
      try await table.write(["name": .text("other")])
      let next = try await LiveAppTests.next(&live, &shown)
      #expect(!next.isComplete && next.refusal != nil && Self.names(shown) == ["mine", "other"])
    }
  }

  @Test("UNI-15: of a table that keeps all rows the cloud is not asked; of one that begins to, its rows go")
  func whole() async throws {
    try await Self.with([Self.page([("r1", "a", 1)])]) { f, table in
      try await AppFixture.all(f) { client in
        var shown: [LiveRow] = []
        var live = table.live().makeAsyncIterator()
        _ = try await Self.joined(&live, &shown)
        #expect(Self.names(shown) == ["a*"])
        try await client.updateTable("photos", TableProperties(replication: .full))
        let change = try await Self.joined(&live, &shown)
        #expect(change.isComplete && shown.isEmpty)
        let other = try await client.createTable("others", "name VARCHAR")
        var rows: [LiveRow] = []
        var whole = other.live().makeAsyncIterator()
        #expect(try await LiveAppTests.next(&whole, &rows).isComplete)
        #expect(f.sync.state.withLock { $0.questions.count } == 1)
      }
    }
  }
}

extension AppFixture {
  fileprivate static func all(_ f: AppFixture, _ body: (CaravanClient) async throws -> Void) async throws {
    try await f.app { client in try await body(client) }
  }
}

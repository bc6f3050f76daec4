import CaravanAgentStore
import CaravanAgentSync
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanClient

/// Goal: an app's question reaches the cloud as it was asked, and rows come back page by page (CK-80). Method: the
/// client against an agent whose cloud is scripted.
@Suite("Questions of apps to the cloud", .timeLimit(.minutes(1))) struct CloudQueryAppTests {
  private static func page(_ names: [String], cursor: [UInt8]) -> CloudPage {
    let type = RecordType(
      id: 1, definition: 1, name: "places",
      fields: [
        FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "photo", kind: .object),
        FieldDefinition(id: 3, name: "tags", kind: .text, isList: true),
      ])
    let records = names.map { name in
      CloudPage.Record(
        zone: "places",
        entry: Entry(
          name: name, version: 7, created: 1, type: 1, writer: "ada/phone/1",
          authorship: Authorship(modified: 20, created: 10, creator: "ada/phone/1")),
        fields: RecordFields([
          1: .text("of \(name)"), 2: .assetList(ChunkHash(of: [1]), size: 9), 3: .list([.text("x")]),
        ]))
    }
    return CloudPage(records: records, type: type, cursor: cursor, count: 5)
  }

  @Test("CK-80: text, arguments, order and place travel; pages follow each other, and objects are shown by their size")
  func pages() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { $0.pages = [Self.page(["a", "b"], cursor: [1]), Self.page(["c"], cursor: [])] }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let table = client.table("places")
        let here = try Location(latitude: 1, longitude: 2)
        let rows = try await table.queryCloud(
          .init("tags CONTAINS ? AND name LIKE 'o%'", [.text("x")]), in: .public, columns: ["name", "photo", "tags"],
          orderBy: [CloudOrder("at", isDescending: true, near: here)], zone: "places"
        ).all()
        #expect(rows.map(\.row.id) == ["a", "b", "c"] && rows.allSatisfy { $0.zone == "places" })
        let row = try #require(rows.first?.row)
        #expect(row["name"] == .text("of a") && row["tags"] == .list([.text("x")]) && row.objects == ["photo": 9])
        #expect(row.version == 7 && row.created?.milliseconds == 10 && row.modified?.user == "ada")
      }
    }
    let questions = sync.state.withLock { $0.questions }
    let question = try #require(questions.first)
    #expect(questions.map(\.cursor) == [[], [1]] && question.app.text == "album" && question.isPublic)
    #expect(question.text == Query.Text("tags CONTAINS ? AND name LIKE 'o%'", arguments: [.text("x")]))
    #expect(question.sort == [SortKey("at", isDescending: true, near: try Location(latitude: 1, longitude: 2))])
    #expect(question.zone == "places" && question.fields == ["name", "photo", "tags"] && !question.isCount)
  }

  @Test("CK-80: a limit travels, counts what came, and ends the rows where the cloud would go on; none is no question")
  func limit() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { $0.pages = [Self.page(["a", "b"], cursor: [1]), Self.page(["c", "d"], cursor: [2])] }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let rows = try await client.table("places").queryCloud(limit: 3).all()
        #expect(rows.map(\.row.id) == ["a", "b", "c"])
        let error = await #expect(throws: CaravanError.self) {
          _ = try await client.table("places").queryCloud(limit: 0).all()
        }
        #expect(error?.code == .invalidData)
      }
    }
    #expect(sync.state.withLock { $0.questions }.map(\.limit) == [3, 1])
  }

  @Test("CK-80: a count is asked as such; what the cloud refuses, and that it cannot be reached, the app hears")
  func countAndRefusal() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { $0.pages = [Self.page([], cursor: [])] }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let table = client.table("places")
        let count = try await table.countInCloud(.init("name = 'a'"))
        #expect(count == 5)
        #expect(sync.state.withLock { $0.questions.last?.isCount } == true)
        let rows = table.queryCloud()
        let error = await #expect(throws: CaravanError.self) { _ = try await rows.all() }
        #expect(error?.code == .networkNotConnected)
      }
    }
  }
}

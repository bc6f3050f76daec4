import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: an app can ask when and by whom a row was made and last changed; what nobody knows is never made up.
@Suite("Who changed a row, and when")
struct AuthorshipTests {
  private typealias F = StoreFixture

  private static func entry(_ id: String, _ version: UInt64, _ authorship: Authorship) -> IncomingEntry {
    var entry = F.entry(id, version, "named")
    entry.entry.writer = "ada/tablet/1"
    entry.entry.authorship = authorship
    return entry
  }

  private static func authorships(_ f: F) async throws -> [RowAuthorship?] {
    var request = ReadRequest(table: F.photos)
    request.wantsAuthorship = true
    return try await f.store.beginRead(request, owner: f.owner).rows.map(\.authorship)
  }

  @Test("TRU-18: of rows that come, and of those that are from before the cloud kept it")
  func incoming() async throws {
    try await F.with { f in
      try await f.agree()
      let known = Authorship(modified: 2_000, created: 1_000, creator: "ada/phone/1")
      let young = Authorship(modified: 3_000, created: 0, creator: "")
      try await f.apply([Self.entry("a", 1, known), Self.entry("b", 2, young), Self.entry("c", 3, .unknown)])
      let all: [RowAuthorship?] = [
        RowAuthorship(modified: 2_000, writer: "ada/tablet/1", created: 1_000, creator: "ada/phone/1"),
        RowAuthorship(modified: 3_000, writer: "ada/tablet/1", created: 0, creator: ""), nil,
      ]
      #expect(try await Self.authorships(f) == all)
      #expect(try await f.rows().allSatisfy { $0.authorship == nil }, "nobody asked")
      try await f.crash()
      #expect(try await Self.authorships(f) == all)
      // A cloud that does not say it takes back what was known of the version before.
      try await f.apply([Self.entry("a", 4, .unknown)], token: [2])
      #expect(try await Self.authorships(f)[0] == nil)
    }
  }

  @Test("TRU-18: rows are read in the order of their times; what nobody knows comes first")
  func order() async throws {
    try await F.with { f in
      try await f.agree()
      func entry(_ id: String, _ version: UInt64, modified: Int64, created: Int64) -> IncomingEntry {
        Self.entry(id, version, Authorship(modified: modified, created: created, creator: "ada/phone/1"))
      }
      try await f.apply([
        entry("a", 1, modified: 5_000, created: 3_000), entry("b", 2, modified: 9_000, created: 1_000),
        Self.entry("c", 3, .unknown), entry("d", 4, modified: 7_000, created: 0),
      ])
      func ids(_ field: String, isDescending: Bool = false) async throws -> [String] {
        let term = ReadRequest.OrderTerm(field, isDescending: isDescending)
        return try await f.store.beginRead(ReadRequest(table: F.photos, order: [term]), owner: f.owner).rows.map(\.id)
      }
      #expect(try await ids("___modTime") == ["c", "a", "d", "b"])
      #expect(try await ids("___modTime", isDescending: true) == ["b", "d", "a", "c"])
      #expect(try await ids("___createTime") == ["c", "d", "b", "a"])
      // What is known is of the version before, and tells nothing of this one.
      try await f.apply([Self.entry("b", 8, .unknown)], token: [2])
      #expect(try await ids("___modTime") == ["b", "c", "a", "d"])
      await #expect(throws: CaravanError.self) { try await ids("___etag") }
    }
  }

  @Test("TRU-18: of rows that the cloud accepted, and of their echo")
  func accepted() async throws {
    try await F.with { f in
      try await f.agree()
      let id = try await f.write("mine")
      #expect(try await Self.authorships(f) == [nil], "the cloud has not seen it")
      let plan = try #require(try await f.collect())
      let stamp = CommitStamp(time: 5_000, writer: "ada/phone/1")
      try await f.store.record([.accepted(version: 1)], of: plan.op, by: stamp)
      let made = RowAuthorship(modified: 5_000, writer: "ada/phone/1", created: 5_000, creator: "ada/phone/1")
      #expect(try await Self.authorships(f) == [made])
      // Changed here it is still what the cloud has of it.
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(7))], selection: Selection("name = ?", [.text("mine")]))
      #expect(try await Self.authorships(f) == [made])
      let second = try #require(try await f.collect())
      try await f.store.record(
        [.accepted(version: 2)], of: second.op, by: CommitStamp(time: 6_000, writer: "ada/phone/1"))
      let changed = RowAuthorship(modified: 6_000, writer: "ada/phone/1", created: 5_000, creator: "ada/phone/1")
      #expect(try await Self.authorships(f) == [changed])
      // A cloud of the release before says nothing; the echo of a later one does.
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(8))], selection: Selection("name = ?", [.text("mine")]))
      let third = try #require(try await f.collect())
      try await f.store.record([.accepted(version: 3)], of: third.op)
      #expect(try await Self.authorships(f) == [nil])
      var echo = Self.entry(id, 3, Authorship(modified: 7_000, created: 5_000, creator: "ada/phone/1"))
      (echo.entry.body, echo.entry.writer, echo.isOwn) = ([], "ada/phone/1", true)
      try await f.apply([echo], token: [3])
      #expect(
        try await Self.authorships(f)
          == [RowAuthorship(modified: 7_000, writer: "ada/phone/1", created: 5_000, creator: "ada/phone/1")])
    }
  }

  @Test("TRU-18: a row in conflict is of the version it was; resolved, it is still known who made it")
  func conflicts() async throws {
    try await F.with { f in
      try await f.agree()
      let old = Authorship(modified: 2_000, created: 1_000, creator: "ada/phone/1")
      try await f.apply([Self.entry("a", 1, old)])
      let before = RowAuthorship(modified: 2_000, writer: "ada/tablet/1", created: 1_000, creator: "ada/phone/1")
      try await f.store.write(
        F.photos, cells: [CellValue("date", .integer(7))], selection: Selection("name = ?", [.text("named")]))
      let plan = try #require(try await f.collect())
      let server = Self.entry("a", 2, Authorship(modified: 3_000, created: 1_000, creator: "ada/phone/1")).entry
      var other = server
      other.body = F.entry("a", 2, "theirs").entry.body
      try await f.store.record([.conflict(server: other)], of: plan.op, by: nil)
      #expect(try await Self.authorships(f) == [before])
      try await f.store.beginResolution(F.photos, owner: f.owner)
      try await f.store.resolve(F.photos, row: "a", .mine, owner: f.owner)
      try await f.store.endResolution(F.photos, isAbandoned: false, owner: f.owner)
      let second = try #require(try await f.collect())
      try await f.store.record(
        [.accepted(version: 3)], of: second.op, by: CommitStamp(time: 4_000, writer: "ada/laptop/1"))
      #expect(
        try await Self.authorships(f)
          == [RowAuthorship(modified: 4_000, writer: "ada/laptop/1", created: 1_000, creator: "ada/phone/1")])
    }
  }
}

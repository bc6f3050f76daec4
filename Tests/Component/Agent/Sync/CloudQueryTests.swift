import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: an app finds rows in the cloud that its device does not have, by all that the language asks. Method: devices
/// with real stores and the real services behind them, in one simulated cluster.
@Suite("Questions to the cloud", .timeLimit(.minutes(2))) struct CloudQueryTests {
  private static let table = TableID(app: ContainerID(unchecked: "photos"), name: "places")
  private static let schema =
    "name VARCHAR, at LOCATION, since DATE, parent REFERENCE, tags LIST<VARCHAR>, photo OBJECT"

  private static var database: DatabaseID {
    DatabaseID(container: table.app, environment: .development, owner: UserID(unchecked: "ada"))
  }

  private static func question(_ text: String? = nil, _ arguments: [CaravanModel.Value] = []) -> CloudQuestion {
    var question = CloudQuestion(app: table.app, type: table.name)
    question.text = text.map { CaravanModel.Query.Text($0, arguments: arguments) }
    return question
  }

  private static func find(_ device: RunningDevice, _ question: CloudQuestion) async throws -> CloudPage {
    while true {
      do { return try await device.agent.engine.query(question) } catch {
        // The service may not serve the partition yet.
        guard error.isTransient else { throw error }
        try await device.clock.sleep(for: .milliseconds(50))
      }
    }
  }

  private static func names(_ page: CloudPage) -> [String] { page.records.compactMap { $0.fields[1].textValue } }

  private static func started(_ suite: SuiteCluster) async throws -> RunningDevice {
    let a = try await suite.start("a")
    try await a.store.createTable(table, schema: try SchemaText(parsing: schema), localOnly: false)
    func place(_ latitude: Double, _ longitude: Double) throws -> CaravanModel.Value {
      .location(try CaravanModel.Location(latitude: latitude, longitude: longitude))
    }
    let rows: [(String, CaravanModel.Value, Int64, [String])] = [
      ("Snow on the Fjord", try place(62.47, 6.15), 3, ["snow", "sea"]),
      ("Rain in Bergen", try place(60.39, 5.32), 1, ["rain", "sea"]), ("Fjord", .null, 2, []),
    ]
    for (name, place, since, tags) in rows {
      try await a.store.write(
        table,
        cells: [
          CellValue("name", .text(name)), CellValue("at", place), CellValue("since", .integer(since)),
          CellValue("tags", .list(tags.map { .text($0) })),
        ])
    }
    try await a.agent.engine.syncNow(table, write: true, read: false)
    return a
  }

  @Test("CK-80: words, places, lists, orders and counts, of rows that the asking device never had")
  func language() throws {
    let suite = try SuiteCluster(seed: 41, hasQuery: true)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      _ = try await Self.started(suite)
      let b = try await suite.start("b")
      #expect(
        Self.names(try await Self.find(b, Self.question("name MATCH 'fjord'"))).sorted() == [
          "Fjord", "Snow on the Fjord",
        ])
      #expect(
        Self.names(try await Self.find(b, Self.question("tags CONTAINS ?", [.text("rain")]))) == ["Rain in Bergen"])
      #expect(Self.names(try await Self.find(b, Self.question("at NEAR (62, 6, 100000)"))) == ["Snow on the Fjord"])
      #expect(Self.names(try await Self.find(b, Self.question("at WITHIN (60, 5, 61, 6)"))) == ["Rain in Bergen"])
      var question = Self.question("tags IS NOT NULL")
      question.sort = [
        CaravanModel.SortKey("at", near: try CaravanModel.Location(latitude: 60, longitude: 5))
      ]
      #expect(Self.names(try await Self.find(b, question)) == ["Fjord", "Rain in Bergen", "Snow on the Fjord"])
      question.sort = [CaravanModel.SortKey("since", isDescending: true)]
      (question.limit, question.fields) = (2, ["name"])
      let first = try await Self.find(b, question)
      #expect(Self.names(first) == ["Snow on the Fjord", "Fjord"] && !first.cursor.isEmpty)
      #expect(first.records.allSatisfy { $0.fields.values.count == 1 && $0.zone == Self.table.name })
      question.cursor = first.cursor
      let last = try await Self.find(b, question)
      #expect(Self.names(last) == ["Rain in Bergen"] && last.cursor.isEmpty)
      var counted = Self.question("___createTime > 0 AND since < 3")
      counted.isCount = true
      #expect(try await Self.find(b, counted).count == 2)
    }
  }

  /// Nothing that storage has committed is heard of.
  private final class Silence: FaultPolicy {
    let isSilent = Mutex(false)

    func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
      isSilent.withLock { $0 } && passage.subject.hasPrefix("changes.") ? [] : [.zero]
    }
  }

  @Test("CK-31: a device is answered with what it has written, also where the index has not heard of it")
  func ownWrites() throws {
    let silence = Silence()
    let suite = try SuiteCluster(seed: 44, policy: silence, hasQuery: true)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = (try await Self.started(suite), try await suite.start("b"))
      #expect(try await Self.find(a, Self.question()).records.count == 3)
      silence.isSilent.withLock { $0 = true }
      try await a.store.write(Self.table, cells: [CellValue("name", .text("new"))])
      try await a.agent.engine.syncNow(Self.table, write: true, read: false)
      let found = Self.names(try await Self.find(b, Self.question("name = 'new'")))
      #expect(found == [], "the index has heard of it, so that this test shows nothing")
      #expect(Self.names(try await Self.find(a, Self.question("name = 'new'"))) == ["new"])
      // The zone is another one by now: what was written to the old one is no reason not to answer.
      silence.isSilent.withLock { $0 = false }
      let storage = StorageClient(bus: suite.hub.connect(as: "operator"), host: suite.syncHost, writer: "@test")
      _ = try await storage.drop(ZoneID(Self.database, Self.table.name), writer: "@test")
      #expect(try await Self.find(a, Self.question("name = 'new'")).records.isEmpty)
    }
  }

  @Test("CK-80: a question that cannot be asked or answered says so; on a link that nobody may use it is not asked")
  func refusals() throws {
    let suite = try SuiteCluster(seed: 42, hasQuery: true)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await Self.started(suite)
      func refusal(_ text: String) async -> ErrorCode? {
        do { _ = try await Self.find(a, Self.question(text)) } catch { return (error as? CaravanError)?.code }
        return nil
      }
      #expect(await refusal("size > 1") == .schemaViolation)
      #expect(await refusal("photo IS NULL") == .schemaViolation)
      #expect(await refusal("name MATCH 'x") == .invalidData)
      #expect(await refusal("at NEAR (100, 0, 1)") == .invalidData)
      await a.agent.engine.linkChanged(to: nil)
      await #expect(throws: CaravanError.self) { try await a.agent.engine.query(Self.question()) }
    }
  }
}

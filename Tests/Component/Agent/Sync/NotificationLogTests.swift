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

/// Goal: what the cloud writes to a user's log comes to a device by itself, also where a slot is used again, and the
/// device writes nothing of it (CK-86). Method: a device with a real store and the real services in one simulated
/// cluster; the test writes the log as the query service does.
@Suite("The log of notifications", .timeLimit(.minutes(2))) struct NotificationLogTests {
  private static let log = TableID(app: RunningDevice.table.app, name: NotificationLog.name)

  private static func mutation(
    _ number: Int64, slot: String, base: CaravanModel.Base = .absent, title: String = ""
  ) -> CaravanModel.Mutation {
    var fields = RecordFields([
      NotificationLog.Field.subscription.rawValue: .text("s"), NotificationLog.Field.reason.rawValue: .text("enters"),
      NotificationLog.Field.source.rawValue: .integer(3), NotificationLog.Field.number.rawValue: .integer(number),
      NotificationLog.Field.at.rawValue: .integer(1_000 + number),
    ])
    if !title.isEmpty { fields[NotificationLog.Field.title.rawValue] = .text(title) }
    return CaravanModel.Mutation(
      name: slot, base: base, change: .save(type: NotificationLog.type.id, body: fields.body, chunks: []))
  }

  private static func titles(_ device: RunningDevice) async throws -> [String] {
    let rows = try await device.store.beginRead(ReadRequest(table: log), owner: 1).rows
    return rows.compactMap { row in row.cells.first { $0.column == "title" }?.value.textValue }.sorted()
  }

  private static func numbers(_ device: RunningDevice) async throws -> [Int64] {
    let rows = try await device.store.beginRead(ReadRequest(table: log), owner: 1).rows
    return rows.compactMap { row in row.cells.first { $0.column == "number" }?.value.integerValue }.sorted()
  }

  @Test("CK-86: notifications come at once, and a slot that is used again brings a new one; nothing is pushed")
  func arrives() throws {
    let suite = try SuiteCluster(seed: 51)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      #expect(try await a.store.createNotificationLog(of: Self.log.app))
      #expect(try await !a.store.createNotificationLog(of: Self.log.app), "once")
      await a.agent.engine.registrationsChanged(of: Self.log)
      let database = DatabaseID(
        container: Self.log.app, environment: .development, owner: UserID(unchecked: "ada"))
      let zone = try ZoneID(database, NotificationLog.name)
      let storage = StorageClient(
        bus: suite.hub.connect(as: "teller"), host: suite.cluster.host("teller").host, writer: "@query")
      _ = try await storage.commit(
        to: zone, [Self.mutation(1, slot: "3-1"), Self.mutation(2, slot: "3-2")])
      try await a.until("the first") { try await Self.numbers(a) == [1, 2] }
      let version = try #require(try await storage.fetch(["3-1"], from: zone).first?.version)
      _ = try await storage.commit(to: zone, [Self.mutation(3, slot: "3-1", base: .version(version))])
      try await a.until("the slot that is used again") { try await Self.numbers(a) == [2, 3] }
      let state = try await a.store.syncState(of: Self.log)
      #expect(state.type == NotificationLog.type && state.dirtyRows == 0 && state.opInFlight == nil)
      #expect(state.refused.isEmpty && state.fault == nil)
      let entries = try await storage.fetch(["3-1", "3-2"], from: zone)
      #expect(entries.map(\.writer) == ["@query", "@query"])
    }
  }

  @Test("CK-85, CK-86: a table of a release that showed nothing gains the columns, also for what came before")
  func olderTable() throws {
    let suite = try SuiteCluster(seed: 52)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let a = try await suite.start("a")
      try await a.store.createOlderLog(of: Self.log.app)
      await a.agent.engine.registrationsChanged(of: Self.log)
      let zone = try ZoneID(
        DatabaseID(container: Self.log.app, environment: .development, owner: UserID(unchecked: "ada")),
        NotificationLog.name)
      let storage = StorageClient(
        bus: suite.hub.connect(as: "teller"), host: suite.cluster.host("teller").host, writer: "@query")
      func tell(_ number: Int64, _ title: String) async throws {
        _ = try await storage.commit(to: zone, [Self.mutation(number, slot: "3-\(number)", title: title)])
      }
      try await tell(1, "before")
      try await a.until("the first") { try await Self.numbers(a) == [1] }
      #expect(try await Self.titles(a).isEmpty)
      #expect(try await !a.store.createNotificationLog(of: Self.log.app), "it is there")
      try await tell(2, "after")
      try await a.until("the second") { try await Self.numbers(a) == [1, 2] }
      #expect(try await Self.titles(a) == ["after", "before"])
      let state = try await a.store.syncState(of: Self.log)
      #expect(state.type == NotificationLog.type && state.fault == nil && state.dirtyRows == 0)
    }
  }
}

extension LocalStore {
  /// The table as a release made it whose notifications showed nothing.
  fileprivate func createOlderLog(of app: ContainerID) throws(CaravanError) {
    var older = NotificationLog.type
    older.fields.removeAll { $0.id >= NotificationLog.Field.title.rawValue }
    _ = try lifecycle.createNotificationLog(
      of: app, SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .cellular), like: older)
  }
}

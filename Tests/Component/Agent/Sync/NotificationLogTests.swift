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
    _ number: Int64, slot: String, base: CaravanModel.Base = .absent
  ) -> CaravanModel.Mutation {
    let fields = RecordFields([
      NotificationLog.Field.subscription.rawValue: .text("s"), NotificationLog.Field.reason.rawValue: .text("enters"),
      NotificationLog.Field.source.rawValue: .integer(3), NotificationLog.Field.number.rawValue: .integer(number),
      NotificationLog.Field.at.rawValue: .integer(1_000 + number),
    ])
    return CaravanModel.Mutation(
      name: slot, base: base, change: .save(type: NotificationLog.type.id, body: fields.body, chunks: []))
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
}

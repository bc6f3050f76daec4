import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: an app's devices in production change no type, and nothing that they have written is lost until somebody has
/// brought the type there. Method: whole devices of both environments and the cloud, in simulated time.
@Suite("Production", .timeLimit(.minutes(2)))
struct ProductionTests {
  private static var type: RecordType {
    get throws {
      let fields = try SchemaText(parsing: RunningDevice.columns).columns.map {
        FieldDefinition(id: 0, name: $0.name, kind: $0.kind)
      }
      return RecordType(id: 0, definition: 0, name: RunningDevice.table.name, fields: fields)
    }
  }

  private func status(_ device: RunningDevice) async throws -> TableStatusView {
    let status = try await device.store.status(of: RunningDevice.table.app).first
    return try #require(status)
  }

  @Test(
    "TRU-04: a table that production lacks waits with its rows, says what to do, and goes by itself after that")
  func unknownType() throws {
    let suite = try SuiteCluster(seed: 11)
    try suite.cluster.run(deadline: .seconds(40_000)) {
      let schema = SchemaClient(bus: suite.hub.connect(as: "operator"))
      let clock = suite.cluster.host("operator").host.clock
      let app = RunningDevice.table.app
      while (try? await schema.createContainer(app.text, owner: UserID("ada"), isForMembers: false)) == nil {
        try await clock.sleep(for: .milliseconds(50))
      }
      // The developer's device makes the type in development.
      let tried = try await suite.start("phone", in: .development)
      try await tried.createTable()
      try await tried.register()
      try await tried.write("draft", 1)
      try await tried.until("development has the draft") { try await tried.isSettled() }

      let used = try await suite.start("phone", in: .production)
      try await used.createTable()
      try await used.register()
      try await used.write("real", 2)
      try await used.until("its refusal is told") { try await !status(used).refused.isEmpty }
      let view = try await status(used)
      #expect(view.refused.contains("caravan schema promote or set --environment production"))
      #expect(view.fault == nil && view.dirty == 1, "nobody has to decide anything, and nothing is lost")
      #expect(try await used.numbers() == ["real": 2])

      _ = try await schema.propose(Self.type, to: app, in: .production, by: nil)
      try await used.until("the row is sent by itself", within: .seconds(8_000)) { try await used.isSettled() }
      #expect(try await status(used).refused.isEmpty)

      let second = try await suite.start("tablet", in: .production)
      try await second.createTable()
      try await second.register()
      try await second.until("it comes to the other device") { try await second.numbers() == ["real": 2] }
      #expect(try await tried.numbers() == ["draft": 1], "nothing crosses")
      for device in [tried, used, second] { try await device.kill() }
    }
  }
}

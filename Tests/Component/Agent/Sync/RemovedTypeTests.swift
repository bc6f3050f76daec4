import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a device whose table's record type was removed, and made anew by another device, has its rows as they are
/// now, and what it has not sent. Method: devices and the real services.
@Suite("Removed types", .timeLimit(.minutes(5)))
struct RemovedTypeTests {
  private static func remove(_ suite: SuiteCluster, at clock: any Clock) async throws {
    let schema = SchemaClient(bus: suite.hub.connect(as: "operator"))
    let table = RunningDevice.table
    let request = ChangeSchemaRequest(
      container: table.app.text, environment: CaravanModel.Environment.development.rawValue, byOperator: true,
      change: .remove(RemoveType(type: table.name)))
    _ = try await schema.perform(SchemaCall(call: .change(request)))
    // What was known of it before is a second old at most.
    try await clock.sleep(for: .seconds(2))
  }

  @Test("CK-90: a device that only reads starts over with the new type; rows of the old one are gone, unsent ones stay")
  func removed() throws {
    let suite = try SuiteCluster(seed: 3)
    try suite.cluster.run(deadline: .seconds(10_000)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      try await a.write("old", 1)
      try await Self.sync(a, b)
      #expect(try await b.numbers() == ["old": 1])
      try await Self.remove(suite, at: a.clock)
      try await a.write("new", 2)
      try await Self.sync(a)
      try await b.write("mine", 3)
      try await b.agent.engine.syncNow(RunningDevice.table, write: false, read: true)
      #expect(try await b.numbers() == ["new": 2, "mine": 3])
      try await Self.sync(b, a)
      let numbers = try await a.numbers()
      #expect(numbers["new"] == 2 && numbers["mine"] == 3)
    }
  }

  private static func sync(_ devices: RunningDevice...) async throws {
    for device in devices { try await device.agent.engine.syncNow(RunningDevice.table, write: true, read: true) }
  }
}

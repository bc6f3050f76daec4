import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: templates are changed by those who develop a container, each change a version of its history, and of two at
/// once none is lost (CK-83, CK-96). Method: devices, sync, schema and a real store.
@Suite(.timeLimit(.minutes(2))) struct TemplateTests {
  private static func template(_ name: String, _ text: String? = nil) -> ChangeSchemaRequest.Change {
    .setTemplate(
      CaravanWire.SubscriptionTemplate(
        CaravanModel.SubscriptionTemplate(name: name, type: "photos", text: text, shows: .init(title: "T"))))
  }

  private static func change(
    _ change: ChangeSchemaRequest.Change, by device: Device, in environment: CaravanModel.Environment = .development
  ) async throws -> CaravanModel.SchemaChange? {
    let call = SchemaCall(
      call: .change(
        ChangeSchemaRequest(
          container: "album", environment: environment.rawValue, byOperator: true, change: change)))
    guard case .change(let reply)? = try await ask(call, device).answer else { return nil }
    return try reply.change?.model()
  }

  private static func ask(_ call: SchemaCall, _ device: Device) async throws -> SchemaAnswer {
    let result = try await device.ask(.schema(AskSchema(container: "album", call: call.encoded())))
    if case .failure(let failure) = result { throw failure.model() }
    guard case .schema(let told) = result else { throw Unexpected(result: result) }
    return try SchemaAnswer.decode(told.answer)
  }

  private static func refusal(_ body: () async throws -> Void) async -> ErrorCode? {
    do { try await body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  private static func listed(
    _ device: Device, in environment: String = "development"
  ) async throws -> [CaravanModel.SubscriptionTemplate] {
    let call = SchemaCall(call: .list(ListTypesRequest(container: "album", environment: environment)))
    guard case .list(let reply)? = try await ask(call, device).answer else { return [] }
    return try reply.templateModels()
  }

  @Test("CK-83, CK-96: templates that are defined at once are all there, and the history says each state of them")
  func concurrently() async throws {
    try await CloudCluster.with { cloud in
      let (phone, tablet) = (try cloud.device("phone"), try cloud.device("tablet"))
      let eve = try cloud.device("e", of: "eve")
      _ = try await phone.agree([("name", .text), ("date", .integer)])
      let operatorSide = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await operatorSide.createContainer("album", owner: UserID("ann"), isForMembers: false)
      try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
      #expect(await Self.refusal { _ = try await Self.change(Self.template("x"), by: eve) } == .accessDenied)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<6 {
          group.addTask {
            let made = try await Self.change(
              Self.template("t\(number)", "date = ?"), by: number % 2 == 0 ? phone : tablet)
            #expect(made?.differences.map(\.type) == ["t\(number)"] && made?.author.user?.text == "ann")
          }
        }
        try await group.waitForAll()
      }
      #expect(try await Self.listed(phone).map(\.name) == (0..<6).map { "t\($0)" })
      _ = try await Self.change(Self.template("t0", "date > ?"), by: phone)
      #expect(try await Self.change(Self.template("t0", "date > ?"), by: tablet) == nil, "it is so already")
      _ = try await Self.change(.removeTemplate(RemoveTemplate(name: "t0")), by: phone)
      _ = try await Self.change(Self.template("t0", "name = ?"), by: phone)
      let again = try await operatorSide.template(named: "t0", of: try ContainerID("album"), in: .development)
      #expect(again.version == 3 && again.text == "name = ?")
      let call = SchemaCall(
        call: .history(SchemaHistoryRequest(container: "album", environment: "development", limit: 3)))
      guard case .history(let history)? = try await Self.ask(call, phone).answer else { throw Missing("the history") }
      let changes = try history.changes.map { try $0.model() }
      #expect(changes.map(\.cause) == [.said, .removed, .said])
      #expect(
        changes.flatMap(\.differences).map(\.description) == [
          "+ template t0: ON photos WHERE 'name = ?' TITLE 'T'", "- template t0: ON photos WHERE 'date > ?' TITLE 'T'",
          "~ template t0: ON photos WHERE 'date = ?' TITLE 'T', now ON photos WHERE 'date > ?' TITLE 'T'",
        ])
      for name in ["t9", "T0", "a b"] {
        #expect(
          await Self.refusal {
            _ = try await operatorSide.template(named: name, of: try ContainerID("album"), in: .development)
          } != nil, "\(name)")
      }
    }
  }

  @Test("CK-83, CK-94: a developer promotes templates with their types, and a reset brings production's back")
  func promotion() async throws {
    try await CloudCluster.with { cloud in
      let (phone, desk) = (try cloud.device("phone"), try cloud.device("desk", in: .production))
      _ = try await phone.agree([("name", .text)])
      let operatorSide = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await operatorSide.createContainer("album", owner: UserID("ann"), isForMembers: false)
      try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
      _ = try await Self.change(Self.template("named", "name = ?"), by: phone)
      let alone = ChangeSchemaRequest.Change.promote(PromoteTypes(templates: ["named"]))
      #expect(await Self.refusal { _ = try await Self.change(alone, by: desk, in: .production) } == .schemaViolation)
      let made = try #require(try await Self.change(.promote(PromoteTypes()), by: desk, in: .production))
      #expect(made.differences.map(\.property) == ["type", "template"] && made.cause == .promoted)
      #expect(try await Self.listed(desk, in: "production").map(\.name) == ["named"])
      #expect(
        await Self.refusal { _ = try await Self.change(Self.template("own"), by: desk, in: .production) }
          == .schemaNotAdditive)
      _ = try await Self.change(Self.template("named", "name <> ?"), by: phone)
      _ = try await Self.change(Self.template("other"), by: phone)
      _ = try await Self.change(.reset(ResetTypes()), by: phone)
      #expect(try await Self.listed(phone).map(\.text) == ["name = ?"])
    }
  }
}

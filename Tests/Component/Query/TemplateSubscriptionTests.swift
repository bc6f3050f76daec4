import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a subscription is made from a template with values for its parameters, stays as it was made, and in production
/// there is no other way (CK-83). Method: the service on a simulated bus with real storage and schema.
@Suite(.timeLimit(.minutes(2))) struct TemplateSubscriptionTests {
  private static let live = DatabaseID(container: album.container, environment: .production, owner: alice)

  private static func started() throws -> (Cluster, CaravanModel.RecordType) {
    let cluster = try Cluster(seed: 13)
    _ = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    return (cluster, type)
  }

  private static func template(
    _ text: String? = "date = ? AND name <> ?", events: CaravanModel.StandingQuery.Events = .enters
  ) -> CaravanModel.SubscriptionTemplate {
    CaravanModel.SubscriptionTemplate(
      name: "dated", type: "photos", text: text, events: events, shows: .init(title: "Dated", fields: ["name"]))
  }

  private static func asked(_ id: String, _ arguments: [CaravanModel.Value]) -> CaravanModel.StandingQuery {
    CaravanModel.StandingQuery(id: id, .template("dated", arguments: arguments, zone: nil))
  }

  private static func fields(_ date: Int64, _ name: String) -> RecordFields {
    RecordFields([1: .text(name), 2: .integer(date)])
  }

  private static func refusal(
    _ cluster: Cluster, _ query: CaravanModel.StandingQuery, in database: DatabaseID = album
  ) -> CaravanError? {
    do { try cluster.subscribe(query, in: database) } catch { return error as? CaravanError }
    return nil
  }

  @Test("CK-83: an instance is what its template said when it was made; the next one is what it says now")
  func instances() throws {
    let (cluster, type) = try Self.started()
    try cluster.define(Self.template())
    let first = try #require(try cluster.subscribe(Self.asked("a", [.integer(5), .text("no")])).first)
    #expect(
      first
        == CaravanModel.StandingQuery(
          id: "a",
          .records(
            type: "photos", text: .init("date = ? AND name <> ?", arguments: [.integer(5), .text("no")]), zone: nil,
            .enters),
          shows: .init(title: "Dated", fields: ["name"]), source: .init(name: "dated", version: 1)))
    try cluster.define(Self.template("date > ?", events: .all))
    #expect(Self.refusal(cluster, Self.asked("b", [.integer(5), .text("no")]))?.code == .invalidData)
    try cluster.subscribe(Self.asked("b", [.integer(6)]))
    #expect(try cluster.subscribe().map(\.source?.version) == [1, 2])
    try cluster.save([("x", Self.fields(5, "one"))], type: type, to: zone("photos"))
    try cluster.save([("y", Self.fields(7, "two"))], type: type, to: zone("photos"))
    try cluster.change(.removeTemplate(RemoveTemplate(name: "dated")))
    #expect(Self.refusal(cluster, Self.asked("c", [.integer(5)]))?.code == .noSuchObject)
    try cluster.save([("z", Self.fields(5, "three"))], type: type, to: zone("photos"))
    let told = try cluster.log(atLeast: 3)
    #expect(told.map(\.subscription) == ["a", "b", "a"] && told.map(\.record) == ["x", "y", "z"])
    #expect(told.map { $0.text(.fields) } == [#"{"name":"one"}"#, #"{"name":"two"}"#, #"{"name":"three"}"#])
    #expect(told.allSatisfy { $0.text(.title) == "Dated" })
  }

  @Test("CK-83: parameters that are not bound, too many, or of another kind are refused, and so is an unknown template")
  func parameters() throws {
    let (cluster, _) = try Self.started()
    try cluster.define(Self.template())
    let cases: [([CaravanModel.Value], ErrorCode, String)] = [
      ([], .invalidData, "has 2 parameters, and 0 are bound"), ([.integer(5)], .invalidData, "1 are bound"),
      ([.integer(5), .text("a"), .text("b")], .invalidData, "3 are bound"),
      ([.integer(5), .null], .invalidData, "parameter 2"), ([.text("five"), .text("a")], .schemaViolation, "'date'"),
      ([.integer(5), .integer(6)], .schemaViolation, "'name'"),
    ]
    for (arguments, code, words) in cases {
      let error = Self.refusal(cluster, Self.asked("a", arguments))
      #expect(error?.code == code && error?.message.contains(words) == true, "\(arguments): \(error?.message ?? "")")
    }
    for name in ["Dated", "none", "a b"] {
      let query = CaravanModel.StandingQuery(id: "a", .template(name, arguments: [], zone: nil))
      #expect([.noSuchObject, .schemaViolation].contains(Self.refusal(cluster, query)?.code), "\(name)")
    }
    var forged = CaravanModel.StandingQuery.records("a", "date = 5")
    forged.source = .init(name: "dated", version: 1)
    #expect(Self.refusal(cluster, forged)?.code == .invalidData)
    try cluster.define(Self.template(nil))
    #expect(Self.refusal(cluster, Self.asked("a", [.integer(5)]))?.code == .invalidData)
    #expect(Self.refusal(cluster, Self.asked("a", [])) == nil)
    #expect(try cluster.subscribe().map(\.id) == ["a"])
  }

  @Test("CK-83, CK-94: production takes subscriptions from promoted templates, and no query of its own")
  func production() throws {
    let (cluster, _) = try Self.started()
    try cluster.define(Self.template())
    _ = try cluster.simulation.run {
      try await cluster.schema.createContainer("album", owner: alice, isForMembers: false)
    }
    try cluster.change(.promote(PromoteTypes(types: ["photos"])), in: .production)
    try cluster.waitUntilServed(Self.live)
    let bound = Self.asked("a", [.integer(5), .text("no")])
    for query in [CaravanModel.StandingQuery.records("a", "date = 5"), .records("a", nil)] {
      let error = Self.refusal(cluster, query, in: Self.live)
      #expect(error?.code == .schemaViolation && error?.message.contains("templates only") == true)
    }
    var forged = CaravanModel.StandingQuery.records("a", "date = 5")
    forged.source = .init(name: "dated", version: 1)
    #expect(Self.refusal(cluster, forged, in: Self.live)?.code == .invalidData)
    let absent = Self.refusal(cluster, bound, in: Self.live)
    #expect(absent?.code == .noSuchObject && absent?.message.contains("promote it") == true)
    #expect(Self.refusal(cluster, CaravanModel.StandingQuery(id: "z", .zones), in: Self.live) == nil)
    try cluster.change(.promote(PromoteTypes(templates: ["dated"])), in: .production)
    #expect(try cluster.subscribe(bound, in: Self.live).map(\.source?.name) == ["dated", nil])
    let type = try cluster.simulation.run {
      try await cluster.schema.type(named: "photos", of: album.container, in: .production)
    }
    try cluster.save([("x", Self.fields(5, "one"))], type: type, to: zone("photos", in: Self.live))
    let told = try cluster.log(in: .production, atLeast: 2).filter { $0.subscription == "a" }
    #expect(told.map { $0.text(.fields) } == [#"{"name":"one"}"#])
    #expect(Self.refusal(cluster, .records("free", "date = 5")) == nil, "development takes both")
  }
}

extension Cluster {
  /// What the operator says of the schema.
  func change(
    _ change: ChangeSchemaRequest.Change, in environment: CaravanModel.Environment = .development
  ) throws {
    let request = ChangeSchemaRequest(
      container: album.container.text, environment: environment.rawValue, byOperator: true, change: change)
    _ = try simulation.run { try await self.schema.perform(SchemaCall(call: .change(request))) }
  }

  func define(_ template: CaravanModel.SubscriptionTemplate) throws {
    try change(.setTemplate(CaravanWire.SubscriptionTemplate(template)))
  }
}

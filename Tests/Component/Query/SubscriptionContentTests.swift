import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanQueryDriver
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: notifications show what their subscription says, with values of the version that was matched, and none of a
/// record that has left (CK-83, CK-85). Method: the service on a simulated bus with real storage and schema; the log is
/// read as storage has it.
@Suite(.timeLimit(.minutes(2))) struct SubscriptionContentTests {
  private typealias Field = NotificationLog.Field

  /// - Parameter engine: `.sqlite` where each instance is to have an index of its own.
  private static func started(_ engine: IndexEngine = IndexRoom.usual) throws -> (
    Cluster, Cluster.Instance, CaravanModel.RecordType
  ) {
    let cluster = try Cluster(seed: 12, engine)
    let instance = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    return (cluster, instance, type)
  }

  private static func fields(_ date: Int64, _ name: String) -> RecordFields {
    RecordFields([1: .text(name), 2: .integer(date), 9: .data([1, 2, 3])])
  }

  private static let content = CaravanModel.NotificationContent(
    title: "New", bodyKey: "FOUND", bodyArguments: ["name", "date"], badges: true, sound: "ping",
    fields: ["date", "name"])

  private static func query(
    _ id: String = "five", _ text: String? = "date = 5", _ content: CaravanModel.NotificationContent = content,
    _ events: CaravanModel.StandingQuery.Events = .all
  ) -> CaravanModel.StandingQuery {
    var query = CaravanModel.StandingQuery.records(id, text, events)
    query.shows = content
    return query
  }

  @Test("CK-83, CK-85: each notification has the values of its version; one of a record that left has none")
  func versions() throws {
    let (cluster, _, type) = try Self.started()
    #expect(try cluster.subscribe(Self.query()) == [Self.query()])
    for (date, name) in [(5, "one"), (5, "two"), (6, "three"), (5, "four")] as [(Int64, String)] {
      try cluster.save([("x", Self.fields(date, name))], type: type, to: zone("photos"))
    }
    try cluster.delete(["x"], from: zone("photos"))
    let told = try cluster.log(atLeast: 5)
    #expect(told.map(\.reason) == [.enters, .changes, .leaves, .enters, .leaves])
    #expect(
      told.map { $0.text(.fields) } == [
        #"{"date":5,"name":"one"}"#, #"{"date":5,"name":"two"}"#, nil, #"{"date":5,"name":"four"}"#, nil,
      ])
    #expect(
      told.map { $0.texts(.bodyArguments) } == [["one", "5"], ["two", "5"], nil, ["four", "5"], nil])
    #expect(told.allSatisfy { $0.text(.title) == "New" && $0.text(.bodyKey) == "FOUND" && $0.text(.sound) == "ping" })
    #expect(told.allSatisfy { $0.log[Field.badge.rawValue] == .integer(1) && $0.log[Field.isCut.rawValue] == .null })
    #expect(told.allSatisfy { $0.log[Field.body.rawValue] == .null && $0.log[Field.titleKey.rawValue] == .null })
  }

  @Test("CK-83: what does not fit is cut, and the notification says so; who asked for nothing gets nothing")
  func cut() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.subscribe(Self.query("a", "date = 5", .init(fields: ["name"])))
    try cluster.subscribe(Self.query("b", "date = 5", .init()))
    let long = String(repeating: "é", count: 40_000)
    try cluster.save([("x", Self.fields(5, long))], type: type, to: zone("photos"))
    let told = try cluster.log(atLeast: 2).sorted { $0.subscription < $1.subscription }
    let kept = String(repeating: "é", count: (Limits.notificationValueBytes - 2) / 2)
    #expect(told[0].text(.fields) == #"{"name":"\#(kept)"}"# && told[0].log[Field.isCut.rawValue] == .integer(1))
    let shown = Field.allCases.filter { $0.rawValue >= Field.title.rawValue }
    #expect(shown.allSatisfy { told[1].log[$0.rawValue] == .null })
  }

  @Test("CK-83, CK-85: fields that cannot be carried are refused by name; zones have texts, and no fields")
  func refusals() throws {
    let (cluster, _, type) = try Self.started()
    func refusal(_ query: CaravanModel.StandingQuery) -> CaravanError? {
      do { try cluster.subscribe(query) } catch { return error as? CaravanError }
      return nil
    }
    for (content, word) in [
      (.init(fields: ["name", "nosuch"]), "'nosuch'"), (.init(fields: ["photo"]), "'photo'"),
      (.init(titleKey: "K", titleArguments: ["secret"]), "'secret'"),
    ] as [(CaravanModel.NotificationContent, String)] {
      let error = refusal(Self.query("a", "date = 5", content))
      #expect(error?.code == .schemaViolation && error?.message.contains(word) == true, "\(word)")
    }
    let zones = CaravanModel.StandingQuery(id: "z", .zones, shows: .init(title: "Zones", fields: ["name"]))
    #expect(refusal(zones)?.code == .invalidData)
    #expect(try cluster.subscribe().isEmpty)
    try cluster.save([("x", Self.fields(5, "a"))], type: type, to: zone("old"))
    try cluster.subscribe(CaravanModel.StandingQuery(id: "z", .zones, shows: .init(title: "Zones", badges: true)))
    try cluster.save([("x", Self.fields(5, "a"))], type: type, to: zone("new"))
    try cluster.drop(zone("old"))
    let told = try cluster.log(atLeast: 2)
    #expect(told.map(\.reason) == [.zoneMade, .zoneDeleted])
    #expect(told.allSatisfy { $0.text(.title) == "Zones" && $0.log[Field.badge.rawValue] == .integer(1) })
  }

  @Test(
    "CK-83: a field that is newer than what the service remembers of the type is carried; one that was removed is not")
  func changedTypes() throws {
    let (cluster, _, _) = try Self.started()
    _ = try cluster.find(Query(database: album, type: "photos"))
    var wider = photos
    wider.fields.append(FieldDefinition(id: 0, name: "caption", kind: .text))
    let newer = try cluster.define(wider)
    let caption = try #require(newer.field(named: "caption")?.id)
    try cluster.subscribe(Self.query("a", "date = 5", .init(fields: ["caption", "name"]), .changes))
    var record = Self.fields(5, "n")
    record[caption] = .text("C")
    for _ in 1...2 { try cluster.save([("x", record)], type: newer, to: zone("photos")) }
    #expect(try cluster.log(atLeast: 1).map { $0.text(.fields) } == [#"{"caption":"C","name":"n"}"#])
    try cluster.change(.remove(RemoveType(type: "photos", field: "caption")))
    // What the service knew of the type is over then.
    try cluster.simulation.run(for: .milliseconds(QueryLimits.latestTypeMilliseconds + 1_000))
    try cluster.save([("x", record)], type: newer, to: zone("photos"))
    let last = try #require(try cluster.log(atLeast: 2).last)
    #expect(last.text(.fields) == #"{"name":"n"}"# && last.log[Field.isCut.rawValue] == .integer(1))
    #expect(
      last.log.ascending.allSatisfy { Field(rawValue: $0.id) != nil }, "the log has its own fields, and no others")
  }

  @Test("CK-83, CK-85: a service that begins with nothing knows from storage what notifications show")
  func takeover() throws {
    let (cluster, first, type) = try Self.started(.sqlite)
    try cluster.subscribe(Self.query())
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { first.task.result != nil }
    _ = try cluster.startQuery("other")
    let missed = try cluster.log(atLeast: 1)
    #expect(
      missed.map(\.reason) == [.missed] && missed.allSatisfy { $0.text(.title) == nil }, "it is of nothing that is")
    try cluster.save([("x", Self.fields(5, "one"))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 2).last?.text(.fields) == #"{"date":5,"name":"one"}"#)
  }
}

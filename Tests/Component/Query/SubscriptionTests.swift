import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanQueryDriver
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: whoever subscribes to a query hears of each record that enters, leaves or changes in its answer, once, in the
/// log of their notifications, whatever becomes of the service. Method: the service on a simulated bus with real
/// storage and schema; the log is read as storage has it.
@Suite(.timeLimit(.minutes(2))) struct SubscriptionTests {
  static let bob = UserID(unchecked: "bob")
  static let plaza = DatabaseID(container: album.container, environment: .development, owner: nil)

  /// - Parameter engine: `.sqlite` where each instance is to have an index of its own.
  private static func started(_ engine: IndexEngine = IndexRoom.usual) throws -> (
    Cluster, Cluster.Instance, CaravanModel.RecordType
  ) {
    let cluster = try Cluster(seed: 11, engine)
    let instance = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    return (cluster, instance, type)
  }

  private static func fields(_ number: Int64, _ name: String = "a") -> RecordFields {
    RecordFields([
      1: .text(name), 2: .integer(number), 8: .list([.text("t\(number)")]),
      10: (try? CaravanModel.Location(latitude: Double(number), longitude: 20)).map { .location($0) } ?? .null,
    ])
  }

  @Test(
    "CK-83, CK-84: what enters, leaves and changes is told once, however the query is found",
    arguments: [
      "date = 5", "date >= 5 AND date < 6", "date IN (5, 77)", "tags CONTAINS 't5'", "name MATCH 'five'",
      "name LIKE 'five%'", "place NEAR (5, 20, 1000)", "date <> 1 AND NOT date = 2 AND NOT date = 3",
      "date = 5 OR tags CONTAINS 'none'", "name LIKE '%five%'",
    ])
  func events(text: String) throws {
    let (cluster, _, type) = try Self.started()
    try cluster.subscribe(.records("five", text))
    let five = Self.fields(5, "five of them")
    try cluster.save([("x", Self.fields(1))], type: type, to: zone("photos"))
    try cluster.save([("x", five)], type: type, to: zone("photos"))
    try cluster.save([("x", five), ("y", Self.fields(2))], type: type, to: zone("photos"))
    try cluster.save([("x", Self.fields(3))], type: type, to: zone("photos"))
    try cluster.save([("x", five)], type: type, to: zone("elsewhere"))
    try cluster.delete(["x"], from: zone("elsewhere"))
    let told = try cluster.log(atLeast: 5)
    #expect(told.map(\.reason) == [.enters, .changes, .leaves, .enters, .leaves], "\(text)")
    #expect(told.map(\.number) == [1, 2, 3, 4, 5])
    #expect(told.map(\.zone) == ["photos", "photos", "photos", "elsewhere", "elsewhere"])
    #expect(told.allSatisfy { $0.record == "x" && $0.subscription == "five" })
  }

  @Test("CK-83: only what was asked for is told, and nothing once it was removed") func selected() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.subscribe(.records("few", "date = 5", zone: "photos", .enters))
    #expect(try cluster.subscribe(.records("all", nil)).map(\.id) == ["all", "few"])
    for zoneName in ["photos", "elsewhere"] {
      try cluster.save([("x", Self.fields(5))], type: type, to: zone(zoneName))
      try cluster.save([("x", Self.fields(5))], type: type, to: zone(zoneName))
    }
    #expect(try cluster.log(atLeast: 5).filter { $0.subscription == "few" }.map(\.reason) == [.enters])
    #expect(try cluster.subscribe(remove: "all").map(\.id) == ["few"])
    try cluster.save([("y", Self.fields(1))], type: type, to: zone("photos"))
    try cluster.save([("y", Self.fields(5))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 6).last?.subscription == "few")
    #expect(try cluster.log(atLeast: 6).count == 6)
  }

  @Test("CK-82: zones that are made and deleted are told") func zones() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("old"))
    try cluster.subscribe(CaravanModel.StandingQuery(id: "zones", .zones))
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("new"))
    try cluster.drop(zone("old"))
    let told = try cluster.log(atLeast: 2)
    #expect(told.map(\.reason) == [.zoneMade, .zoneDeleted] && told.map(\.zone) == ["new", "old"])
  }

  @Test("CK-10, CK-83: of every shard is told, and nothing is called missed that nobody had subscribed to before")
  func shards() throws {
    let cluster = try Cluster(seed: 12)
    let settings = CaravanModel.ContainerSettings(privateShards: 4)
    _ = try cluster.simulation.run {
      try await cluster.schema.settings(of: album.container, in: .development, saying: settings)
    }
    _ = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    try cluster.subscribe(.records("all", nil))
    for index in 0..<12 {
      let name = "row\(index)"
      let part = album.shard(DefaultZone.shard(of: name, among: 4))
      try cluster.save([(name, Self.fields(5))], type: type, to: zone(DefaultZone.name, in: part))
    }
    let told = try cluster.log(atLeast: 12)
    #expect(told.allSatisfy { $0.reason == .enters } && Set(told.map(\.record)).count == 12)
  }

  @Test("CK-10, CK-83: a subscription that is older than a database's first record hears of every shard")
  func early() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.subscribe(.records("all", nil), in: Self.plaza, viewer: .user("author-alice"))
    let shards = try cluster.simulation.run {
      try await cluster.schema.shards(of: Self.plaza, for: Self.bob)
    }
    #expect(shards > 1)
    for index in 0..<24 {
      let name = "row\(index)"
      let part = Self.plaza.shard(DefaultZone.shard(of: name, among: shards))
      try cluster.save([(name, Self.fields(5))], type: type, to: zone(DefaultZone.name, in: part))
    }
    #expect(Set(try cluster.log(atLeast: 24).map(\.record)).count == 24)
  }

  @Test("CK-65, CK-83: of a public database each hears of what they see") func visible() throws {
    let (cluster, _, _) = try Self.started()
    var secret = photos
    secret.name = "letters"
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    secret.grants = grants
    let type = try cluster.define(secret)
    let query = CaravanModel.StandingQuery(id: "mine", .records(type: "letters", text: nil, zone: nil, .all))
    for user in [alice, Self.bob] {
      try cluster.subscribe(query, in: Self.plaza, of: user, viewer: .user("author-\(user.text)"))
    }
    let error = #expect(throws: CaravanError.self) {
      try cluster.subscribe(query, in: Self.plaza, of: UserID(unchecked: "eve"), viewer: .anonymous)
    }
    #expect(error?.code == .tableNotFound)
    try cluster.save([("x", Self.fields(5))], type: type, to: zone(DefaultZone.name, in: Self.plaza))
    try cluster.settle(Self.plaza, type: "letters")
    try cluster.simulation.run(for: .seconds(3))
    // Storage knows nobody who made it, so neither of them did.
    #expect(try cluster.log(of: alice, atLeast: 0).isEmpty && cluster.log(of: Self.bob, atLeast: 0).isEmpty)
  }

  @Test("CK-04, CK-83: who sees records by a role hears of them while they have it, as it is when they are told")
  func roles() throws {
    let (cluster, _, _) = try Self.started()
    var secret = photos
    secret.name = "letters"
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    try grants.grant(.read, to: .own("readers"))
    secret.grants = grants
    let type = try cluster.define(secret)
    let query = CaravanModel.StandingQuery(id: "mine", .records(type: "letters", text: nil, zone: nil, .all))
    func setRole(of user: UserID, _ isGiven: Bool) throws {
      var request = MembersRequest(
        container: Self.plaza.container.text, environment: "development", byOperator: true)
      let member = CaravanWire.RoleMember(role: "readers", user: user.text)
      if isGiven { request.give = member } else { request.take = member }
      let call = SchemaCall(call: .members(request))
      _ = try cluster.simulation.run { try await cluster.schema.perform(call) }
      try cluster.simulation.run(for: SchemaClient.freshness)
    }
    func save(_ name: String) throws {
      let part = Self.plaza.shard(DefaultZone.shard(of: name, among: CaravanModel.ContainerSettings().publicShards))
      try cluster.save([(name, Self.fields(5))], type: type, to: zone(DefaultZone.name, in: part))
      try cluster.settle(Self.plaza, type: "letters")
      try cluster.simulation.run(for: .seconds(3))
    }
    try setRole(of: alice, true)
    for user in [alice, Self.bob] {
      try cluster.subscribe(query, in: Self.plaza, of: user, viewer: .user("author-\(user.text)"))
    }
    try save("x")
    #expect(try cluster.log(of: alice, atLeast: 1).map(\.record) == ["x"])
    #expect(try cluster.log(of: Self.bob, atLeast: 0).isEmpty)
    try setRole(of: alice, false)
    try setRole(of: Self.bob, true)
    try save("y")
    #expect(try cluster.log(of: alice, atLeast: 0).map(\.record) == ["x"])
    #expect(try cluster.log(of: Self.bob, atLeast: 1).map(\.record) == ["y"])
  }

  @Test("CK-83: an instance that takes over goes on; one that knows nothing says that something may be missing")
  func takeover() throws {
    let (cluster, first, type) = try Self.started(.sqlite)
    try cluster.subscribe(.records("five", "date = 5"))
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 1).map(\.reason) == [.enters])
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { first.task.result != nil }
    // While nobody listens.
    try cluster.save([("y", Self.fields(5))], type: type, to: zone("photos"))
    try cluster.save([("x", Self.fields(6))], type: type, to: zone("photos"))
    let second = try cluster.startQuery()
    #expect(
      try cluster.log(atLeast: 3).map(\.reason).dropFirst().sorted { $0.rawValue < $1.rawValue } == [.enters, .leaves])
    second.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { second.task.result != nil }
    try cluster.save([("z", Self.fields(5))], type: type, to: zone("photos"))
    _ = try cluster.startQuery("other")
    #expect(try cluster.log(atLeast: 4).last?.reason == .missed)
    try cluster.save([("v", Self.fields(5))], type: type, to: zone("photos"))
    let told = try cluster.log(atLeast: 5)
    #expect(told.last?.record == "v" && told.map(\.number) == [1, 2, 3, 4, 5])
  }

  @Test("CK-84: subscriptions that no index finds are few, and what is wrong with one is said") func refusals() throws {
    let (cluster, _, _) = try Self.started()
    func refusal(_ query: CaravanModel.StandingQuery) -> CaravanError? {
      do { try cluster.subscribe(query) } catch { return error as? CaravanError }
      return nil
    }
    #expect(refusal(.records("a", "nosuch = 1"))?.code == .schemaViolation)
    #expect(
      refusal(CaravanModel.StandingQuery(id: "a", .records(type: "none", text: nil, zone: nil, .all)))?.code
        == .tableNotFound)
    #expect(refusal(.records("", "date = 1"))?.code == .invalidData)
    #expect(refusal(.records("a", "date = 1", .init([])))?.message.contains("waits for nothing") == true)
    for number in 0..<QueryLimits.scansPerUser {
      #expect(refusal(.records("s\(number)", "name LIKE '%\(number)'")) == nil)
    }
    #expect(refusal(.records("s0", "name LIKE '%x'")) == nil, "one in place of another is no more")
    #expect(refusal(.records("more", "name LIKE '%x'"))?.code == .limitExceeded)
    #expect(refusal(.records("more", "name = 'x'")) == nil)
  }
}

extension CaravanModel.StandingQuery {
  static func records(
    _ id: String, _ text: String?, zone: String? = nil, _ events: Events = .all
  ) -> CaravanModel.StandingQuery {
    CaravanModel.StandingQuery(id: id, .records(type: "photos", text: text.map { Query.Text($0) }, zone: zone, events))
  }
}

/// A notification as its log has it.
struct Told: Sendable {
  let subscription: String
  let reason: NotificationLog.Reason
  let zone: String
  let record: String
  let number: Int64
  let version: Seq
  /// All of its fields.
  let log: RecordFields

  func text(_ field: NotificationLog.Field) -> String? {
    if case .text(let text) = log[field.rawValue] { text } else { nil }
  }

  func texts(_ field: NotificationLog.Field) -> [String]? {
    guard case .list(let items) = log[field.rawValue] else { return nil }
    return items.map { if case .text(let text) = $0 { text } else { "" } }
  }
}

extension Cluster {
  @discardableResult
  func subscribe(
    _ query: CaravanModel.StandingQuery? = nil, remove: String = "", in database: DatabaseID = album,
    of user: UserID = alice,
    viewer: Query.Viewer? = nil
  ) throws -> [CaravanModel.StandingQuery] {
    var request = SubscriptionsRequest(database: DatabaseRef(database), user: user.text, remove: remove)
    request.viewer = viewer.map { QueryViewer($0) }
    request.save = query.map { CaravanWire.StandingQuery($0) }
    let asked = request
    let reply: SubscriptionsReply = try simulation.run {
      try await self.bus.call(
        asked, to: .partitioned(.query, Partition(of: database), method: "subscriptions"), deadline: .seconds(10))
    }
    return try reply.subscriptions.map { try $0.model() }
  }

  /// The notifications of a user, in the order in which they came, once there are so many.
  func log(
    of user: UserID = alice, in environment: CaravanModel.Environment = .development, atLeast count: Int
  ) throws -> [Told] {
    let zone = try zone(
      NotificationLog.name, in: DatabaseID(container: album.container, environment: environment, owner: user))
    let clock = simulation.host("test").host.clock
    let deadline = clock.now + .seconds(30)
    return try simulation.run {
      while true {
        let request = ReadChangesRequest(zone: ZoneRef(zone), maxRecords: 1_000, maxBytes: 1 << 20)
        let reply = try await self.storage.changes(of: zone, request)
        let entries = try EntryPage.decode(reply.page).entries
        if entries.count >= count || clock.now > deadline { return try entries.map(Told.init) }
        try await clock.sleep(for: .milliseconds(20))
      }
    }
  }
}

extension Told {
  init(_ entry: CaravanWire.Entry) throws {
    let fields = try RecordFields(body: entry.body)
    func text(_ field: NotificationLog.Field) -> String {
      if case .text(let text) = fields[field.rawValue] { text } else { "" }
    }
    func number(_ field: NotificationLog.Field) -> Int64 {
      if case .integer(let number) = fields[field.rawValue] { number } else { 0 }
    }
    self.init(
      subscription: text(.subscription), reason: try #require(NotificationLog.Reason(rawValue: text(.reason))),
      zone: text(.zone), record: text(.record), number: number(.number), version: UInt64(number(.version)),
      log: fields)
  }
}

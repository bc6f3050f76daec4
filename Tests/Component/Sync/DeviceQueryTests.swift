import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a device asks the cloud about its user's records and those of the public database, and is shown what its user
/// may see, and nothing else. Method: devices, sync, schema, a real store and the query service.
@Suite(.timeLimit(.minutes(2))) struct DeviceQueryTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("n", .integer)]

  private static func query(
    _ text: String? = nil, _ arguments: [Value] = [], sort: [CaravanModel.SortKey] = []
  ) throws -> CaravanModel.Query {
    // Whose database it is, the device does not say.
    var query = CaravanModel.Query(
      database: DatabaseID(container: try ContainerID("none"), environment: .production, owner: nil), type: "photos")
    query.text = text.map { CaravanModel.Query.Text($0, arguments: arguments) }
    query.sort = sort
    return query
  }

  private static func ask(
    _ device: Device, _ query: CaravanModel.Query, _ database: DatabaseScope = .private
  ) async throws -> QueryReply {
    let question = AskQuery(container: "album", database: database, request: QueryRequest(query).encoded())
    while true {
      let result = try await device.ask(.query(question))
      // The service may not serve the partition yet.
      if case .failure(let failure) = result, failure.model().isTransient {
        try await Task.sleep(for: .milliseconds(20))
        continue
      }
      guard case .query(let found) = result else { throw Unexpected(result: result) }
      return try QueryReply.decode(found.answer)
    }
  }

  private static func names(_ reply: QueryReply) -> [String] { reply.hits.compactMap { $0.entry?.name } }

  private static func refusal(
    _ device: Device, _ query: CaravanModel.Query, _ database: DatabaseScope = .private
  ) async throws -> CaravanError? {
    do { _ = try await ask(device, query, database) } catch let unexpected as Unexpected {
      if case .failure(let failure) = unexpected.result { return failure.model() }
    }
    return nil
  }

  private static func save(
    _ device: Device, _ names: [String], _ type: CaravanModel.RecordType, zone: String = "photos",
    _ database: DatabaseScope = .private
  ) async throws {
    // Records of the default zone stand alone.
    for (index, name) in names.enumerated() {
      let save = CaravanModel.Mutation.save(name, [1: .text(name), 2: .integer(Int64(index))], type: type)
      var push = Push.of(UInt64(index + 1), [save], to: zone)
      push.database = database
      let result = try await device.ask(.push(push))
      guard case .commit(let reply) = result else { throw Unexpected(result: result) }
      #expect(reply.outcomes.map(\.verdict) == [.accepted])
    }
  }

  private static func subscribe(
    _ device: Device, _ query: CaravanModel.StandingQuery, _ database: DatabaseScope = .private, as user: String = ""
  ) async throws -> [String] {
    let request = SubscriptionsRequest(user: user, save: CaravanWire.StandingQuery(query))
    let question = AskSubscriptions(container: "album", database: database, request: request.encoded())
    while true {
      let result = try await device.ask(.subscriptions(question))
      if case .failure(let failure) = result, failure.model().isTransient {
        try await Task.sleep(for: .milliseconds(20))
        continue
      }
      guard case .subscriptions(let all) = result else { throw Unexpected(result: result) }
      return try SubscriptionsReply.decode(all.answer).subscriptions.map(\.id)
    }
  }

  @Test("CK-83: a device subscribes for its own user, whoever it says it is, and sees nothing of where that is kept")
  func subscriptions() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let (phone, eve) = (try cloud.device("phone"), try cloud.device("e", of: "eve"))
      let type = try await phone.agree(Self.fields)
      try await Self.save(phone, ["a"], type)
      let query = CaravanModel.StandingQuery(id: "mine", .records(type: "photos", text: nil, zone: nil, .all))
      #expect(try await Self.subscribe(phone, query) == ["mine"])
      var other = query
      other.id = "hers"
      #expect(try await Self.subscribe(eve, other, as: "alice") == ["hers"])
      #expect(try await Self.subscribe(phone, query) == ["mine"], "nobody subscribes for somebody else")
      guard case .zones(let list) = try await phone.ask(.zones(ListZones(container: "album"))),
        case .changedZones(let changed) = try await phone.ask(.changedZones(ListChangedZones(container: "album")))
      else { throw CaravanError(.internalError, "the zones are not told") }
      #expect(!list.zones.contains { $0.zone == SubscriptionZone.name })
      #expect(changed.zones.map(\.zone).contains("photos"))
      #expect(!changed.zones.contains { $0.zone == SubscriptionZone.name })
      let pull = Pull(container: "album", zone: SubscriptionZone.name)
      guard case .failure(let refusal) = try await phone.ask(.pull(pull)) else {
        throw CaravanError(.internalError, "the zone of subscriptions is shown")
      }
      #expect(refusal.model().code == .zoneDoesNotExist)
    }
  }

  @Test("CK-80: a device's question is about its own user's records, whatever it says of whose they are")
  func ownRecords() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let (phone, eve) = (try cloud.device("phone"), try cloud.device("e", of: "eve"))
      let type = try await phone.agree(Self.fields)
      try await Self.save(phone, ["a", "b", "c"], type)
      try await Self.save(eve, ["x"], type)
      let all = try await Self.ask(phone, Self.query(sort: [SortKey("n", isDescending: true)]))
      #expect(Self.names(all) == ["c", "b", "a"] && all.type?.name == "photos")
      #expect(Self.names(try await Self.ask(phone, Self.query("n > ? AND name MATCH 'B'", [.integer(0)]))) == ["b"])
      #expect(Self.names(try await Self.ask(eve, Self.query())) == ["x"])
      var counted = try Self.query("n < 2")
      counted.isCount = true
      let count = try await Self.ask(phone, counted)
      #expect(count.count == 2 && count.hits.isEmpty)
      var partial = try Self.query("name = 'a'")
      (partial.fields, partial.zone) = (["n"], "photos")
      let hit = try #require(try await Self.ask(phone, partial).hits.first?.entry)
      #expect(try RecordFields(body: hit.body).values == [2: .integer(0)])
      partial.zone = "elsewhere"
      #expect(try await Self.ask(phone, partial).hits.isEmpty)
    }
  }

  @Test("CK-80: what is wrong with a device's question is said as by the service")
  func refusals() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let phone = try cloud.device("phone")
      _ = try await phone.agree(Self.fields)
      #expect(try await Self.refusal(phone, Self.query("size = 1"))?.code == .schemaViolation)
      #expect(try await Self.refusal(phone, Self.query("n = "))?.code == .invalidData)
      let mismatch = try await Self.refusal(phone, Self.query("n = ?"))
      #expect(mismatch?.code == .invalidData && mismatch?.message.contains("1 '?' and 0 arguments") == true)
      var other = try Self.query()
      other.type = "nothing"
      #expect(try await Self.refusal(phone, other)?.code == .tableNotFound)
      let noise = AskQuery(container: "album", request: [0xff, 1])
      guard case .failure(let failure) = try await phone.ask(.query(noise)) else { throw Missing("a refusal") }
      #expect(failure.model().code == .invalidData)
    }
  }

  @Test(
    "CK-04, CK-65: of the public database a query finds what its asker may see; a type they may see nothing of is none")
  func publicRecords() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let (phone, eve) = (try cloud.device("phone"), try cloud.device("e", of: "eve"))
      let type = try await phone.agree(Self.fields)
      let zone = DefaultZone.name
      try await Self.save(phone, ["a", "b"], type, zone: zone, .public)
      try await Self.save(eve, ["x"], type, zone: zone, .public)
      for device in [phone, eve] {
        #expect(Self.names(try await Self.ask(device, Self.query(), .public)) == ["a", "b", "x"])
      }
      let shown = try await Self.ask(eve, Self.query("name = 'a'"), .public).hits.first?.entry
      #expect(shown?.writer.contains("ann") == false, "nobody is called by their name there")
      #expect(Self.names(try await Self.ask(phone, Self.query())) == [], "it is another database")
      try await Self.grant([.creator: [.read, .write], .authenticated: .create], type, in: cloud)
      try await Self.untilHidden(eve)
      #expect(Self.names(try await Self.ask(eve, Self.query(), .public)) == ["x"])
      var counted = try Self.query()
      counted.isCount = true
      #expect(try await Self.ask(eve, counted, .public).count == 1)
      #expect(Self.names(try await Self.ask(phone, Self.query("n >= 0"), .public)) == ["a", "b"])
      try await Self.grant([:], type, in: cloud)
      var nothing = try Self.query()
      nothing.type = "nothing"
      let unknown = try await Self.refusal(eve, nothing, .public)
      while try await Self.refusal(eve, Self.query(), .public) == nil { try await Task.sleep(for: .milliseconds(50)) }
      let invisible = try await Self.refusal(eve, Self.query(), .public)
      #expect(invisible?.code == unknown?.code)
      #expect(invisible?.message.replacing("'photos'") == unknown?.message.replacing("'nothing'"))
    }
  }

  @Test("CK-04, CK-65: a query finds what its asker sees by a role of the container's own, while they have it")
  func roles() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let (ann, eve) = (try cloud.device("phone"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      try await Self.save(ann, ["a", "b", "c"], type, zone: DefaultZone.name, .public)
      #expect(Self.names(try await Self.ask(eve, Self.query(), .public)) == ["a", "b", "c"])
      try await Self.grant([.creator: [.read, .write], .own("curators"): .read], type, in: cloud)
      try await Self.untilHidden(eve)
      func setRole(_ isGiven: Bool) async throws {
        var request = MembersRequest(container: "album", environment: cloud.environment.rawValue, byOperator: true)
        let member = CaravanWire.RoleMember(role: "curators", user: "eve")
        if isGiven { request.give = member } else { request.take = member }
        let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
        _ = try await schema.perform(SchemaCall(call: .members(request)))
        try await cloud.host.clock.sleep(for: SchemaClient.freshness)
      }
      try await setRole(true)
      #expect(Self.names(try await Self.ask(eve, Self.query("n >= 0"), .public)) == ["a", "b", "c"])
      try await setRole(false)
      #expect(try await Self.ask(eve, Self.query("n >= 0"), .public).hits.isEmpty)
    }
  }

  private static func grant(
    _ rights: [CaravanModel.TypeGrants.Role: CaravanModel.TypeGrants.Rights], _ type: CaravanModel.RecordType,
    in cloud: CloudCluster
  ) async throws {
    var grants = CaravanModel.TypeGrants.standard
    for role in CaravanModel.TypeGrants.Role.standard + rights.keys { try grants.grant(rights[role] ?? [], to: role) }
    var changed = type
    changed.grants = grants
    let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    _ = try await schema.propose(changed, to: try ContainerID("album"), in: cloud.environment, by: nil)
  }

  /// The service believes what it knows of a type for a while.
  private static func untilHidden(_ device: Device) async throws {
    while try await ask(device, query(), .public).hits.count == 3 { try await Task.sleep(for: .milliseconds(50)) }
  }
}

extension String {
  /// Without this part of it.
  fileprivate func replacing(_ part: String) -> String {
    guard let start = range(of: part) else { return self }
    return String(self[..<start.lowerBound]) + String(self[start.upperBound...])
  }

  private func range(of part: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
      start = index(after: start)
    }
    return nil
  }
}

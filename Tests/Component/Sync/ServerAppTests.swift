import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a server app reads, saves, asks and subscribes in its own container as devices do, with the rights that a type
/// grants to server apps, and reaches nothing else. Method: a server app and devices, sync, schema, a real store and
/// the query service. What the broker refuses is `PermissionTests`'.
@Suite(.timeLimit(.minutes(2))) struct ServerAppTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("n", .integer)]
  private static let billing = ServerApp.named("billing")

  /// The app in the container `album`.
  private static func app(_ cloud: CloudCluster, in container: String = "album") throws -> Device {
    try cloud.device(container, of: billing.user.text)
  }

  private static func push(_ op: UInt64, _ mutation: CaravanModel.Mutation) -> CaravanWire.Operation.Kind {
    var push = Push.of(op, [mutation], to: DefaultZone.name)
    push.database = .public
    return .push(push)
  }

  private static func outcome(
    _ device: Device, _ op: UInt64, _ mutation: CaravanModel.Mutation
  ) async throws -> CaravanWire.Outcome? {
    let result = try await device.ask(push(op, mutation))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    return reply.outcomes.first
  }

  private static func save(
    _ name: String, _ text: String, _ type: CaravanModel.RecordType, _ base: Base = .absent
  ) -> CaravanModel.Mutation { .save(name, [1: .text(text)], type: type, base: base) }

  private static func names(_ device: Device, _ names: [String]) async throws -> [String] {
    try await device.read(names, zone: DefaultZone.name, database: .public).entries.map(\.name)
  }

  private static func grant(
    _ rights: [(CaravanModel.TypeGrants.Role, CaravanModel.TypeGrants.Rights)], of type: CaravanModel.RecordType,
    in cloud: CloudCluster
  ) async throws {
    var type = type
    var grants = CaravanModel.TypeGrants.standard
    for (role, granted) in rights { try grants.grant(granted, to: role) }
    type.grants = grants
    let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    let agreed = try await schema.propose(type, to: ContainerID("album"), in: .development, by: nil)
    #expect(agreed.grants == grants, "the registry keeps what is granted to server apps")
    try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
  }

  @Test("MOB-56: a server app saves with change tags; a conflict brings the server's record, over which it saves again")
  func conflicts() async throws {
    try await CloudCluster.with { cloud in
      let (phone, app) = (try cloud.device("phone"), try Self.app(cloud))
      let type = try await phone.agree(Self.fields)
      try await Self.grant([(.authenticated, [.create, .read, .write])], of: type, in: cloud)
      let made = try #require(try await Self.outcome(app, 1, Self.save("r", "app", type)))
      #expect(made.verdict == .accepted)
      #expect(try await Self.outcome(app, 1, Self.save("r", "app", type)) == made, "the same save again is one save")
      #expect(
        try await Self.outcome(phone, 1, Self.save("r", "phone", type, .version(made.version)))?.verdict == .accepted)
      let conflict = try #require(try await Self.outcome(app, 2, Self.save("r", "later", type, .version(made.version))))
      let server = try #require(conflict.server)
      #expect(try conflict.verdict == .conflict && RecordFields(body: server.body)[1] == .text("phone"))
      #expect(server.version > made.version)
      let resolved = try await Self.outcome(app, 3, Self.save("r", "both", type, .version(server.version)))
      #expect(resolved?.verdict == .accepted)
      #expect(try await Self.names(phone, ["r"]) == ["r"])
    }
  }

  /// Whatever can be said of a container.
  private static func attempts(_ container: String) -> [CaravanWire.Operation.Kind] {
    let (zone, row) = ("photos", [CaravanWire.Mutation(name: "a", kind: .save, type: 1)])
    var attempts: [CaravanWire.Operation.Kind] = [
      .propose(.type(fields, in: container)), .settle(Settle(container: container, zone: zone, op: 1)),
      .pull(Pull(container: container, zone: zone)), .drop(DropTable(container: container, zone: zone)),
      .createZone(CreateZone(container: container, zone: zone)), .whoAmI(WhoAmI(container: container)),
      .lock(LockDatabase(container: container)), .unlock(UnlockDatabase(container: container, token: 1)),
      .beginGroup(BeginGroup(container: container, zone: zone, op: 1)),
      .upload(UploadPart(container: container, zone: zone, op: 1, mutations: row)),
      .commitGroup(CommitGroup(container: container, zone: zone, op: 1, parts: 1)),
      .operation(AskOperation(container: container, zone: zone, op: 1)),
      .removeOperation(RemoveOperation(container: container, zone: zone, op: 1)),
      .syncBegin(SyncBegin(container: container, zone: zone)),
      .syncContinue(SyncContinue(container: container, zone: zone, op: 1)),
      .changedZones(ListChangedZones(container: container)),
      .pushTargets(AskPushTargets(container: container, request: PushTargetsRequest().encoded())),
      .subscribe(Subscribe(generation: 1, subscriptions: [ZoneSubscription(container: container, zone: zone)])),
      .schema(
        AskSchema(
          container: container, call: SchemaCall(call: .list(ListTypesRequest(environment: "development"))).encoded())),
    ]
    for database in [DatabaseScope.private, .public] {
      let place = database == .public ? DefaultZone.name : zone
      attempts += [
        .push(Push(container: container, zone: place, op: 1, mutations: row, database: database)),
        .read(ReadRecords(container: container, zone: place, names: ["a"], database: database)),
        .zones(ListZones(container: container, database: database)),
        .ticket(RequestTicket(container: container, upload: true, database: database)),
        .query(AskQuery(container: container, database: database, request: QueryRequest(type: "photos").encoded())),
        .subscriptions(
          AskSubscriptions(container: container, database: database, request: SubscriptionsRequest().encoded())),
      ]
    }
    return attempts
  }

  @Test(
    "MOB-56, CK-65: of another container a server app hears the same, whether it is there or not, and makes nothing")
  func otherContainers() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let (phone, app) = (try cloud.device("phone"), try Self.app(cloud))
      _ = try await phone.agree(Self.fields)
      let other = try await phone.agree(Self.fields, in: "diary")
      _ = try await phone.push(1, [.save("a", [1: .text("secret")], type: other)], in: "diary")
      for (there, nowhere) in zip(Self.attempts("diary"), Self.attempts("squat")) {
        let refusal = try #require(try await app.refusal(there), "\(there) was taken")
        #expect(refusal.code == .zoneDoesNotExist, "\(there) is answered \(refusal)")
        let same = try #require(try await app.refusal(nowhere), "\(nowhere) was taken")
        #expect(same.message == refusal.message.replacing("diary", with: "squat"))
      }
      #expect(try await app.refusal(.zones(ListZones(container: "caravan")))?.code == .zoneDoesNotExist)
      let client = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      #expect(try await !client.containers().map(\.name).contains("squat"))
      #expect(try await phone.read(["a"]).entries.isEmpty, "and nothing of it was written in its own container")
    }
  }

  @Test("MOB-56: a server app's private database is its own, and in each container another one; no user's is reached")
  func privateDatabases() async throws {
    try await CloudCluster.with { cloud in
      let (phone, app) = (try cloud.device("phone"), try Self.app(cloud))
      let type = try await phone.agree(Self.fields)
      _ = try await phone.push(1, [.save("a", [1: .text("ann's")], type: type)])
      #expect(try await app.read(["a"]).entries.isEmpty)
      #expect(try await app.pull().entries.isEmpty)
      _ = try await app.push(1, [.save("a", [1: .text("the app's")], type: type)])
      let entries = try await phone.read(["a"]).entries
      #expect(try entries.map { try RecordFields(body: $0.body)[1] } == [.text("ann's")])
      #expect(try await app.read(["a"]).entries.count == 1)
    }
  }

  @Test("MOB-56, CK-04: what a type grants to server apps they may do, and nobody else; without a grant they are users")
  func grants() async throws {
    try await CloudCluster.with(hasQuery: true) { cloud in
      let (ann, eve, app) = (try cloud.device("a"), try cloud.device("e", of: "eve"), try Self.app(cloud))
      let type = try await ann.agree(Self.fields)
      #expect(try await Self.outcome(ann, 1, Self.save("r", "ann's", type))?.verdict == .accepted)
      #expect(try await Self.outcome(app, 1, Self.save("r", "mine", type, .any))?.failure?.code == "accessDenied")

      try await Self.grant([(.world, []), (.server, .read)], of: type, in: cloud)
      #expect(try await Self.names(eve, ["r"]).isEmpty)
      #expect(try await Self.found(eve).isEmpty)
      #expect(try await Self.names(app, ["r"]) == ["r"])
      #expect(try await Self.found(app) == ["r"], "queries see what reads see")
      #expect(try await Self.outcome(app, 2, Self.save("r", "mine", type, .any))?.failure?.code == "accessDenied")

      try await Self.grant([(.authenticated, []), (.server, [.create, .read, .write])], of: type, in: cloud)
      #expect(try await Self.outcome(app, 3, Self.save("r", "moderated", type, .any))?.verdict == .accepted)
      #expect(try await Self.outcome(app, 4, Self.save("new", "made", type))?.verdict == .accepted)
      #expect(try await Self.outcome(eve, 1, Self.save("e", "made", type))?.failure?.code == "accessDenied")
    }
  }

  /// Names of what a query finds; none where the type is not there for the device.
  private static func found(_ device: Device) async throws -> [String] {
    let question = AskQuery(container: "album", database: .public, request: QueryRequest(type: "photos").encoded())
    while true {
      switch try await device.ask(.query(question)) {
      case .query(let found): return try QueryReply.decode(found.answer).hits.compactMap { $0.entry?.name }
      // The service may not serve the partition yet.
      case .failure(let failure) where failure.model().isTransient: try await Task.sleep(for: .milliseconds(20))
      case .failure(let failure) where failure.model().code == .tableNotFound: return []
      case let other: throw Unexpected(result: other)
      }
    }
  }

  @Test("MOB-56: a container for members is its server apps' too, and they develop nothing there")
  func members() async throws {
    try await CloudCluster.with(opensContainers: false, makes: ["probe"]) { cloud in
      let client = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await client.createContainer("album", owner: UserID("ann"), isForMembers: true)
      let (eve, app) = (try cloud.device("e", of: "eve"), try Self.app(cloud))
      #expect(try await eve.refusal(.zones(ListZones(container: "album")))?.code == .zoneDoesNotExist)
      #expect(try await app.refusal(.zones(ListZones(container: "album"))) == nil)
      var proposal = ProposeTable.type(Self.fields)
      proposal.type?.settings = CaravanWire.TypeSettings(ttlMilliseconds: 1_000)
      #expect(try await app.refusal(.propose(proposal))?.code == .accessDenied)
    }
  }

  @Test("MOB-56, CK-101: a server app has its rate, over all its containers together, and is told when to come again")
  func rates() async throws {
    let rates = RateLimits(device: nil, user: Rate(perSecond: 2, burst: 40), container: nil)
    try await CloudCluster.with(rates: rates) { cloud in
      _ = try await cloud.device("phone").agree(Self.fields)
      let (app, other) = (try Self.app(cloud), try Self.app(cloud, in: "probe"))
      var refusal: CaravanError?
      for round in 0..<100 where refusal == nil {
        let (device, container) = round.isMultiple(of: 2) ? (app, "album") : (other, "probe")
        refusal = try await device.refusal(.whoAmI(WhoAmI(container: container)))
      }
      #expect(refusal?.code == .rateLimited && refusal?.retryAfterMilliseconds ?? 0 > 0)
      #expect(try await cloud.device("tablet").refusal(.whoAmI(WhoAmI(container: "album"))) == nil)
    }
  }
}

extension ServerApp {
  fileprivate static func named(_ name: String) -> ServerApp {
    do { return try ServerApp(name) } catch { preconditionFailure("'\(name)' is no name of a server app") }
  }
}

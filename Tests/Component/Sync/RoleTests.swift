import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: whoever has a role of a container's own may do in its public database what types grant to the role, as long as
/// they have it, and nobody gives roles but those who develop the container (CK-04). Method: devices, sync, schema and
/// a real store.
@Suite(.timeLimit(.minutes(2))) struct RoleTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("n", .integer)]

  /// - Parameter device: nil: the operator asks.
  private static func members(
    _ cloud: CloudCluster, by device: Device? = nil, in environment: CaravanModel.Environment = .development,
    _ change: (inout MembersRequest) -> Void = { _ in }
  ) async throws -> MembersReply {
    var request = MembersRequest(container: "album", environment: environment.rawValue, byOperator: true)
    change(&request)
    let call = SchemaCall(call: .members(request))
    let answer: SchemaAnswer
    if let device {
      let result = try await device.ask(.schema(AskSchema(container: "album", call: call.encoded())))
      if case .failure(let failure) = result { throw failure.model() }
      guard case .schema(let told) = result else { throw Unexpected(result: result) }
      answer = try SchemaAnswer.decode(told.answer)
    } else {
      answer = try await SchemaClient(bus: cloud.hub.connect(as: "operator")).perform(call)
    }
    guard case .members(let reply)? = answer.answer else { throw Missing("an answer about members") }
    return reply
  }

  @discardableResult
  private static func give(
    _ cloud: CloudCluster, _ role: String = "moderators", to user: String = "eve", by device: Device? = nil
  ) async throws -> Bool {
    try await members(cloud, by: device) { $0.give = CaravanWire.RoleMember(role: role, user: user) }.changed
  }

  @discardableResult
  private static func take(
    _ cloud: CloudCluster, from user: String = "eve"
  ) async throws -> Bool {
    try await members(cloud) { $0.take = CaravanWire.RoleMember(role: "moderators", user: user) }.changed
  }

  private static func code(_ body: () async throws -> Void) async -> ErrorCode? {
    do { try await body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  private static func outcome(
    _ device: Device, _ op: UInt64, _ mutation: CaravanModel.Mutation
  ) async throws -> CaravanWire.Outcome? {
    var push = Push.of(op, [mutation], to: DefaultZone.name)
    push.database = .public
    let result = try await device.ask(.push(push))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    return reply.outcomes.first
  }

  private static func save(
    _ name: String, _ text: String, _ type: CaravanModel.RecordType, _ base: Base = .any
  ) -> CaravanModel.Mutation { .save(name, [1: .text(text)], type: type, base: base) }

  /// ann has made records in every shard that only she and moderators see, and that moderators change.
  private static func posts(
    _ cloud: CloudCluster, by ann: Device
  ) async throws -> (type: CaravanModel.RecordType, names: [String]) {
    let type = try await ann.agree(fields)
    var granted = type
    var grants = CaravanModel.TypeGrants.standard
    try grants.grant([], to: .world)
    try grants.grant([.read, .write], to: .own("moderators"))
    granted.grants = grants
    let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    _ = try await schema.propose(granted, to: ContainerID("album"), in: .development, by: nil)
    try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
    let shards = CaravanModel.ContainerSettings().publicShards
    let names = (0..<shards).compactMap { shard in
      (0..<1_000).map { "r\($0)" }.first { DefaultZone.shard(of: $0, among: shards) == shard }
    }
    #expect(names.count == Int(shards) && shards > 1)
    for (number, name) in names.enumerated() {
      #expect(try await outcome(ann, UInt64(number + 1), save(name, "hello", type))?.verdict == .accepted)
    }
    return (type, names)
  }

  private static func read(_ device: Device, _ names: [String]) async throws -> Int {
    try await device.read(names, zone: DefaultZone.name, database: .public).entries.count
  }

  @Test("CK-04: a moderator sees and changes what others made, in every shard, until the role is taken away")
  func moderator() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve, bob) = (try cloud.device("a"), try cloud.device("e", of: "eve"), try cloud.device("b", of: "bob"))
      let (type, names) = try await Self.posts(cloud, by: ann)
      var op: UInt64 = 0
      func attempt(_ device: Device, _ name: String) async throws -> CaravanWire.Outcome? {
        op += 1
        return try await Self.outcome(device, op, Self.save(name, "moderated \(op)", type))
      }
      for name in names { #expect(try await attempt(eve, name)?.failure?.code == "accessDenied") }
      #expect(try await Self.read(eve, names) == 0)
      #expect(try await Self.give(cloud))
      #expect(try await Self.give(cloud) == false)
      // What was known of roles is a second old at most.
      try await cloud.host.clock.sleep(for: SchemaClient.freshness)
      #expect(try await Self.read(eve, names) == names.count)
      for name in names { #expect(try await attempt(eve, name)?.verdict == .accepted) }
      for name in names { #expect(try await attempt(bob, name)?.failure?.code == "accessDenied") }
      #expect(try await Self.read(bob, names) == 0)
      // Sync remembers for a second that eve has it. The stores know better.
      _ = try await Self.read(eve, names)
      #expect(try await Self.take(cloud))
      for name in names {
        let outcome = try await attempt(eve, name)
        #expect(outcome?.failure?.code == "accessDenied" && outcome?.failure?.model().isTransient == false)
      }
      #expect(try await Self.take(cloud) == false)
      try await cloud.host.clock.sleep(for: SchemaClient.freshness)
      #expect(try await Self.read(eve, names) == 0)
      #expect(try await Self.read(ann, names) == names.count)
    }
  }

  @Test("CK-04: where a shard does not know of a role, its user still does there what every user may")
  func shardWithout() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let (type, names) = try await Self.posts(cloud, by: ann)
      try await Self.give(cloud)
      try await cloud.host.clock.sleep(for: SchemaClient.freshness)
      let storage = StorageClient(bus: cloud.hub.connect(as: "mishap"), host: cloud.host, writer: "@mishap")
      let database = DatabaseID(container: try ContainerID("album"), environment: .development, owner: nil)
      let record = OwnRole.record("moderators", of: try UserID("eve"))
      let gone = CaravanModel.Mutation(name: record, base: .any, change: .delete)
      _ = try await storage.commit(to: try ZoneID(database.shard(1), OwnRole.zone), [gone])
      #expect(try await Self.outcome(eve, 1, Self.save(names[1], "x", type))?.failure?.code == "accessDenied")
      #expect(try await Self.outcome(eve, 2, Self.save(names[2], "x", type))?.verdict == .accepted)
      let shards = CaravanModel.ContainerSettings().publicShards
      let own = try #require((0..<1_000).map { "e\($0)" }.first { DefaultZone.shard(of: $0, among: shards) == 1 })
      #expect(try await Self.outcome(eve, 3, Self.save(own, "mine", type))?.verdict == .accepted)
      // Giving it again repairs the shard.
      #expect(try await Self.give(cloud) == false)
      #expect(try await Self.outcome(eve, 4, Self.save(names[1], "x", type))?.verdict == .accepted)
    }
  }

  @Test("CK-04, TRU-04: roles are given by those who develop a container, and by nobody else")
  func standing() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      _ = try await Self.posts(cloud, by: ann)
      #expect(await Self.code { try await Self.give(cloud, by: eve) } == .accessDenied)
      #expect(await Self.code { _ = try await Self.members(cloud, by: eve) } == .accessDenied)
      let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await schema.createContainer("album", owner: UserID("ann"), isForMembers: false)
      try await cloud.host.clock.sleep(for: .seconds(1))
      #expect(try await Self.give(cloud, by: ann))
      #expect(await Self.code { try await Self.give(cloud, "editors", by: ann) } == .noSuchObject)
      #expect(await Self.code { try await Self.give(cloud, "world") } == .invalidData)
      #expect(await Self.code { try await Self.give(cloud, to: "No Body") } == .invalidData)
      #expect(await Self.code { _ = try await Self.members(cloud, by: ann, in: .production) } == .accessDenied)
      #expect(await Self.code { try await Self.give(cloud, by: eve) } == .accessDenied, "a role is no say in roles")
    }
  }

  @Test("CK-04: who has roles is listed by role and user, in pages; a role that no type names any more stays listed")
  func lists() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      let (type, _) = try await Self.posts(cloud, by: ann)
      for user in ["zoe", "bob", "eve"] { #expect(try await Self.give(cloud, to: user)) }
      let all = try await Self.members(cloud)
      #expect(all.roles == ["moderators"] && all.members.map(\.user) == ["bob", "eve", "zoe"] && !all.more)
      let rest = try await Self.members(cloud) { $0.after = all.members[0] }
      #expect(rest.members.map(\.user) == ["eve", "zoe"])
      #expect(try await Self.members(cloud) { $0.role = "editors" }.members.isEmpty)
      var plain = type
      plain.grants = .standard
      let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await schema.propose(plain, to: ContainerID("album"), in: .development, by: nil)
      let left = try await Self.members(cloud)
      #expect(left.roles.isEmpty && left.members == all.members)
      for user in ["bob", "eve", "zoe"] { #expect(try await Self.take(cloud, from: user)) }
      #expect(try await Self.members(cloud).members.isEmpty)
    }
  }

  @Test("CK-04, CK-65: the zones in which a public database keeps its types and roles are nobody's to know of")
  func zones() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      let (_, names) = try await Self.posts(cloud, by: ann)
      try await Self.give(cloud)
      guard case .zones(let list) = try await ann.ask(.zones(ListZones(container: "album", database: .public))) else {
        throw Missing("zones")
      }
      #expect(Set(list.zones.map(\.zone)) == [DefaultZone.name])
      let hidden = try await ann.refusal(
        .read(ReadRecords(container: "album", zone: OwnRole.zone, names: names, database: .public)))
      #expect(hidden?.code == .zoneDoesNotExist)
    }
  }

  @Test("CK-04, CK-94: a role goes to production with its type; who has it is each environment's own")
  func promotion() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      _ = try await Self.posts(cloud, by: ann)
      try await Self.give(cloud)
      let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await schema.createContainer("album", owner: UserID("ann"), isForMembers: false)
      let request = ChangeSchemaRequest(
        container: "album", environment: "production", byOperator: true, change: .promote(PromoteTypes()))
      guard case .change(let reply)? = try await schema.perform(SchemaCall(call: .change(request))).answer else {
        throw Missing("a promotion")
      }
      let differences = try reply.change?.model().differences.map(\.description) ?? []
      #expect(differences.contains("~ photos: grant moderators nothing, now read+write"))
      let there = try await Self.members(cloud, in: .production)
      #expect(there.roles == ["moderators"] && there.members.isEmpty)
    }
  }

  @Test("CK-04: types name so many roles of their own and no more, in a container as a whole")
  func bounds() async throws {
    try await CloudCluster.with { cloud in
      let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await schema.createContainer("album", owner: UserID("ann"), isForMembers: false)
      func propose(_ name: String, _ roles: Range<Int>) async throws {
        var grants = CaravanModel.TypeGrants.standard
        for number in roles { try grants.grant(.read, to: .own("r\(number)")) }
        let field = CaravanModel.FieldDefinition(id: 0, name: "a", kind: .text)
        let type = CaravanModel.RecordType(id: 0, definition: 0, name: name, fields: [field], grants: grants)
        _ = try await schema.propose(type, to: ContainerID("album"), in: .development, by: nil)
      }
      try await propose("a", 0..<20)
      try await propose("b", 10..<Limits.ownRoles)
      #expect(await Self.code { try await propose("c", 31..<33) } == .limitExceeded)
      try await propose("a", 0..<0)
      try await propose("c", 31..<33)
      let ann = try cloud.device("a")
      var hostile = ProposeTable.type(Self.fields)
      let same = RoleRights(role: "r", rights: 2)
      hostile.type?.grants = CaravanWire.TypeGrants(
        world: 2, authenticated: 1, creator: 6, own: [RoleRights](repeating: same, count: Limits.ownRoles + 1))
      #expect(try await ann.refusal(.propose(hostile))?.code == .limitExceeded)
      let among = RolesRequest(
        container: "album", environment: "development", user: "ann", among: (0...Limits.ownRoles).map { "r\($0)" })
      let bus = cloud.hub.connect(as: "sync-2")
      #expect(
        await Self.code { let _: RolesReply = try await bus.call(among, to: SchemaMethod.roles.subject) }
          == .limitExceeded)
    }
  }
}

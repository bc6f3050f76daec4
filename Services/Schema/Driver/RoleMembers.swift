import CaravanModel
import CaravanRuntime
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// Who has roles of containers' own (CK-04): a record each in the zone `roles` of the public database, beside one,
/// `count`, that says how many there are (field 1). Each shard of the database has copies, which stores look at in the
/// transactions of commits. Who has a role is looked up in the first shard: what is given comes there last, what is
/// taken away goes from there first, and an answer says so when all shards say the same.
struct RoleMembers: Sendable {
  private static let count = "count"
  private static let content: UInt32 = 1

  let registrar: Registrar
  let containers: ContainerHandler
  let host: Host
  private var storage: StorageClient { registrar.storage }

  /// Which of these roles a user has.
  func roles(_ request: RolesRequest) async throws(CaravanError) -> RolesReply {
    let store = try registrar.store(request.container, request.environment)
    let user = try UserID(request.user)
    guard request.among.count <= Limits.ownRoles else {
      throw CaravanError(
        .limitExceeded, "\(request.among.count) roles are asked about: the limit is \(Limits.ownRoles)")
    }
    for role in request.among { try OwnRole.check(role) }
    let names = request.among.map { OwnRole.record($0, of: user) }
    let zone = try ZoneID(store.database, OwnRole.zone)
    return RolesReply(roles: try await store.live(names, in: zone).compactMap { OwnRole.member($0.name)?.role })
  }

  /// Gives a role to a user or takes it away, or lists who has roles.
  /// - Throws: `accessDenied` for whoever does not develop the container; `noSuchObject` for a role to which no type
  ///   grants anything; `limitExceeded`.
  func members(_ request: MembersRequest) async throws(CaravanError) -> MembersReply {
    let store = try registrar.store(request.container, request.environment)
    let asker = try Asker(user: request.user, isOperator: request.byOperator)
    let standing = try await containers.admit(asker, to: store.database, registers: false)
    guard standing != .user else { throw Registry.notADeveloper(of: store.database.container) }
    guard store.database.container != .system else {
      throw CaravanError(.invalidData, "the container '\(ContainerID.system)' has no roles: it is Caravan's own")
    }
    let roles = try await store.ownRoles()
    if let given = try request.give?.model() {
      guard roles.contains(given.role) else {
        throw CaravanError(
          .noSuchObject,
          "no type of \(store.database.environment.rawValue) grants role '\(given.role)' anything: grant it something "
            + "first (caravan schema set --grant \(given.role)=read)")
      }
      return MembersReply(roles: roles, changed: try await write(given, isMember: true, store))
    }
    if let taken = try request.take?.model() {
      return MembersReply(roles: roles, changed: try await write(taken, isMember: false, store))
    }
    return try await list(request, roles, store)
  }

  // MARK: Lists

  private func list(
    _ request: MembersRequest, _ roles: [String], _ store: SchemaStore
  ) async throws(CaravanError) -> MembersReply {
    let after = try request.after?.model()
    let zone = try ZoneID(store.database, OwnRole.zone)
    let all = try await storage.everything(in: zone, upTo: SchemaLimits.registryBytes)
    let members = all.filter { !$0.isDeleted }.compactMap { OwnRole.member($0.name) }
      .filter { member in
        (request.role.isEmpty || member.role == request.role) && after.map { member.isBehind($0) } ?? true
      }
      .sorted { $1.isBehind($0) }
    return MembersReply(
      roles: roles, members: members.prefix(SchemaLimits.membersPerPage).map { CaravanWire.RoleMember($0) },
      more: members.count > SchemaLimits.membersPerPage)
  }

  // MARK: Changes

  /// - Returns: whether it was otherwise before.
  private func write(
    _ member: CaravanModel.RoleMember, isMember: Bool, _ store: SchemaStore
  ) async throws(CaravanError) -> Bool {
    // A record that is written before shards are said would be in none but the first.
    let settled = try await registrar.container(
      ContainerRequest(
        container: store.database.container.text, environment: store.database.environment.rawValue, settle: true,
        byOperator: true))
    let shards = settled.settings?.model().shards(of: store.database) ?? 1
    let record = OwnRole.record(member.role, of: member.user)
    if isMember { try await copy(record, isThere: true, to: shards, store) }
    let isChanged = try await registrar.insisting(store.database) { () async throws(CaravanError) in
      try await change(record, isThere: isMember, store)
    }
    try await spread(record, to: shards, store)
    if isChanged {
      host.log.info(
        isMember ? "role given" : "role taken away",
        [.database: store.database, .user: member.user.text, .reason: member.role])
    }
    return isChanged
  }

  /// - Returns: nil: somebody else has changed who has roles meanwhile.
  private func change(
    _ record: String, isThere: Bool, _ store: SchemaStore
  ) async throws(CaravanError) -> Bool? {
    let zone = try ZoneID(store.database, OwnRole.zone)
    let known = try await store.live([record, Self.count], in: zone)
    let (member, counter) = (known.first { $0.name == record }, known.first { $0.name == Self.count })
    guard (member != nil) != isThere else { return false }
    var count: Int64 = 0
    if let counter {
      guard case .integer(let number) = try RecordFields(body: counter.body)[Self.content] else {
        throw SchemaRecords.damaged(counter)
      }
      count = number
    }
    guard !isThere || count < SchemaLimits.membersPerContainer else {
      throw CaravanError(
        .limitExceeded, "\(count) users have roles of '\(store.database.container)', which is the limit: take some away"
      )
    }
    let body = RecordFields([Self.content: .integer(max(0, count + (isThere ? 1 : -1)))]).body
    let mutations = [
      Self.mutation(record, isThere: isThere, after: member.map { .version($0.version) } ?? .absent),
      CaravanModel.Mutation(
        name: Self.count, base: counter.map { .version($0.version) } ?? .absent,
        change: .save(type: 0, body: body, chunks: [])),
    ]
    guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: zone, mutations) else { return nil }
    try Self.check(outcomes)
    let isDone = outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }
    return isDone ? true : nil
  }

  /// - Throws: why storage does not take something, as for want of room.
  private static func check(_ outcomes: [CaravanModel.Outcome]) throws(CaravanError) {
    for case .refused(let error) in outcomes { throw error }
  }

  /// Writes it to every shard but the first.
  private func copy(
    _ record: String, isThere: Bool, to shards: UInt32, _ store: SchemaStore
  ) async throws(CaravanError) {
    for shard in 1..<max(1, shards) {
      let zone = try ZoneID(store.database.shard(shard), OwnRole.zone)
      let result = try await storage.commit(to: zone, [Self.mutation(record, isThere: isThere, after: .any)])
      if case .applied(let outcomes, _, _, _) = result { try Self.check(outcomes) }
    }
  }

  /// Makes the other shards say what the first says, also where it has changed while they were written to.
  private func spread(_ record: String, to shards: UInt32, _ store: SchemaStore) async throws(CaravanError) {
    guard shards > 1 else { return }
    let first = try ZoneID(store.database, OwnRole.zone)
    var isThere = try await !store.live([record], in: first).isEmpty
    for _ in 0..<SchemaLimits.memberAttempts {
      try await copy(record, isThere: isThere, to: shards, store)
      let isStill = try await !store.live([record], in: first).isEmpty
      guard isStill != isThere else { return }
      isThere = isStill
    }
    throw CaravanError(
      .serverBusy, "somebody else changes who has this role: ask again", retryAfterMilliseconds: 100)
  }

  private static func mutation(_ record: String, isThere: Bool, after base: Base) -> CaravanModel.Mutation {
    CaravanModel.Mutation(
      name: record, base: base, change: isThere ? .save(type: 0, body: RecordFields([:]).body, chunks: []) : .delete)
  }
}

extension CaravanModel.RoleMember {
  /// In a list by role and user.
  fileprivate func isBehind(_ other: Self) -> Bool { (role, user) > (other.role, other.user) }
}

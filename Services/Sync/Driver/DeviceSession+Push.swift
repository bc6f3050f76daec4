import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

extension DeviceSession {
  /// One commit under the device's op id (UNI-07): each row is accepted, or conflicts with the server's copy (MOB-55).
  func push(_ push: Push, _ account: ReplyAccount) async throws(CaravanError) -> CommitReply {
    let named = try zone(push.container, push.zone, push.database)
    let checked = try await checked(push, of: named)
    // Looked at once: all of the push is judged by one schema (CK-97).
    let visibility = try await cloud.visibility.of(named.database, covering: checked.types.values)
    let zone = try await home(of: push.mutations[0].name, in: named)
    try await checkType(of: checked.mutations[0], checked.types, in: zone)
    let request = CommitRequest(
      zone: ZoneRef(zone), writer: try await writer(in: zone.database), epoch: epoch, op: push.op,
      opFloor: push.opFloor,
      atomic: push.atomic, mutations: checked.mutations, chunks: push.chunks,
      retired: try retired(before: checked.types, visibility, in: zone))
    var reply = try await commit(request, to: zone.database, visibility)
    try await hideInvisible(in: &reply, of: zone.database)
    try await refuseOtherTypes(in: &reply, of: checked.mutations, checked.types, in: zone)
    if !push.atomic { await ConflictExtension(session: self).settle(push, checked, &reply, in: zone) }
    cloud.metrics.count(reply)
    return try admit(reply, expected: ReplyBudget.estimate(push), account)
  }

  func settle(_ settle: Settle, _ account: ReplyAccount) async throws(CaravanError) -> CommitReply {
    let named = try zone(settle.container, settle.zone, settle.database)
    if settle.record.isEmpty { try DefaultZone.refuse(named, "settles an op only with the name of its record") }
    let zone = try await home(of: settle.record, in: named)
    let op = OpID(writer: try await writer(in: zone.database), epoch: epoch, number: settle.op)
    var reply = try await cloud.storage.settle(op, in: zone)
    try await hideInvisible(in: &reply, of: zone.database)
    return try admit(reply, expected: 0, account)
  }

  /// As many server copies as there is room for; without room for the outcomes themselves, the same operation gets them
  /// again, as they stay known.
  func admit(
    _ reply: CommitReply, expected: Int, _ account: ReplyAccount
  ) throws(CaravanError) -> CommitReply {
    let least = reply.missingChunks.count + (reply.outcomes.count + 1) * SyncLimits.outcomeBytes
    let copies = reply.outcomes.reduce(0) { $0 + $1.copyBytes }
    guard let granted = account.settle(taken: expected, needed: least + copies, least: least) else {
      throw Refusal.replyFull
    }
    var reply = reply
    if granted < least + copies { reply.limitCopies(to: granted - least) }
    return reply
  }

  // MARK: Checks

  /// What a push brings, as it goes on to storage.
  struct Checked {
    var mutations: [CaravanWire.Mutation]
    /// By id, those that the mutations name.
    var types: [UInt32: CaravanModel.RecordType] = [:]
  }

  /// Every row against its record type, and with what the type says of it. Bodies are looked at once and pass on as
  /// they are; the chunks they name are those the store will count.
  func checked(_ push: Push, of zone: ZoneID) async throws(CaravanError) -> Checked {
    try PushCheck.batch(push.mutations.map(\.name))
    var checked = Checked(mutations: push.mutations)
    for index in checked.mutations.indices {
      checked.mutations[index].moveStamps(by: clockError)
      let id = checked.mutations[index].type
      if id != 0, checked.types[id] == nil {
        checked.types[id] = try await type(id, in: zone)
      } else if id != 0 {
        cloud.metrics.typesAtHand.add()
      }
      try check(&checked.mutations[index], checked.types[id], in: zone)
    }
    try DefaultZone.check(
      zone, records: checked.mutations.count, isAtomic: push.atomic,
      hasReferences: checked.mutations.contains { !$0.references.isEmpty })
    return checked
  }

  /// Types that were removed and had the names of those that are saved.
  /// - Throws: `tableNotFound` where one of these was removed itself: whoever made it proposes it again.
  func retired(
    before types: [UInt32: CaravanModel.RecordType], _ visibility: RecordVisibility, in zone: ZoneID
  ) throws(CaravanError) -> [UInt32] {
    if let removed = types.values.first(where: { visibility.isRetired($0.id) }) {
      throw CaravanError(
        .tableNotFound, "record type '\(removed.name)' (\(removed.id)) was removed: propose it again")
    }
    // Types lie beside each other in a default zone; another zone is one type's.
    return visibility.retired(named: zone.name == DefaultZone.name ? nil : Set(types.values.map(\.name)))
  }

  func type(_ id: UInt32, in zone: ZoneID) async throws(CaravanError) -> CaravanModel.RecordType {
    try await cloud.schema.type(id, of: zone.database.container, in: zone.database.environment)
  }

  func check(
    _ mutation: inout CaravanWire.Mutation, _ type: CaravanModel.RecordType?, in zone: ZoneID
  ) throws(CaravanError) {
    // Said by the body and its record type, or by nobody.
    (mutation.chunks, mutation.lists) = ([], [])
    (mutation.references, mutation.policy, mutation.hideExpired, mutation.knownFields) = ([], .unspecified, false, 0)
    switch mutation.kind {
    case .read: return
    case .delete: break
    case .unspecified:
      throw CaravanError(.invalidData, "the mutation of '\(mutation.name)' has no kind: save, delete or read")
    case .save:
      guard let type else {
        throw CaravanError(.schemaViolation, "record '\(mutation.name)' has no record type: propose one")
      }
      let named = try PushCheck.save(
        mutation.name, body: mutation.body, against: type, isPublic: zone.database.owner == nil)
      try Fields.check(mutation.body)
      mutation.chunks = named.chunks
      mutation.lists = named.lists.map { Asset(list: $0.hash, size: $0.size) }
      mutation.references = named.references.map { Reference($0) }
    }
    try PushCheck.fields(mutation.name, mutation.guards, against: type)
    try PushCheck.fields(mutation.name, mutation.ancestor, against: nil)
    mutation.ancestor = []
    guard let type else { return }
    mutation.obey(type)
  }
}

extension CaravanWire.Mutation {
  fileprivate mutating func moveStamps(by milliseconds: Int64) {
    func moved(_ stamp: UInt64) -> UInt64 { HybridStamp(rawValue: stamp).moved(by: milliseconds).rawValue }
    if stamp > 0 { stamp = moved(stamp) }
    for index in fieldStamps.indices { fieldStamps[index].stamp = moved(fieldStamps[index].stamp) }
  }

  /// Takes over what the record type says of its records.
  fileprivate mutating func obey(_ type: CaravanModel.RecordType) {
    if scope == .known { knownFields = type.fields.map(\.id).max() ?? 0 }
    guard let settings = type.settings else { return }
    if settings.conflicts != .manual { policy = ConflictPolicy(settings.conflicts) }
    guard kind == .save else { return }
    hideExpired = settings.hidesExpired
    if settings.ttlMilliseconds > 0, expires == nil, ttlMilliseconds == 0 { ttlMilliseconds = settings.ttlMilliseconds }
  }
}

extension ReplyBudget {
  /// What the answer to a push is likely to need.
  static func estimate(_ push: Push) -> Int {
    estimate(
      mutations: push.mutations.count,
      bytes: push.mutations.reduce(0) { $0 + $1.name.utf8.count + $1.body.count })
  }
}

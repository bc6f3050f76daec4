import CaravanCrypto
package import CaravanModel
package import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
package import CaravanStore
package import CaravanWire

/// Deletions that wait for their time and can be called off until then (CK-32). Each is a record of Caravan's own whose
/// end is the action's time: it is durable as records are, and found as expired records are.
///
/// An action is marked before it begins; from then on it is too late to call it off, and whoever finds the mark after a
/// crash begins again, which does no harm: a zone is deleted in the life that was meant, and no other.
package struct DelayedActions: Sendable {
  /// No device can be called so.
  static let writer = "@storage/actions"
  private static let content: UInt32 = 1

  private let store: any Store
  private let clock: any Clock
  private let log: Log
  private let ops: OpSource
  private let zone: ZoneID

  package init(store: any Store, host: Host) {
    self.store = store
    clock = host.clock
    log = host.log
    ops = OpSource(writer: Self.writer, epoch: OpSource.epoch(host))
    let database = DatabaseID.system(nil)
    guard let zone = try? ZoneID(database, "actions") else { preconditionFailure("a zone may be called 'actions'") }
    self.zone = zone
  }

  /// Whether a record is an action, not something that ends by itself.
  func isAction(_ record: ExpiredRecord) -> Bool { record.zone == zone }

  // MARK: Asked for, and called off

  /// - Throws: `zoneDoesNotExist`; `limitExceeded` for a time too far away.
  package func schedule(_ wanted: DelayedAction, after grace: Int64) async throws(CaravanError) -> DelayedAction {
    guard (0...StorageLimits.longestGrace.wholeMilliseconds).contains(grace) else {
      throw CaravanError(
        .limitExceeded, "an action waits at most \(StorageLimits.longestGrace.components.seconds / 86_400) days")
    }
    var action = wanted
    (action.begun, action.incarnation) = (false, try await incarnation(of: wanted))
    action.requestedMilliseconds = UInt64(clamping: clock.wallTime.milliseconds)
    let name = try Self.name(of: action)
    for _ in 0..<StorageLimits.actionAttempts {
      var base = Base.absent
      if let entry = try await entry(name) {
        let known = try Self.action(entry)
        // One that means another life of the zone will do nothing any more.
        if known.begun || known.incarnation == action.incarnation { return known }
        base = .version(entry.version)
      }
      if try await save(action, name, base, .after(grace)) != nil, let entry = try await entry(name) {
        return try Self.action(entry)
      }
    }
    throw Self.contended
  }

  /// - Throws: `noSuchObject` when there is nothing to call off, or it has begun.
  package func cancel(_ target: DelayedAction) async throws(CaravanError) -> DelayedAction {
    let name = try Self.name(of: target)
    for _ in 0..<StorageLimits.actionAttempts {
      guard let entry = try await entry(name) else {
        throw CaravanError(.noSuchObject, "nothing waits to be deleted there: there is nothing to call off")
      }
      let action = try Self.action(entry)
      guard !action.begun else {
        throw CaravanError(.noSuchObject, "the deletion has begun: it can no longer be called off")
      }
      let delete = CaravanModel.Mutation(name: name, base: .version(entry.version), change: .delete)
      if try await commit(delete) != nil { return action }
    }
    throw Self.contended
  }

  /// The first due first.
  package func list() async throws(CaravanError) -> ListActionsReply {
    var reply = ListActionsReply()
    var query = ChangeQuery(zone: zone)
    while true {
      let page = try await store.changes(query)
      for entry in try EntryPage.decode(page.page).entries where !entry.deleted {
        reply.actions.append(try Self.action(entry.model()))
      }
      guard page.more, reply.actions.count < StorageLimits.actionsListed else {
        reply.more = page.more
        reply.actions.sort { $0.dueMilliseconds < $1.dueMilliseconds }
        return reply
      }
      query.position = page.next
    }
  }

  // MARK: Done

  /// One bounded step of an action whose time has come.
  /// - Returns: whether it is done, or is not to be done.
  func perform(_ due: ExpiredRecord) async throws(CaravanError) -> Bool {
    guard let entry = try await entry(due.name), entry.version == due.version else { return true }
    var action = try Self.action(entry)
    var version = entry.version
    if !action.begun {
      action.begun = true
      guard let marked = try await save(action, due.name, .version(version), .keep) else { return true }
      version = marked
    }
    let before = try await used(by: action)
    let (zones, isDone) = try await carryOut(action)
    let after = try await used(by: action)
    log.with(try Self.fields(of: action)).info(
      isDone ? "a deletion whose time has come is done" : "a deletion whose time has come goes on",
      [.zones: zones, .records: before.records - after.records, .bytes: before.bytes - after.bytes])
    guard isDone else { return false }
    return try await commit(CaravanModel.Mutation(name: due.name, base: .version(version), change: .delete)) != nil
  }

  /// - Returns: how many zones went now, and whether none is left.
  private func carryOut(_ action: DelayedAction) async throws(CaravanError) -> (zones: Int, isDone: Bool) {
    switch action.target {
    case .zone(let zone):
      let wasThere = try await store.deleteZone(
        zone.model(), incarnation: action.incarnation, writer: Self.writer)
      return (wasThere ? 1 : 0, true)
    case .user(let user):
      let user = try UserID(user)
      let (zones, isDone) = try await deleteZones(of: user)
      if isDone { try await AliasErasure(store: store, ops: ops).erase(user) }
      return (zones, isDone)
    case nil: return (0, true)
    }
  }

  private func deleteZones(of user: UserID) async throws(CaravanError) -> (zones: Int, isDone: Bool) {
    var left = StorageLimits.zonesPerStep
    // Shards of the user's default zones lie in other partitions than all else.
    for partition in Partition.all {
      for position in try await store.zones(in: partition, .owner(user)) {
        guard left > 0 else { return (StorageLimits.zonesPerStep, false) }
        left -= 1
        _ = try await store.deleteZone(position.zone, incarnation: position.incarnation, writer: Self.writer)
      }
    }
    return (StorageLimits.zonesPerStep - left, true)
  }

  /// What its accounts hold: what goes is the difference, but for what others write at that moment.
  private func used(by action: DelayedAction) async throws(CaravanError) -> Usage {
    let accounts: [Account?]
    switch action.target {
    case .zone(let zone): accounts = [Account(of: try zone.model().database)]
    case .user(let user):
      let user = try UserID(user)
      accounts = CaravanModel.Environment.allCases.map { .user(user, $0) }
    case nil: accounts = []
    }
    var used = Usage()
    for account in accounts { if let account { used += try await store.account(account).used } }
    return used
  }

  // MARK: Records

  /// The zone's life that is there now.
  private func incarnation(of action: DelayedAction) async throws(CaravanError) -> Incarnation {
    switch action.target {
    case .zone(let reference):
      let zone = try reference.model()
      let there = try await store.zones(in: Partition(of: zone.database), .database(zone.database))
      guard let found = there.first(where: { $0.zone == zone }) else {
        throw CaravanError(.zoneDoesNotExist, "there is no zone '\(zone.name)' to be deleted")
      }
      return found.incarnation
    case .user(let user):
      _ = try UserID(user)
      return 0
    case nil: throw CaravanError(.invalidData, "the action has no target: name a zone or a user")
    }
  }

  private static func fields(of action: DelayedAction) throws(CaravanError) -> LogFields {
    switch action.target {
    case .zone(let zone): [.zone: try zone.model()]
    case .user(let user): [.user: user]
    case nil: [:]
    }
  }

  private static func name(of action: DelayedAction) throws(CaravanError) -> String {
    switch action.target {
    case .zone(let zone): return "zone.\(SHA256.hash(Array(try zone.model().description.utf8)))"
    case .user(let user): return "user.\(try UserID(user))"
    case nil: throw CaravanError(.invalidData, "the action has no target: name a zone or a user")
    }
  }

  private func entry(_ name: String) async throws(CaravanError) -> CaravanModel.Entry? {
    let entry = try await store.fetch([name], in: zone).first
    if entry?.isDamaged ?? false { throw .damagedRecords([name]) }
    return entry?.isDeleted ?? true ? nil : entry
  }

  private static func action(_ entry: CaravanModel.Entry) throws(CaravanError) -> DelayedAction {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[content] else {
      throw CaravanError(.internalError, "record '\(entry.name)' of the actions is not as storage writes it")
    }
    var action = try DelayedAction.decode(bytes)
    action.dueMilliseconds = UInt64(clamping: entry.expires)
    return action
  }

  private func save(
    _ action: DelayedAction, _ name: String, _ base: Base, _ expiry: WriteTerms.Expiry
  ) async throws(CaravanError) -> Seq? {
    let body = RecordFields([Self.content: .data(action.encoded())]).body
    return try await commit(
      CaravanModel.Mutation(
        name: name, base: base, change: .save(type: 0, body: body, chunks: []), terms: WriteTerms(expiry: expiry)))
  }

  /// - Returns: the version written; nil: somebody else was quicker.
  private func commit(_ mutation: CaravanModel.Mutation) async throws(CaravanError) -> Seq? {
    let (op, floor) = ops.begin()
    defer { ops.end(op) }
    let commit = Commit(zone: zone, op: op, opFloor: floor, isAtomic: false, mutations: [mutation])
    guard case .applied(let outcomes, _, _, _) = try await store.commit(commit),
      case .accepted(let version)? = outcomes.first
    else { return nil }
    return version
  }

  private static var contended: CaravanError {
    CaravanError(.serverBusy, "somebody else asks the same: ask again", retryAfterMilliseconds: 100)
  }
}

import CaravanDiffSync
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

/// SYNC_CONTINUE: merged diffs as one atomic commit under the client's op id (DIF-12, DIF-13).
extension DiffExchange {
  func `continue`(_ message: SyncContinue) async throws(CaravanError) -> SyncContinueResult {
    let zone = try zone(message.container, message.zone)
    try DefaultZone.refuse(zone, "has no heights to sync by")
    let op = OpID(writer: try await writer(in: zone.database), epoch: epoch, number: message.op)
    let known = cloud.turns.open(message.token, in: zone, of: holder)
    guard !message.diffs.isEmpty else {
      guard let known else { return SyncContinueResult(Self.notTheirTurn) }
      try await endTurn(in: zone)
      return SyncContinueResult(height: known.height, incarnation: known.incarnation)
    }
    guard let turn = known else { return try await refuse(op, in: zone, nil, Self.notTheirTurn) }
    let lease = try await takeTurn(in: zone)
    guard lease.granted, lease.token == turn.leaseToken else {
      if lease.granted { try await endTurn(in: zone) }
      return try await refuse(op, in: zone, turn, Self.notTheirTurn)
    }
    let result: SyncContinueResult
    switch try await plan(message.diffs, of: zone) {
    case .failure(let refusal): result = try await refuse(op, in: zone, turn, refusal)
    case .success(let plan): result = try await commit(plan, op, to: zone, turn)
    }
    try await endTurn(in: zone)
    return result
  }

  private static let notTheirTurn = CaravanDiffSync.Refusal(
    .invalidSyncToken, "the sync token is not one of this client and zone, or its time is over: begin again")

  /// A refusal is for good: the op is settled, so that no copy of it that is still on its way can be applied. If one
  /// was, this is the second time it came, and the answer is that of the first.
  private func refuse(
    _ op: OpID, in zone: ZoneID, _ turn: SyncTurn?, _ refusal: CaravanDiffSync.Refusal
  ) async throws(CaravanError) -> SyncContinueResult {
    let reply = try await cloud.storage.settle(op, in: zone)
    guard !reply.aborted, case .applied(let outcomes, let zoneSeq, let incarnation, _) = try reply.model(),
      !outcomes.contains(where: \.isFailure)
    else { return SyncContinueResult(refusal) }
    let height = turn.map {
      self.height(of: $0, outcomes, CaravanModel.ChangePosition(incarnation: incarnation, seq: zoneSeq))
    }
    return SyncContinueResult(height: height ?? 0, incarnation: incarnation)
  }

  // MARK: Plan

  private func plan(
    _ diffs: [CaravanWire.Diff], of zone: ZoneID
  ) async throws(CaravanError) -> Swift.Result<[CaravanWire.Mutation], CaravanDiffSync.Refusal> {
    var list: [CaravanDiffSync.Diff] = []
    for diff in diffs {
      do throws(CaravanError) { list.append(try diff.model()) } catch {
        return .failure(CaravanDiffSync.Refusal(.invalidData, uuid: diff.uuid, error.message))
      }
    }
    let objects: Set<String>
    do throws(CaravanDiffSync.Refusal) { objects = try ContinuePlan.objects(of: list) } catch { return .failure(error) }
    let types = try await types(named: Set(list.map(\.objtype)), of: zone)
    let known = try await known(objects, in: zone)
    do throws(CaravanDiffSync.Refusal) {
      let plan = try ContinuePlan(list, types: types, known: known)
      var mutations: [CaravanWire.Mutation] = []
      for write in plan.writes { mutations.append(try mutation(write)) }
      return .success(mutations)
    } catch {
      return .failure(error)
    }
  }

  private func types(
    named names: Set<String>, of zone: ZoneID
  ) async throws(CaravanError) -> [String: CaravanModel.RecordType] {
    var types: [String: CaravanModel.RecordType] = [:]
    for name in names.sorted() {
      do throws(CaravanError) {
        types[name] = try await cloud.schema.type(
          named: name, of: zone.database.container, in: zone.database.environment)
      } catch {
        // The plan says that there is no such type.
        guard error.code == .tableNotFound || error.code == .schemaViolation || error.code == .invalidData else {
          throw error
        }
      }
    }
    return types
  }

  private func known(
    _ objects: Set<String>, in zone: ZoneID
  ) async throws(CaravanError) -> [String: ContinuePlan.Known] {
    let names = objects.filter { (try? RecordName.check($0)) != nil }.sorted()
    guard !names.isEmpty else { return [:] }
    let entries: [CaravanModel.Entry]
    // Only what they are: no fields of theirs.
    do throws(CaravanError) { entries = try await cloud.storage.fetch(names, fields: [.max], from: zone) } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return [:]
    }
    var known: [String: ContinuePlan.Known] = [:]
    let visibility = try await cloud.visibility.of(zone.database)
    for entry in entries where !visibility.isRetired(entry.type) {
      var objtype = ""
      if entry.type != 0 {
        objtype = try await cloud.schema.type(
          entry.type, of: zone.database.container, in: zone.database.environment
        ).name
      }
      known[entry.name] = ContinuePlan.Known(
        objtype: objtype, version: entry.version, isDeleted: entry.isDeleted)
    }
    return known
  }

  /// Others may write between the plan and the commit. An update then meets a merge field by field, which knows what
  /// this client has seen; a create meets its guards.
  private func mutation(_ write: ContinuePlan.Write) throws(CaravanDiffSync.Refusal) -> CaravanWire.Mutation {
    guard let type = write.type else {
      return CaravanWire.Mutation(name: write.uuid, kind: .delete, basedOn: write.lost, offered: write.lost != nil)
    }
    let body = RecordFields(write.fields).body
    do throws(CaravanError) { _ = try PushCheck.save(write.uuid, body: body, against: type) } catch {
      throw CaravanDiffSync.Refusal(.invalidData, uuid: write.uuid, error.message)
    }
    var mutation = CaravanWire.Mutation(
      name: write.uuid, kind: .save, type: type.id, body: body, stamp: write.timestamp.rawValue,
      fieldStamps: write.timestamps.sorted { $0.key < $1.key }.map { FieldStamp(id: $0.key, stamp: $0.value.rawValue) },
      policy: .fieldMerge, hideExpired: type.settings?.hidesExpired ?? false)
    if let ttl = type.settings?.ttlMilliseconds, ttl > 0 { mutation.ttlMilliseconds = ttl }
    if write.kind == .create {
      (mutation.basedOn, mutation.offered) = (write.lost ?? 0, write.lost != nil)
      mutation.guards = RecordFields(Dictionary(type.fields.map { ($0.id, .null) }) { $1 }).body
    } else {
      mutation.scope = .changed
    }
    return mutation
  }

  // MARK: Commit

  private func commit(
    _ mutations: [CaravanWire.Mutation], _ op: OpID, to zone: ZoneID, _ turn: SyncTurn
  ) async throws(CaravanError) -> SyncContinueResult {
    var mutations = mutations
    // An update writes over what the client has been shown, and is compared with what came later.
    for index in mutations.indices where mutations[index].scope == .changed { mutations[index].basedOn = turn.height }
    let request = CommitRequest(
      zone: ZoneRef(zone), writer: op.writer, epoch: op.epoch, op: op.number, opFloor: op.number, atomic: true,
      mutations: mutations, retired: try await cloud.visibility.of(zone.database).retired(named: nil))
    let reply = try await cloud.storage.commit(request, in: Partition(of: zone.database))
    guard case .applied(let outcomes, let zoneSeq, let incarnation, _) = try reply.model() else {
      return SyncContinueResult(Self.notTheirTurn)
    }
    if let failed = outcomes.firstIndex(where: \.isFailure) {
      return SyncContinueResult(Self.refusal(outcomes[failed], of: mutations[failed]))
    }
    return SyncContinueResult(
      height: height(of: turn, outcomes, CaravanModel.ChangePosition(incarnation: incarnation, seq: zoneSeq)),
      incarnation: incarnation)
  }

  private static func refusal(_ outcome: CaravanModel.Outcome, of mutation: CaravanWire.Mutation)
    -> CaravanDiffSync.Refusal
  {
    if case .refused(let error) = outcome {
      return CaravanDiffSync.Refusal(.invalidData, uuid: mutation.name, error.message)
    }
    if case .conflict(let server) = outcome, mutation.offered, server?.isDeleted ?? true {
      return CaravanDiffSync.Refusal(
        .noSuchObject, uuid: mutation.name,
        "object '\(mutation.name)' may have been deleted since the server was restored: drop what is pending on it")
    }
    return CaravanDiffSync.Refusal(
      .objectExists, uuid: mutation.name,
      "there is an object '\(mutation.name)' already: give each object a uuid of its own")
  }

  private func height(
    of turn: SyncTurn, _ outcomes: [CaravanModel.Outcome], _ zone: CaravanModel.ChangePosition
  ) -> Seq {
    TurnHeight(shown: CaravanModel.ChangePosition(incarnation: turn.incarnation, seq: turn.height), client: device.text)
      .after(outcomes, zone: zone)
  }
}

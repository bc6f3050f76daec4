import Model
import Runtime
import SchemaClient
import StorageClient
import SyncCore
import Wire

extension DeviceSession {
  func zone(_ container: String, _ name: String) throws(CaravanError) -> ZoneID {
    try ZoneID(DeviceScope.database(container: container, environment: cloud.environment, of: user), name)
  }

  /// One commit under the device's op id (UNI-07): each row is accepted, or conflicts with the server's copy (MOB-55).
  func push(_ push: Push, _ account: ReplyAccount) async throws(CaravanError) -> CommitReply {
    let zone = try zone(push.container, push.zone)
    let request = CommitRequest(
      zone: ZoneRef(zone), writer: device.text, epoch: epoch, op: push.op, opFloor: push.opFloor, atomic: false,
      mutations: try await checked(push, of: zone.database), chunks: push.chunks)
    let reply = try await cloud.storage.commit(request, in: partition)
    cloud.metrics.accepted.add(reply.outcomes.count { $0.verdict == .accepted })
    cloud.metrics.conflicts.add(reply.outcomes.count { $0.verdict == .conflict })
    return try admit(reply, expected: ReplyBudget.estimate(push), account)
  }

  func settle(_ settle: Settle, _ account: ReplyAccount) async throws(CaravanError) -> CommitReply {
    let op = OpID(writer: device.text, epoch: epoch, number: settle.op)
    let reply = try await cloud.storage.settle(op, in: zone(settle.container, settle.zone))
    return try admit(reply, expected: 0, account)
  }

  /// As many server copies as there is room for; without room for the outcomes themselves, the same operation gets them
  /// again, as they stay known.
  private func admit(
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

  /// Every row against its record type. Bodies are looked at once and pass on as they are; the chunks they name are
  /// those the store will count.
  private func checked(_ push: Push, of database: DatabaseID) async throws(CaravanError) -> [Wire.Mutation] {
    try PushCheck.batch(push.mutations.map(\.name))
    var types: [UInt32: Model.RecordType] = [:]
    var mutations = push.mutations
    for (index, mutation) in push.mutations.enumerated() {
      (mutations[index].chunks, mutations[index].lists) = ([], [])
      switch mutation.kind {
      case .delete: continue
      case .unspecified:
        throw CaravanError(.invalidData, "the mutation of '\(mutation.name)' has no kind: save or delete")
      case .save:
        if types[mutation.type] == nil {
          types[mutation.type] = try await cloud.schema.type(
            mutation.type, of: database.container, in: database.environment)
        }
        guard let type = types[mutation.type] else { continue }
        let named = try PushCheck.save(mutation.name, body: mutation.body, against: type)
        mutations[index].chunks = named.chunks
        mutations[index].lists = named.lists.map { Asset(list: $0.hash, size: $0.size) }
      }
    }
    return mutations
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

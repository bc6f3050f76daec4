import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

/// Conflicts that a program of the app decides (CK-36): sync asks it at `ext.<container>.<type>`, saves what it says
/// over the copy that it saw, and asks again when that changed meanwhile.
struct ConflictExtension: SessionPart {
  let session: DeviceSession

  /// Settles what can be settled; the rest stays in conflict.
  func settle(_ push: Push, _ checked: DeviceSession.Checked, _ reply: inout CommitReply, in zone: ZoneID) async {
    // A device that uses an op's number again gets the outcomes of what the op was, which need not be this push's.
    guard reply.outcomes.count == checked.mutations.count else { return }
    // One deadline for all: the device waits for the whole push.
    let start = cloud.host.clock.now
    var isAnswering = true
    for index in reply.outcomes.indices where reply.outcomes[index].verdict == .conflict {
      let mutation = checked.mutations[index]
      // What must not have changed is for its writer to decide (E15).
      guard mutation.kind == .save, mutation.guards.isEmpty, let server = reply.outcomes[index].server,
        server.name == mutation.name, !server.deleted, let type = checked.types[mutation.type]
      else { continue }
      let typeSettings = await cloud.typeSettings.now(of: type, in: zone.database)
      guard typeSettings.conflicts == .serverExtension, let ops = SettlementOps(push, index) else { continue }
      let row = DisputedRow(
        mutation: mutation, type: type, ancestor: push.mutations[index].ancestor, zone: zone, ops: ops,
        fallback: typeSettings.fallback, deadline: start + .milliseconds(Int64(typeSettings.extensionMilliseconds)))
      (reply.outcomes[index], isAnswering) = await settle(row, against: server, asking: isAnswering)
    }
  }

  /// - Parameter asking: false: nobody answered for the row before, and the device has waited enough.
  /// - Returns: the outcome, and whether there is somebody who answers.
  private func settle(
    _ row: DisputedRow, against server: CaravanWire.Entry, asking: Bool
  ) async -> (CaravanWire.Outcome, isAnswering: Bool) {
    var newest = server
    var failure: CaravanError
    do throws(CaravanError) {
      guard asking else { throw CaravanError(.unavailable, "the extension has just not answered") }
      guard cloud.disputes.enter() else { throw CaravanError(.serverBusy, "too many disputes are being decided") }
      defer { cloud.disputes.leave() }
      return (try await decide(row, against: &newest), true)
    } catch { failure = error }
    cloud.metrics.disputes.count(DisputeOutcome(failure))
    cloud.host.log.debug("an extension did not decide", [.database: row.zone.database, .error: failure])
    let outcome = (try? await fallBack(row, against: newest)) ?? Outcome(verdict: .conflict, server: newest)
    return (outcome, failure.code != .unavailable && failure.code != .timedOut)
  }

  /// - Parameter server: the newest copy known of what the store holds, also when it throws.
  private func decide(_ row: DisputedRow, against server: inout CaravanWire.Entry) async throws(CaravanError)
    -> CaravanWire.Outcome
  {
    for attempt in 0..<SyncLimits.disputesPerRow {
      let type = server.type > row.type.id ? try await session.type(server.type, in: row.zone) : row.type
      let decision = try await ask(row, server, type)
      switch decision.kind {
      case nil:
        cloud.metrics.disputes.count(.left)
        return Outcome(verdict: .conflict, server: server)
      case .keep:
        cloud.metrics.disputes.count(.kept)
        return Outcome(verdict: .merged, version: server.version, server: server)
      case .merged(let body):
        let outcome = try await save(body, type, over: server, attempt, row)
        guard outcome.verdict == .conflict, let newer = outcome.server, !newer.deleted else {
          cloud.metrics.disputes.count(outcome.verdict == .conflict ? .left : .merged)
          return outcome
        }
        server = newer
      }
    }
    throw CaravanError(.serverBusy, "record '\(row.mutation.name)' changed as often as it was decided")
  }

  private func ask(
    _ row: DisputedRow, _ server: CaravanWire.Entry, _ type: CaravanModel.RecordType
  ) async throws(CaravanError) -> Decision {
    let database = row.zone.database
    let left = row.deadline - cloud.host.clock.now
    guard left > .zero else { throw CaravanError(.timedOut, "the time of the extension is over") }
    let alias = database.isPublic ? "" : try await cloud.aliases.alias(of: device, in: database.container).user
    let dispute = Dispute(
      container: database.container.text, environment: database.environment.rawValue, zone: row.zone.name,
      user: alias, type: RecordType(type),
      record: row.mutation.name, client: row.mutation.body, partial: row.mutation.scope == .changed,
      server: server.body, version: server.version, ancestor: row.ancestor)
    return try await cloud.bus.call(
      dispute, to: .extension(database.container, type: type.name), deadline: left)
  }

  // MARK: What becomes of it

  private func save(
    _ body: [UInt8], _ type: CaravanModel.RecordType, over server: CaravanWire.Entry, _ attempt: Int, _ row: DisputedRow
  ) async throws(CaravanError) -> CaravanWire.Outcome {
    var mutation = CaravanWire.Mutation(
      name: server.name, kind: .save, basedOn: server.version, type: type.id, body: body)
    try session.check(&mutation, type, in: row.zone)
    mutation.policy = .unspecified
    let outcome = try await commit(mutation, attempt, row)
    guard outcome.verdict == .accepted else { return outcome }
    // The answer to the first sending was lost: what was decided then is in what the store holds now.
    guard outcome.version > server.version else {
      return Outcome(verdict: .merged, version: server.version, server: server)
    }
    let entry = CaravanWire.Entry(
      name: server.name, version: outcome.version, created: server.created, type: type.id, body: body,
      writer: SettlementOps.writer(for: try await writer(in: row.zone.database)), expires: server.expires)
    return Outcome(verdict: .merged, version: outcome.version, server: entry)
  }

  /// As if the type had its fallback for a policy.
  private func fallBack(_ row: DisputedRow, against server: CaravanWire.Entry) async throws(CaravanError) -> CaravanWire
    .Outcome?
  {
    guard row.fallback != .manual else { return nil }
    var mutation = row.mutation
    mutation.policy = ConflictPolicy(row.fallback)
    let outcome = try await commit(mutation, SyncLimits.disputesPerRow, row)
    guard outcome.verdict == .accepted, outcome.version <= server.version else { return outcome }
    return Outcome(verdict: .merged, version: server.version, server: server)
  }

  /// Under an op id that follows from the device's: a push that is sent again settles nothing twice.
  private func commit(
    _ mutation: CaravanWire.Mutation, _ attempt: Int, _ row: DisputedRow
  ) async throws(CaravanError) -> CaravanWire.Outcome {
    let visibility = try await cloud.visibility.of(row.zone.database, covering: [row.type])
    let request = CommitRequest(
      zone: ZoneRef(row.zone), writer: SettlementOps.writer(for: try await writer(in: row.zone.database)), epoch: epoch,
      op: row.ops.number(attempt), opFloor: row.ops.floor, mutations: [mutation])
    var reply = try await session.commit(request, to: row.zone.database, visibility)
    try await session.hideInvisible(in: &reply, of: row.zone.database)
    guard let outcome = reply.outcomes.first else {
      throw CaravanError(.chunksMissing, "record '\(mutation.name)' names chunks that are not there")
    }
    switch outcome.verdict {
    case .accepted, .conflict, .merged: return outcome
    case .refused, .aborted, .read, .unspecified:
      throw outcome.failure?.model() ?? CaravanError(.serverBusy, "record '\(mutation.name)' was not written")
    }
  }
}

/// A save in conflict, of a type whose conflicts a program decides.
private struct DisputedRow {
  let mutation: CaravanWire.Mutation
  let type: CaravanModel.RecordType
  let ancestor: [UInt8]
  let zone: ZoneID
  let ops: SettlementOps
  let fallback: CaravanModel.ConflictPolicy
  let deadline: Instant
}

extension SettlementOps {
  fileprivate init?(_ push: Push, _ index: Int) { self.init(op: push.op, floor: push.opFloor, row: index) }
}

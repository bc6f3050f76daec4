package import CaravanAgentCore
internal import CaravanModel
internal import CaravanWire

extension CaravanWire.Operation.Kind {
  /// Whose it is; nil: the device's own.
  package var table: TableID? {
    switch self {
    case .push(let push): push.database == .public ? nil : TableID(container: push.container, name: push.zone)
    case .pull(let pull): TableID(container: pull.container, name: pull.zone)
    case .settle(let settle): TableID(container: settle.container, name: settle.zone)
    case .propose(let proposal):
      proposal.partial ? nil : TableID(container: proposal.container, name: proposal.type?.name ?? "")
    case .drop(let drop): TableID(container: drop.container, name: drop.zone)
    case .beginGroup(let group): TableID(container: group.container, name: group.zone)
    case .upload(let part): TableID(container: part.container, name: part.zone)
    case .commitGroup(let group): TableID(container: group.container, name: group.zone)
    case .hello, .subscribe, .ack, .ticket: nil
    // Not an agent's to ask.
    case .zones, .changedZones, .createZone, .whoAmI, .schema: nil
    // An app asks, and none of its tables: so it is with what goes to the public database.
    case .query, .subscriptions, .pushTargets, .read: nil
    case .lock, .unlock, .operation, .removeOperation: nil
    case .syncBegin, .syncContinue: nil
    }
  }

  /// The largest result that is expected, for a budget's sake: what is asked for, and once more what is sent, should it
  /// meet other copies.
  package var expectedAnswer: UInt64 {
    switch self {
    case .pull(let pull): UInt64(pull.maxBytes) + EngineLimits.answerBytes
    case .push(let push):
      push.mutations.reduce(EngineLimits.answerBytes) {
        $0 + 64 + UInt64($1.chunks.count) + ($1.basedOn == 0 ? 0 : UInt64($1.body.count))
      }
    case .hello, .propose, .settle, .subscribe, .ack, .ticket, .drop: EngineLimits.answerBytes
    case .read, .zones, .changedZones, .createZone, .whoAmI, .schema, .query, .subscriptions, .pushTargets:
      UInt64(Limits.pageBytes)
    case .lock, .unlock, .beginGroup, .upload, .operation, .removeOperation: EngineLimits.answerBytes
    case .commitGroup(let group): EngineLimits.answerBytes + UInt64(group.parts) * EngineLimits.partOutcomeBytes
    case .syncBegin, .syncContinue: UInt64(Limits.pageBytes)
    }
  }
}

extension TableID {
  fileprivate init(container: String, name: String) { self.init(app: ContainerID(unchecked: container), name: name) }
}

extension CaravanWire.Result.Kind {
  /// About how much of an answer it takes.
  package var weight: UInt64 {
    switch self {
    case .pull(let pull): UInt64(pull.page.count) + 64
    case .query(let found): UInt64(found.answer.count) + 64
    case .subscriptions(let all): UInt64(all.answer.count) + 64
    case .pushTargets(let all): UInt64(all.answer.count) + 64
    case .commit(let commit): commit.outcomes.reduce(32) { $0 + 16 + UInt64($1.server?.body.count ?? 0) }
    case .records(let found): found.entries.reduce(64) { $0 + 64 + UInt64($1.body.count) }
    case .failure, .hello, .type, .ticket, .done, .changedZones, .zones, .zone, .person, .schema: 64
    case .lock, .operation, .part: 64
    case .syncBegin, .syncContinue: 64
    }
  }
}

internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Carries out what a table's `PushSession` decides. Its first operations travel with other tables' in one frame
/// (`begin`), the rest goes alone (`finish`).
struct TablePush: Sendable {
  private let dependencies: SyncDependencies
  private let linkGuard: LinkGuard
  /// What the cloud has refused as it is is tried again, behind all else.
  private let retriesRefused: Bool
  /// How much later the first push may still come.
  private var slackMilliseconds: UInt32
  private(set) var session: PushSession
  /// The last message asked what became of an op.
  private var asksWhatBecame = false
  /// What the cloud said of the last commit.
  private var stamp: CommitStamp?

  init(
    _ table: TableID, dependencies: SyncDependencies, linkGuard: LinkGuard, pending: PlanInFlight?, lacksRoom: Bool,
    retriesRefused: Bool,
    slackMilliseconds: UInt32
  ) {
    self.dependencies = dependencies
    self.linkGuard = linkGuard
    self.retriesRefused = retriesRefused
    self.slackMilliseconds = slackMilliseconds
    session = PushSession(table, pending: pending, lacksRoom: lacksRoom, isDemanded: linkGuard.isDemanded)
  }

  var table: TableID { session.table }
  var transport: FragmentTransport { FragmentTransport(mover: dependencies.mover, linkGuard: linkGuard) }

  /// - Returns: what to send first; nothing when there is nothing to do.
  mutating func begin() async throws(CaravanError) -> [Operation.Kind] { try await carryOut(session.start()) }

  /// Goes on from the answer to what `begin` returned until nothing is left to send.
  /// - Throws: why it stopped; `session.pending` then says what has to be sent again.
  mutating func finish(_ first: Swift.Result<[Result.Kind], CaravanError>) async throws(CaravanError) {
    var answer = first
    while true {
      let event = await read(answer)
      let operations = try await carryOut(session.receive(event))
      if operations.isEmpty { return }
      do throws(CaravanError) {
        answer = .success(try await dependencies.exchanger.exchange(operations, through: [linkGuard], by: transport))
      } catch {
        answer = .failure(error)
      }
    }
  }

  /// - Returns: what is to be sent next; nothing when all that could go has gone.
  private mutating func carryOut(_ first: PushSession.Action) async throws(CaravanError) -> [Operation.Kind] {
    var action = first
    while true {
      switch action {
      case .send(let message): return await operations(of: message)
      case .stop(let error?): throw error
      case .stop(nil): return []
      default:
        let event: PushSession.Event
        do throws(CaravanError) { event = try await perform(action) } catch { event = .failed(error) }
        action = session.receive(event)
      }
    }
  }

  private func perform(_ action: PushSession.Action) async throws(CaravanError) -> PushSession.Event {
    switch action {
    case .askPermission: return .permission(await linkGuard.mayCollect())
    case .readState: return .state(try await dependencies.store.syncState(of: table))
    case .abort(let op):
      try await dependencies.store.abort(op)
      return .aborted
    case .collect(let onlyDeletions, let isShort):
      return .collected(try await collect(onlyDeletions: onlyDeletions, isShort: isShort))
    case .load(let op, let isShort): return try await load(op, isShort: isShort)
    case .lookForAnswer(let mistrusted):
      if mistrusted { dependencies.exchanger.mistrustAnswers() }
      return .debt(await dependencies.exchanger.owesAnswer(to: table))
    case .adopt(let type):
      try await dependencies.store.agree(on: type, for: table)
      return .adopted
    case .record(let outcomes, let plan):
      let summary = try await dependencies.store.record(outcomes, of: plan.op, by: stamp)
      dependencies.totals.add(SessionCounters(plan.mutations, outcomes), to: Coalescer.Key(table, .write))
      return .recorded(summary)
    case .reject(let outcomes, let op):
      _ = try await dependencies.store.record(outcomes, of: op, by: nil)
      return .rejected
    case .fetchChunks: return .fetched((try? await dependencies.mover.fetchMissing(through: linkGuard)) == true)
    case .stage(let hashes, let op, let vain):
      let needs = try await dependencies.store.unsentChunks(of: op).filter { !vain.contains($0.hash.bytes) }
      do throws(CaravanError) { try await dependencies.mover.upload(hashes, needs: needs, through: linkGuard) } catch {
        return .stagingFailed(error)
      }
      return .staged
    case .markAbsent: return .absence(isNew: try await dependencies.store.zoneIsGone(table) == .neverThere)
    case .note(let refusal, let fault):
      try await dependencies.store.note(refusal: refusal.message, fault: fault, of: table)
      return .noted
    case .send, .stop: preconditionFailure("\(action) is no work of its own")
    }
  }

  private func collect(onlyDeletions: Bool, isShort: Bool) async throws(CaravanError) -> PushPlan? {
    let left = isShort ? dependencies.exchanger.meter.budget?.left : nil
    return try await dependencies.store.collect(
      table, maximumRows: EngineLimits.rowsPerPush,
      maximumBytes: min(EngineLimits.bytesPerPush, dependencies.exchanger.fragment.bytes), onlyDeletions: onlyDeletions,
      room: left.map { max(0, Int(clamping: $0) - EngineLimits.pushCost) }, retriesRefused: retriesRefused)
  }

  private func load(_ op: UInt64, isShort: Bool) async throws(CaravanError) -> PushSession.Event {
    let needs = try await dependencies.store.unsentChunks(of: op)
    let inlineChunks = try await dependencies.mover.inlineChunks(for: needs, isFree: await linkGuard.isFree())
    let items = inlineChunks.chunks.map { InlineChunks.Item(hash: $0.hash, data: $0.data, bases: $0.bases) }
    return .loaded(
      InlineChunks(items, isAll: inlineChunks.isAll),
      refusal: isShort ? nil : dependencies.exchanger.meter.refusal(of: inlineChunks.plainBytes))
  }
}

// MARK: Messages

extension TablePush {
  private mutating func operations(of message: PushSession.Message) async -> [Operation.Kind] {
    let (container, zone) = (table.app.text, table.name)
    asksWhatBecame = false
    switch message {
    case .propose(let type): return [.propose(ProposeTable(proposing: type, for: table))]
    case .settle(let op):
      asksWhatBecame = true
      return [.settle(Settle(container: container, zone: zone, op: op))]
    case .group(let step, let plan): return [step.operation(of: plan, floor: await dependencies.store.opFloor)]
    case .push(let plan, let inline, let isAgain):
      if isAgain { dependencies.metrics.resent.add() }
      let push = Push(
        container: container, zone: zone, op: plan.op, opFloor: await dependencies.store.opFloor,
        mutations: plan.mutations.map { CaravanWire.Mutation(pushed: $0, type: plan.type) },
        chunks: inline.items.map { Chunk(hash: $0.hash, data: $0.data, bases: $0.bases) }, atomic: plan.isAtomic,
        slackMilliseconds: slackMilliseconds, toleratedRows: UInt32(plan.losableRows))
      slackMilliseconds = 0
      guard !inline.isAll, let ticket = await dependencies.mover.ticketOperation(.init(app: table.app, isUpload: true))
      else { return [.push(push)] }
      return [.push(push), ticket]
    }
  }

  private mutating func read(_ answer: Swift.Result<[Result.Kind], CaravanError>) async -> PushSession.Event {
    let results: [Result.Kind]
    switch answer {
    case .success(let all): results = all
    case .failure(let error): return .unanswered(error, room: dependencies.exchanger.fragment.bytes)
    }
    if case .ticket(let ticket)? = results.dropFirst().first {
      await dependencies.mover.keep(ticket, for: .init(app: table.app, isUpload: true))
    }
    do throws(CaravanError) { return .answered(try read(results[0])) } catch { return .answered(.malformed(error)) }
  }

  private mutating func read(_ result: Result.Kind) throws(CaravanError) -> PushSession.Answer {
    switch result {
    case .type(let type): return .type(try type.model())
    case .commit(let reply):
      let outcome = try reply.model()
      stamp = CommitStamp(time: reply.modified, writer: reply.writer)
      if asksWhatBecame { dependencies.metrics.settled(outcome.name) }
      return .commit(outcome)
    case .operation(let state): return .group(GroupUpload.Progress(state))
    case .part(let part): return .part(missing: try ChunkHash.list(part.missingChunks))
    case .failure(let failure): return .failure(failure.model())
    default: return .other
    }
  }
}

extension CommitResult {
  fileprivate var name: String {
    switch self {
    case .applied: "applied"
    case .missing: "missing"
    case .aborted: "aborted"
    }
  }
}

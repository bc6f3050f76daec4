internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// One table's way up: agree on its type, then plan by plan push, stage what the cloud lacks, push again, record. The
/// first operations ride with other tables' in one frame (`begin`), the rest goes alone (`finish`).
struct Upstream: Sendable {
  private enum Stage: Sendable {
    case agreeing
    case pushing
  }

  let table: TableID
  private let dependencies: SyncDependencies
  private let gate: LinkGuard
  /// The account at the cloud is full: deletions go first, and alone.
  private let lacksRoom: Bool
  /// What the cloud has refused as it is is tried again, behind all else.
  private let retriesRefused: Bool
  /// How much later the first push may still come.
  private var slackMilliseconds: UInt32
  private var stage = Stage.pushing
  private(set) var pending: Pending?
  /// Why rows that today's budget of the link may have no room for are left out.
  private var shortage: CaravanError?
  /// Chunks of the cloud's copies of rows in conflict could not be had: the table's way down has to try again.
  private(set) var lacksChunks = false
  /// The cloud did not know the table's type any more, and was told of it.
  private var hasAgreedAgain = false
  /// A plan was given up because a chunk of it was lost here.
  private var hasLostChunks = false

  init(
    _ table: TableID, dependencies: SyncDependencies, gate: LinkGuard, pending: Pending?, lacksRoom: Bool,
    retriesRefused: Bool,
    slackMilliseconds: UInt32
  ) {
    self.table = table
    self.dependencies = dependencies
    self.gate = gate
    self.pending = pending
    self.lacksRoom = lacksRoom
    self.retriesRefused = retriesRefused
    self.slackMilliseconds = slackMilliseconds
  }

  /// - Returns: what to send first; nothing when there is nothing to do.
  mutating func begin() async throws(CaravanError) -> [Operation.Kind] {
    try await renewPerishable()
    if pending == nil, await gate.mayCollect() {
      let state = try await dependencies.store.syncState(of: table)
      if let fault = state.fault { throw state.resting(table, fault) }
      if state.zoneIsGone { throw .zoneIsGone(table) }
      if state.type == nil { stage = .agreeing }
    }
    let operations = try await nextOperations()
    if operations.isEmpty { try await requireNothingHeldBack() }
    return operations
  }

  private mutating func nextOperations() async throws(CaravanError) -> [Operation.Kind] {
    if stage == .agreeing {
      let state = try await dependencies.store.syncState(of: table)
      return [.propose(ProposeTable(proposing: state.proposal, for: table))]
    }
    if pending == nil, await gate.mayCollect() { try await collect() }
    return await pushOperations()
  }

  /// Goes on from the answer to what `begin` returned until nothing is left to send.
  /// - Throws: why it stopped; `pending` then says what has to be sent again.
  mutating func finish(_ first: Swift.Result<[Result.Kind], CaravanError>) async throws(CaravanError) {
    var answer = first
    while true {
      do throws(CaravanError) {
        if case .failure(let error) = answer {
          unanswered(error)
          if await dependencies.exchanger.owesAnswer(to: table) { pending?.mayHaveArrived = true }
        }
        try await take(answer.get())
      } catch {
        try await makeWay(for: error)
      }
      let operations = try await nextOperations()
      if operations.isEmpty { return try await requireNothingHeldBack() }
      do throws(CaravanError) {
        answer = .success(try await dependencies.exchanger.exchange(operations, through: [gate], by: transport))
      } catch {
        answer = .failure(error)
      }
    }
  }

  /// Where today's budget of the link has no room for the plan, that ends, and rows that are small enough go without
  /// the others, which wait for tomorrow or a cheaper link (MOB-47).
  /// - Throws: `error`, where it says something else, or that was not enough.
  private mutating func makeWay(for error: CaravanError) async throws(CaravanError) {
    guard error.isForTomorrow, shortage == nil, let held = pending, !held.mustSettle else { throw error }
    shortage = error
    if held.mayHaveArrived {
      pending?.mustSettle = true
    } else {
      try await dependencies.store.abort(held.plan.op)
      pending = nil
    }
  }

  /// The frame with this table's operations got no answer.
  private mutating func unanswered(_ error: CaravanError) {
    if error.code == .timedOut {
      shrink()
      pending?.losses += 1
      if pending?.losses ?? 0 > 1 { dependencies.exchanger.mistrustAnswers() }
    }
    switch error.code {
    // What the link does not let pass whole is put down at the cloud first.
    case .quotaExceeded: giveWay(error)
    case .unavailable, .networkNotConnected, .networkNotPermitted, .serverBusy, .rateLimited, .limitExceeded: return
    default: pending?.mayHaveArrived = true
    }
  }

  /// What was too much for the link goes as several plans, once it is known that this one has not arrived, and chunks
  /// go before it.
  private mutating func shrink() {
    guard let current = pending else { return }
    let room = dependencies.exchanger.fragment.bytes
    if current.plan.mutations.count > 1, !current.plan.isAtomic, current.plan.bodyBytes > room {
      pending?.mustSettle = true
    }
    guard current.riders.reduce(0, { $0 + $1.data.count }) > room / 4 else { return }
    pending?.riders = []
    pending?.lacksTicket = true
  }

  /// Where the session stands, for whoever finds it cut off (SIM-70).
  var disruption: Disruption {
    let answer: Disruption.Answer = lacksChunks ? .lacksObjects : pending == nil ? .whole : .missing
    return .upstream(inFlight: pending?.mayHaveArrived ?? false, answer)
  }

  var transport: FragmentTransport { FragmentTransport(mover: dependencies.mover, gate: gate) }

  // MARK: Steps

  /// Whoever waits is not told that everything has gone while rows may not go.
  /// - Throws: `unavailable`, `networkNotPermitted`.
  private func requireNothingHeldBack() async throws(CaravanError) {
    guard gate.isDemanded || shortage != nil else { return }
    let state = try await dependencies.store.syncState(of: table)
    if let shortage { if state.dirtyRows > 0 { throw shortage } else { return } }
    if state.isResyncing {
      throw CaravanError(.unavailable, "\(table) starts over: its rows go once the cloud has named what it has")
    }
    guard state.dirtyRows + state.toleratedRows > 0, await !gate.mayCollect() else { return }
    throw CaravanError(.unavailable, "the device starts over: rows of \(table) go once what is on its way is known")
  }

  /// A plan that was never heard of may hold rows that have become too old to be sent (UNI-16): it is made anew.
  private mutating func renewPerishable() async throws(CaravanError) {
    guard let held = pending, !held.mayHaveArrived, held.plan.toleratedRows > 0 else { return }
    try await dependencies.store.abort(held.plan.op)
    pending = nil
  }

  private mutating func collect() async throws(CaravanError) {
    var plan: PushPlan?
    if lacksRoom { plan = try await collect(onlyDeletions: true) }
    if plan == nil { plan = try await collect(onlyDeletions: false) }
    guard let plan else { return }
    // Whatever fails from here on, the plan is there, and the store makes no other before it has ended.
    var next = Pending(plan, mustSettle: false)
    pending = next
    guard next.group == nil, plan.mutations.contains(where: \.hasChunks) else { return }
    let needs = try await dependencies.store.unsentChunks(of: plan.op)
    let riders = try await dependencies.mover.riders(for: needs, isFree: await gate.isFree())
    // The cloud keeps for an hour what no row names: what is too much for today would be paid for in vain.
    if shortage == nil, let refusal = dependencies.exchanger.meter.refusal(of: riders.plainBytes) {
      try await makeWay(for: refusal)
      return try await collect()
    }
    (next.riders, next.lacksTicket) = (riders.chunks, !riders.isAll)
    pending = next
  }

  private func collect(onlyDeletions: Bool) async throws(CaravanError) -> PushPlan? {
    let left = shortage == nil ? nil : dependencies.exchanger.meter.budget?.left
    return try await dependencies.store.collect(
      table, maximumRows: EngineLimits.rowsPerPush,
      maximumBytes: min(EngineLimits.bytesPerPush, dependencies.exchanger.fragment.bytes), onlyDeletions: onlyDeletions,
      room: left.map { max(0, Int(clamping: $0) - EngineLimits.pushCost) }, retriesRefused: retriesRefused)
  }

  private mutating func pushOperations() async -> [Operation.Kind] {
    guard let current = pending else { return [] }
    let plan = current.plan
    if current.mustSettle {
      return [.settle(Settle(container: table.app.text, zone: table.name, op: plan.op))]
    }
    if current.mayHaveArrived, current.group == nil { dependencies.metrics.resent.add() }
    let mutations = plan.mutations.map { CaravanWire.Mutation(pushed: $0, type: plan.type) }
    if let group = current.group {
      let operation = group.next(plan.op, floor: await dependencies.store.opFloor, of: table, mutations)
      return [operation]
    }
    let push = Push(
      container: table.app.text, zone: table.name, op: plan.op, opFloor: await dependencies.store.opFloor,
      mutations: mutations, chunks: current.riders,
      atomic: plan.isAtomic, slackMilliseconds: slackMilliseconds, toleratedRows: UInt32(plan.losableRows))
    slackMilliseconds = 0
    guard current.lacksTicket,
      let ticket = await dependencies.mover.ticketOperation(.init(app: table.app, isUpload: true))
    else { return [.push(push)] }
    return [.push(push), ticket]
  }

  private mutating func take(_ results: [Result.Kind]) async throws(CaravanError) {
    pending?.losses = 0
    if case .ticket(let ticket)? = results.dropFirst().first {
      await dependencies.mover.keep(ticket, for: .init(app: table.app, isUpload: true))
    }
    switch (stage, results[0]) {
    case (.agreeing, .type(let type)):
      stage = .pushing
      try await dependencies.store.agree(on: type.model(), for: table)
    case (.agreeing, .failure(let failure)): try await refuse(failure.model(), isWhole: true)
    case (.pushing, .commit(let reply)):
      try await answered(reply.model(), by: CommitStamp(time: reply.modified, writer: reply.writer))
    case (.pushing, .operation(let state)): begun(state)
    case (.pushing, .part(let part)): try await staged(part)
    case (.pushing, .failure(let failure)): try await refused(failure.model())
    case (.agreeing, let other): throw .unexpected(other, to: "a proposal")
    case (.pushing, let other): throw .unexpected(other, to: "a push")
    }
  }

  // MARK: Answers

  private mutating func answered(_ result: CommitResult, by stamp: CommitStamp?) async throws(CaravanError) {
    guard let current = pending else { return }
    if current.mustSettle { dependencies.metrics.settled(result.outcomeName) }
    switch result {
    case .applied(let outcomes, _, _, _):
      guard outcomes.count == current.plan.mutations.count else {
        throw CaravanError(
          .internalError, "a push of \(current.plan.mutations.count) rows has \(outcomes.count) outcomes")
      }
      let summary = try await dependencies.store.record(outcomes, of: current.plan.op, by: stamp)
      dependencies.tallies.add(SessionCounters(current.plan.mutations, outcomes), to: Coalescer.Key(table, .write))
      pending = nil
      if summary.lacksChunks { lacksChunks = (try? await dependencies.mover.fetchMissing(through: gate)) != true }
      if let refusal = summary.refusal { try await refuse(refusal) }
    case .missing(let hashes): try await stage(hashes, of: current)
    case .aborted: try await end(current, by: current.refusal)
    }
  }

  /// The cloud lacks chunks of what was sent.
  private mutating func stage(_ hashes: [ChunkHash], of current: Pending) async throws(CaravanError) {
    guard current.stagings < EngineLimits.stagingRounds else {
      throw CaravanError(.unavailable, "the cloud still lacks \(hashes.count) chunks of \(table) after staging them")
    }
    // A patch that has been taken along in vain is not tried again.
    let vain = Set(current.riders.lazy.filter { !$0.bases.isEmpty }.map(\.hash))
    pending?.riders = []
    let needs = try await dependencies.store.unsentChunks(of: current.plan.op).filter { !vain.contains($0.hash.bytes) }
    do throws(CaravanError) {
      try await dependencies.mover.upload(hashes, needs: needs, through: gate)
      // Only what has arrived in vain counts: a link that breaks again and again must not end it.
      pending?.stagings += 1
    } catch {
      if error.code == .quotaExceeded { return giveWay(error) }
      // The push has been heard of, and may have been doubled on the way.
      if error.isForTomorrow { pending?.mayHaveArrived = true }
      guard error.code == .chunkDamaged, !hasLostChunks else { throw error }
      // The op ends, so that the store can see to the rows concerned; the others go with the next one (SIM-108).
      hasLostChunks = true
      pending?.mustSettle = true
    }
  }

  /// The cloud has a group of this op, maybe since long.
  private mutating func begun(_ state: OperationState) {
    pending?.mayHaveArrived = true
    if pending?.group?.begin(state) != true { pending?.mustSettle = true }
  }

  private mutating func staged(_ part: PartState) async throws(CaravanError) {
    guard let current = pending else { return }
    let missing = try ChunkHash.list(part.missingChunks)
    guard missing.isEmpty else { return try await stage(missing, of: current) }
    pending?.group?.took()
    pending?.stagings = 0
  }

  private mutating func refused(_ error: CaravanError) async throws(CaravanError) {
    guard let current = pending else { throw error }
    if error.code == .quotaExceeded { return giveWay(error) }
    if error.isWorthRetrying {
      if error.code != .serverBusy, error.code != .rateLimited { pending?.mayHaveArrived = true }
      throw error
    }
    if current.mayHaveArrived, !current.mustSettle {
      // It may have been applied before it was refused: what became of it decides.
      pending?.mustSettle = true
      // A group has always been heard of; unless it was given up there, another one is refused as well.
      if current.group != nil, error.code != .noOperationId { pending?.refusal = error }
      return
    }
    try await end(current, by: error)
  }

  /// The op has come to nothing, and will not come to anything.
  /// - Parameter refusal: nil: the same may be taken the next time.
  private mutating func end(_ ended: Pending, by refusal: CaravanError?) async throws(CaravanError) {
    if let refusal, refusal.code == .zoneDoesNotExist, try await dependencies.store.zoneIsGone(table) != .neverThere {
      try await dependencies.store.abort(ended.plan.op)
      pending = nil
      throw refusal
    }
    // A restore of the cloud took the type; who only writes hears of that nowhere else.
    let agreesAgain = refusal?.code == .tableNotFound && !hasAgreedAgain
    if let refusal, !agreesAgain, !refusal.isWorthRetrying, TableFault(refusal) == nil {
      // Others need not wait for these rows. Of a batch one is enough.
      let outcomes = ended.plan.mutations.indices.map { index in
        ended.plan.isAtomic && index > 0 ? CaravanModel.Outcome.aborted : .refused(refusal)
      }
      _ = try await dependencies.store.record(outcomes, of: ended.plan.op, by: nil)
    } else {
      try await dependencies.store.abort(ended.plan.op)
    }
    pending = nil
    guard let refusal else { return }
    if agreesAgain {
      (stage, hasAgreedAgain) = (.agreeing, true)
    } else {
      try await refuse(refusal, isWhole: true)
    }
  }

  /// There is no room for what the push brings: its rows wait, and deletions behind them can go (CK-102). The op ends
  /// before that: if it was doubled on the way, the other one would find room later.
  private mutating func giveWay(_ error: CaravanError) {
    pending?.refusal = error
    pending?.mayHaveArrived = true
    pending?.mustSettle = true
  }

  /// The app sees why in the table's status; other tables go on.
  /// - Parameter isWhole: nothing of the table is taken: if that cannot change by itself, its sync rests (REC-27).
  private func refuse(_ error: CaravanError, isWhole: Bool = false) async throws(CaravanError) {
    if error.code == .zoneDoesNotExist, try await dependencies.store.zoneIsGone(table) != .neverThere { throw error }
    if !error.isWorthRetrying || error.code == .quotaExceeded {
      try await dependencies.store.note(refusal: error.message, fault: isWhole ? TableFault(error) : nil, of: table)
    }
    throw error
  }
}

extension CaravanError {
  /// Also what went wrong inside the cloud may be right the next time.
  package var isWorthRetrying: Bool {
    isTransient || code == .internalError || code == .chunkDamaged || code == .chunksMissing
  }
}

extension TableSyncState {
  func resting(_ table: TableID, _ fault: TableFault) -> CaravanError {
    CaravanError(
      .invalidData,
      "\(table) is not synced since it failed\(refused.isEmpty ? "" : " (\(refused))"): \(fault.remedy)")
  }
}

extension CaravanModel.Mutation {
  fileprivate var hasChunks: Bool {
    if case .save(_, _, let chunks) = change { !chunks.isEmpty } else { false }
  }
}

extension CaravanWire.Mutation {
  /// The cloud finds the chunks in the body. What is deleted has its type's conflict policy, too.
  fileprivate init(pushed mutation: CaravanModel.Mutation, type: UInt32) {
    self.init(mutation)
    (self.type, chunks) = (type, [])
  }
}

extension CommitResult {
  fileprivate var outcomeName: String {
    switch self {
    case .applied: "applied"
    case .missing: "missing"
    case .aborted: "aborted"
    }
  }
}

import CaravanModel

extension PushSession {
  // MARK: Answers

  mutating func answered(_ event: Event) -> Action {
    switch (state, event) {
    case (.agreeing, .answered(.type(let type))): return go(.adopting, .adopt(type))
    case (.agreeing, .answered(.failure(let error))): return refuse(error, isWhole: true)
    case (.agreeing, .answered(.malformed(let error))): return stop(nil, error)
    case (.agreeing, .answered): return stop(nil, .otherResult(to: "a proposal"))
    case (.pushing(var plan), .answered(let answer)):
      plan.losses = 0
      return take(answer, for: plan)
    case (.agreeing, .unanswered(let error, _)):
      return go(.unanswered(nil, error), .lookForAnswer(mistrusted: false))
    case (.pushing(let plan), .unanswered(let error, let room)): return unanswered(plan, error, room: room)
    case (.unanswered(var plan, let error), .debt(let isOwed)):
      if isOwed { plan?.doubt() }
      return makeWay(plan, for: error)
    default: trap(event)
    }
  }

  private mutating func unanswered(_ sent: PlanInFlight, _ error: CaravanError, room: Int) -> Action {
    var plan = sent
    if error.code == .timedOut {
      plan.shrink(to: room)
      plan.losses += 1
    }
    let mistrusted = error.code == .timedOut && plan.losses > 1
    switch error.code {
    // What the link does not let pass whole is put down at the cloud first.
    case .quotaExceeded: plan.giveWay(error)
    case .unavailable, .networkNotConnected, .networkNotPermitted, .serverBusy, .rateLimited, .limitExceeded: break
    default: plan.doubt()
    }
    return go(.unanswered(plan, error), .lookForAnswer(mistrusted: mistrusted))
  }

  private mutating func take(_ answer: Answer, for plan: PlanInFlight) -> Action {
    switch answer {
    case .commit(.applied(let outcomes, _, _, _)):
      guard outcomes.count == plan.plan.mutations.count else {
        let (rows, count) = (plan.plan.mutations.count, outcomes.count)
        return makeWay(plan, for: CaravanError(.internalError, "a push of \(rows) rows has \(count) outcomes"))
      }
      return go(.recording(plan), .record(outcomes, plan.plan))
    case .commit(.missing(let hashes)): return stage(hashes, of: plan)
    case .commit(.aborted): return end(plan, by: plan.refusal)
    case .group(let progress):
      var plan = plan
      // The cloud has a group of this op, maybe since long.
      plan.doubt()
      if plan.group?.begin(progress) != true { plan.settle() }
      return push(plan)
    case .part(let missing):
      guard missing.isEmpty else { return stage(missing, of: plan) }
      var plan = plan
      plan.group?.took()
      plan.stagings = 0
      return push(plan)
    case .failure(let error): return refused(plan, error)
    case .malformed(let error): return makeWay(plan, for: error)
    case .type, .other: return makeWay(plan, for: .otherResult(to: "a push"))
    }
  }

  /// The cloud lacks chunks of what was sent.
  private mutating func stage(_ hashes: [ChunkHash], of plan: PlanInFlight) -> Action {
    guard plan.stagings < EngineLimits.stagingRounds else {
      // The next session tries as often: a disk of the cloud that lost them may be repaired.
      var plan = plan
      plan.stagings = 0
      let message = "the cloud still lacks \(hashes.count) chunks of \(table) after staging them"
      return makeWay(plan, for: CaravanError(.unavailable, message))
    }
    precondition(!hashes.isEmpty, "no chunk of \(table) is missing, and some are staged")
    var plan = plan
    // A patch that has been taken along in vain is not tried again.
    let vain = plan.inline.patched
    plan.inline = InlineChunks(isAll: plan.inline.isAll)
    return go(.staging(plan), .stage(hashes, plan.plan.op, vain: vain))
  }

  private mutating func refused(_ sent: PlanInFlight, _ error: CaravanError) -> Action {
    var plan = sent
    if error.code == .quotaExceeded {
      plan.giveWay(error)
      return push(plan)
    }
    if error.isWorthRetrying {
      if error.code != .serverBusy, error.code != .rateLimited { plan.doubt() }
      return makeWay(plan, for: error)
    }
    guard plan.mayHaveArrived, !plan.mustSettle else { return end(plan, by: error) }
    // It may have been applied before it was refused: what became of it decides.
    plan.settle()
    // A group has always been heard of; unless it was given up there, another one is refused as well.
    if plan.group != nil, error.code != .noOperationId { plan.refusal = error }
    return push(plan)
  }

  // MARK: What the device does about it

  mutating func settling(_ event: Event) -> Action {
    switch (state, event) {
    case (.adopting, .adopted): return plan()
    case (.recording, .recorded(let summary)):
      if summary.lacksChunks { return go(.fetching(refusal: summary.refusal), .fetchChunks) }
      return recorded(summary.refusal)
    case (.fetching(let refusal), .fetched(let isWhole)):
      fetched(isWhole)
      return recorded(refusal)
    case (.staging(var plan), .staged):
      // Only what has arrived in vain counts: a link that breaks again and again must not end it.
      plan.stagings += 1
      return push(plan)
    case (.staging(let plan), .stagingFailed(let error)): return stagingFailed(plan, error)
    case (.ending(let plan, let refusal), .absence(let isNew)):
      return isNew ? close(plan, by: refusal) : go(.aborting(plan, .stop(refusal)), .abort(plan.plan.op))
    case (.aborting(_, let then), .aborted): return follow(then)
    case (.rejecting(_, let refusal), .rejected): return refuse(refusal, isWhole: true)
    case (.refusing(let error, let isWhole), .absence(let isNew)):
      return isNew ? note(error, isWhole: isWhole) : stop(nil, error)
    case (.noting(let error), .noted): return stop(nil, error)
    case (_, .failed(let error)): return makeWay(pending, for: error)
    default: trap(event)
    }
  }

  private mutating func recorded(_ refusal: CaravanError?) -> Action {
    if let refusal { refuse(refusal, isWhole: false) } else { plan() }
  }

  private mutating func stagingFailed(_ staged: PlanInFlight, _ error: CaravanError) -> Action {
    var plan = staged
    if error.code == .quotaExceeded {
      plan.giveWay(error)
      return push(plan)
    }
    // The push has been heard of, and may have been doubled on the way.
    if error.isForTomorrow { plan.doubt() }
    guard error.code == .chunkDamaged, done.insert(.lostChunks).inserted else { return makeWay(plan, for: error) }
    // The op ends, so that the store can see to the rows concerned; the others go with the next one (SIM-108).
    plan.settle()
    return push(plan)
  }

  /// The op has come to nothing, and will not come to anything.
  /// - Parameter refusal: nil: the same may be taken the next time.
  private mutating func end(_ plan: PlanInFlight, by refusal: CaravanError?) -> Action {
    guard let refusal, refusal.code == .zoneDoesNotExist else { return close(plan, by: refusal) }
    return go(.ending(plan, refusal), .markAbsent)
  }

  private mutating func close(_ plan: PlanInFlight, by refusal: CaravanError?) -> Action {
    let op = plan.plan.op
    guard let refusal else { return go(.aborting(plan, .planAnew), .abort(op)) }
    // A restore of the cloud took the type; who only writes hears of that nowhere else.
    if refusal.code == .tableNotFound, !done.contains(.agreedAgain) {
      return go(.aborting(plan, .agreeAgain), .abort(op))
    }
    guard !refusal.isWorthRetrying, TableFault(refusal) == nil else {
      return go(.aborting(plan, .refuse(refusal)), .abort(op))
    }
    // Others need not wait for these rows. Of a batch one is enough.
    let outcomes = plan.plan.mutations.indices.map { index in
      plan.plan.isAtomic && index > 0 ? Outcome.aborted : .refused(refusal)
    }
    return go(.rejecting(plan, refusal), .reject(outcomes, op))
  }

  private mutating func follow(_ then: Then) -> Action {
    switch then {
    case .planAnew: return plan()
    case .agreeAgain:
      let isFirst = done.insert(.agreedAgain).inserted
      precondition(isFirst, "\(table) agrees on its type again and again")
      return go(.proposing, .readState)
    case .refuse(let error): return refuse(error, isWhole: true)
    case .stop(let error): return stop(nil, error)
    }
  }

  /// The app sees why in the table's status; other tables go on.
  /// - Parameter isWhole: nothing of the table is taken: if that cannot change by itself, its sync rests (REC-27).
  private mutating func refuse(_ error: CaravanError, isWhole: Bool) -> Action {
    guard error.code == .zoneDoesNotExist else { return note(error, isWhole: isWhole) }
    return go(.refusing(error, isWhole: isWhole), .markAbsent)
  }

  private mutating func note(_ error: CaravanError, isWhole: Bool) -> Action {
    guard !error.isWorthRetrying || error.code == .quotaExceeded else { return stop(nil, error) }
    return go(.noting(error), .note(error, isWhole ? TableFault(error) : nil))
  }
}

import CaravanModel

/// One push of a table: it agrees on the type, then plan by plan pushes, stages what the cloud lacks, pushes again and
/// records. It decides and does nothing itself: whoever drives it carries an action out and reports what came of it,
/// one event for each action, until it is told to stop.
public struct PushSession: Sendable {
  public let table: TableID
  /// The account at the cloud is full: deletions go first, and alone.
  private let lacksRoom: Bool
  /// Somebody waits for its end, and is not told that everything has gone while rows may not go.
  private let isDemanded: Bool
  var state: State
  /// Why rows that today's budget of the link may have no room for are left out.
  var shortage: CaravanError?
  /// What happens at most once in a session, and has happened.
  var done: Once = []
  /// Chunks of the cloud's copies of rows in conflict could not be had: the table's pull has to try again.
  public private(set) var lacksChunks = false

  struct Once: OptionSet, Sendable {
    let rawValue: UInt8
    /// The cloud did not know the table's type any more, and was told of it.
    static let agreedAgain = Once(rawValue: 1)
    /// A plan was given up because a chunk of it was lost here.
    static let lostChunks = Once(rawValue: 2)
  }

  /// - Parameter pending: the plan that an earlier session has left.
  public init(_ table: TableID, pending: PlanInFlight?, lacksRoom: Bool, isDemanded: Bool) {
    precondition(pending.map { $0.plan.table == table } ?? true, "a plan of another table than \(table)")
    self.table = table
    self.lacksRoom = lacksRoom
    self.isDemanded = isDemanded
    state = .idle(pending)
  }

  /// What has to be sent again by the next session.
  public var pending: PlanInFlight? { state.plan }

  /// Where the session stands, for whoever finds it cut off (SIM-70).
  public var disruption: Disruption {
    let answer: Disruption.Answer = lacksChunks ? .lacksObjects : pending == nil ? .whole : .missing
    return .upstream(inFlight: pending?.mayHaveArrived ?? false, answer)
  }

  /// - Returns: the first action.
  public mutating func start() -> Action {
    guard case .idle(let held) = state else { preconditionFailure("a push of \(table) begins twice") }
    guard let held else { return go(.opening, .askPermission) }
    // A plan that was never heard of may hold rows that have become too old to be sent (UNI-16): it is made anew.
    guard !held.mayHaveArrived, held.plan.toleratedRows > 0 else { return push(held) }
    return go(.renewing(held), .abort(held.plan.op))
  }

  /// - Returns: the next action.
  public mutating func receive(_ event: Event) -> Action {
    switch state {
    case .idle, .over: preconditionFailure("\(event) in a push of \(table) that is not running")
    case .renewing, .opening, .looking, .proposing, .asking, .collecting, .loading, .clearing, .checking, .confirming:
      planning(event)
    case .agreeing, .pushing, .unanswered: answered(event)
    case .adopting, .recording, .fetching, .staging, .ending, .aborting, .rejecting, .refusing, .noting:
      settling(event)
    }
  }

  /// The action follows from the state alone, so both are said together.
  mutating func go(_ next: State, _ action: Action) -> Action {
    state = next
    return action
  }

  mutating func stop(_ held: PlanInFlight?, _ error: CaravanError?) -> Action { go(.over(held), .stop(error)) }

  /// The session has stopped over what nobody can do anything about here.
  func trap(_ event: Event) -> Never { preconditionFailure("\(event) in a push of \(table) that is \(state)") }

  // MARK: Planning

  private mutating func planning(_ event: Event) -> Action {
    switch (state, event) {
    case (.renewing, .aborted): go(.opening, .askPermission)
    case (.opening, .permission(true)): go(.looking, .readState)
    case (.opening, .permission(false)): plan()
    case (.looking, .state(let seen)): looked(at: seen)
    case (.proposing, .state(let seen)): go(.agreeing, .send(.propose(seen.proposal)))
    case (.asking, .permission(true)): collect(onlyDeletions: lacksRoom)
    case (.asking, .permission(false)): check()
    case (.collecting(let onlyDeletions), .collected(let plan)): collected(plan, onlyDeletions: onlyDeletions)
    case (.loading(let plan), .loaded(let inline, let refusal)): loaded(plan, inline, refusal)
    case (.clearing(_, let collectsAtOnce), .aborted): collectsAtOnce ? collect(onlyDeletions: lacksRoom) : plan()
    case (.checking, .state(let seen)): checked(seen)
    case (.confirming, .permission(let isGiven)): stop(nil, isGiven ? nil : .rowsAreHeldBack(table))
    case (_, .failed(let error)): stop(pending, error)
    default: trap(event)
    }
  }

  private mutating func looked(at seen: TableSyncState) -> Action {
    if let fault = seen.fault { return stop(nil, seen.haltedBy(table, fault)) }
    if seen.zoneIsGone { return stop(nil, .zoneIsGone(table)) }
    return seen.type == nil ? go(.proposing, .readState) : plan()
  }

  /// Begins the next plan, if one may begin.
  mutating func plan() -> Action { go(.asking, .askPermission) }

  private mutating func collect(onlyDeletions: Bool) -> Action {
    go(.collecting(onlyDeletions: onlyDeletions), .collect(onlyDeletions: onlyDeletions, isShort: shortage != nil))
  }

  private mutating func collected(_ plan: PushPlan?, onlyDeletions: Bool) -> Action {
    guard let plan else { return onlyDeletions ? collect(onlyDeletions: false) : check() }
    precondition(plan.table == table, "a plan of another table than \(table)")
    let next = PlanInFlight(plan, mustSettle: false)
    guard next.group == nil, plan.mutations.contains(where: \.hasChunks) else { return push(next) }
    // Whatever fails from here on, the plan is there, and the store makes no other before it has ended.
    return go(.loading(next), .load(plan.op, isShort: shortage != nil))
  }

  private mutating func loaded(_ plan: PlanInFlight, _ inline: InlineChunks, _ refusal: CaravanError?) -> Action {
    // The cloud keeps for an hour what no row names: what is too much for today would be paid for in vain.
    if let refusal { return makeWay(plan, for: refusal, collectsAtOnce: true) }
    var plan = plan
    plan.inline = inline
    return push(plan)
  }

  /// Sends the plan, or asks what became of it.
  mutating func push(_ plan: PlanInFlight) -> Action {
    assert(plan.mustSettle || plan.plan.canBeSent, "a plan of \(table) from before a restart is sent again")
    let message: Message
    if plan.mustSettle {
      message = .settle(plan.plan.op)
    } else if let group = plan.group {
      message = .group(group.next, plan.plan)
    } else {
      message = .push(plan.plan, plan.inline, isAgain: plan.mayHaveArrived)
    }
    return go(.pushing(plan), .send(message))
  }

  /// Where today's budget of the link has no room for the plan, that ends, and rows that are small enough go without
  /// the others, which wait for tomorrow or a cheaper link (MOB-47). Otherwise the session stops over the error.
  mutating func makeWay(_ plan: PlanInFlight?, for error: CaravanError, collectsAtOnce: Bool = false) -> Action {
    guard error.isForTomorrow, shortage == nil, var plan, !plan.mustSettle else { return stop(plan, error) }
    shortage = error
    guard plan.mayHaveArrived else {
      return go(.clearing(plan, collectsAtOnce: collectsAtOnce), .abort(plan.plan.op))
    }
    plan.settle()
    return push(plan)
  }

  // MARK: Ending

  /// Nothing is left to send.
  private mutating func check() -> Action {
    isDemanded || shortage != nil ? go(.checking, .readState) : stop(nil, nil)
  }

  private mutating func checked(_ seen: TableSyncState) -> Action {
    if let shortage { return stop(nil, seen.dirtyRows > 0 ? shortage : nil) }
    if seen.isResyncing { return stop(nil, .rowsWaitForResync(table)) }
    return seen.dirtyRows + seen.toleratedRows > 0 ? go(.confirming, .askPermission) : stop(nil, nil)
  }

  mutating func fetched(_ isWhole: Bool) { lacksChunks = !isWhole }
}

extension CaravanError {
  fileprivate static func rowsWaitForResync(_ table: TableID) -> CaravanError {
    CaravanError(.unavailable, "\(table) starts over: its rows go once the cloud has named what it has")
  }

  fileprivate static func rowsAreHeldBack(_ table: TableID) -> CaravanError {
    CaravanError(.unavailable, "the device starts over: rows of \(table) go once what is on its way is known")
  }
}

extension Mutation {
  fileprivate var hasChunks: Bool {
    if case .save(_, _, let chunks) = change { !chunks.isEmpty } else { false }
  }
}

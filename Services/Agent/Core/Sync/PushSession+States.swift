public import CaravanModel

extension PushSession {
  /// Where a push stands; every state but the first and the last waits for what came of one action. A failure of any
  /// action goes to `over`, if nothing else is said.
  enum State: Sendable {
    /// Not begun, with the plan that an earlier session left. Can go to `renewing`, `opening` and `pushing`.
    case idle(PlanInFlight?)
    /// A plan that nobody has heard of is aborted. Can go to `opening`.
    case renewing(PlanInFlight)
    /// May a plan begin? Can go to `looking` and `asking`.
    case opening
    /// How does the table stand? Can go to `proposing`, `asking` and `over`.
    case looking
    /// What is to be proposed? Can go to `agreeing`.
    case proposing
    /// The proposal was sent. Can go to `adopting`, `unanswered`, `refusing`, `noting` and `over`.
    case agreeing
    /// The store takes over the type agreed on. Can go to `asking`.
    case adopting
    /// May the next plan begin? Can go to `collecting`, `checking` and `over`.
    case asking
    /// The store makes a plan. Can go to itself once, to `loading`, `pushing`, `checking` and `over`.
    case collecting(onlyDeletions: Bool)
    /// Chunks that travel with the push are looked for. Can go to `pushing` and `clearing`.
    case loading(PlanInFlight)
    /// The plan, or a question about it, was sent. Can go to itself (settled next, or the next part of a group), to
    /// `unanswered`, `recording`, `staging`, `ending`, `aborting`, `rejecting`, `clearing` and `over`.
    case pushing(PlanInFlight)
    /// A frame got no answer; does one wait at the cloud? Can go to `pushing`, `clearing` and `over`.
    case unanswered(PlanInFlight?, CaravanError)
    /// A plan that is too much for today's budget is aborted. Can go to `collecting` and `asking`.
    case clearing(PlanInFlight, collectsAtOnce: Bool)
    /// The store takes over outcomes. Can go to `fetching`, `asking`, `refusing`, `noting` and, over a failure, to
    /// `pushing` and `clearing`.
    case recording(PlanInFlight)
    /// Chunks of copies in conflict are fetched. Can go to `asking`, `refusing`, `noting` and `over`.
    case fetching(refusal: CaravanError?)
    /// Chunks that the cloud lacks are sent to it. Can go to `pushing`, and over a failure to `clearing`.
    case staging(PlanInFlight)
    /// The cloud says that the zone does not exist; was it ever there? Can go to `aborting` and `rejecting`.
    case ending(PlanInFlight, CaravanError)
    /// A plan that came to nothing is aborted. Can go to `asking`, `proposing`, `refusing`, `noting` and `over`.
    case aborting(PlanInFlight, Then)
    /// Rows are marked as refused. Can go to `refusing` and `noting`.
    case rejecting(PlanInFlight, CaravanError)
    /// The cloud says that the zone does not exist, and no plan is there. Can go to `noting` and `over`.
    case refusing(CaravanError, isWhole: Bool)
    /// The reason is written down for the app. Can go to `over`.
    case noting(CaravanError)
    /// Nothing follows. A plan that is left is sent again by the next session.
    case over(PlanInFlight?)

    var plan: PlanInFlight? {
      switch self {
      case .idle(let plan), .over(let plan), .unanswered(let plan, _): plan
      case .renewing(let plan), .loading(let plan), .pushing(let plan), .clearing(let plan, _), .recording(let plan),
        .staging(let plan), .ending(let plan, _), .aborting(let plan, _), .rejecting(let plan, _):
        plan
      case .opening, .looking, .proposing, .agreeing, .adopting, .asking, .collecting, .fetching, .refusing, .noting,
        .checking, .confirming:
        nil
      }
    }

    /// Nothing is left to send; are rows held back? Can go to `confirming` and `over`.
    case checking
    /// Rows are left; might they go? Can go to `over`.
    case confirming
  }

  /// What follows when a plan that came to nothing has been aborted.
  enum Then: Sendable, Hashable {
    case planAnew
    case agreeAgain
    case refuse(CaravanError)
    case stop(CaravanError)
  }

  /// What is to be done.
  public enum Action: Sendable, Hashable {
    /// May a plan begin? Answer: `permission`.
    case askPermission
    /// Answer: `state`.
    case readState
    /// The plan was not applied and never will be. Answer: `aborted`.
    case abort(UInt64)
    /// The store makes a plan; with `isShort` one that fits into what is left of the budget. Answer: `collected`.
    case collect(onlyDeletions: Bool, isShort: Bool)
    /// Chunks for the push are gathered, and without `isShort` the budget is asked about them. Answer: `loaded`.
    case load(UInt64, isShort: Bool)
    /// A message goes to the cloud. Answer: `answered` or `unanswered`.
    case send(Message)
    /// Is an answer still to be fetched? With `mistrusted`, answers come in smaller parts first. Answer: `debt`.
    case lookForAnswer(mistrusted: Bool)
    /// Answer: `adopted`.
    case adopt(RecordType)
    /// The outcomes of a plan. Answer: `recorded`.
    case record([Outcome], PushPlan)
    /// The cloud has refused the rows of a plan. Answer: `rejected`.
    case reject([Outcome], UInt64)
    /// Chunks that copies in conflict lack are fetched. Answer: `fetched`.
    case fetchChunks
    /// Chunks go to the cloud, those of `vain` not as patches. Answer: `staged`, `stagingFailed`.
    case stage([ChunkHash], UInt64, vain: Set<[UInt8]>)
    /// The store hears that the zone does not exist. Answer: `absence`.
    case markAbsent
    /// The reason is kept for the app. Answer: `noted`.
    case note(CaravanError, TableFault?)
    /// The session is over; nil: all that could go has gone.
    case stop(CaravanError?)
  }

  /// What the cloud gets.
  public enum Message: Sendable, Hashable {
    case propose(RecordType)
    case settle(UInt64)
    case group(GroupUpload.Step, PushPlan)
    case push(PushPlan, InlineChunks, isAgain: Bool)
  }

  /// What came of an action.
  public enum Event: Sendable, Hashable {
    case permission(Bool)
    case state(TableSyncState)
    case aborted
    case collected(PushPlan?)
    /// - Parameter refusal: why so much cannot go today.
    case loaded(InlineChunks, refusal: CaravanError?)
    case answered(Answer)
    /// - Parameter room: bytes that the link now lets pass whole.
    case unanswered(CaravanError, room: Int)
    case debt(Bool)
    case adopted
    case recorded(PushSummary)
    case rejected
    case fetched(Bool)
    case staged
    /// The cloud did not take the chunks, or they are not here.
    case stagingFailed(CaravanError)
    /// - Parameter isNew: the zone has never been there.
    case absence(isNew: Bool)
    case noted
    /// The action could not be carried out.
    case failed(CaravanError)
  }

  /// What the cloud said.
  public enum Answer: Sendable, Hashable {
    case type(RecordType)
    case commit(CommitResult)
    case group(GroupUpload.Progress)
    /// A part is there, or lacks these chunks.
    case part(missing: [ChunkHash])
    case failure(CaravanError)
    /// The result of an operation that was not asked for.
    case other
    /// It cannot be read.
    case malformed(CaravanError)
  }
}

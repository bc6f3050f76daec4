public import CaravanModel

/// One pull of a table: page after page until there is no more, the next one asked for while one is taken in. It
/// decides and does nothing itself: whoever drives it carries an action out and reports what came of it, one event for
/// each action, until it is told to stop. Pages go to the store at once, which keeps rows whose chunks are not there
/// yet (SIM-67); chunks follow page by page.
public struct PullSession: Sendable {
  public let table: TableID
  /// Everything the table has of the cloud is void.
  private let startsOver: Bool
  var state = State.idle
  /// Where the next question begins, and how it is asked.
  var position = Position()
  var traits: Traits = []
  var finding: Finding = []
  /// What has come of it, for whoever finds the session cut off (SIM-70).
  public internal(set) var answer = Disruption.Answer.missing

  /// What a question to the cloud says of the table's copy.
  public struct Position: Sendable, Hashable {
    /// The token of the last page taken in.
    public internal(set) var token: [UInt8] = []
    /// The table is read backwards in time until so many rows are here.
    public internal(set) var newestFirst: UInt64?
    /// What the device itself wrote up to here need not come.
    public internal(set) var ownThrough: Seq = 0
    /// Rows are torn, or were left to the cloud, and may be the device's own: these come as a whole.
    public internal(set) var needsOwnRows = false
    /// Apps see the zone as it once was (UNI-13).
    public internal(set) var isSnapshot = false
    /// Rows here do not count until the cloud names them.
    public internal(set) var isResyncing = false
    /// What the cloud may leave out.
    public internal(set) var filter: RowFilter?
    /// The id of the type agreed on; nil: it is being agreed on.
    public internal(set) var type: UInt32?

    init() {}
  }

  /// What is known of the table when its pull begins.
  struct Traits: OptionSet, Sendable {
    let rawValue: UInt8
    /// A column of it holds objects.
    static let hasObjects = Traits(rawValue: 1)
    /// Entries are kept aside: a page without any may still say that they can be shown.
    static let keepsEntries = Traits(rawValue: 2)
    /// Some of these lack chunks.
    static let lacksChunks = Traits(rawValue: 4)
    /// A query says what it keeps.
    static let keepsQuery = Traits(rawValue: 8)
    /// The cloud has said that there is no zone, and the next page says otherwise.
    static let zoneIsGone = Traits(rawValue: 16)
  }

  /// What the session has come to know, for the engine and for itself.
  struct Finding: OptionSet, Sendable {
    let rawValue: UInt8
    /// The cloud has had the table started over once.
    static let restarted = Finding(rawValue: 1)
    /// The store is older than what it once sent: it needs a new epoch before anything else.
    static let unexplained = Finding(rawValue: 2)
    /// The table starts over, and cannot while a push of it is in flight.
    static let awaitsPush = Finding(rawValue: 4)
    /// The type agreed on was removed (CK-90): another one is proposed before rows come.
    static let lacksType = Finding(rawValue: 8)
  }

  public init(_ table: TableID, startsOver: Bool) { (self.table, self.startsOver) = (table, startsOver) }

  public var isUnexplained: Bool { finding.contains(.unexplained) }
  public var awaitsPush: Bool { finding.contains(.awaitsPush) }

  /// - Returns: the first action of a pull.
  public mutating func start() -> Action {
    guard case .idle = state else { preconditionFailure("a pull of \(table) begins twice") }
    return go(.surveying, .readState)
  }

  /// - Parameters:
  ///   - page: what came with a notification.
  ///   - from: the token that it begins behind.
  /// - Returns: the first action of taking it in.
  public mutating func start(with page: ChangePage, from token: [UInt8]) -> Action {
    guard case .idle = state else { preconditionFailure("a pull of \(table) begins twice") }
    precondition(!startsOver, "\(table) starts over with a page that nobody asked for")
    return go(.matching(page, from: token), .readState)
  }

  /// - Returns: the next action.
  public mutating func receive(_ event: Event) -> Action {
    if case .failed(let error) = event { return failed(error) }
    switch state {
    case .idle, .over: preconditionFailure("\(event) in a pull of \(table) that is not running")
    case .surveying, .surveyingAgain, .matching, .opening: return beginning(event)
    case .adopting, .filtering, .declining, .noting, .keepingTicket, .catchingUp: return agreeing(event)
    case .locating, .locatingNothing, .guarding, .resetting, .resuming, .readingProposal, .proposing:
      return restarting(event)
    case .asking, .following, .reviving, .missingZone, .turning: return asking(event)
    case .pausing, .decoding, .marking, .applying, .refiltering, .fetching, .fetchingLast: return takingIn(event)
    }
  }

  mutating func go(_ next: State, _ action: Action) -> Action {
    state = next
    return action
  }

  mutating func stop(_ error: CaravanError?) -> Action { go(.over, .stop(error)) }

  func trap(_ event: Event) -> Never { preconditionFailure("\(event) in a pull of \(table) that is \(state)") }

  private mutating func failed(_ error: CaravanError) -> Action {
    switch state {
    case .idle, .over: preconditionFailure("\(error) in a pull of \(table) that is not running")
    // Rows behind it do not wait for an object that today's budget has no room for (MOB-47).
    case .catchingUp, .fetching:
      return error.isForTomorrow ? receive(.fetched(false)) : stop(error)
    default: return stop(error)
    }
  }

  // MARK: Beginning

  private mutating func beginning(_ event: Event) -> Action {
    switch (state, event) {
    case (.surveying, .state(let seen)):
      position.needsOwnRows = seen.lacksRows
      return startsOver || seen.mustStartOver ? locate(.beginning) : open(seen)
    case (.surveyingAgain, .state(let seen)): return open(seen)
    case (.matching(let page, let from), .state(let seen)):
      // In a resync the device's own rows may have to come as a whole.
      guard seen.type != nil, !seen.token.isEmpty, seen.token == from, !seen.isResyncing, !seen.isLocalOnly,
        !seen.zoneIsGone
      else { return go(.over, .decline) }
      position.token = seen.token
      if seen.hasObjects { traits.insert(.hasObjects) }
      return go(.decoding(page, .unknown), .decode(page))
    case (.opening(let isAgreed, let pagesFollow), .opened(let agreement, let page)):
      precondition((page == nil) == pagesFollow, "the frame of \(table) has other answers than questions")
      guard !isAgreed else { return go(.keepingTicket(page), .keepTicket) }
      guard let agreement else { trap(event) }
      return agree(agreement, then: .opened(page))
    default: trap(event)
    }
  }

  private mutating func open(_ seen: TableSyncState) -> Action {
    assert(!seen.isResyncing || seen.newestFirst == nil, "the resync of \(table) goes backwards")
    position.needsOwnRows = position.needsOwnRows || seen.lacksRows
    (position.token, position.isResyncing, position.ownThrough) = (seen.token, seen.isResyncing, seen.ownThrough)
    (position.newestFirst, position.isSnapshot) = (seen.newestFirst, seen.showsSnapshots)
    // A restore may have taken the type: who starts over may not have come to propose it again, and who has never
    // pulled hears of no restore.
    let proposes = seen.type == nil || seen.token.isEmpty || seen.isResyncing
    if proposes, seen.type == nil, let fault = seen.fault { return stop(seen.haltedBy(table, fault)) }
    position.filter = seen.filter
    position.type = proposes ? nil : seen.type?.id
    let known: [(Bool, Traits)] = [
      (seen.hasObjects, .hasObjects), (seen.keepsEntries, .keepsEntries), (seen.lacksChunks, .lacksChunks),
      (seen.keepsQuery, .keepsQuery), (seen.zoneIsGone, .zoneIsGone),
    ]
    for (isTrue, trait) in known where isTrue { traits.insert(trait) }
    // Only once the type is agreed is it known what a query lets the cloud leave out: the table is pulled then.
    let agreesFirst = proposes && seen.keepsQuery
    return go(
      .opening(isAgreed: !proposes, pagesFollow: agreesFirst),
      .open(
        proposal: proposes ? seen.proposal : nil, question: agreesFirst ? nil : position,
        wantsTicket: traits.contains(.hasObjects)))
  }

  // MARK: Agreeing

  mutating func agree(_ agreement: Agreement, then: Then) -> Action {
    switch agreement {
    case .type(let type): return go(.adopting(then), .adopt(type))
    case .other: return note(.otherResult(to: "a proposal"))
    case .failure(let error):
      return error.code == .zoneDoesNotExist ? go(.declining(error), .markAbsent) : note(error)
    }
  }

  private mutating func note(_ error: CaravanError) -> Action {
    error.isWorthRetrying ? stop(error) : go(.noting(error), .note(error, TableFault(error)))
  }

  private mutating func agreeing(_ event: Event) -> Action {
    switch (state, event) {
    case (.adopting(let then), .adopted): return go(.filtering(then), .readState)
    case (.filtering(let then), .state(let seen)):
      position.filter = seen.filter
      guard case .opened(let page) = then else { return ask(position) }
      return go(.keepingTicket(page), .keepTicket)
    case (.declining(let error), .absence(let isNew)): return isNew ? note(error) : stop(error)
    case (.noting(let error), .noted): return stop(error)
    case (.keepingTicket(let page), .kept):
      // What is to be shown lacks these; what the page brings might overtake it, again and again.
      if position.isSnapshot, traits.contains(.lacksChunks) { return go(.catchingUp(page), .fetchChunks) }
      return begin(page)
    case (.catchingUp(let page), .fetched): return begin(page)
    default: trap(event)
    }
  }

  private mutating func begin(_ page: Reply?) -> Action {
    if let page { opened(page) } else { ask(position) }
  }
}

extension TableSyncState {
  var hasObjects: Bool { proposal.fields.contains { $0.kind == .object } }
}

import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: what a pull does next follows from what came of the last thing it did, and from nothing else. Method: as in
/// `PushSessionTests`.
@Suite struct PullSessionTests {
  typealias Action = PullSession.Action
  typealias Event = PullSession.Event
  typealias Beginning = PullSession.Beginning

  private static let table = PushSessionTests.table
  private static let type = PushSessionTests.type
  private static let objects = RecordType(
    id: 1, definition: 1, name: "album", fields: [FieldDefinition(id: 1, name: "image", kind: .object)])
  private static let offline = PushSessionTests.offline
  private static let tomorrow = PushSessionTests.tomorrow
  private static let gone = PushSessionTests.gone
  private static let entry = IncomingEntry(
    entry: Entry(name: "r", version: 7, created: 7, isDeleted: true, writer: "w"))

  private static func seen(
    _ agreed: RecordType? = type, proposal: RecordType = type, token: [UInt8] = [1], newestFirst: UInt64? = nil,
    op: UInt64? = nil, lacksChunks: Bool = false, isResyncing: Bool = false, keepsQuery: Bool = false,
    filter: RowFilter? = nil, isSnapshot: Bool = false, keepsEntries: Bool = false, mustStartOver: Bool = false,
    fault: TableFault? = nil, zoneIsGone: Bool = false
  ) -> Event {
    .state(
      TableSyncState(
        proposal: proposal, type: agreed, token: token, newestFirst: newestFirst, dirtyRows: 0, opInFlight: op,
        lacksChunks: lacksChunks, isResyncing: isResyncing, keepsQuery: keepsQuery, filter: filter,
        showsSnapshots: isSnapshot, keepsEntries: keepsEntries, mustStartOver: mustStartOver, isResolving: false,
        fault: fault, zoneIsGone: zoneIsGone))
  }

  private static func page(_ token: UInt8, more: Bool = false, damaged: [CloudDamage] = []) -> ChangePage {
    ChangePage(bytes: [token], token: [token], hasMore: more, isConsistent: !more, point: 9, damaged: damaged)
  }

  private static func summary(_ change: (inout PullSummary) -> Void = { _ in }) -> Event {
    var summary = PullSummary()
    change(&summary)
    return .applied(summary)
  }

  private static func course(
    _ events: [Event], startsOver: Bool = false
  ) -> (actions: [Action], session: PullSession) {
    var session = PullSession(table, startsOver: startsOver)
    var actions = [session.start()]
    for event in events { actions.append(session.receive(event)) }
    return (actions, session)
  }

  /// What follows the first page, which is there and is the last, from its turn on.
  private static func last(_ state: Event = seen(), _ page: ChangePage = page(2), _ events: [Event]) -> (
    actions: ArraySlice<Action>, session: PullSession
  ) {
    let (actions, session) = course([state, .opened(nil, .page(page)), .kept, .turned] + events)
    return (actions.dropFirst(5), session)
  }

  /// What an action asks the cloud, without the rest of the question.
  private static func token(_ action: Action?) -> [UInt8]? {
    switch action {
    case .ask(let position), .askEarly(let position): position.token
    default: nil
    }
  }

  private static func code(_ action: Action?) -> ErrorCode? {
    if case .stop(let error?) = action { error.code } else { nil }
  }

  // MARK: Beginning

  @Test("a pull asks from where the table's copy ends, takes the page in and stops")
  func beginning() {
    let (actions, session) = Self.course([
      Self.seen(), .opened(nil, .page(Self.page(2))), .kept, .turned, .decoded([Self.entry]), Self.summary(), .turned,
    ])
    guard case .open(nil, let question?, false) = actions[1] else { return #expect(Bool(false), "\(actions)") }
    #expect(question.token == [1])
    #expect(
      actions.dropFirst(2) == [
        .keepTicket, .turn, .decode(Self.page(2)),
        .apply([Self.entry], token: [2], end: .last, point: 9, brings: false), .turn, .stop(nil),
      ])
    #expect(session.answer == .whole && !session.isUnexplained && !session.awaitsPush)
  }

  @Test("a frame without an answer, and a store that cannot be read, end the session")
  func failing() {
    #expect(Self.course([.failed(Self.offline)]).actions.last == .stop(Self.offline))
    let (actions, session) = Self.course([Self.seen(), .failed(Self.offline)])
    #expect(actions.last == .stop(Self.offline) && session.answer == .missing)
  }

  @Test("a type is agreed on with the first question; a query has to be understood before it")
  func agreeing() {
    let (together, _) = Self.course([
      Self.seen(nil, token: []), .opened(.type(Self.type), .page(Self.page(2))), .adopted, Self.seen(), .kept,
    ])
    guard case .open(Self.type?, _?, false) = together[1] else { return #expect(Bool(false), "\(together)") }
    #expect(together.dropFirst(2) == [.adopt(Self.type), .readState, .keepTicket, .turn])
    let (query, _) = Self.course([
      Self.seen(nil, token: [], keepsQuery: true), .opened(.type(Self.type), nil), .adopted, Self.seen(), .kept,
    ])
    #expect(query[1] == .open(proposal: Self.type, question: nil, wantsTicket: false))
    #expect(query[4] == .keepTicket && Self.token(query[5]) == [])
    #expect(Self.code(Self.course([Self.seen(nil, fault: .client)]).actions.last) == .invalidData)
  }

  @Test("a type that the cloud refuses ends the session, and the app is told what it can change")
  func disagreeing() {
    func after(_ agreement: PullSession.Agreement, _ events: Event...) -> ArraySlice<Action> {
      Self.course([Self.seen(nil), .opened(agreement, .page(Self.page(2)))] + events).actions.dropFirst(2)
    }
    let other = CaravanError(.schemaNotAdditive, "another type")
    #expect(after(.failure(other), .noted) == [.note(other, .schema), .stop(other)])
    #expect(after(.failure(Self.offline)) == [.stop(Self.offline)])
    #expect(after(.other) == [.stop(.otherResult(to: "a proposal"))])
    #expect(after(.failure(Self.gone), .absence(isNew: false)) == [.markAbsent, .stop(Self.gone)])
    #expect(after(.failure(Self.gone), .absence(isNew: true)) == [.markAbsent, .note(Self.gone, nil)])
  }

  @Test("what is to be shown waits for its chunks before anything new, but not for tomorrow's budget")
  func snapshots() {
    let begin: [Event] = [
      Self.seen(lacksChunks: true, isSnapshot: true), .opened(nil, .page(Self.page(2))), .kept,
    ]
    #expect(Self.course(begin + [.fetched(true)]).actions.suffix(2) == [.fetchChunks, .turn])
    #expect(Self.course(begin + [.failed(Self.tomorrow)]).actions.last == .turn)
    #expect(Self.course(begin + [.failed(Self.offline)]).actions.last == .stop(Self.offline))
  }

  // MARK: Pages

  @Test("the next page is asked for while one is taken in")
  func pages() {
    let (actions, session) = Self.course([
      Self.seen(), .opened(nil, .page(Self.page(2, more: true))), .kept, .turned, .paused, .decoded([Self.entry]),
      Self.summary(), .replied(.page(Self.page(3))), .turned, .decoded([]), Self.summary(), .turned,
    ])
    #expect(Self.token(actions[4]) == [2])
    #expect(
      actions.dropFirst(5) == [
        .decode(Self.page(2, more: true)),
        .apply([Self.entry], token: [2], end: .more, point: nil, brings: false), .awaitPage, .turn,
        .decode(Self.page(3)), .apply([], token: [3], end: .last, point: 9, brings: false), .turn, .stop(nil),
      ])
    #expect(session.answer == .whole)
  }

  @Test("a page that says nothing is not taken in, unless entries wait or the table starts over")
  func nothing() {
    #expect(Self.last(Self.seen(), Self.page(1), [.decoded([])]).actions == [.turn])
    for state in [Self.seen(keepsEntries: true), Self.seen(token: [2])] {
      guard case .apply? = Self.last(state, Self.page(1), [.decoded([])]).actions.first else {
        return #expect(Bool(false), "it is left out")
      }
    }
  }

  @Test("rows that are damaged at the cloud are told of before the page is taken in")
  func damaged() {
    let damage = CloudDamage(row: "r", version: 3)
    let (actions, _) = Self.last(Self.seen(), Self.page(2, damaged: [damage]), [.decoded([]), .marked])
    #expect(
      actions == [.markDamaged([damage]), .apply([], token: [2], end: .last, point: 9, brings: false)])
  }

  @Test("a page that lacks bodies is asked for again from the same token, whatever was asked for early")
  func bodies() {
    let lacking = Self.summary { $0.lacksBodies = true }
    #expect(Self.token(Self.last(Self.seen(), Self.page(2), [.decoded([]), lacking]).actions.last) == [1])
    let (actions, _) = Self.course([
      Self.seen(), .opened(nil, .page(Self.page(2, more: true))), .kept, .turned, .paused, .decoded([Self.entry]),
      lacking, .replied(.page(Self.page(2))),
    ])
    #expect(Self.token(actions.dropLast().last) == [1] && actions.last == .turn)
    let query = Self.last(Self.seen(keepsQuery: true), Self.page(2), [.decoded([]), Self.summary(), Self.seen()])
    #expect(query.actions.suffix(2) == [.readState, .turn])
  }

  @Test("chunks follow page by page, and last of all what is still lacking")
  func chunks() {
    let state = Self.seen(Self.objects, proposal: Self.objects)
    let staged = Self.summary { $0.staged = 1 }
    let begin: [Event] = [.decoded([Self.entry]), staged]
    let between = Self.last(state, Self.page(2), begin)
    #expect(between.actions.last == .fetchChunks && between.session.answer == .lacksObjects)
    for event in [Event.fetched(true), .failed(Self.tomorrow)] {
      let (actions, session) = Self.last(state, Self.page(2), begin + [event])
      #expect(actions.last == .turn && session.answer == .missing)
    }
    #expect(Self.last(state, Self.page(2), begin + [.failed(Self.offline)]).actions.last == .stop(Self.offline))
    let ending = begin + [.fetched(true), .turned]
    #expect(Self.last(state, Self.page(2), ending + [.fetched(true)]).actions.suffix(2) == [.fetchChunks, .stop(nil)])
    #expect(Self.code(Self.last(state, Self.page(2), ending + [.fetched(false)]).actions.last) == .unavailable)
    #expect(Self.last(state, Self.page(2), ending + [.failed(Self.tomorrow)]).actions.last == .stop(Self.tomorrow))
  }

  @Test("what this store does not know of ends the session without another page")
  func unexplained() {
    let strange = Self.summary { $0.isUnexplained = true }
    let (actions, session) = Self.course([
      Self.seen(), .opened(nil, .page(Self.page(2, more: true))), .kept, .turned, .paused, .decoded([Self.entry]),
      strange, .turned,
    ])
    #expect(actions.suffix(2) == [.turn, .stop(nil)] && session.isUnexplained)
  }

  @Test("UNI-15: a table that keeps its newest rows goes back in time until it has them, and then forward")
  func backwards() {
    let older = Self.summary { $0.lacksOlder = true }
    let (actions, _) = Self.course([
      Self.seen(newestFirst: 10), .opened(nil, .page(Self.page(2, more: true))), .kept, .turned,
      .decoded([Self.entry]), older, .replied(.page(Self.page(3, more: true))), .turned, .decoded([Self.entry]),
      Self.summary(),
    ])
    guard case .ask(let back) = actions[6], case .ask(let forward)? = actions.last else {
      return #expect(Bool(false), "\(actions)")
    }
    #expect(back.newestFirst == 10 && back.token == [2])
    #expect(forward.newestFirst == nil && forward.token == [3])
    let disabled = CaravanError(.featureDisabled, "not here")
    let refused = Self.course([Self.seen(token: [], newestFirst: 10), .opened(.type(Self.type), .failure(disabled))])
    #expect(refused.actions.last == .adopt(Self.type))
    let begun = Self.course([Self.seen(newestFirst: 10), .opened(nil, .failure(disabled)), .kept])
    #expect(begun.actions.last == .locate(needsOwnRows: false))
  }

  // MARK: Starting over

  @Test("UNI-18: a token that means nothing has the table start over, once")
  func startingOver() {
    let beginning = Beginning(token: [8], lost: [])
    let (actions, session) = Self.course([
      Self.seen(), .opened(nil, .startOver(beginning)), .kept, Self.seen(), .cleared, Self.seen(),
      .replied(.startOver(beginning)),
    ])
    #expect(actions[2] == .keepTicket)
    #expect(actions[3...5] == [.readState, .reset(beginning), .readState])
    #expect(Self.token(actions[6]) == [8] && Self.code(actions.last) == .unavailable)
    #expect(!session.awaitsPush)
  }

  @Test("what was lost may have been the type: it is proposed again before the table is asked for")
  func lostType() {
    let beginning = Beginning(token: [8], lost: [LostRange(after: 1, through: 5)])
    let (actions, _) = Self.course([
      Self.seen(), .opened(nil, .startOver(beginning)), .kept, Self.seen(), .cleared, Self.seen(), Self.seen(),
      .agreed(.type(Self.type)), .adopted, Self.seen(),
    ])
    #expect(actions[6...9] == [.readState, .propose(Self.type), .adopt(Self.type), .readState])
    #expect(Self.token(actions.last) == [8])
  }

  @Test("a table cannot start over while a push of it is in flight")
  func pushInFlight() {
    let (actions, session) = Self.course([
      Self.seen(), .opened(nil, .startOver(Beginning())), .kept, Self.seen(op: 5),
    ])
    #expect(actions.last == .stop(.startsOver(Self.table)) && session.awaitsPush)
  }

  @Test("where no token says of which life it is, the cloud is asked first")
  func locating() {
    let refused = CaravanError(.invalidSyncToken, "no token")
    let begin: [Event] = [Self.seen(), .opened(nil, .failure(refused)), .kept]
    func after(_ events: Event...) -> Action? { Self.course(begin + events).actions.last }
    #expect(after() == .locate(needsOwnRows: false))
    #expect(after(.replied(.page(Self.page(1)))) == .readState)
    #expect(after(.replied(.startOver(Beginning(token: [8]))), Self.seen()) == .reset(Beginning(token: [8])))
    #expect(after(.replied(.other)) == .stop(.otherResult(to: "a pull")))
    #expect(after(.replied(.failure(Self.offline))) == .stop(Self.offline))
    #expect(after(.replied(.failure(Self.gone))) == .markAbsent)
    #expect(after(.replied(.failure(Self.gone)), .absence(isNew: false)) == .stop(Self.gone))
    #expect(after(.replied(.failure(Self.gone)), .absence(isNew: true), Self.seen()) == .reset(Beginning()))
  }

  @Test("CK-90: where the type agreed on was removed, another one is proposed before the table starts over")
  func lackingType() {
    let removed = CaravanError(.tableNotFound, "the record type was removed")
    let begin: [Event] = [Self.seen(), .opened(nil, .failure(removed)), .kept]
    let again: [Event] = [
      .replied(.startOver(Beginning(token: [8]))), Self.seen(), .cleared, Self.seen(token: [8], isResyncing: true),
      Self.seen(),
      .agreed(.type(Self.objects)), .adopted, Self.seen(Self.objects, token: [8], isResyncing: true),
    ]
    let (actions, _) = Self.course(begin + again)
    #expect(
      actions.suffix(9).dropLast() == [
        .locate(needsOwnRows: false), .readState, .reset(Beginning(token: [8])), .readState, .readState,
        .propose(Self.type), .adopt(Self.objects), .readState,
      ])
    guard case .ask(let position)? = actions.last else {
      Issue.record("nothing is asked after that: \(actions)")
      return
    }
    #expect(position.token == [8] && position.isResyncing && position.type == nil)
    // Once more it is an error: nobody has said anything of a type.
    let (more, _) = Self.course(begin + again + [.replied(.failure(removed))])
    #expect(more.last == .stop(removed))
  }

  @Test("what is void, or was told to start over, does so before it asks for anything")
  func void() {
    for (state, startsOver) in [(Self.seen(), true), (Self.seen(mustStartOver: true), false)] {
      let (actions, _) = Self.course(
        [
          state, .replied(.startOver(Beginning(token: [8]))), Self.seen(), .cleared, Self.seen(),
          Self.seen(token: [8], isResyncing: true),
        ], startsOver: startsOver)
      #expect(
        actions.dropFirst().dropLast() == [
          .locate(needsOwnRows: false), .readState, .reset(Beginning(token: [8])), .readState, .readState,
        ])
      guard case .open(_?, let question?, false)? = actions.last else { return #expect(Bool(false), "\(actions)") }
      #expect(question.token == [8])
    }
  }

  @Test("strangers that a resync left out come with another one")
  func strangers() {
    let left = Self.summary { $0.lacksOutOfFilter = true }
    let (actions, _) = Self.last(Self.seen(), Self.page(2), [.decoded([]), left])
    #expect(actions.last == .locate(needsOwnRows: false))
  }

  // MARK: No zone

  @Test("a zone that is gone ends the session, and one that is there after all is told of")
  func zones() {
    func after(_ state: Event, _ reply: PullSession.Reply, _ events: Event...) -> ArraySlice<Action> {
      let agreement: PullSession.Agreement? = state == Self.seen(isResyncing: true) ? .type(Self.type) : nil
      let agreed: [Event] = agreement == nil ? [.kept] : [.adopted, Self.seen(), .kept]
      return Self.course([state, .opened(agreement, reply)] + agreed + events).actions.dropFirst(agreed.count + 2)
    }
    let gone = PullSession.Reply.failure(Self.gone)
    #expect(after(Self.seen(), gone, .absence(isNew: false)) == [.markAbsent, .stop(Self.gone)])
    #expect(after(Self.seen(), gone, .absence(isNew: true), .turned) == [.markAbsent, .turn, .stop(nil)])
    #expect(
      after(Self.seen(isResyncing: true), gone, .absence(isNew: true), .turned)
        == [.markAbsent, .turn, .decode(ChangePage())])
    let back = Self.seen(zoneIsGone: true)
    #expect(after(back, .page(Self.page(2)), .marked) == [.markPresent, .turn])
    #expect(after(back, .startOver(Beginning()), .marked) == [.markPresent, .readState])
    #expect(after(Self.seen(), .failure(Self.offline)) == [.stop(Self.offline)])
    #expect(after(Self.seen(), .other) == [.stop(.otherResult(to: "a pull"))])
  }

  // MARK: Notifications

  @Test(
    "a page that nobody asked for is taken in where the table's copy ends, and nowhere else",
    arguments: [
      (seen(), true), (seen(nil), false), (seen(token: []), false), (seen(token: [4]), false),
      (seen(isResyncing: true), false), (seen(zoneIsGone: true), false),
    ])
  func news(_ state: PullSession.Event, _ fits: Bool) {
    var session = PullSession(Self.table, startsOver: false)
    let page = Self.page(2, more: true)
    #expect(session.start(with: page, from: [1]) == .readState)
    #expect(session.receive(state) == (fits ? .decode(page) : .decline))
    guard fits else { return }
    #expect(
      session.receive(.decoded([Self.entry]))
        == .apply([Self.entry], token: [2], end: .unknown, point: nil, brings: false))
    #expect(session.receive(Self.summary()) == .stop(nil) && session.answer == .whole)
  }

  @Test("an event that cannot be is a mistake of whoever drives the session, and stops the process")
  func invalid() async {
    await #expect(processExitsWith: .failure) {
      var session = PullSession(PushSessionTests.table, startsOver: false)
      _ = session.start()
      _ = session.receive(.turned)
    }
  }
}

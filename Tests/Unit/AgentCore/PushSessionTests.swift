import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: what a push does next follows from what came of the last thing it did, and from nothing else. Method: tables
/// of events and of the actions that answer them, for every state and event that it may meet; no cloud, no store.
@Suite struct PushSessionTests {
  typealias Action = PushSession.Action
  typealias Event = PushSession.Event

  static let table = TableID(app: ContainerID(unchecked: "photos"), name: "album")
  static let type = RecordType(id: 1, definition: 1, name: "album", fields: [])
  static let hash = chunk(1)

  /// The name of a chunk, which is nothing but different from others.
  static func chunk(_ number: Int) -> ChunkHash {
    ChunkHash([UInt8](repeating: UInt8(number & 255), count: 30) + [UInt8(number >> 8), 0])!
  }

  static let offline = CaravanError(.networkNotConnected, "no connection")
  static let tomorrow = CaravanError(.networkNotPermitted, "no budget", retryAfterMilliseconds: 1_000)
  static let full = CaravanError(.quotaExceeded, "no room")
  static let gone = CaravanError(.zoneDoesNotExist, "no zone")
  static let disk = CaravanError(.storageFull, "the disk is full")

  static func plan(_ op: UInt64 = 5, rows: Int = 2, chunks: Bool = false, tolerated: Int = 0) -> PushPlan {
    PushPlan(
      op: op, epoch: 1, table: table, type: 1,
      mutations: (0..<rows).map {
        Mutation(
          name: "r\($0)", base: .absent, change: .save(type: 1, body: [1, 2, 3], chunks: chunks ? [hash] : []))
      }, toleratedRows: tolerated)
  }

  static func batch(_ op: UInt64 = 6) -> PushPlan {
    PushPlan(
      op: op, epoch: 1, table: table, type: 1,
      mutations: (0..<(EngineLimits.rowsPerPush + 1)).map {
        Mutation(name: "r\($0)", base: .absent, change: .save(type: 1, body: [], chunks: []))
      }, isAtomic: true)
  }

  static func seen(
    _ agreed: RecordType? = type, dirty: Int = 0, tolerated: Int = 0, isResyncing: Bool = false,
    fault: TableFault? = nil, zoneIsGone: Bool = false
  ) -> Event {
    .state(
      TableSyncState(
        proposal: type, type: agreed, token: [1], dirtyRows: dirty, toleratedRows: tolerated, opInFlight: nil,
        lacksChunks: false, isResyncing: isResyncing, isResolving: false, fault: fault, zoneIsGone: zoneIsGone))
  }

  static func sent(_ plan: PushPlan, _ inline: InlineChunks = InlineChunks(), isAgain: Bool = false) -> Action {
    .send(.push(plan, inline, isAgain: isAgain))
  }

  static func applied(_ count: Int = 2) -> Event {
    .answered(
      .commit(
        .applied(outcomes: (0..<count).map { .accepted(version: Seq($0 + 1)) }, zoneSeq: 2, incarnation: 1)))
  }

  /// - Returns: the actions, the one that `start` gives first.
  private static func course(
    _ events: [Event], pending: PlanInFlight? = nil, lacksRoom: Bool = false, isDemanded: Bool = false
  ) -> (actions: [Action], session: PushSession) {
    var session = PushSession(table, pending: pending, lacksRoom: lacksRoom, isDemanded: isDemanded)
    var actions = [session.start()]
    for event in events { actions.append(session.receive(event)) }
    return (actions, session)
  }

  /// Up to the push of a plan of two rows.
  private static let toPush: [Event] = [.permission(true), seen(), .permission(true), .collected(plan())]
  private static func afterPush(_ events: Event...) -> (actions: ArraySlice<Action>, session: PushSession) {
    let (actions, session) = course(toPush + events)
    return (actions.dropFirst(toPush.count + 1), session)
  }

  // MARK: Planning

  @Test("a push begins with what the table is, agrees where that is due, and plans until nothing is left")
  func beginning() {
    let (actions, session) = Self.course([
      .permission(true), Self.seen(nil), Self.seen(nil), .answered(.type(Self.type)), .adopted, .permission(true),
      .collected(Self.plan()), Self.applied(), .recorded(PushSummary()), .permission(true), .collected(nil),
    ])
    #expect(
      actions == [
        .askPermission, .readState, .readState, .send(.propose(Self.type)), .adopt(Self.type), .askPermission,
        .collect(onlyDeletions: false, isShort: false), Self.sent(Self.plan()),
        .record([.accepted(version: 1), .accepted(version: 2)], Self.plan()), .askPermission,
        .collect(onlyDeletions: false, isShort: false), .stop(nil),
      ])
    #expect(session.pending == nil && session.disruption == .u3 && !session.lacksChunks)
  }

  @Test("a table that rests, or whose zone is gone, is left alone")
  func resting() {
    let fault = Self.course([.permission(true), Self.seen(fault: .client)])
    guard case .stop(let error?) = fault.actions.last else { return #expect(Bool(false), "\(fault.actions)") }
    #expect(error.code == .invalidData)
    #expect(
      Self.course([.permission(true), Self.seen(zoneIsGone: true)]).actions.last == .stop(.zoneIsGone(Self.table)))
  }

  @Test("while no plan may begin, only what is asked for by somebody is looked at again")
  func notPermitted() {
    #expect(
      Self.course([.permission(false), .permission(false)]).actions == [.askPermission, .askPermission, .stop(nil)])
    let demanded = Self.course([.permission(false), .permission(false), Self.seen(dirty: 1)], isDemanded: true)
    #expect(demanded.actions.suffix(2) == [.readState, .askPermission])
  }

  @Test(
    "who waits is told why rows stay",
    arguments: [
      ([seen()], nil), ([seen(dirty: 1), .permission(true)], nil),
      ([seen(dirty: 1), .permission(false)], .unavailable),
      ([seen(tolerated: 1), .permission(false)], .unavailable), ([seen(isResyncing: true)], .unavailable),
      ([.failed(disk)], .storageFull),
    ] as [([PushSession.Event], ErrorCode?)])
  func demanded(_ events: [PushSession.Event], _ code: ErrorCode?) {
    let begin: [Event] = [.permission(true), Self.seen(), .permission(true), .collected(nil)]
    guard case .stop(let error)? = Self.course(begin + events, isDemanded: true).actions.last else {
      return #expect(Bool(false), "it does not stop")
    }
    #expect(error?.code == code)
  }

  @Test("CK-102: without room at the cloud deletions go first, and the rest when there are none")
  func deletionsFirst() {
    let begin: [Event] = [.permission(true), Self.seen(), .permission(true)]
    let none = Self.course(begin + [.collected(nil), .collected(nil)], lacksRoom: true).actions
    #expect(
      none.suffix(3) == [
        .collect(onlyDeletions: true, isShort: false), .collect(onlyDeletions: false, isShort: false), .stop(nil),
      ])
    #expect(Self.course(begin + [.collected(Self.plan())], lacksRoom: true).actions.last == Self.sent(Self.plan()))
  }

  @Test("UNI-16: a plan that nobody has heard of and that holds rows that may be lost is made anew")
  func perishable() {
    let fresh = PlanInFlight(Self.plan(tolerated: 1), mustSettle: false)
    #expect(Self.course([.aborted], pending: fresh).actions == [.abort(5), .askPermission])
    let failed = Self.course([.failed(Self.disk)], pending: fresh)
    #expect(failed.actions.last == .stop(Self.disk) && failed.session.pending == fresh)
    let whole = PlanInFlight(Self.plan(), mustSettle: false)
    #expect(Self.course([], pending: whole).actions == [Self.sent(Self.plan())])
    let old = PlanInFlight(Self.plan(tolerated: 1), mustSettle: true)
    #expect(Self.course([], pending: old).actions == [.send(.settle(5))])
  }

  @Test("chunks are gathered for a plan that names some, and a ticket is asked for where they are not all")
  func inline() {
    let plan = Self.plan(chunks: true)
    let begin: [Event] = [.permission(true), Self.seen(), .permission(true), .collected(plan)]
    let inline = InlineChunks([InlineChunks.Item(hash: [1], data: [2], bases: [])], isAll: false)
    let (actions, _) = Self.course(begin + [.loaded(inline, refusal: nil)])
    #expect(actions.suffix(2) == [.load(5, isShort: false), Self.sent(plan, inline)])
    let failed = Self.course(begin + [.failed(Self.disk)])
    #expect(failed.actions.last == .stop(Self.disk) && failed.session.pending?.plan == plan)
  }

  // MARK: The budget

  @Test("MOB-47: what is too much for today goes without its large rows, and says at its end that some are left")
  func budget() {
    let plan = Self.plan(chunks: true)
    let begin: [Event] = [.permission(true), Self.seen(), .permission(true), .collected(plan)]
    let (actions, session) = Self.course(
      begin + [
        .loaded(InlineChunks(), refusal: Self.tomorrow), .aborted, .collected(Self.plan(6)), Self.applied(),
        .recorded(PushSummary()), .permission(true), .collected(nil), Self.seen(dirty: 1),
      ])
    #expect(
      actions.dropFirst(5) == [
        .abort(5), .collect(onlyDeletions: false, isShort: true), Self.sent(Self.plan(6)),
        .record([.accepted(version: 1), .accepted(version: 2)], Self.plan(6)), .askPermission,
        .collect(onlyDeletions: false, isShort: true), .readState, .stop(Self.tomorrow),
      ])
    #expect(session.pending == nil)
  }

  @Test("MOB-47: a frame that today has no room for is given up, or asked about where it may have arrived")
  func budgetOfFrame() {
    let unsent = Self.afterPush(.unanswered(Self.tomorrow, room: 4_096), .debt(false), .aborted)
    #expect(unsent.actions == [.lookForAnswer(mistrusted: false), .abort(5), .askPermission])
    let owed = Self.afterPush(.unanswered(Self.tomorrow, room: 4_096), .debt(true))
    #expect(owed.actions == [.lookForAnswer(mistrusted: false), .send(.settle(5))])
    let failed = Self.afterPush(.unanswered(Self.tomorrow, room: 4_096), .debt(false), .failed(Self.disk))
    #expect(failed.actions.last == .stop(Self.disk) && failed.session.pending != nil)
  }

  // MARK: No answer

  @Test(
    "a plan is sent again as it is, and what may have arrived is known",
    arguments: [
      (ErrorCode.timedOut, true), (.internalError, true), (.cancelled, true), (.unavailable, false),
      (.networkNotConnected, false), (.networkNotPermitted, false), (.serverBusy, false), (.rateLimited, false),
      (.limitExceeded, false),
    ])
  func unanswered(_ code: ErrorCode, _ mayHaveArrived: Bool) {
    let error = CaravanError(code, "no answer")
    let (actions, session) = Self.afterPush(.unanswered(error, room: 4_096), .debt(false))
    #expect(actions == [.lookForAnswer(mistrusted: false), .stop(error)])
    #expect(session.pending?.mayHaveArrived == mayHaveArrived && session.pending?.mustSettle == false)
    #expect(session.disruption == (mayHaveArrived ? .u2 : .u1))
    let again = Self.course([], pending: session.pending)
    #expect(again.actions == [Self.sent(Self.plan(), isAgain: mayHaveArrived)])
  }

  @Test("what is too large for the link goes in smaller plans, and answers to it are mistrusted the second time")
  func shrinking() {
    let late = CaravanError(.timedOut, "no answer")
    let first = Self.afterPush(.unanswered(late, room: 5), .debt(false))
    #expect(first.session.pending?.mustSettle == true)
    let second = Self.course([.unanswered(late, room: 5)], pending: first.session.pending)
    #expect(second.actions == [.send(.settle(5)), .lookForAnswer(mistrusted: true)])
    let full = Self.afterPush(.unanswered(Self.full, room: 4_096), .debt(false))
    #expect(full.session.pending?.mustSettle == true && full.session.pending?.refusal == Self.full)
  }

  @Test("a proposal without an answer ends the session")
  func proposalLost() {
    let (actions, session) = Self.course([
      .permission(true), Self.seen(nil), Self.seen(nil), .unanswered(Self.offline, room: 4_096), .debt(false),
    ])
    #expect(actions.suffix(2) == [.lookForAnswer(mistrusted: false), .stop(Self.offline)] && session.pending == nil)
  }

  // MARK: Answers

  @Test("what the cloud says to a proposal that is no type ends the session, and the app is told what it can change")
  func proposalRefused() {
    let begin: [Event] = [.permission(true), Self.seen(nil), Self.seen(nil)]
    let other = CaravanError(.schemaNotAdditive, "another type")
    #expect(
      Self.course(begin + [.answered(.failure(other)), .noted]).actions.suffix(2) == [
        .note(other, .schema), .stop(other),
      ])
    #expect(Self.course(begin + [.answered(.failure(Self.offline))]).actions.last == .stop(Self.offline))
    #expect(Self.course(begin + [.answered(.malformed(Self.disk))]).actions.last == .stop(Self.disk))
    #expect(
      Self.course(begin + [.answered(.other)]).actions.last == .stop(.otherResult(to: "a proposal")))
    let gone = Self.course(begin + [.answered(.failure(Self.gone)), .absence(isNew: false)]).actions
    #expect(gone.suffix(2) == [.markAbsent, .stop(Self.gone)])
    let new = Self.course(begin + [.answered(.failure(Self.gone)), .absence(isNew: true), .noted]).actions
    #expect(new.suffix(2) == [.note(Self.gone, nil), .stop(Self.gone)])
    #expect(
      Self.course(begin + [.answered(.type(Self.type)), .failed(Self.disk)]).actions.last == .stop(Self.disk))
  }

  @Test("a peer's nonsense ends the session and leaves the plan")
  func nonsense() {
    for answer in [PushSession.Answer.other, .type(Self.type), .malformed(Self.disk)] {
      let (actions, session) = Self.afterPush(.answered(answer))
      guard case .stop(.some)? = actions.last else { return #expect(Bool(false), "\(actions)") }
      #expect(session.pending?.plan == Self.plan())
    }
    let short = Self.afterPush(Self.applied(1))
    guard case .stop(let error?)? = short.actions.last else { return #expect(Bool(false), "\(short.actions)") }
    #expect(error.code == .internalError && short.session.pending?.plan == Self.plan())
  }

  @Test("what the answer says of copies in conflict, and of a row that is refused, comes after its record")
  func summaries() {
    var lacking = PushSummary()
    lacking.lacksChunks = true
    let whole = Self.afterPush(Self.applied(), .recorded(lacking), .fetched(true))
    #expect(whole.actions.suffix(2) == [.fetchChunks, .askPermission] && !whole.session.lacksChunks)
    let torn = Self.afterPush(Self.applied(), .recorded(lacking), .fetched(false))
    #expect(torn.session.lacksChunks && torn.session.disruption == .u4)
    var refused = PushSummary()
    let refusal = CaravanError(.invalidData, "no")
    refused.refusal = refusal
    let noted = Self.afterPush(Self.applied(), .recorded(refused), .noted)
    #expect(noted.actions.suffix(2) == [.note(refusal, nil), .stop(refusal)] && noted.session.pending == nil)
    let failed = Self.afterPush(Self.applied(), .failed(Self.disk))
    #expect(failed.actions.last == .stop(Self.disk) && failed.session.pending?.plan == Self.plan())
  }

  @Test("missing chunks are staged so often, and one that is lost here has the op end once")
  func staging() {
    let missing = Event.answered(.commit(.missing([Self.hash])))
    let stage = Action.stage([Self.hash], 5, vain: [])
    var events: [Event] = []
    for _ in 0..<EngineLimits.stagingRounds { events += [missing, .staged] }
    let (actions, session) = Self.course(Self.toPush + events + [missing])
    #expect(actions.count { $0 == stage } == EngineLimits.stagingRounds)
    guard case .stop(let error?)? = actions.last else {
      Issue.record("\(actions)")
      return
    }
    #expect(error.code == .unavailable && session.pending?.plan == Self.plan())
    // The cloud's disk may have lost them each time: that is over some day, and nobody starts the agent anew for it.
    #expect(session.pending?.stagings == 0, "the next session stages as often")
    let lost = CaravanError(.chunkDamaged, "lost")
    #expect(Self.afterPush(missing, .stagingFailed(lost)).actions == [stage, .send(.settle(5))])
    let twice = Self.afterPush(missing, .stagingFailed(lost), missing, .stagingFailed(lost))
    #expect(twice.actions.last == .stop(lost))
    let full = Self.afterPush(missing, .stagingFailed(Self.full))
    #expect(full.actions.last == .send(.settle(5)) && full.session.pending?.refusal == Self.full)
    #expect(Self.afterPush(missing, .stagingFailed(Self.tomorrow)).actions.last == .send(.settle(5)))
    #expect(Self.afterPush(missing, .failed(Self.disk)).actions.last == .stop(Self.disk))
  }

  @Test("a patch that was taken along in vain is not tried again, and nothing rides a second time")
  func vain() {
    let plan = Self.plan(chunks: true)
    let inline = InlineChunks([InlineChunks.Item(hash: Self.hash.bytes, data: [2], bases: [3])], isAll: false)
    let (actions, _) = Self.course([
      .permission(true), Self.seen(), .permission(true), .collected(plan), .loaded(inline, refusal: nil),
      .answered(.commit(.missing([Self.hash]))), .staged,
    ])
    #expect(
      actions.suffix(2) == [
        .stage([Self.hash], 5, vain: [Self.hash.bytes]), Self.sent(plan, InlineChunks(isAll: false)),
      ])
  }

  @Test("a refusal ends the op; where it may have been applied before, what became of it is asked first")
  func refusals() {
    let refusal = CaravanError(.limitExceeded, "too large")
    let outcomes: [Outcome] = [.refused(refusal), .refused(refusal)]
    let first = Self.afterPush(.answered(.failure(refusal)), .rejected, .noted)
    #expect(first.actions == [.reject(outcomes, 5), .note(refusal, nil), .stop(refusal)])
    let late = Self.afterPush(.unanswered(CaravanError(.timedOut, "late"), room: 4_096), .debt(false)).session.pending
    let asked = Self.course([.answered(.failure(refusal)), .answered(.commit(.aborted)), .aborted], pending: late)
    #expect(
      asked.actions == [Self.sent(Self.plan(), isAgain: true), .send(.settle(5)), .abort(5), .askPermission])
    let schema = CaravanError(.schemaViolation, "no such field")
    let whole = Self.afterPush(.answered(.failure(schema)), .aborted, .noted)
    #expect(whole.actions == [.abort(5), .note(schema, .schema), .stop(schema)] && whole.session.pending == nil)
    let full = Self.afterPush(.answered(.failure(Self.full)), .answered(.commit(.aborted)), .aborted, .noted)
    #expect(full.actions == [.send(.settle(5)), .abort(5), .note(Self.full, nil), .stop(Self.full)])
    for (code, mayHaveArrived) in [(ErrorCode.serverBusy, false), (.rateLimited, false), (.internalError, true)] {
      let (actions, session) = Self.afterPush(.answered(.failure(CaravanError(code, "later"))))
      #expect(actions == [.stop(CaravanError(code, "later"))])
      #expect(session.pending?.mayHaveArrived == mayHaveArrived)
    }
  }

  @Test("a type that a restore took is agreed on again, once")
  func typeLost() {
    let lost = CaravanError(.tableNotFound, "no such type")
    let again: [Event] = [
      .answered(.failure(lost)), .aborted, Self.seen(nil), .answered(.type(Self.type)), .adopted, .permission(true),
      .collected(Self.plan()),
    ]
    let (actions, _) = Self.course(Self.toPush + again + [.answered(.failure(lost)), .rejected])
    #expect(
      actions.suffix(3) == [Self.sent(Self.plan()), .reject([.refused(lost), .refused(lost)], 5), .note(lost, nil)])
    #expect(actions.contains(.send(.propose(Self.type))))
  }

  @Test("a zone that is gone ends the op, one that never was refuses its rows")
  func zoneGone() {
    let gone = Self.afterPush(.answered(.failure(Self.gone)), .absence(isNew: false), .aborted)
    #expect(gone.actions == [.markAbsent, .abort(5), .stop(Self.gone)] && gone.session.pending == nil)
    let new = Self.afterPush(.answered(.failure(Self.gone)), .absence(isNew: true), .rejected, .absence(isNew: true))
    #expect(
      new.actions == [
        .markAbsent, .reject([.refused(Self.gone), .refused(Self.gone)], 5), .markAbsent, .note(Self.gone, nil),
      ])
  }

  @Test("UNI-05: a batch goes in parts, goes on behind those that are there, and is committed behind the last")
  func groups() {
    let plan = Self.batch()
    let rows = EngineLimits.rowsPerPush
    let begin: [Event] = [.permission(true), Self.seen(), .permission(true), .collected(plan)]
    let (actions, session) = Self.course(
      begin + [
        .answered(.group(.open(parts: 0))), .answered(.part(missing: [Self.hash])), .staged,
        .answered(.part(missing: [])), .answered(.part(missing: [])),
      ])
    let steps: [GroupUpload.Step] = [.begin, .part(0, 0..<rows), .part(0, 0..<rows), .part(1, rows..<(rows + 1))]
    var expected: [Action] = steps.map { .send(.group($0, plan)) }
    expected.insert(.stage([Self.hash], 6, vain: []), at: 2)
    expected.append(.send(.group(.commit(parts: 2), plan)))
    #expect(Array(actions.suffix(6)) == expected)
    #expect(session.pending?.mayHaveArrived == true)
    #expect(Self.course(begin + [.answered(.group(.failed))]).actions.last == .send(.settle(6)))
    #expect(
      Self.course(begin + [.answered(.group(.committing))]).actions.last == .send(.group(.commit(parts: 2), plan)))
  }

  @Test("an event that cannot be is a mistake of whoever drives the session, and stops the process")
  func invalid() async {
    await #expect(processExitsWith: .failure) {
      var session = PushSession(PushSessionTests.table, pending: nil, lacksRoom: false, isDemanded: false)
      _ = session.start()
      _ = session.receive(.aborted)
    }
  }
}

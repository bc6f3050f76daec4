internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Carries out what a table's `PullSession` decides. Its first question travels with other tables' in one frame
/// (`begin`), the rest goes alone (`finish`).
struct TablePull: Sendable {
  private let dependencies: SyncDependencies
  private let linkGuard: LinkGuard
  private(set) var session: PullSession
  /// Whether the first frame proposes the table's type and asks for a page.
  private var first = (proposes: false, asks: false)
  /// A ticket that came with the first frame.
  private var ticket: Ticket?

  init(_ table: TableID, dependencies: SyncDependencies, linkGuard: LinkGuard, startsOver: Bool) {
    self.dependencies = dependencies
    self.linkGuard = linkGuard
    session = PullSession(table, startsOver: startsOver)
  }

  var table: TableID { session.table }
  var transport: FragmentTransport { FragmentTransport(mover: dependencies.mover, linkGuard: linkGuard) }

  /// - Parameters:
  ///   - maximumBytes: of the page that travels with the first frame.
  ///   - slackMilliseconds: how much later it may still come.
  mutating func begin(
    maximumBytes: Int, slackMilliseconds: UInt32
  ) async throws(CaravanError) -> [Operation.Kind] {
    let action = try await carryOut(session.start())
    guard case .open(let proposal, let question, let wantsTicket) = action else {
      preconditionFailure("a pull of \(table) begins with \(action)")
    }
    first = (proposal != nil, question != nil)
    var operations: [Operation.Kind] = []
    if let proposal { operations.append(.propose(ProposeTable(proposing: proposal, for: table))) }
    if let question {
      operations.append(pull(question, maximumBytes: maximumBytes, slackMilliseconds: slackMilliseconds))
    }
    if wantsTicket, let ticket = await dependencies.mover.ticketOperation(.init(app: table.app, isUpload: false)) {
      operations.append(ticket)
    }
    return operations
  }

  mutating func finish(_ answer: [Result.Kind]) async throws(CaravanError) {
    var results = answer[...]
    let agreement = first.proposes ? results.popFirst() : nil
    if case .ticket(let ticket)? = results.last { self.ticket = ticket }
    let page = first.asks ? results.first : nil
    let event: PullSession.Event
    do throws(CaravanError) {
      event = .opened(try agreement.map(Self.agreement), page.map(Self.reply))
    } catch {
      event = .failed(error)
    }
    _ = try await carryOut(session.receive(event))
  }

  /// What came with a notification.
  /// - Returns: false when it does not begin where the table's copy ends.
  mutating func takeIn(_ news: NotifiedPage) async throws(CaravanError) -> Bool {
    let page = ChangePage(
      bytes: news.page, token: news.token, hasMore: true, isConsistent: news.point > 0, point: news.point)
    return try await carryOut(session.start(with: page, from: news.from)) != .decline
  }

  /// - Returns: the first action that is not for this to carry out, or the last.
  private mutating func carryOut(_ first: PullSession.Action) async throws(CaravanError) -> PullSession.Action {
    var action = first
    while true {
      switch action {
      case .open, .decline, .stop(nil): return action
      case .stop(let error?): throw error
      case .askEarly(let question): action = await takeTurn(asking: question)
      default: action = await step(action)
      }
    }
  }

  private mutating func step(_ action: PullSession.Action) async -> PullSession.Action {
    let event: PullSession.Event
    do throws(CaravanError) { event = try await perform(action) } catch { event = .failed(error) }
    return session.receive(event)
  }

  /// Takes in a page while the next one is asked for; where nobody wants that any more, the question is called off.
  /// - Returns: what follows.
  private mutating func takeTurn(asking question: PullSession.Position) async -> PullSession.Action {
    let reading = self
    async let following = reading.ask(question)
    // The store works on this thread, and what a turn of it sends leaves at its end: the question goes before.
    try? await dependencies.clock.sleep(for: .microseconds(100))
    var action = session.receive(.paused)
    while true {
      switch action {
      case .turn, .stop: return action
      case .awaitPage: action = session.receive(await following)
      default: action = await step(action)
      }
    }
  }

  private func perform(_ action: PullSession.Action) async throws(CaravanError) -> PullSession.Event {
    let store = dependencies.store
    switch action {
    case .readState: return .state(try await store.syncState(of: table))
    case .keepTicket:
      if let ticket { await dependencies.mover.keep(ticket, for: .init(app: table.app, isUpload: false)) }
      return .kept
    case .locate(let needsOwnRows):
      let question = Pull(container: table.app.text, zone: table.name, maxBytes: 1, ownBodies: needsOwnRows)
      return .replied(Self.reply(try await exchange(.pull(question), by: transport)))
    case .ask(let position): return await ask(position)
    case .turn: return .turned
    case .propose(let type):
      let answer = try await exchange(.propose(ProposeTable(proposing: type, for: table)), by: nil)
      return .agreed(try Self.agreement(answer))
    case .adopt(let type):
      try await store.agree(on: type, for: table)
      return .adopted
    case .reset(let beginning):
      try await store.reset(table, lost: beginning.lost, token: beginning.token)
      return .cleared
    case .markAbsent: return .absence(isNew: try await store.zoneIsGone(table) == .neverThere)
    case .markPresent:
      try await store.zoneIsThere(table)
      return .marked
    case .note(let refusal, let fault):
      try await store.note(refusal: refusal.message, fault: fault, of: table)
      return .noted
    case .decode(let page):
      let entries = try EntryPage.decode(page.bytes).entries
      return .decoded(
        entries.map { IncomingEntry(entry: $0.model(), isOwn: $0.own, isOutsideFilter: $0.stranger) })
    case .markDamaged(let rows):
      try await store.isDamaged(atCloud: rows, of: table)
      return .marked
    case .apply(let entries, let token, let end, let point, let brings):
      let brought = brings ? await dependencies.mover.bring(for: entries, through: linkGuard) : []
      let summary = try await store.apply(entries, with: brought, to: table, token: token, end: end, point: point)
      if !summary.lacksBodies { dependencies.totals.add(SessionCounters(summary), to: Coalescer.Key(table, .read)) }
      return .applied(summary)
    case .fetchChunks: return .fetched(try await dependencies.mover.fetchMissing(through: linkGuard))
    case .open, .askEarly, .awaitPage, .decline, .stop: preconditionFailure("\(action) is no work of its own")
    }
  }
}

// MARK: Messages

extension TablePull {
  private func ask(_ position: PullSession.Position) async -> PullSession.Event {
    do throws(CaravanError) {
      let question = pull(position, maximumBytes: min(Limits.pageBytes, dependencies.exchanger.fragment.bytes))
      return .replied(Self.reply(try await exchange(question, by: transport)))
    } catch {
      return .failed(error)
    }
  }

  private func exchange(_ question: Operation.Kind, by transport: FragmentTransport?) async throws(CaravanError)
    -> Result.Kind
  {
    try await dependencies.exchanger.exchange([question], through: [linkGuard], by: transport)[0]
  }

  private func pull(
    _ position: PullSession.Position, maximumBytes: Int, slackMilliseconds: UInt32 = 0
  ) -> Operation.Kind {
    let wanted = position.newestFirst.map {
      Int(clamping: min($0, UInt64(maximumBytes))) * EngineLimits.rowGuess
    }
    return .pull(
      Pull(
        container: table.app.text, zone: table.name, token: position.token,
        maxBytes: UInt32(clamping: min(wanted ?? .max, maximumBytes)), ownBodies: position.needsOwnRows,
        slackMilliseconds: slackMilliseconds, mode: position.newestFirst == nil ? .forward : .reverse,
        snapshot: position.isSnapshot, ownThrough: position.ownThrough,
        filter: position.filter?.terms.map { FilterTerm($0) } ?? [], type: position.type ?? 0))
  }

  private static func agreement(_ result: Result.Kind) throws(CaravanError) -> PullSession.Agreement {
    switch result {
    case .type(let type): .type(try type.model())
    case .failure(let failure): .failure(failure.model())
    default: .other
    }
  }

  private static func reply(_ result: Result.Kind) -> PullSession.Reply {
    switch result {
    case .pull(let page) where page.resetRequired:
      .startOver(PullSession.Beginning(token: page.token, lost: LostRange.list(page.lost)))
    case .pull(let page):
      .page(
        ChangePage(
          bytes: page.page, token: page.token, hasMore: page.more, isConsistent: page.consistent, point: page.point,
          damaged: page.damaged.map { CloudDamage(row: $0.name, version: $0.version) }))
    case .failure(let failure): .failure(failure.model())
    default: .other
    }
  }
}

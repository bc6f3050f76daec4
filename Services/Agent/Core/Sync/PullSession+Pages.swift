import CaravanModel

extension PullSession {
  // MARK: Questions

  mutating func ask(_ position: Position) -> Action { go(.asking, .ask(position)) }

  mutating func asking(_ event: Event) -> Action {
    switch (state, event) {
    case (.asking, .replied(let reply)), (.following, .replied(let reply)): return opened(reply)
    case (.reviving(let reply), .marked):
      traits.remove(.zoneIsGone)
      return read(reply)
    case (.missingZone(let error), .absence(let isNew)):
      guard isNew else { return stop(error) }
      // Of a zone that never was there is nothing to have; a resync ends with that.
      return turn(to: position.isResyncing ? ChangePage() : nil)
    case (.turning(let page), .turned):
      guard let page else { return end() }
      guard page.hasMore else { return go(.decoding(page, .last), .decode(page)) }
      if position.newestFirst != nil { return go(.decoding(page, .older), .decode(page)) }
      var next = position
      next.token = page.token
      return go(.pausing(page), .askEarly(next))
    default: trap(event)
    }
  }

  /// An answer to a question; one that is no refusal says that the zone is there.
  mutating func opened(_ reply: Reply) -> Action {
    switch reply {
    case .page where traits.contains(.zoneIsGone), .startOver where traits.contains(.zoneIsGone):
      return go(.reviving(reply), .markPresent)
    case .page, .startOver, .failure, .other: return read(reply)
    }
  }

  private mutating func read(_ reply: Reply) -> Action {
    switch reply {
    case .page(let page): return turn(to: page)
    // Whoever asks backwards is told of a beginning of that kind, and a resync goes forward.
    case .startOver(let beginning):
      return position.newestFirst == nil ? restart(from: beginning) : locate(.asked)
    case .failure(let error):
      switch error.code {
      case .invalidSyncToken: return locate(.asked)
      case .tableNotFound where position.type != nil:
        finding.insert(.lacksType)
        position.type = nil
        return locate(.asked)
      case .zoneDoesNotExist: return go(.missingZone(error), .markAbsent)
      case .featureDisabled where position.newestFirst != nil:
        position.newestFirst = nil
        // Going forward, a token on the way back gives up what is older.
        return position.token.isEmpty ? ask(position) : locate(.asked)
      default: return stop(error)
      }
    case .other: return stop(.otherResult(to: "a pull"))
    }
  }

  private mutating func turn(to page: ChangePage?) -> Action { go(.turning(page), .turn) }

  // MARK: Starting over

  /// Where no token of the table says of which of the zone's lives it is: who comes without one is told of all, for
  /// whoever writes may hold something.
  mutating func locate(_ restart: Restart) -> Action {
    go(.locating(restart), .locate(needsOwnRows: position.needsOwnRows))
  }

  /// UNI-18: rows that are not at the cloud yet are kept.
  private mutating func restart(from beginning: Beginning) -> Action {
    precondition(!awaitsPush, "\(table) starts over while it waits for a push")
    guard finding.insert(.restarted).inserted else {
      return stop(CaravanError(.unavailable, "the cloud asks to start \(table) over again and again"))
    }
    return go(.guarding(.asked, beginning), .readState)
  }

  private mutating func located(_ restart: Restart, _ beginning: Beginning) -> Action {
    switch restart {
    case .beginning: go(.guarding(.beginning, beginning), .readState)
    case .asked: self.restart(from: beginning)
    }
  }

  mutating func restarting(_ event: Event) -> Action {
    switch (state, event) {
    case (.locating(let restart), .replied(.page)): return located(restart, Beginning())
    case (.locating(let restart), .replied(.startOver(let beginning))): return located(restart, beginning)
    case (.locating(let restart), .replied(.failure(let error))):
      guard error.code == .zoneDoesNotExist else { return stop(error) }
      return go(.locatingNothing(restart, error), .markAbsent)
    case (.locating, .replied(.other)): return stop(.otherResult(to: "a pull"))
    case (.locatingNothing(let restart, let error), .absence(let isNew)):
      return isNew ? located(restart, Beginning()) : stop(error)
    case (.guarding(let restart, let beginning), .state(let seen)):
      guard seen.opInFlight == nil else {
        finding.insert(.awaitsPush)
        return stop(.startsOver(table))
      }
      return go(.resetting(restart, beginning), .reset(beginning))
    case (.resetting(let restart, let beginning), .cleared):
      (position.token, position.isResyncing, position.ownThrough) = (beginning.token, true, 0)
      position.newestFirst = nil
      return go(.resuming(restart, beginning), .readState)
    case (.resuming(let restart, let beginning), .state(let seen)):
      position.needsOwnRows = position.needsOwnRows || seen.lacksRows
      position.filter = seen.filter
      if restart == .beginning { return go(.surveyingAgain, .readState) }
      let isAgreed = beginning.lost.isEmpty && !finding.contains(.lacksType)
      return isAgreed ? ask(position) : go(.readingProposal, .readState)
    case (.readingProposal, .state(let seen)): return go(.proposing, .propose(seen.proposal))
    case (.proposing, .agreed(let agreement)): return agree(agreement, then: .restarted)
    default: trap(event)
    }
  }

  // MARK: Taking in

  mutating func takingIn(_ event: Event) -> Action {
    switch (state, event) {
    case (.pausing(let page), .paused): return go(.decoding(page, .more), .decode(page))
    case (.decoding(let page, let end), .decoded(let entries)):
      // Before the page, whose token is behind them.
      guard page.damaged.isEmpty else { return go(.marking(page, end, entries), .markDamaged(page.damaged)) }
      return apply(entries, of: page, end)
    case (.marking(let page, let end, let entries), .marked): return apply(entries, of: page, end)
    case (.applying(let page, let end), .applied(let summary)):
      // Nothing is left out of the next page, and something again of those behind it.
      if traits.contains(.keepsQuery), summary.lacksBodies || position.filter == nil {
        return go(.refiltering(page, end, summary), .readState)
      }
      return applied(page, end, summary)
    case (.refiltering(let page, let end, let summary), .state(let seen)):
      position.filter = seen.filter
      return applied(page, end, summary)
    case (.fetching(let page, let end, let summary), .fetched):
      answer = .missing
      return follow(page, end, summary)
    case (.fetchingLast, .fetched(let isWhole)):
      guard !isWhole else { return stop(nil) }
      let message = "chunks of \(table) are not at the cloud: newer versions of their rows are awaited"
      return stop(CaravanError(.unavailable, message))
    default: trap(event)
    }
  }

  private mutating func apply(_ entries: [IncomingEntry], of page: ChangePage, _ end: PageEnd) -> Action {
    let saysNothing = entries.isEmpty && page.token == position.token && !page.token.isEmpty
    if saysNothing, !position.isResyncing, !traits.contains(.keepsEntries) {
      return follow(page, end, PullSummary())
    }
    // Of a zone that is not there, nothing is at any version.
    let point = page.isConsistent || !page.hasMore ? max(1, page.point) : nil
    return go(
      .applying(page, end),
      .apply(entries, token: page.token, end: end, point: point, brings: traits.contains(.hasObjects)))
  }

  private mutating func applied(_ page: ChangePage, _ end: PageEnd, _ summary: PullSummary) -> Action {
    assert(end == .older || !summary.lacksOlder, "\(table) lacks older rows where nobody looks for them")
    guard !summary.lacksBodies else { return follow(page, end, summary) }
    position.token = page.token
    if !page.hasMore { position.isResyncing = false }
    if summary.isUnexplained { finding.insert(.unexplained) } else { finding.remove(.unexplained) }
    guard summary.staged > 0, !isUnexplained else { return follow(page, end, summary) }
    answer = .lacksObjects
    return go(.fetching(page, end, summary), .fetchChunks)
  }

  /// What comes behind a page.
  private mutating func follow(_ page: ChangePage, _ end: PageEnd, _ summary: PullSummary) -> Action {
    switch end {
    case .unknown: return self.end()
    case .last:
      if summary.lacksBodies { return ask(position) }
      return summary.lacksOutOfFilter ? locate(.asked) : turn(to: nil)
    case .older:
      // It turns once the table has its rows: what has changed since the newest page comes then, and what is older than
      // the rows that the table keeps never does.
      if !summary.lacksOlder { position.newestFirst = nil }
      guard !isUnexplained else { return turn(to: nil) }
      var before = position
      before.token = page.token
      return ask(before)
    case .more:
      precondition(position.newestFirst == nil, "\(table) is read backwards, and forward at once")
      if summary.lacksBodies { return ask(position) }
      return isUnexplained ? turn(to: nil) : go(.following, .awaitPage)
    }
  }

  private mutating func end() -> Action {
    answer = .whole
    guard traits.contains(.hasObjects), !isUnexplained else { return stop(nil) }
    answer = .lacksObjects
    return go(.fetchingLast, .fetchChunks)
  }
}

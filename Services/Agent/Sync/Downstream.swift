internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// One table's way down: page after page until there is no more, the next one asked for while one is taken in. Pages go
/// to the store at once, which keeps rows whose chunks are not there yet (SIM-67); chunks follow page by page.
struct Downstream: Sendable {
  let table: TableID
  private let dependencies: SyncDependencies
  private let gate: LinkGuard
  /// Of the last page taken in.
  private var token: [UInt8] = []
  /// The table's type is proposed with the first pull.
  private var isAgreeing = false
  private var hasReset = false
  /// Rows here do not count until the cloud names them.
  private var isResyncing = false
  /// Read backwards in time until so many rows are here.
  private var newestFirst: UInt64?
  private var hasObjects = false
  /// Its apps see the zone as it once was (UNI-13).
  private var showsSnapshots = false
  /// Entries are kept aside: a page without any may still say that they can be shown.
  private var keepsEntries = false
  /// Some of them lack chunks.
  private var lacksChunks = false
  /// What the device itself wrote up to here need not come.
  private var ownThrough: Seq = 0
  /// What the cloud may leave out.
  private var filter: RowFilter?
  private var keepsQuery = false
  /// Only once the type is agreed is it known what that is: the table is pulled then.
  private var agreesFirst = false
  /// Rows are torn, or were left to the cloud, and may be the device's own.
  private var lacksRows = false
  /// What has come of it, for whoever finds the session cut off (SIM-70).
  private(set) var answer = Disruption.Answer.missing
  /// The store is older than what it once sent: it needs a new epoch before anything else.
  private(set) var isUnexplained = false
  /// It starts over, and cannot while a push of it is in flight.
  private(set) var awaitsPush = false

  /// The cloud has said that there is no zone, and the next page says otherwise.
  private var zoneIsGone = false

  /// Everything the table has of the cloud is void.
  private let startsOver: Bool

  init(_ table: TableID, dependencies: SyncDependencies, gate: LinkGuard, startsOver: Bool) {
    self.table = table
    self.dependencies = dependencies
    self.gate = gate
    self.startsOver = startsOver
  }

  /// - Parameters:
  ///   - maximumBytes: of the page that travels with the first frame.
  ///   - slackMilliseconds: how much later it may still come.
  mutating func begin(
    maximumBytes: Int, slackMilliseconds: UInt32
  ) async throws(CaravanError) -> [Operation.Kind] {
    var state = try await dependencies.store.syncState(of: table)
    lacksRows = state.lacksRows
    if startsOver || state.mustStartOver {
      try await reset(beginning())
      state = try await dependencies.store.syncState(of: table)
    }
    lacksRows = lacksRows || state.lacksRows
    zoneIsGone = state.zoneIsGone
    (token, isResyncing, ownThrough) = (state.token, state.isResyncing, state.ownThrough)
    newestFirst = state.newestFirst
    (showsSnapshots, keepsEntries, lacksChunks) = (state.showsSnapshots, state.keepsEntries, state.lacksChunks)
    var operations: [Operation.Kind] = []
    // A restore may have taken the type: who starts over may not have come to propose it again, and who has never
    // pulled hears of no restore.
    if state.type == nil || state.token.isEmpty || state.isResyncing {
      if state.type == nil, let fault = state.fault { throw state.resting(table, fault) }
      (isAgreeing, agreesFirst) = (true, state.keepsQuery)
      operations.append(.propose(ProposeTable(proposing: state.proposal, for: table)))
    }
    (filter, keepsQuery) = (state.filter, state.keepsQuery)
    if !agreesFirst { operations.append(pull(token, maximumBytes: maximumBytes, slackMilliseconds: slackMilliseconds)) }
    hasObjects = state.proposal.fields.contains { $0.kind == .object }
    if hasObjects,
      let ticket = await dependencies.mover.ticketOperation(.init(app: table.app, isUpload: false))
    {
      operations.append(ticket)
    }
    return operations
  }

  mutating func finish(_ first: [Result.Kind]) async throws(CaravanError) {
    var results = first[...]
    if isAgreeing, let result = results.popFirst() { try await agree(result) }
    if case .ticket(let ticket)? = results.last {
      await dependencies.mover.keep(ticket, for: .init(app: table.app, isUpload: false))
    }
    // What is to be shown lacks these; what the page brings might overtake it, again and again.
    if showsSnapshots, lacksChunks { try await fetchBetweenPages() }
    var page: PullResult?
    if agreesFirst {
      page = try await opened(ask(token).get())
    } else {
      guard let result = results.first else { throw .unknownResult }
      page = try await opened(result)
    }
    while let current = page {
      guard current.more else {
        page = try await takeInLast(current)
        continue
      }
      if newestFirst != nil {
        page = try await back(current)
        continue
      }
      let reading = self
      async let following = reading.ask(current.token)
      // The store works on this thread, and what a turn of it sends leaves at its end: the question goes before.
      try? await dependencies.clock.sleep(for: .microseconds(100))
      if try await takeIn(current, end: .more).lacksBodies {
        page = try await opened(ask(token).get())
      } else {
        page = isUnexplained ? nil : try await opened(following.get())
      }
    }
    answer = .whole
    try await fetchObjects()
  }

  /// - Returns: what has to be taken in instead, or behind it.
  private mutating func takeInLast(_ page: PullResult) async throws(CaravanError) -> PullResult? {
    let summary = try await takeIn(page, end: .last)
    if summary.lacksBodies { return try await opened(ask(token).get()) }
    return summary.lacksOutOfFilter ? try await opened(startOver(from: beginning())) : nil
  }

  /// Takes in a page, and asks for the one before it, or turns: what has changed since the newest page comes then, and
  /// what is older than the rows that the table keeps never does.
  private mutating func back(_ page: PullResult) async throws(CaravanError) -> PullResult? {
    if try await !takeIn(page, end: .older).lacksOlder { newestFirst = nil }
    return isUnexplained ? nil : try await opened(ask(page.token).get())
  }

  private mutating func fetchObjects() async throws(CaravanError) {
    guard hasObjects, !isUnexplained else { return }
    answer = .lacksObjects
    guard try await dependencies.mover.fetchMissing(through: gate) else {
      throw CaravanError(
        .unavailable, "chunks of \(table) are not at the cloud: newer versions of their rows are awaited")
    }
  }

  /// What came with a notification.
  /// - Returns: false when it does not begin where the table's copy ends.
  mutating func takeIn(_ news: NotifiedPage) async throws(CaravanError) -> Bool {
    let state = try await dependencies.store.syncState(of: table)
    // In a resync the device's own rows may have to come as a whole.
    guard state.type != nil, !state.token.isEmpty, state.token == news.from, !state.isResyncing,
      !state.isLocalOnly, !state.zoneIsGone
    else { return false }
    token = state.token
    hasObjects = state.proposal.fields.contains { $0.kind == .object }
    let page = PullResult(
      page: news.page, token: news.token, more: true, consistent: news.point > 0, point: news.point)
    try await takeIn(page, end: .unknown)
    answer = .whole
    try await fetchObjects()
    return true
  }

  private func pull(_ token: [UInt8], maximumBytes: Int, slackMilliseconds: UInt32 = 0) -> Operation.Kind {
    let wanted = newestFirst.map { Int(clamping: min($0, UInt64(maximumBytes))) * EngineLimits.rowGuess }
    return .pull(
      Pull(
        container: table.app.text, zone: table.name, token: token,
        maxBytes: UInt32(clamping: min(wanted ?? .max, maximumBytes)), ownBodies: lacksRows,
        slackMilliseconds: slackMilliseconds, mode: newestFirst == nil ? .forward : .reverse,
        snapshot: showsSnapshots, ownThrough: ownThrough,
        filter: filter?.terms.map { FilterTerm($0) } ?? []))
  }

  var transport: FragmentTransport { FragmentTransport(mover: dependencies.mover, gate: gate) }

  private func ask(_ token: [UInt8]) async -> Swift.Result<Result.Kind, CaravanError> {
    do throws(CaravanError) {
      let question = pull(token, maximumBytes: min(Limits.pageBytes, dependencies.exchanger.fragment.bytes))
      return .success(try await dependencies.exchanger.exchange([question], through: [gate], by: transport)[0])
    } catch {
      return .failure(error)
    }
  }

  private mutating func agree(_ result: Result.Kind) async throws(CaravanError) {
    isAgreeing = false
    guard case .type(let type) = result else {
      let error = CaravanError.unexpected(result, to: "a proposal")
      if error.code == .zoneDoesNotExist, try await dependencies.store.zoneIsGone(table) != .neverThere { throw error }
      if !error.isWorthRetrying {
        try await dependencies.store.note(refusal: error.message, fault: TableFault(error), of: table)
      }
      throw error
    }
    try await dependencies.store.agree(on: type.model(), for: table)
    filter = try await dependencies.store.syncState(of: table).filter
  }

  /// The page in the result; nil: there is no such zone, so there is nothing to have.
  private mutating func opened(_ result: Result.Kind) async throws(CaravanError) -> PullResult? {
    if zoneIsGone, case .pull = result {
      try await dependencies.store.zoneIsThere(table)
      zoneIsGone = false
    }
    switch result {
    case .pull(let page) where !page.resetRequired: return page
    // Whoever asks backwards is told of a beginning of that kind, and a resync goes forward.
    case .pull(let page):
      return try await opened(startOver(from: newestFirst == nil ? Beginning(page) : beginning()))
    case .failure(let failure) where failure.code == ErrorCode.invalidSyncToken.rawValue:
      return try await opened(startOver(from: beginning()))
    case .failure(let failure) where failure.code == ErrorCode.zoneDoesNotExist.rawValue:
      guard try await dependencies.store.zoneIsGone(table) == .neverThere else { throw failure.model() }
      return isResyncing ? PullResult() : nil
    case .failure(let failure) where failure.code == ErrorCode.featureDisabled.rawValue && newestFirst != nil:
      newestFirst = nil
      // Going forward, a token on the way back gives up what is older.
      return try await opened(token.isEmpty ? ask(token).get() : startOver(from: beginning()))
    default: throw .unexpected(result, to: "a pull")
    }
  }

  /// UNI-18: rows that are not at the cloud yet are kept.
  private mutating func startOver(from beginning: Beginning) async throws(CaravanError) -> Result.Kind {
    guard !hasReset else {
      throw CaravanError(.unavailable, "the cloud asks to start \(table) over again and again")
    }
    hasReset = true
    try await reset(beginning)
    if !beginning.lost.isEmpty { try await proposeAgain() }
    return try await ask(token).get()
  }

  /// Where the table starts over.
  private struct Beginning {
    /// Of the life of the zone that `lost` is about: should there be another one before the resync ends, the cloud says
    /// so. Empty: the zone has had no other life.
    var token: [UInt8] = []
    /// What restores took from the cloud.
    var lost: [LostRange] = []

    init() {}
    init(_ page: PullResult) { (token, lost) = (page.token, LostRange.list(page.lost)) }
  }

  /// Where no token of the table says of which of the zone's lives it is: who comes without one is told of all, for
  /// whoever writes may hold something.
  private func beginning() async throws(CaravanError) -> Beginning {
    let question = Operation.Kind.pull(
      Pull(container: table.app.text, zone: table.name, maxBytes: 1, ownBodies: lacksRows))
    switch try await dependencies.exchanger.exchange([question], through: [gate], by: transport)[0] {
    case .pull(let page): return page.resetRequired ? Beginning(page) : Beginning()
    case .failure(let failure) where failure.code == ErrorCode.zoneDoesNotExist.rawValue:
      guard try await dependencies.store.zoneIsGone(table) == .neverThere else { throw failure.model() }
      return Beginning()
    case let other: throw .unexpected(other, to: "a pull")
    }
  }

  /// The type may be among what was lost.
  private mutating func proposeAgain() async throws(CaravanError) {
    let state = try await dependencies.store.syncState(of: table)
    let propose = Operation.Kind.propose(ProposeTable(proposing: state.proposal, for: table))
    try await agree(dependencies.exchanger.exchange([propose], through: [gate])[0])
  }

  private mutating func reset(_ beginning: Beginning) async throws(CaravanError) {
    guard try await dependencies.store.syncState(of: table).opInFlight == nil else {
      awaitsPush = true
      throw .startsOver(table)
    }
    try await dependencies.store.reset(table, lost: beginning.lost, token: beginning.token)
    (token, isResyncing, ownThrough, newestFirst) = (beginning.token, true, 0, nil)
    let state = try await dependencies.store.syncState(of: table)
    (lacksRows, filter) = (lacksRows || state.lacksRows, state.filter)
  }

  @discardableResult
  private mutating func takeIn(_ result: PullResult, end: PageEnd) async throws(CaravanError) -> PullSummary {
    let entries = try EntryPage.decode(result.page).entries.map {
      IncomingEntry(entry: $0.model(), isOwn: $0.own, isStranger: $0.stranger)
    }
    // Before the page, whose token is behind them.
    let damaged = result.damaged.map { CloudDamage(row: $0.name, version: $0.version) }
    if !damaged.isEmpty { try await dependencies.store.isDamaged(atCloud: damaged, of: table) }
    if entries.isEmpty, result.token == token, !token.isEmpty, !isResyncing, !keepsEntries { return PullSummary() }
    let brought = hasObjects ? await dependencies.mover.bring(for: entries, through: gate) : []
    // Of a zone that is not there, nothing is at any version.
    let point = result.consistent || !result.more ? max(1, result.point) : nil
    let summary = try await dependencies.store.apply(
      entries, with: brought, to: table, token: result.token, end: end, point: point)
    // Nothing is left out of the next page, and something again of those behind it.
    if keepsQuery, summary.lacksBodies || filter == nil {
      filter = try await dependencies.store.syncState(of: table).filter
    }
    guard !summary.lacksBodies else { return summary }
    dependencies.tallies.add(SessionCounters(summary), to: Coalescer.Key(table, .read))
    token = result.token
    if !result.more { isResyncing = false }
    isUnexplained = summary.isUnexplained
    guard summary.staged > 0, !isUnexplained else { return summary }
    answer = .lacksObjects
    try await fetchBetweenPages()
    answer = .missing
    return summary
  }

  /// Rows behind it do not wait for an object that today's budget has no room for (MOB-47).
  private func fetchBetweenPages() async throws(CaravanError) {
    do throws(CaravanError) { _ = try await dependencies.mover.fetchMissing(through: gate) } catch {
      guard error.isForTomorrow else { throw error }
    }
  }
}

extension CaravanError {
  static func startsOver(_ table: TableID) -> CaravanError {
    CaravanError(.serverBusy, "\(table) starts over once its push has been answered")
  }
}

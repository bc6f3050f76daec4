internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// The part of an answer that comes from the cloud: of a table that keeps a part of its rows (UNI-15).
extension LiveQueries {
  /// Whether the cloud has rows for the query that the device need not have.
  private func asksCloud(_ state: TableState) -> Bool { state.properties.isPartial && state.absence == nil }

  func lack(of query: LiveQuery, _ state: TableState) -> LiveAnswer.Lack {
    state.properties.isPartial ? query.cloud.lack : .nothing
  }

  /// A table that keeps all its rows from now on has nothing of the cloud's in its answers.
  func forgetCloudIfNeeded(_ query: LiveQuery, _ state: TableState) {
    guard !asksCloud(state), query.cloud.asked != nil else { return }
    query.cloud.reset()
    query.answer.forgetCloud()
    query.hasCloudNews = true
  }

  // MARK: Asking

  /// Waits until there is a reason to ask the cloud, somebody waits for the answer, and the last question was long
  /// enough ago.
  /// - Returns: nil: the query has ended, or the task was cancelled.
  nonisolated(nonsending) func nextQuestion(_ handle: UInt64, owner: UInt64) async -> LiveCloudQuestion? {
    while !Task.isCancelled, let query = all[handle], query.owner == owner {
      let signal = query.cloud.signal
      guard let state = catalog.tables[query.request.table], asksCloud(state), query.isAwaited,
        query.cloud.isDue(token: state.token, connections: news.connections)
      else {
        await signal.wait()
        continue
      }
      let now = host.clock.now
      guard query.cloud.nextAsk <= now else {
        await signal.wait(atMost: query.cloud.nextAsk - now, clock: host.clock)
        continue
      }
      query.cloud.asked = (state.token, news.connections)
      (query.cloud.isStale, query.cloud.arriving) = (false, [])
      return LiveCloudQuestion(
        request: query.request, limit: min(query.answer.limit, StoreLimits.liveCloudRows, Limits.queryRows),
        token: state.token)
    }
    return nil
  }

  /// The cloud has answered, with a page or with why it does not.
  /// - Returns: whether the next page is wanted as well.
  func take(
    _ answer: Result<LiveCloudPage, CaravanError>, for handle: UInt64, owner: UInt64
  ) throws(CaravanError) -> Bool {
    guard let query = all[handle], query.owner == owner,
      let state = catalog.tables[query.request.table], state.number == query.number, asksCloud(state)
    else { return false }
    switch answer {
    case .success(let page): if try take(page, for: query, state) { return true }
    case .failure(let error):
      query.cloud.arriving = []
      query.cloud.lack = .refused(error)
    }
    let rest = Duration.milliseconds(query.cloud.lack.retryAfterMilliseconds)
    query.cloud.nextAsk = host.clock.now + max(StoreLimits.liveCloudPause, rest)
    query.hasCloudNews = true
    query.signal.raise()
    return false
  }

  private func take(
    _ page: LiveCloudPage, for query: LiveQuery, _ state: TableState
  ) throws(CaravanError) -> Bool {
    var (rows, isCut) = (query.cloud.arriving, false)
    var bytes = rows.reduce(0) { $0 + $1.bytes }
    for row in page.rows {
      guard rows.count < StoreLimits.liveCloudRows, bytes + row.bytes <= StoreLimits.liveCloudBytes else {
        isCut = true
        break
      }
      rows.append(row)
      bytes += row.bytes
    }
    let copies = Dictionary(rows.map { (Array($0.view.id.utf8), $0) }, uniquingKeysWith: { $1 })
    let entries = copies.map { id, row in
      LiveEntry(id: id, ranks: row.ranks, place: .cloud, stamp: row.view.version)
    }
    var held: [Int64: [UInt8]] = [:]
    for id in copies.keys { if let key = try self.key(of: id, in: state, try database) { held[key] = id } }
    var joined = query.answer
    joined.replaceCloud(entries, held: held, hasMore: page.hasMore || isCut)
    let isFull = isCut || rows.count >= StoreLimits.liveCloudRows
    if joined.needsMoreOfCloud, !isFull {
      query.cloud.arriving = rows
      return true
    }
    query.cloud.arriving = []
    query.cloud.copies = copies
    query.cloud.lack = joined.needsMoreOfCloud ? .refused(.tooMuchOfCloud) : .nothing
    query.answer = joined
    return false
  }

  // MARK: What the device holds

  private func key(
    of id: [UInt8], in state: TableState, _ database: Connection
  ) throws(CaravanError) -> Int64? {
    try database.statement(text: "SELECT _row FROM \(state.rows.quotedName) WHERE _id = ?").first(
      String(decoding: id, as: UTF8.self)
    ) { row in row.integer(0) }
  }

  /// Rows that changed may have come to the device, or have left it.
  /// - Returns: whether the part of the answer that is the cloud's may be another one.
  func followHeld(
    _ query: LiveQuery, _ state: TableState, _ keys: Set<Int64>, _ reader: Reader
  ) throws(CaravanError) -> Bool {
    guard query.cloud.asked != nil else { return false }
    let (known, before) = (query.answer.cloudIDs, query.answer.held)
    let statement = try reader.connection.statement(text: "SELECT _id FROM \(state.rows.quotedName) WHERE _row = ?")
    for key in keys {
      let id = try statement.first(key) { row in row.bytes(0) }
      // A key is given again to another row.
      if id == nil || query.answer.held[key].map({ $0 != id }) == true { leave(query, key) }
      if let id, known.contains(id) { query.answer.hold(id, key: key) }
    }
    return query.answer.held != before
  }

  /// The same where all of the answer is read.
  func noteHeld(
    _ query: LiveQuery, _ state: TableState, _ reader: Reader, _ found: [LiveEntry]
  ) throws(CaravanError) {
    guard query.cloud.asked != nil else { return }
    let ids = Set(found.map(\.id))
    if query.answer.local.contains(where: { !ids.contains($0.id) }) { askAgain(query) }
    var now: [Int64: [UInt8]] = [:]
    for id in query.answer.cloudIDs { if let key = try key(of: id, in: state, reader.connection) { now[key] = id } }
    for (key, id) in query.answer.held where now[key] != id { leave(query, key) }
    for (key, id) in now { query.answer.hold(id, key: key) }
  }

  private func leave(_ query: LiveQuery, _ key: Int64) {
    if query.answer.leave(key: key) { askAgain(query) }
  }

  /// The answer may lack rows that the cloud has.
  func askAgain(_ query: LiveQuery) {
    query.cloud.isStale = true
    if query.cloud.lack == .nothing { query.cloud.lack = .unasked }
    query.cloud.signal.raise()
  }
}

extension LiveAnswer.Lack {
  fileprivate var retryAfterMilliseconds: UInt32 {
    if case .refused(let error) = self { error.retryAfterMilliseconds ?? 0 } else { 0 }
  }
}

extension CaravanError {
  /// It is not transient: the cloud is not asked again because of it.
  fileprivate static let tooMuchOfCloud = CaravanError(
    .limitExceeded,
    "the cloud has more rows for the live query than it brings, \(StoreLimits.liveCloudRows) rows and "
      + "\(StoreLimits.liveCloudBytes) bytes: give it a limit, or narrow the selection")
}

internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Live queries of apps: each knows the answer that it has told, and tells what has changed since when it is asked.
///
/// What the store writes names the rows that it touches, and of those alone it is seen whether they belong to an
/// answer: what other rows of a table cost does not grow with the answer. All of the answer is read at its beginning,
/// when many rows changed at once, and when a row behind the last one that is shown moves up.
final class LiveQueries: TablePart {
  let readers: Readers
  let news: CloudNews
  var all: [UInt64: LiveQuery] = [:]

  var catalog: TableCatalog { readers.catalog }

  init(readers: Readers, news: CloudNews) {
    (self.readers, self.news) = (readers, news)
    readers.context.events.tableChanged = { [unowned self] table in tableChanged(table) }
  }

  // MARK: Life

  /// - Throws: `tableNotFound`; `schemaViolation` for a column that is unknown or has no order; `limitExceeded`. What
  ///   is wrong with the selection the first difference says.
  func begin(_ request: LiveRequest, owner: UInt64) throws(CaravanError) -> UInt64 {
    let state = try state(request.table)
    _ = try readers.projection(request.columns, of: state)
    _ = try readers.orderTerms(request.order, of: state)
    guard request.limit <= StoreLimits.liveRows else {
      throw CaravanError(
        .limitExceeded, "a live query shows \(StoreLimits.liveRows) rows at most, not \(request.limit): limit it more")
    }
    guard all.values.count(where: { $0.request.table.app == request.table.app }) < StoreLimits.liveQueriesPerApp else {
      throw CaravanError(
        .limitExceeded, "\(StoreLimits.liveQueriesPerApp) live queries of the app are open: end one")
    }
    let query = LiveQuery(
      handle: context.newHandle(), owner: owner, request, of: state, cloud: LiveCloud(nextAsk: host.clock.now))
    all[query.handle] = query
    context.touched.begin(
      query.handle, table: state.rows.name, limit: StoreLimits.liveRows, signal: query.signal, in: try database)
    news.begin(query.handle, request.table, query.cloud.signal)
    return query.handle
  }

  /// - Throws: `leaseExpired` for one that has ended.
  func query(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> LiveQuery {
    guard let query = all[handle], query.owner == owner else {
      throw CaravanError(.leaseExpired, "live query \(handle) has ended: begin it again")
    }
    return query
  }

  func end(_ query: LiveQuery) {
    guard all.removeValue(forKey: query.handle) != nil else { return }
    _ = context.touched.end(query.handle, in: context.connection)
    news.end(query.handle)
    giveUpSeries(of: query)
    query.lent?.pace.stopper.stop()
    query.signal.raise()
    query.cloud.signal.raise()
  }

  func closeAll(owner: UInt64) { for query in all.values where query.owner == owner { end(query) } }
  func closeAll() { for query in all.values { end(query) } }

  private func tableChanged(_ table: TableID) {
    for query in all.values where query.request.table == table {
      (query.needsReading, query.hasCloudNews) = (true, true)
      query.signal.raise()
      query.cloud.signal.raise()
    }
  }

  // MARK: Telling

  /// Somebody begins to wait for the next difference.
  /// - Throws: `serverBusy` while somebody else does.
  func claim(_ handle: UInt64, owner: UInt64) throws(CaravanError) {
    let query = try query(handle, owner: owner)
    guard !query.isAwaited else {
      throw CaravanError(.serverBusy, "a difference of live query \(handle) is waited for already: wait for it")
    }
    query.isAwaited = true
    query.cloud.signal.raise()
  }

  /// Waits for the next part of a query that was claimed.
  /// - Throws: as `next`; `cancelled` when the task was.
  nonisolated(nonsending) func awaitNext(
    _ handle: UInt64, owner: UInt64
  ) async throws(CaravanError) -> DifferencePart {
    defer { all[handle]?.isAwaited = false }
    while true {
      let signal = try query(handle, owner: owner).signal
      if let part = try await next(handle, owner: owner) { return part }
      guard !Task.isCancelled else {
        throw CaravanError(.cancelled, "nobody waits for the live query's next difference any more")
      }
      await signal.wait()
    }
  }

  /// - Returns: the next part of what has changed since the last difference; nil: nothing has.
  /// - Throws: why the query has ended: as `begin` and `beginRead`, and `limitExceeded` for an answer that is too
  ///   large.
  nonisolated(nonsending) private func next(_ handle: UInt64, owner: UInt64) async throws(CaravanError)
    -> DifferencePart?
  {
    let query = try query(handle, owner: owner)
    do throws(CaravanError) {
      while true {
        if query.series == nil { try await look(at: query) }
        guard query.series != nil else { return nil }
        if let part = try part(of: query) { return part }
      }
    } catch {
      end(query)
      throw error
    }
  }

  /// - Returns: nil: one of the rows is damaged; the difference has to be made anew.
  private func part(of query: LiveQuery) throws(CaravanError) -> DifferencePart? {
    guard var series = query.series else { return nil }
    var part = DifferencePart(restarts: query.restarts, lack: series.lack)
    var bytes = 0
    while part.steps.count < StoreLimits.liveSteps, bytes < StoreLimits.pageBytes, series.told < series.difference.count
    {
      guard let (step, size) = try series.step(series.told) else {
        if case .row(let key)? = series.entry(ofStep: series.told)?.place {
          damage.note(row: key, of: query.request.table)
          query.unreadable.insert(key)
        }
        giveUpSeries(of: query)
        return nil
      }
      part.steps.append(step)
      series.told += 1
      bytes += size
    }
    part.hasMore = series.told < series.difference.count
    query.restarts = false
    series.lastUse = host.clock.now
    query.series = series
    if part.hasMore {
      readers.idleAlarm.set(series.lastUse + StoreLimits.cursorIdle)
    } else {
      (query.told, query.toldLack) = (series.target, series.lack)
      release(series.reader)
      query.series = nil
    }
    return part
  }

  /// What was told of the difference that is on its way is void.
  func giveUpSeries(of query: LiveQuery) {
    guard let series = query.series else { return }
    release(series.reader)
    query.series = nil
    query.restarts = query.restarts || series.told > 0
    query.needsReading = true
  }

  func release(_ reader: Reader?) {
    guard let reader else { return }
    reader.connection.rollBack()
    readers.pool.giveBack(reader)
  }

  /// Gives up the snapshots of apps that do not take what they asked for.
  func closeIdle() {
    let now = host.clock.now
    for query in all.values {
      guard let lastUse = query.series?.lastUse else { continue }
      if now - lastUse >= StoreLimits.cursorIdle {
        giveUpSeries(of: query)
      } else {
        readers.idleAlarm.set(lastUse + StoreLimits.cursorIdle)
      }
    }
  }
}

extension LiveSeries {
  /// The row that a step brings; nil: it brings none.
  fileprivate func entry(ofStep number: Int) -> LiveEntry? {
    let number = number - difference.deletions.count - difference.moves.count
    return number < 0 ? nil : target[(difference.insertions + difference.updates)[number]]
  }

  /// - Returns: the step of this number and its bytes, about; nil: its row is damaged here.
  fileprivate func step(_ number: Int) throws(CaravanError) -> (DifferenceStep, Int)? {
    var number = number
    if number < difference.deletions.count {
      let from = difference.deletions[number]
      return (.deleted(id: formerly[from].text, from: from), formerly[from].id.count)
    }
    number -= difference.deletions.count
    if number < difference.moves.count {
      let move = difference.moves[number]
      return (.moved(id: target[move.to].text, from: move.from, to: move.to), target[move.to].id.count)
    }
    number -= difference.moves.count
    let isNew = number < difference.insertions.count
    let place = isNew ? difference.insertions[number] : difference.updates[number - difference.insertions.count]
    guard let (row, bytes) = try row(target[place]) else { return nil }
    return (isNew ? .inserted(row, to: place) : .updated(row, to: place), bytes)
  }

  private func row(_ entry: LiveEntry) throws(CaravanError) -> (AnswerRow, Int)? {
    switch entry.place {
    case .cloud: return copies[entry.id].map { (AnswerRow(view: $0.view, isHeld: false), $0.bytes) }
    case .row(let key):
      guard let reader else { return nil }
      let statement = try reader.connection.statement(text: bodyText)
      defer { statement.reset() }
      try statement.bind(key, at: 1)
      let page = try shape.page(of: statement, reader.connection)
      return page.rows.first.map { (AnswerRow(view: $0, isHeld: true), page.bytes) }
    }
  }
}

extension LiveEntry {
  var text: String { String(decoding: id, as: UTF8.self) }
}

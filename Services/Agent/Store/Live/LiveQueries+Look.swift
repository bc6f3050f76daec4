internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// How the answer to a live query is brought up to date.
extension LiveQueries {
  /// Begins to tell what has changed, if anything has.
  nonisolated(nonsending) func look(at query: LiveQuery) async throws(CaravanError) {
    let state = try table(of: query)
    let isHidden = state.absence != nil
    if isHidden != query.isHidden { (query.isHidden, query.needsReading) = (isHidden, true) }
    forgetCloudIfNeeded(query, state)
    let keys = context.touched.take(query.handle)
    guard query.told == nil || query.needsReading || query.hasCloudNews || !keys.isEmpty else { return }
    query.looks += 1
    if isHidden {
      query.answer.replaceLocal([], hasMore: false)
      query.needsReading = false
      return try tell(query, state, in: nil)
    }
    let reader = try readers.pool.take()
    do throws(CaravanError) {
      try reader.connection.begin(.read)
      // A snapshot begins with the first thing read in it; what is touched from here on is looked at next.
      _ = try reader.connection.first("SELECT 1 FROM tables LIMIT 1") { $0.integer(0) }
      let isOther = try await read(query, state, touched: keys, reader)
      guard isOther || query.told == nil || query.hasCloudNews else { return release(reader) }
      try tell(query, try table(of: query), in: reader)
    } catch {
      reader.close()
      throw error
    }
  }

  private func table(of query: LiveQuery) throws(CaravanError) -> TableState {
    let state = try state(query.request.table)
    guard state.number == query.number else {
      throw CaravanError(
        .tableNotFound, "table '\(state.table.name)' was dropped meanwhile, and made anew: begin again")
    }
    return state
  }

  // MARK: Reading

  /// - Returns: whether the answer may be another one.
  nonisolated(nonsending) private func read(
    _ query: LiveQuery, _ state: TableState, touched keys: Set<Int64>, _ reader: Reader
  ) async throws(CaravanError) -> Bool {
    query.unreadable.subtract(keys)
    let isMany = keys.count > StoreLimits.liveKeysAtOnce
    if !query.needsReading, !isMany {
      if keys.isEmpty { return false }
      let entries = try await entries(of: query, state, keys: keys.sorted(), reader)
      let before = query.answer.local.count
      let isHeldOtherwise = try followHeld(query, state, keys, reader)
      if query.answer.change(keys, entries.map { $0.stamped(query.looks) }) {
        return isHeldOtherwise || !entries.isEmpty || query.answer.local.count != before
      }
    }
    // From here on, until it has been read, nothing of it can be relied on.
    query.needsReading = true
    var found = try await entries(of: query, state, keys: nil, reader)
    found.removeAll { entry in entry.isRow { query.unreadable.contains($0) } }
    query.needsReading = false
    try noteHeld(query, state, reader, found)
    // Of more touched rows than are remembered nobody knows which they are.
    let areKnown = keys.count <= StoreLimits.liveRows
    let stamps = Dictionary(
      query.answer.local.map { ($0.id, $0.stamp) }, uniquingKeysWith: { first, _ in first })
    let limit = query.answer.limit
    let entries = found.prefix(limit).map { entry in
      let isTouched = !areKnown || entry.isRow { keys.contains($0) }
      return entry.stamped(isTouched ? query.looks : stamps[entry.id] ?? query.looks)
    }
    query.answer.replaceLocal(entries, hasMore: found.count > limit)
    return true
  }

  /// - Parameter keys: of the rows that are looked at; nil: the first ones of all.
  nonisolated(nonsending) private func entries(
    of query: LiveQuery, _ state: TableState, keys: [Int64]?, _ reader: Reader
  ) async throws(CaravanError) -> [LiveEntry] {
    let terms = try readers.orderTerms(query.request.order, of: state)
    let selection = try readers.rows(query.request.selection, of: state)
    let columns = (["_row", "_id"] + terms.map(\.text)).joined(separator: ", ")
    let order = (terms.map { $0.text + ($0.isDescending ? " DESC" : "") } + ["_id"]).joined(separator: ", ")
    let tail = keys == nil ? "ORDER BY \(order) LIMIT ?" : "AND _row = ?"
    let text = "SELECT \(columns) FROM \(state.rows.quotedName) WHERE \(readers.condition(selection)) \(tail)"
    let prepared = try reader.prepared(text, SelectionGuard(state.rows, calls: selection?.functions ?? []))
    try selection?.bind(to: prepared.statement)
    let reading = LiveReading(
      ranks: terms.count, last: Int32(selection?.parameters.count ?? 0) + 1, keys: keys,
      limit: query.answer.limit + 1 + query.unreadable.count)
    if !prepared.isHeavy {
      let found = try reader.within(.short) { () throws(CaravanError) in try reading.entries(of: prepared.statement) }
      if let found { return found }
      prepared.statement.reset()
    }
    query.lent = reader
    defer { query.lent = nil }
    let found = try await readers.slow.run(prepared.statement, of: reader, for: query.request.table.app) {
      (lent) throws(CaravanError) in try reading.entries(of: lent.statement)
    }
    guard all[query.handle] === query else {
      throw CaravanError(.cancelled, "the live query was ended meanwhile: begin it again")
    }
    return found
  }

  // MARK: Telling

  private func tell(_ query: LiveQuery, _ state: TableState, in reader: Reader?) throws(CaravanError) {
    query.hasCloudNews = false
    if query.answer.needsMoreOfCloud, query.cloud.lack == .nothing { askAgain(query) }
    let app = query.request.table.app
    query.bytes = query.answer.bytes
    let bytes = all.values.filter { $0.request.table.app == app }.reduce(0) { $0 + $1.bytes }
    guard bytes <= StoreLimits.liveBytesPerApp else {
      throw CaravanError(
        .limitExceeded,
        "the answers of the app's live queries take \(bytes) bytes of ids and ordering values, and "
          + "\(StoreLimits.liveBytesPerApp) are allowed: end one, limit it more, or order by shorter values")
    }
    guard !query.isOfAll || !query.answer.hasMoreLocal else {
      throw CaravanError(
        .limitExceeded,
        "the answer has more than \(StoreLimits.liveRows) rows: narrow the selection, or give the live "
          + "query a limit")
    }
    let shown = query.answer.shown
    let lack = lack(of: query, state)
    let difference = ListDifference(from: query.told ?? [], to: shown)
    guard query.told == nil || !difference.isEmpty || lack != query.toldLack else { return release(reader) }
    let shape = PageShape(
      schema: state.schema, columns: try readers.projection(query.request.columns, of: state),
      refusalsOf: state.hasRefusals ? state.number : nil, rows: 1, hasAuthorship: false)
    query.series = LiveSeries(
      target: shown, formerly: query.told ?? [], difference: difference, lack: lack, copies: query.cloud.copies,
      reader: reader, shape: shape,
      bodyText:
        "SELECT \(Readers.read(of: state).joined(separator: ", ")) FROM \(state.rows.quotedName) WHERE _row = ?",
      lastUse: host.clock.now)
  }
}

/// What is read of the rows of an answer, on whatever thread has the statement.
private struct LiveReading: Sendable {
  let ranks: Int
  /// The number of the last parameter: the key, or how many rows there are at most.
  let last: Int32
  let keys: [Int64]?
  let limit: Int

  /// - Throws: `limitExceeded` when they would take more memory than all answers of an app may.
  func entries(of statement: Statement) throws(CaravanError) -> [LiveEntry] {
    defer { statement.reset() }
    var (found, bytes): ([LiveEntry], Int) = ([], 0)
    func read() throws(CaravanError) {
      while let row = try statement.next() {
        let entry = LiveEntry(
          id: row.bytes(1), ranks: (0..<ranks).map { LiveRank(row.value(Int32($0) + 2)) }, place: .row(row.integer(0)),
          stamp: 0)
        bytes += entry.bytes
        guard bytes <= StoreLimits.liveBytesPerApp else {
          throw CaravanError(.limitExceeded, "the answer is too large: order by shorter values, or limit it more")
        }
        found.append(entry)
      }
    }
    guard let keys else {
      try statement.bind(Int64(limit), at: last)
      try read()
      return found
    }
    for key in keys {
      statement.reset()
      try statement.bind(key, at: last)
      try read()
    }
    return found
  }
}

extension LiveRank {
  fileprivate init(_ value: SQLValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(Array(text.utf8))
      case .blob(let bytes): .data(bytes)
      }
  }
}

extension LiveEntry {
  fileprivate func stamped(_ stamp: UInt64) -> LiveEntry { LiveEntry(id: id, ranks: ranks, place: place, stamp: stamp) }

  fileprivate func isRow(_ test: (Int64) -> Bool) -> Bool {
    if case .row(let key) = place { test(key) } else { false }
  }
}

internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// How what comes from the cloud becomes rows, at once or when it can.
struct Arrivals: TablePart {
  let repair: Repair
  let resolutions: Resolutions
  let cloudDamage: CloudDamageLog

  var catalog: TableCatalog { repair.catalog }
  var retention: Retention { repair.retention }
  var inbox: Inbox { retention.inbox }
  var objectChunks: ObjectChunks { inbox.objects }
  var writer: RowWriter { retention.writer }
  var openWrites: OpenWrites { retention.openWrites }
  var ancestors: Ancestors { repair.ancestors }
  var tolerances: Tolerances { catalog.tolerances }

  @discardableResult
  func apply(
    _ page: [IncomingEntry], with chunks: [LocalChunk] = [], to table: TableID, token: [UInt8], end: PageEnd,
    point: Seq? = nil
  ) throws(CaravanError) -> PullSummary {
    let sound = chunks.filter { ChunkHash(of: $0.bytes) == $0.hash }
    let now = host.clock.wallTime.milliseconds
    let before = try state(table)
    // What it was asked for when the table was still synced is not told again: it comes when it is synced again.
    guard !before.isLocalOnly else { return PullSummary() }
    let isLast = end == .last
    // Pages that have more behind them are durable with the last one: what is lost until then is asked for again.
    let mayWait = (end == .more || end == .older) && sound.isEmpty
    let summary = try change(table, mayWait ? .later : .atOnce, isFreeing: true) {
      (state) throws(CaravanError) -> PullSummary in
      guard state.agreedType != nil else {
        throw CaravanError(.schemaViolation, "table '\(table.name)' has no record type yet: propose it first")
      }
      var summary = PullSummary()
      var newest = try state.rows.newestID(database)
      guard try knowsEnough(of: page, in: state) else {
        (summary.lacksBodies, state.lacksBodies) = (true, true)
        try state.save(database)
        return summary
      }
      for chunk in sound { try chunkTable.put(chunk.bytes, hash: chunk.hash) }
      for incoming in page { try receive(incoming, &state, &newest, &summary) }
      (state.token, state.lacksBodies) = (token, false)
      state.lastSync = now
      // Written down with the token that is beyond it: whatever happens before the next epoch, it will be asked for.
      if summary.isUnexplained { state.mustStartOver = true }
      if state.showsSnapshots {
        try reach(point, &state, &summary)
      } else if isLast, state.isResyncing {
        try endResync(&state, &summary)
      }
      if isLast, !summary.isUnexplained { state.ownThrough = state.ownThrough ?? 0 }
      let oldest = try retention.evictOld(&state)
      if end == .older { summary.lacksOlder = page.map(\.entry.version).min().map { $0 > oldest ?? 0 } ?? true }
      state.lacksOlder = summary.lacksOlder
      try openWrites.sweep()
      try state.save(database)
      return summary
    }
    catalog.tellNewsIfAny(of: table)
    return summary
  }

  /// - Parameter newest: no row has an id behind it. New rows mostly come in the order of their ids, and need not be
  ///   looked for.
  private func receive(
    _ incoming: IncomingEntry, _ state: inout TableState, _ newest: inout String, _ summary: inout PullSummary
  ) throws(CaravanError) {
    let entry = incoming.entry
    try RecordName.check(entry.name)
    if !cloudDamage.isEmpty { cloudDamage.isWhole(entry.name, version: entry.version, of: state.table) }
    // A newer entry of the row makes the one that waits pointless.
    if state.waiting > 0 { try dropOvertaken(by: entry, in: &state) }
    if state.showsSnapshots, !incoming.isOwn { return try keepStaged(entry, &state, &summary) }
    let isBehindAll = newest.utf8.lexicographicallyPrecedes(entry.name.utf8)
    let row = isBehindAll ? nil : try state.rows.row(id: entry.name, database)
    let origin: Arrival.Origin = incoming.isOwn ? .own : incoming.isOutsideFilter ? .outsideFilter : .others
    var content: RowCodec.Content?
    let plan = try plan(entry, origin, row, in: state, &content)
    switch plan {
    case .hold: try wait(entry, &state, &summary)
    case .take:
      if content == nil { content = try state.codec.content(entry.body) }
      if let content { try writer.take(content, entry, over: row, in: state) }
      if isBehindAll { newest = entry.name }
      summary.applied += 1
    case .leave, .unexplained, .remove, .contest, .adopt:
      // The row may have become this without anybody having said by whom: an answer was lost, or the store is from a
      // release that did not ask.
      if let row, row.head.version == entry.version {
        try writer.note(entry, ofRow: row.key, isMissing: true, in: state)
      }
      try carryOut(plan, entry, row, in: state, &summary)
    }
  }

  private func wait(
    _ entry: Entry, _ state: inout TableState, _ summary: inout PullSummary
  ) throws(CaravanError) {
    try inbox.keep(entry, role: .waiting, of: state)
    state.waiting += 1
    summary.staged += 1
  }

  /// - Parameters:
  ///   - isWhole: every object that the entry names is here; nil: it has to be looked for.
  ///   - content: of the entry, once it was needed.
  private func plan(
    _ entry: Entry, _ origin: Arrival.Origin, _ row: StoredRow?, in state: TableState, isWhole: Bool? = nil,
    _ content: inout RowCodec.Content?
  ) throws(CaravanError) -> RowPlan.Arrived {
    let policy = state.type?.settings?.conflicts ?? .manual
    let inquiry = RowInquiry.Arrived(
      Arrival(version: entry.version, isDeleted: entry.isDeleted, origin: origin),
      in: RowInquiry.Arrived.Table(isPartial: state.properties.isPartial, cloudDecides: policy != .manual))
    var facts = RowFacts(row?.head)
    facts[.isWhole] = isWhole
    while true {
      switch inquiry.next(knowing: facts) {
      case .plan(let plan): return plan
      case .ask(let question): facts[question] = try answer(question, entry, row, in: state, &content)
      }
    }
  }

  private func answer(
    _ question: RowQuestion, _ entry: Entry, _ row: StoredRow?, in state: TableState, _ content: inout RowCodec.Content?
  ) throws(CaravanError) -> Bool {
    switch (question, row) {
    case (.wasDeleted, _): return retention.wasDeleted(entry.name, of: state.table, version: entry.version)
    case (.belongs, _): return try retention.belongs(entry, to: state)
    case (.isWhole, _):
      let decoded = try state.codec.content(entry.body)
      content = decoded
      return try objectChunks.absent(of: decoded.objects, in: state).isEmpty
    case (.isBusy, let row?):
      return resolutions.sessions[state.table] != nil
        || !openWrites.all.isEmpty && openWrites.isOpen(row: row.id, of: state.table)
    case (.isAsHere, let row?): return try state.codec.body(row.cells, extra: row.extra) == entry.body
    case (.isOwnPast, let row?): return try ancestors.isOwnPast(entry, of: row, in: state)
    case (.isAsSent, _), (.isBusy, nil), (.isAsHere, nil), (.isOwnPast, nil):
      preconditionFailure("\(question) was asked of an entry that arrived, and of a row that it is not about")
    }
  }

  private func carryOut(
    _ plan: RowPlan.Arrived, _ entry: Entry, _ row: StoredRow?, in state: TableState, _ summary: inout PullSummary
  ) throws(CaravanError) {
    switch (plan, row) {
    case (.leave, _), (.hold, _): return
    case (.unexplained, _): summary.isUnexplained = true
    case (.take, _):
      try writer.take(try state.codec.content(entry.body), entry, over: row, in: state)
      summary.applied += 1
    case (.remove, let row?):
      try writer.remove(row, of: state)
      state.draft.note(.changed, row.id)
      summary.removed += 1
    case (.contest(let head), var row?):
      try inbox.keep(entry, role: .serverCopy, of: state)
      row.head = head
      try state.rows.updateHead(row, database)
      summary.conflicts += 1
    case (.adopt(let head), let row?): try adopt(entry, by: row, as: head, in: state)
    case (.remove, nil), (.contest, nil), (.adopt, nil):
      preconditionFailure("\(plan) was made for a row that does not exist")
    }
  }

  /// The row's change is based on what is its own past. An echo has no body: it is of what the row is based on already.
  func adopt(
    _ copy: Entry, by changed: StoredRow, as head: RowHead, in state: TableState
  ) throws(CaravanError) {
    var row = changed
    if try ancestors.wasPushed(copy.body, of: row.key, in: state) {
      // Nobody can be shown what is not here any more.
      if try objectChunks.absent(copy.body, in: state).isEmpty {
        try ancestors.set(copy.body, version: copy.version, of: row.key, in: state)
      } else {
        try ancestors.forget(of: row.key, in: state)
      }
    }
    row.head = head
    try state.rows.updateHead(row, database)
    try writer.note(copy, ofRow: row.key, in: state)
  }

  // MARK: What waited

  /// Applies entries that are complete and whose row is free now. Runs inside its caller's transaction.
  /// - Returns: how many rows have changed.
  @discardableResult
  func applyWaiting(_ state: inout TableState) throws(CaravanError) -> Int {
    if state.repairs > 0 { try repair.completeRepairs(&state) }
    let wasResyncing = state.isResyncing
    var summary = PullSummary()
    if state.showsSnapshots {
      try show(&state, &summary)
    } else if state.waiting > 0 {
      for waiting in try inbox.complete(.waiting, of: state) { try settle(waiting, &state, &summary) }
      state.waiting = try inbox.count(.waiting, of: state)
    }
    if summary != PullSummary() || state.isResyncing != wasResyncing { try state.save(database) }
    return summary.applied + summary.removed
  }

  /// Unless its row is not free, which it then waits for.
  func settle(
    _ waiting: StoredIncoming, _ state: inout TableState, _ summary: inout PullSummary
  ) throws(CaravanError) {
    let row = try state.rows.row(id: waiting.name, database)
    var content: RowCodec.Content?
    let plan = try plan(waiting.entry, .others, row, in: state, isWhole: true, &content)
    if plan == .hold { return }
    try carryOut(plan, waiting.entry, row, in: state, &summary)
    try inbox.drop(waiting)
  }

  @discardableResult
  func stage(
    _ chunks: [LocalChunk], for table: TableID
  ) throws(CaravanError) -> PullSummary {
    let damaged = chunks.filter { ChunkHash(of: $0.bytes) != $0.hash }.map(\.hash)
    var touched: Set<Int64> = []
    var summary = PullSummary()
    try change(table) { (state) throws(CaravanError) in
      for chunk in chunks where !damaged.contains(chunk.hash) { touched.formUnion(try inbox.fulfil(chunk)) }
      summary.applied = try applyWaiting(&state)
      try openWrites.sweep()
      try state.save(database)
    }
    for other in catalog.tables.values where touched.contains(other.number) && other.table != table {
      try change(other.table) { (state) throws(CaravanError) in
        try applyWaiting(&state)
        try openWrites.sweep()
      }
      catalog.tellNewsIfAny(of: other.table)
    }
    catalog.tellNewsIfAny(of: table)
    if let hash = damaged.first {
      throw CaravanError(
        .chunkDamaged, "\(damaged.count) chunks do not have their hash, the first is \(hash): fetch again")
    }
    summary.staged = try state(table).waiting
    return summary
  }

  /// Whether a page says enough of the rows whose bodies it left out: they are not here, are no news, or go.
  private func knowsEnough(of page: [IncomingEntry], in state: TableState) throws(CaravanError) -> Bool {
    for incoming in page where incoming.isOutsideFilter {
      let row = try state.rows.row(id: incoming.entry.name, database)
      var content: RowCodec.Content?
      switch try plan(incoming.entry, .outsideFilter, row, in: state, &content) {
      case .leave, .remove: continue
      case .take, .adopt, .contest, .hold, .unexplained: return false
      }
    }
    return true
  }
}

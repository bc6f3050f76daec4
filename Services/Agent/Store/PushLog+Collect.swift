internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// What a plan may hold.
private struct PlanBounds {
  var rows: Int
  var bytes: Int
  var onlyDeletions = false
  var retriesRefused = false
  /// What is left of the link's budget; nil: there is none.
  var room: Int?
  /// What waits before it is too large for that.
  var start = RowTable.Place.first
}

private struct Choice {
  var rows: [StoredRow] = []
  /// That they are; 0: each goes by itself.
  var batch: Int64 = 0
  /// Instead of all that: rows that need each other, and can only go together.
  var joined: [StoredRow] = []
  /// Where to go on, when as many rows as one turn looks at were too large.
  var rest: RowTable.Place?
}

// What goes next.
extension PushLog {
  nonisolated(nonsending) func collect(
    _ table: TableID, maximumRows: Int, maximumBytes: Int, onlyDeletions: Bool = false, room: Int? = nil,
    retriesRefused: Bool = true
  ) async throws(CaravanError) -> PushPlan? {
    var bounds = PlanBounds(
      rows: 1, bytes: maximumBytes, onlyDeletions: onlyDeletions, retriesRefused: retriesRefused, room: room)
    while true {
      if let plan = catalog.takePlan(of: table) { return plan }
      try repair.repairDamage()
      let state = try state(table)
      // What the cloud has is not known before the end of a resync.
      guard !state.isLocalOnly, state.op == nil, !state.isResyncing, state.absence == nil else { return nil }
      guard state.agreedType != nil else {
        throw CaravanError(.schemaViolation, "table '\(table.name)' has no record type yet: propose it first")
      }
      let found = try choose(in: state, within: bounds)
      if !found.rows.isEmpty || !found.joined.isEmpty { break }
      guard let rest = found.rest else { return nil }
      bounds.start = rest
      // The device has other things to do.
      await Task.yield()
    }
    bounds.rows = maximumRows
    let all = bounds
    return try change(table, isFreeing: true) { (state) throws(CaravanError) in try plan(&state, within: all) }
  }

  /// Runs in the transaction of its caller.
  private func plan(_ state: inout TableState, within bounds: PlanBounds) throws(CaravanError) -> PushPlan? {
    try lossQueue.expire(in: state)
    var choice = try choose(in: state, within: bounds)
    while !choice.joined.isEmpty {
      try batches.join(choice.joined, in: state)
      choice = try choose(in: state, within: bounds)
    }
    let rows = choice.batch == 0 ? try ordered(choice.rows, in: state) : choice.rows
    guard let type = state.agreedType, state.op == nil, !rows.isEmpty else { return nil }
    let tolerated = try tolerances.count(among: rows.map(\.key), in: state)
    try tolerances.ledgers.clearDeadline(of: state.number)
    let op = try context.meta.takeOp(database)
    try database.run("INSERT INTO plans VALUES (?, ?, ?, ?)", op, context.meta.epoch, state.number, choice.batch)
    var mutations: [Mutation] = []
    for row in rows { mutations.append(try writeDown(row, as: mutations.count, of: op, type.id, in: state)) }
    state.op = op
    return PushPlan(
      op: op, epoch: context.meta.epoch, table: state.table, type: type.id, mutations: mutations,
      isAtomic: choice.batch != 0,
      toleratedRows: tolerated,
      mayLose: tolerated > 0 ? try tolerances.ledgers.ledger(of: state.number)?.mayLose ?? 0 : 0)
  }

  func planAtOnce(_ tables: Set<TableID>) throws(CaravanError) {
    plannedTables = tables
    for table in catalog.tables.keys.sorted() where !tables.contains(table) {
      if let plan = catalog.takePlan(of: table) { try abort(plan.op) }
    }
  }

  /// To be called in the transaction of an app's change, after it: where changes go at once, what is to be sent is
  /// written down with what was changed, which saves a commit.
  func planAtOnce(_ state: inout TableState) throws(CaravanError) {
    guard plannedTables.contains(state.table), state.op == nil, !state.isLocalOnly, !state.isResyncing,
      state.fault == nil, state.absence == nil, state.agreedType != nil, !tolerances.mayLose.contains(state.number),
      damage.isEmpty
    else { return }
    state.untaken = try plan(
      &state, within: PlanBounds(rows: EngineLimits.rowsPerPush, bytes: EngineLimits.bytesPerPush))
  }

  /// What goes next, the oldest change first: rows for themselves, or one batch, whole as it is.
  private func choose(in state: TableState, within bounds: PlanBounds) throws(CaravanError) -> Choice {
    var choice = Choice()
    var (bytes, room, passedOver) = (0, bounds.room, 0)
    var (chosen, seen): (Set<PushUnit>, Set<PushUnit>) = ([], [])
    let refusedOf = state.hasRefusals ? state.number : nil
    try state.rows.visitCollectable(database, after: bounds.start, refusedOf: refusedOf) {
      (row) throws(CaravanError) in
      let unit = try unit(of: row.key, in: state)
      // What goes by itself and was changed before goes first.
      if case .batch = unit, !choice.rows.isEmpty || !seen.insert(unit).inserted { return true }
      guard !chosen.contains(unit) else { return true }
      let units: [Unit]
      switch try turn(of: unit, row, after: chosen, in: state) {
      case .hold: return true
      case .join(let rows):
        guard choice.rows.isEmpty else { return true }
        choice.joined = rows
        return false
      case .go(let all):
        // A batch goes for itself, and what needs it after it.
        let single = all.prefix { if case .row = $0.unit { true } else { false } }
        guard !single.isEmpty || choice.rows.isEmpty else { return true }
        units = single.isEmpty ? Array(all.prefix(1)) : Array(single)
      }
      let rows = units.flatMap(\.rows)
      guard !bounds.onlyDeletions || rows.allSatisfy(\.head.presence.isDeleted) else { return true }
      if let left = room {
        let cost = try cost(of: rows, in: state)
        guard cost <= left else {
          passedOver += 1
          guard passedOver < EngineLimits.passedOverAtOnce else {
            choice.rest = RowTable.Place(row)
            return false
          }
          return true
        }
        room = left - cost
      }
      if case .batch(let batch) = units[0].unit {
        (choice.batch, choice.rows) = (batch, rows)
        return false
      }
      chosen.formUnion(units.map(\.unit))
      for row in rows {
        bytes += row.bodyBytes + state.codec.listedBytes(row.cells)
        guard choice.rows.isEmpty || bytes <= bounds.bytes else { return false }
        choice.rows.append(row)
        guard choice.rows.count < bounds.rows else { return false }
      }
      return true
    }
    // Nothing waits behind what the cloud would not have.
    guard bounds.retriesRefused, choice.rows.isEmpty, choice.joined.isEmpty, choice.rest == nil else { return choice }
    return try chooseRefused(in: state, within: bounds)
  }

  /// What was refused longest ago goes first.
  private func chooseRefused(in state: TableState, within bounds: PlanBounds) throws(CaravanError) -> Choice {
    var choice = Choice()
    var (bytes, room) = (0, bounds.room)
    var seen: Set<Int64> = []
    try refusals.visit(in: state) { (key) throws(CaravanError) in
      let batch = try batches.batch(of: key, in: state)
      var rows: [StoredRow] = []
      if let batch {
        guard choice.rows.isEmpty, seen.insert(batch).inserted, try refusals.isRefused(batch: batch, in: state) else {
          return true
        }
        rows = try batches.rows(of: batch, in: state) ?? []
      } else if let row = try state.rows.soundRow(key: key, database), !row.head.presence.isUnconfirmed {
        rows = [row]
      }
      guard !rows.isEmpty, !bounds.onlyDeletions || rows.allSatisfy(\.head.presence.isDeleted) else { return true }
      if let left = room {
        let cost = try cost(of: rows, in: state)
        guard cost <= left else { return true }
        room = left - cost
      }
      if let batch {
        (choice.batch, choice.rows) = (batch, rows)
        return false
      }
      bytes += rows.reduce(0) { $0 + $1.bodyBytes + state.codec.listedBytes($1.cells) }
      guard choice.rows.isEmpty || bytes <= bounds.bytes else { return false }
      choice.rows += rows
      return choice.rows.count < bounds.rows
    }
    return choice
  }

  /// Of a link's budget. The answer may hold another copy of each row.
  private func cost(of rows: [StoredRow], in state: TableState) throws(CaravanError) -> Int {
    var cost = 0
    for row in rows {
      cost += EngineLimits.rowCost
      if !row.head.presence.isDeleted {
        cost +=
          2 * row.bodyBytes
          + (try objectChunks.unsentBytes(of: row, since: ancestors.body(of: row.key, in: state), in: state))
      }
    }
    return cost
  }
}

public import AgentCore
public import Model
internal import Runtime
internal import SQLite

/// What a plan may hold.
private struct PlanBounds {
  var rows: Int
  var bytes: Int
  var onlyDeletions = false
  /// What is left of the link's budget; nil: there is none.
  var room: Int?
  /// What waits before it is too large for that.
  var start = RowTable.Place.first
}

// What goes next.
extension LocalStore {
  public func collect(
    _ table: TableID, maximumRows: Int, maximumBytes: Int, onlyDeletions: Bool = false, room: Int? = nil
  ) async throws(CaravanError) -> PushPlan? {
    var bounds = PlanBounds(rows: 1, bytes: maximumBytes, onlyDeletions: onlyDeletions, room: room)
    while true {
      if let plan = planned.waiting.removeValue(forKey: table) { return plan }
      try mendDamage()
      let state = try state(table)
      // What the cloud has is not known before the end of a resync.
      guard !state.isLocalOnly, state.op == nil, !state.isResyncing else { return nil }
      guard state.type != nil else {
        throw CaravanError(.schemaViolation, "table '\(table.name)' has no record type yet: propose it first")
      }
      let found = try collectable(in: state, within: bounds)
      if !found.rows.isEmpty { break }
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
    try expireTolerated(in: state)
    let rows = try collectable(in: state, within: bounds).rows
    guard let type = state.type, state.op == nil, !rows.isEmpty else { return nil }
    let tolerated = try toleratedRows(among: rows.map(\.key), in: state)
    try lossTable.clearDeadline(of: state.number)
    let op = try meta.takeOp(database)
    try database.run("INSERT INTO plans VALUES (?, ?, ?)", op, meta.epoch, state.number)
    var mutations: [Mutation] = []
    for row in rows { mutations.append(try writeDown(row, as: mutations.count, of: op, type.id, in: state)) }
    state.op = op
    return PushPlan(
      op: op, epoch: meta.epoch, table: state.table, type: type.id, mutations: mutations, toleratedRows: tolerated,
      mayLose: tolerated > 0 ? try lossTable.ledger(of: state.number)?.mayLose ?? 0 : 0)
  }

  public func planAtOnce(_ tables: Set<TableID>) throws(CaravanError) {
    planned.tables = tables
    for (table, plan) in planned.waiting.sorted(by: { $0.key < $1.key }) where !tables.contains(table) {
      planned.waiting[table] = nil
      try abort(plan.op)
    }
  }

  /// To be called in the transaction of an app's change, after it: where changes go at once, what is to be sent is
  /// written down with what was changed, which saves a commit.
  func planAtOnce(_ state: inout TableState) throws(CaravanError) {
    guard planned.tables.contains(state.table), state.op == nil, !state.isLocalOnly, !state.isResyncing,
      state.fault == nil, !mayLose.contains(state.number), damage.isEmpty
    else { return }
    planned.waiting[state.table] = try plan(
      &state, within: PlanBounds(rows: EngineLimits.rowsPerPush, bytes: EngineLimits.bytesPerPush))
  }

  /// - Returns: also where to go on, when as many rows as one turn looks at were too large.
  private func collectable(
    in state: TableState, within bounds: PlanBounds
  ) throws(CaravanError) -> (rows: [StoredRow], rest: RowTable.Place?) {
    var rows: [StoredRow] = []
    var rest: RowTable.Place?
    var (bytes, room, passedOver) = (0, bounds.room, 0)
    try state.rows.visitCollectable(database, after: bounds.start) { (row) throws(CaravanError) in
      let isDeleted = row.head.presence.isDeleted
      guard !bounds.onlyDeletions || isDeleted else { return true }
      let body = row.cells.reduce(row.extra.count) { $0 + $1.bodyBytes }
      if let left = room {
        // The answer may hold another copy of the row.
        let cost = EngineLimits.rowCost + (isDeleted ? 0 : 2 * body + (try unsentBytes(of: row, in: state)))
        guard cost <= left else {
          passedOver += 1
          guard passedOver < EngineLimits.passedOverAtOnce else {
            rest = RowTable.Place(row)
            return false
          }
          return true
        }
        room = left - cost
      }
      bytes += body + state.codec.listedBytes(row.cells)
      guard rows.isEmpty || bytes <= bounds.bytes else { return false }
      rows.append(row)
      return rows.count < bounds.rows
    }
    return (rows, rest)
  }
}

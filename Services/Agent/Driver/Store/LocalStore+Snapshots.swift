internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

// Tables that show their zone as it once was (UNI-13). What others have written waits where rows wait for their chunks,
// while the token moves on. When the cloud has said up to which version that is all of the zone, and all of it is whole
// and free, it shows in one transaction. The device's own changes show at once: a row of which the cloud has not taken
// one, or that is in conflict, is seen as it is here.
extension LocalStore {
  /// Keeps an entry for the point that it belongs to.
  func keepAside(
    _ entry: Entry, _ state: inout TableState, _ summary: inout PullSummary
  ) throws(CaravanError) {
    // Of what was deleted here since, nothing comes back.
    if !entry.isDeleted, deletions.cover(entry.name, of: state.table, version: entry.version) { return }
    if try keepIncoming(entry, role: .waiting, of: state) > 0 { summary.staged += 1 }
    state.waiting += 1
  }

  /// A newer entry makes the one that waits pointless. If that was to be shown, its point is out of reach: the next one
  /// will do.
  func dropOvertaken(by entry: Entry, in state: inout TableState) throws(CaravanError) {
    guard let held = try incoming(named: entry.name, role: .waiting, of: state) else { return }
    try drop(held)
    state.waiting -= 1
    if held.version <= state.point, entry.version > state.point { state.point = 0 }
  }

  /// All of the zone is here as it was at `point`; nil: there is no saying.
  func reach(
    _ point: Seq?, _ state: inout TableState, _ summary: inout PullSummary
  ) throws(CaravanError) {
    if let point { state.point = max(state.point, point) }
    try show(&state, &summary)
  }

  /// Shows the point that has been reached, unless something of it lacks chunks, or an app has it open. Runs inside its
  /// caller's transaction.
  func show(_ state: inout TableState, _ summary: inout PullSummary) throws(CaravanError) {
    // Where something was lost here, what is told again brings a point with it.
    guard state.point > 0, !state.mustStartOver, state.waiting > 0 || state.isResyncing else { return }
    var some = try toShow(of: state)
    guard !some.isEmpty || state.isResyncing, try hasEveryChunk(state), try isFree(state) else { return }
    while let last = some.last {
      for waiting in some { try settle(waiting, &state, &summary) }
      some = try toShow(of: state, behind: (last.version, last.number))
    }
    if state.isResyncing { try endResync(&state, &summary) }
    state.waiting = try countIncoming(.waiting, of: state)
  }

  private func toShow(
    of state: TableState, behind last: (version: Seq, number: Int64) = (0, 0)
  ) throws(CaravanError) -> [StoredIncoming] {
    try database.all(
      """
      SELECT id, name, version, deleted, body, lacking, _authored, _modified, _created, _writer, _creator
      FROM incoming
      WHERE table_id = ? AND role = 0 AND version <= ? AND (version, id) > (?, ?) ORDER BY version, id LIMIT ?
      """, state.number, state.point, last.version, last.number, StoreLimits.shownAtOnce
    ) { row in StoredIncoming(row) }
  }

  private func hasEveryChunk(_ state: TableState) throws(CaravanError) -> Bool {
    try database.first(
      "SELECT EXISTS (SELECT 1 FROM incoming WHERE table_id = ? AND version <= ? AND lacking > 0 AND role = 0)",
      state.number, state.point
    ) { row in !row.flag(0) } ?? true
  }

  private func isFree(_ state: TableState) throws(CaravanError) -> Bool {
    guard resolutions[state.table] == nil else { return false }
    for write in openWrites.all.values where write.table == state.table {
      for target in write.targets {
        let held = try incoming(named: target.id, role: .waiting, of: state)
        if let held, held.version <= state.point { return false }
      }
    }
    return true
  }
}

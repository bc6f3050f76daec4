internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

// Tables that show their zone as it once was (UNI-13). What others have written waits where rows wait for their chunks,
// while the token moves on. When the cloud has said up to which version that is all of the zone, and all of it is whole
// and free, it shows in one transaction. The device's own changes show at once: a row of which the cloud has not taken
// one, or that is in conflict, is seen as it is here.
extension Arrivals {
  /// Keeps an entry for the point that it belongs to.
  func keepStaged(
    _ entry: Entry, _ state: inout TableState, _ summary: inout PullSummary
  ) throws(CaravanError) {
    // Of what was deleted here since, nothing comes back.
    if !entry.isDeleted, retention.wasDeleted(entry.name, of: state.table, version: entry.version) { return }
    if try inbox.keep(entry, role: .waiting, of: state) > 0 { summary.staged += 1 }
    state.waiting += 1
  }

  /// A newer entry makes the one that waits pointless. If that was to be shown, its point is out of reach: the next one
  /// will do.
  func dropOvertaken(by entry: Entry, in state: inout TableState) throws(CaravanError) {
    guard let held = try inbox.entry(named: entry.name, role: .waiting, of: state) else { return }
    try inbox.drop(held)
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
    var some = try inbox.toShow(of: state)
    guard !some.isEmpty || state.isResyncing, try inbox.hasEveryChunk(state), try isFree(state) else { return }
    while let last = some.last {
      for waiting in some { try settle(waiting, &state, &summary) }
      some = try inbox.toShow(of: state, behind: (last.version, last.number))
    }
    if state.isResyncing { try endResync(&state, &summary) }
    state.waiting = try inbox.count(.waiting, of: state)
  }

  private func isFree(_ state: TableState) throws(CaravanError) -> Bool {
    guard resolutions.sessions[state.table] == nil else { return false }
    for write in openWrites.all.values where write.table == state.table {
      for target in write.targets {
        let held = try inbox.entry(named: target.id, role: .waiting, of: state)
        if let held, held.version <= state.point { return false }
      }
    }
    return true
  }
}

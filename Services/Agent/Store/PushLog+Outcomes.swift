internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

// What becomes of the rows of a plan.
extension PushLog {
  func settle(
    _ op: UInt64, _ rows: [PlannedRow], _ outcomes: [Outcome], in state: inout TableState, _ summary: inout PushSummary
  ) throws(CaravanError) {
    let batch = try batches.batch(ofOp: op)
    var left: [Int64] = []
    for (row, outcome) in zip(rows, outcomes) {
      if try settle(row, outcome, in: &state, &summary) { left.append(row.key) }
    }
    guard batch != 0 else { return }
    let waiting = Set(left)
    for row in rows where !waiting.contains(row.key) { try batches.leave(batch, row: row.key, in: state) }
    try batches.rejoin(batch, left, in: state)
  }

  /// - Returns: whether the cloud still has to be told of what was sent.
  private func settle(
    _ planned: PlannedRow, _ outcome: Outcome, in state: inout TableState, _ summary: inout PushSummary
  ) throws(CaravanError) -> Bool {
    let table = state.table
    switch outcome {
    case .merged(_, let server?): try keepMerged(server, in: &state, &summary)
    case .refused(let error): summary.refusal = error
    case .accepted, .conflict, .aborted, .merged, .read: break
    }
    // Its head counts, whatever has become of its content.
    guard var row = try state.rows.unverified(key: planned.key, database)?.row else { return false }
    let (result, server) = try pushResult(outcome, planned, row, in: state)
    // What the change was made from is there under another version: the cloud lost it, and somebody offered it again.
    let (isLost, version) = (row.head.presence.isLost, row.head.version)
    let mayBeForgotten =
      isLost || version == 0
      || server.map { $0.version > version && LostRange.mayBeOfTwoIncarnations(version, $0.version) } ?? false
    if case .conflict = result, mayBeForgotten, let server, !server.isDeleted,
      try ancestors.isOwnPast(server, of: row, in: state)
    {
      _ = row.head.settle(.notApplied, armed: planned.armed)
      summary.dirty += 1
      try arrivals.adopt(server, by: row, in: state)
      return true
    }
    if let server, case .accepted(server.version, _) = result { try writer.note(server, ofRow: row.key, in: state) }
    if result != .notApplied { try tolerances.settle(row: row.key, in: state) }
    if case .accepted(let version, _) = result { try inbox.dropWaiting(named: row.id, through: version, of: &state) }
    var isLeft = false
    switch row.head.settle(result, armed: planned.armed) {
    case .clean:
      try ancestors.forget(of: row.key, in: state)
      summary.accepted += 1
    case .editedSince:
      if let body = planned.body {
        try ancestors.set(body, version: row.head.version, of: row.key, in: state)
      } else {
        if case .accepted(let version) = outcome { retention.noteDeletion(of: row.id, of: table, version: version) }
        try ancestors.forget(of: row.key, in: state)
      }
      summary.accepted += 1
      summary.dirty += 1
    case .remove:
      summary.accepted += 1
      if case .accepted(let version) = outcome {
        retention.noteDeletion(of: row.id, of: table, version: version)
      } else if let server {
        try retention.outdate(row.id, version: server.version, in: &state)
      }
      try writer.remove(row, of: state)
      return false
    case .conflict:
      let entry = server ?? Entry(name: row.id, version: 0, created: 0, isDeleted: true, writer: "")
      let lacking = try inbox.keep(entry, role: .serverCopy, of: state)
      summary.conflicts += 1
      isLeft = true
      summary.lacksChunks = summary.lacksChunks || lacking > 0
    case .rearmed:
      if case .aborted = outcome, let body = planned.body { try ancestors.keepPushed(body, of: row.key, in: state) }
      summary.dirty += 1
      isLeft = true
    }
    try state.rows.updateHead(row, database)
    return isLeft
  }

  /// Waits for the row to be settled, like an entry that came while it was in flight.
  private func keepMerged(
    _ server: Entry, in state: inout TableState, _ summary: inout PushSummary
  ) throws(CaravanError) {
    if let held = try inbox.entry(named: server.name, role: .waiting, of: state) {
      // What is still to be shown is shown first; this comes again in a page.
      guard held.version < server.version, !(state.showsSnapshots && held.version <= state.point) else { return }
    } else {
      state.waiting += 1
    }
    let lacking = try inbox.keep(server, role: .waiting, of: state)
    summary.lacksChunks = summary.lacksChunks || lacking > 0
  }

  private func pushResult(
    _ outcome: Outcome, _ planned: PlannedRow, _ row: StoredRow, in state: TableState
  ) throws(CaravanError) -> (RowHead.PushResult, server: Entry?) {
    switch outcome {
    case .accepted(let version): return (.accepted(version, asDelete: planned.body == nil), nil)
    case .aborted, .refused, .read: return (.notApplied, nil)
    // Nobody has said yet what the row is now, and pages will not.
    case .merged(_, nil) where row.head.presence.isLost: return (.notApplied, nil)
    // Somebody else has brought it there: after a restore, several may have it to offer.
    case .merged(_, let server?) where !server.isDeleted && server.body == planned.body:
      return (.accepted(server.version, asDelete: false), nil)
    // The row's own content is done with; at the version it had, whatever the cloud holds now is newer.
    case .merged: return (.accepted(row.head.version, asDelete: planned.body == nil), nil)
    case .conflict(let server):
      guard let server, !server.isDeleted else {
        return (.conflict(RowHead.ServerCopy(version: server?.version ?? 0, content: .deleted)), server)
      }
      if server.body == planned.body { return (.accepted(server.version, asDelete: false), nil) }
      let isSame = (try? state.codec.body(row.cells, extra: row.extra)) == server.body
      return (.conflict(RowHead.ServerCopy(version: server.version, content: isSame ? .same : .different)), server)
    }
  }
}

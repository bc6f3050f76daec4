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
    switch outcome {
    case .merged(_, let server?): try keepMerged(server, in: &state, &summary)
    case .refused(let error): summary.refusal = error
    case .accepted, .conflict, .aborted, .merged, .read: break
    }
    // Its head counts, whatever has become of its content.
    guard var row = try state.rows.unverified(key: planned.key, database)?.row else { return false }
    let server = outcome.copy
    let plan = try plan(outcome, planned, row, in: state)
    guard plan.effect != .gone else { return false }
    if plan.endsTolerance { try tolerances.settle(row: row.key, in: state) }
    if let version = plan.knownThrough { try inbox.dropWaiting(named: row.id, through: version, of: &state) }
    row.head = plan.head
    switch plan.effect {
    case .gone: return false
    case .adopt:
      guard let server else { preconditionFailure("a row adopts a copy that the cloud does not have") }
      summary.dirty += 1
      try arrivals.adopt(server, by: row, as: plan.head, in: state)
      return true
    case .clean:
      try ancestors.forget(of: row.key, in: state)
      summary.accepted += 1
    case .editedSince(let deletedAt):
      if let body = planned.body {
        try ancestors.set(body, version: row.head.version, of: row.key, in: state)
      } else {
        if let deletedAt { retention.noteDeletion(of: row.id, of: state.table, version: deletedAt) }
        try ancestors.forget(of: row.key, in: state)
      }
      summary.accepted += 1
      summary.dirty += 1
    case .remove(let removal):
      summary.accepted += 1
      try retention.note(removal, of: row.id, in: &state)
      try writer.remove(row, of: state)
      return false
    case .contest:
      let entry = server ?? Entry(name: row.id, version: 0, created: 0, isDeleted: true, writer: "")
      let lacking = try inbox.keep(entry, role: .serverCopy, of: state)
      summary.conflicts += 1
      summary.lacksChunks = summary.lacksChunks || lacking > 0
    case .sendAgain(let isInVain):
      if isInVain, let body = planned.body { try ancestors.keepPushed(body, of: row.key, in: state) }
      summary.dirty += 1
    }
    try state.rows.updateHead(row, database)
    return plan.effect.isLeft
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

  private func plan(
    _ outcome: Outcome, _ planned: PlannedRow, _ row: StoredRow, in state: TableState
  ) throws(CaravanError) -> RowPlan.Answered {
    let inquiry = RowInquiry.Answered(
      outcome.verdict, armed: planned.armed, sentDeletion: planned.body == nil)
    var facts = RowFacts(row.head)
    while true {
      switch inquiry.next(knowing: facts) {
      case .plan(let plan): return plan
      case .ask(let question):
        guard let copy = outcome.copy else { preconditionFailure("\(question) was asked of no copy") }
        facts[question] = try answer(question, copy, planned, row, in: state)
      }
    }
  }

  private func answer(
    _ question: RowQuestion, _ copy: Entry, _ planned: PlannedRow, _ row: StoredRow, in state: TableState
  ) throws(CaravanError) -> Bool {
    switch question {
    case .isAsSent: return copy.body == planned.body
    case .isAsHere: return (try? state.codec.body(row.cells, extra: row.extra)) == copy.body
    case .isOwnPast: return try ancestors.isOwnPast(copy, of: row, in: state)
    case .wasDeleted, .isBusy, .belongs, .isWhole: preconditionFailure("\(question) was asked of a push's answer")
    }
  }
}

extension Outcome {
  fileprivate var verdict: RowInquiry.Answered.Verdict {
    switch self {
    case .accepted(let version): .accepted(version)
    case .aborted: .aborted
    case .refused, .read: .refused
    case .merged(_, let copy): .merged(copy.map { RowInquiry.Copy($0) })
    case .conflict(let copy): .conflict(copy.map { RowInquiry.Copy($0) })
    }
  }

  /// The cloud's.
  fileprivate var copy: Entry? {
    switch self {
    case .merged(_, let copy), .conflict(let copy): copy
    case .accepted, .aborted, .refused, .read: nil
    }
  }
}

extension RowInquiry.Copy {
  fileprivate init(_ entry: Entry) { self.init(version: entry.version, isDeleted: entry.isDeleted) }
}

extension RowPlan.Answered.Effect {
  /// The cloud still has to be told of what was sent.
  fileprivate var isLeft: Bool {
    switch self {
    case .adopt, .contest, .sendAgain: true
    case .gone, .clean, .editedSince, .remove: false
    }
  }
}

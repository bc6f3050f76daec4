public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

extension Outcome {
  fileprivate var isAccepted: Bool {
    if case .accepted = self { true } else { false }
  }
}

extension ConflictPolicy {
  /// Who decides wants to know which fields were edited, and when.
  fileprivate var needsTerms: Bool { self != .manual && self != .deterministic }
}

extension LocalStore {
  /// Writes the row down as it is now; it may change while the plan is in flight, the plan does not.
  func writeDown(
    _ collected: StoredRow, as position: Int, of op: UInt64, _ type: UInt32, in state: TableState
  ) throws(CaravanError) -> Mutation {
    var row = collected
    let armed = row.head.collect()
    try state.rows.updateHead(row, database)
    let body = row.head.presence.isDeleted ? nil : try state.codec.body(row.cells, extra: row.extra)
    let chunks = try body.map { (body) throws(CaravanError) in try RowCodec.chunks(inBody: body) } ?? []
    try chunkTable.retain(chunks)
    try database.run(
      "INSERT INTO plan_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)", op, position, row.key, row.id, row.head.version, type,
      body,
      armed.objects ? 2 : 1)
    var mutation = Self.mutation(id: row.id, base: row.head.base, type, body, chunks)
    mutation.isOffer = try isOffer(row.key, base: mutation.base, isLost: row.head.presence == .lost, in: state)
    mutation.terms = try terms(of: row, body, in: state)
    return mutation
  }

  private func isOffer(
    _ key: Int64, base: Base, isLost: Bool, in state: TableState
  ) throws(CaravanError) -> Bool { base == .absent ? try ancestors.wasPushed(key, in: state) : isLost }

  /// What the cloud needs to decide a conflict of the row, where its type wants that (UNI-02): which fields were edited
  /// since they came from there, and when; and for a program all three copies (CK-34, CK-36). Edits that wait together
  /// count as of the last of them.
  private func terms(of row: StoredRow, _ body: [UInt8]?, in state: TableState) throws(CaravanError) -> WriteTerms? {
    guard let policy = state.type?.settings?.conflicts, policy.needsTerms else { return nil }
    // What is offered is from before the restore, and the cloud knows best when that was.
    guard row.head.presence != .lost else { return nil }
    let edited = HybridStamp(rawValue: UInt64(max(0, row.change)))
    var terms = WriteTerms(stamp: edited)
    guard let body, let ancestor = try ancestors.body(of: row.key, in: state) else { return terms }
    if policy == .serverExtension { terms.ancestor = ancestor }
    if let old = try? EncodedFields(ancestor), let new = try? EncodedFields(body) {
      for field in new.changes(from: old) { terms.fieldStamps[field] = edited }
    }
    return terms
  }

  private static func mutation(
    id: String, base: Base, _ type: UInt32, _ body: [UInt8]?, _ chunks: [ChunkHash]
  ) -> Mutation {
    guard let body else { return Mutation(name: id, base: base, change: .delete) }
    var seen: Set<ChunkHash> = []
    let distinct = chunks.filter { seen.insert($0).inserted }
    return Mutation(name: id, base: base, change: .save(type: type, body: body, chunks: distinct))
  }

  public func plansInFlight() throws(CaravanError) -> [PushPlan] {
    catalog.dropUntaken()
    var plans: [PushPlan] = []
    let heads = try database.all("SELECT op, epoch, table_id, batch FROM plans ORDER BY op") { row in
      (op: row.unsigned(0), epoch: row.unsigned(1), table: row.integer(2), isAtomic: row.integer(3) != 0)
    }
    for head in heads {
      guard let state = tables.values.first(where: { $0.number == head.table }) else { continue }
      let rows = try plannedRows(of: head.op)
      let tolerated = try tolerances.count(among: rows.map(\.key), in: state)
      let mutations = try rows.map { (row) throws(CaravanError) in
        let chunks = try row.body.map { (body) throws(CaravanError) in try RowCodec.chunks(inBody: body) } ?? []
        var mutation = Self.mutation(id: row.id, base: row.base, row.type, row.body, chunks)
        mutation.isOffer = try isOffer(row.key, base: row.base, isLost: false, in: state)
        return mutation
      }
      plans.append(
        PushPlan(
          op: head.op, epoch: head.epoch, table: state.table, type: state.type?.id ?? 0, mutations: mutations,
          isAtomic: head.isAtomic, canBeSent: state.type?.settings?.conflicts.needsTerms != true,
          toleratedRows: tolerated))
    }
    return plans
  }

  private struct PlannedRow {
    let key: Int64
    let id: String
    let base: Base
    let type: UInt32
    /// Nil: a deletion.
    let body: [UInt8]?
    let armed: RowChange
  }

  private func plannedRows(of op: UInt64) throws(CaravanError) -> [PlannedRow] {
    try database.all("SELECT row, id, base, type, body, armed FROM plan_rows WHERE op = ? ORDER BY position", op) {
      row in
      PlannedRow(
        key: row.integer(0), id: row.text(1), base: row.unsigned(2) == 0 ? .absent : .version(row.unsigned(2)),
        type: UInt32(truncatingIfNeeded: row.integer(3)), body: row.isNull(4) ? nil : row.bytes(4),
        armed: RowChange(cells: true, objects: row.integer(5) & 2 != 0))
    }
  }

  // MARK: Results

  /// That all rows were accepted survives a power cut only with the next change that does: until then the plan would be
  /// found in flight, and its outcomes asked for again.
  @discardableResult
  public func record(
    _ outcomes: [Outcome], of op: UInt64, by stamp: CommitStamp? = nil
  ) throws(CaravanError) -> PushSummary {
    guard let table = table(ofOp: op) else { return PushSummary() }
    let rows = try plannedRows(of: op)
    guard rows.count == outcomes.count else {
      throw CaravanError(.invalidData, "op \(op) has \(rows.count) rows and \(outcomes.count) outcomes came: settle it")
    }
    let now = host.clock.wallTime.milliseconds
    // An app hears of a conflict only when it is there to stay.
    let durability: TransactionDurability = outcomes.allSatisfy(\.isAccepted) ? .later : .atOnce
    let summary = try change(table, durability, isFreeing: true) { (state) throws(CaravanError) -> PushSummary in
      var summary = PushSummary()
      let newest = try batches.batch(ofOp: op) == 0 ? nil : batches.newestUnchanged(among: rows.map(\.key), in: state)
      for (row, outcome) in zip(rows, outcomes) {
        try refusals.note(outcome, ofRow: row.key, newest: newest, in: &state)
      }
      for (row, outcome) in zip(rows, outcomes) {
        if case .accepted(let version) = outcome { isWhole(atCloud: row.id, version: version, of: table) }
      }
      try settle(op, rows, outcomes, in: &state, &summary)
      if let stamp { try note(stamp, of: rows, outcomes, in: state) }
      for case .accepted(let version) in outcomes { state.ownThrough = state.ownThrough.map { max($0, version) } }
      state.lastSync = now
      state.refused = ""
      try finish(op, rows, &state)
      return summary
    }
    if durability == .later { context.settledLater = min(context.settledLater ?? op, op) }
    try afterSettling(table)
    return summary
  }

  private func note(
    _ stamp: CommitStamp, of rows: [PlannedRow], _ outcomes: [Outcome], in state: TableState
  ) throws(CaravanError) {
    for (row, outcome) in zip(rows, outcomes) {
      guard case .accepted(let version) = outcome, row.body != nil else { continue }
      try state.rows.note(stamp, ofRow: row.key, at: version, over: row.base, database)
    }
  }

  public func abort(_ op: UInt64) throws(CaravanError) {
    guard let table = table(ofOp: op) else { return }
    let rows = try plannedRows(of: op)
    try change(table, isFreeing: true) { (state) throws(CaravanError) in
      var summary = PushSummary()
      try settle(op, rows, rows.map { _ in .aborted }, in: &state, &summary)
      try finish(op, rows, &state)
    }
    try afterSettling(table)
  }

  private func table(ofOp op: UInt64) -> TableID? { tables.values.first { $0.op == op }?.table }

  /// The plan has done its work: what waited for its rows is applied, and what is not to be kept can go.
  private func finish(_ op: UInt64, _ rows: [PlannedRow], _ state: inout TableState) throws(CaravanError) {
    for case let body? in rows.map(\.body) { try chunkTable.release(try RowCodec.chunks(inBody: body)) }
    try database.run("DELETE FROM plan_rows WHERE op = ?", op)
    try database.run("DELETE FROM plans WHERE op = ?", op)
    state.op = nil
    try applyWaiting(&state)
    try leaveStrangers(among: rows.map(\.key), in: &state)
    try leaveOld(&state)
    try openWrites.sweep()
    try state.save(database)
  }

  private func afterSettling(_ table: TableID) throws(CaravanError) {
    catalog.tellNewsIfAny(of: table)
    if !damage.isEmpty { damage.tell?() }
    try catalog.tellCollectable(of: table)
  }

  private func settle(
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
      || server.map { $0.version > version && LostRange.mayBeOfTwoLives(version, $0.version) } ?? false
    if case .conflict = result, mayBeForgotten, let server, !server.isDeleted,
      try ancestors.isOwnPast(server, of: row, in: state)
    {
      _ = row.head.settle(.notApplied, armed: planned.armed)
      summary.dirty += 1
      try adopt(server, by: row, in: state)
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
        if case .accepted(let version) = outcome { deletions.add(row.id, of: table, version: version) }
        try ancestors.forget(of: row.key, in: state)
      }
      summary.accepted += 1
      summary.dirty += 1
    case .remove:
      summary.accepted += 1
      if case .accepted(let version) = outcome {
        deletions.add(row.id, of: table, version: version)
      } else if let server {
        try outdate(row.id, version: server.version, in: &state)
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

  /// The row's change is based on what is its own past. An echo has no body: it is of what the row is based on already.
  func adopt(_ copy: Entry, by changed: StoredRow, in state: TableState) throws(CaravanError) {
    var row = changed
    if try ancestors.wasPushed(copy.body, of: row.key, in: state) {
      // Nobody can be shown what is not here any more.
      if try objectChunks.absent(copy.body, in: state).isEmpty {
        try ancestors.set(copy.body, version: copy.version, of: row.key, in: state)
      } else {
        try ancestors.forget(of: row.key, in: state)
      }
    }
    row.head = row.head.adopting(copy.version)
    try state.rows.updateHead(row, database)
    try writer.note(copy, ofRow: row.key, in: state)
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

  // MARK: Chunks

  public func unsentChunks(of op: UInt64) throws(CaravanError) -> [ChunkNeed] {
    let rows = try database.all(
      """
      SELECT plan_rows.body, ancestors.body FROM plan_rows JOIN plans ON plans.op = plan_rows.op
      LEFT JOIN ancestors ON ancestors.table_id = plans.table_id AND ancestors.row = plan_rows.row
        AND ancestors.version = plan_rows.base
      WHERE plan_rows.op = ? AND plan_rows.body IS NOT NULL ORDER BY position
      """, op
    ) { row in (body: row.bytes(0), ancestor: row.bytes(1)) }
    guard let state = tables.values.first(where: { $0.op == op }) else { return [] }
    var seen: Set<ChunkHash> = []
    var needs: [ChunkNeed] = []
    for (body, ancestor) in rows {
      let old = try RowCodec.objects(inBody: ancestor)
      needs += try objectChunks.needs(of: body, in: state) { field in old.first { $0.field == field }?.object }
        .filter { seen.insert($0.hash).inserted }
    }
    return needs
  }

  public func held(_ hashes: [ChunkHash]) throws(CaravanError) -> [ChunkHash] {
    let (database, reader) = (try database, chunkReader(try database))
    return try database.reading { () throws(CaravanError) in
      var held: [ChunkHash] = []
      for hash in hashes where try reader.isPresent(hash) { held.append(hash) }
      return held
    }
  }

  public func chunks(_ hashes: [ChunkHash], maximumBytes: Int) throws(CaravanError) -> [LocalChunk] {
    let reader = chunkReader(try database)
    return try database.reading { () throws(CaravanError) in
      var chunks: [LocalChunk] = []
      var bytes = 0
      for hash in hashes {
        guard let data = try reader.bytes(hash) else {
          damage.note(hash)
          continue
        }
        bytes += data.count
        guard chunks.isEmpty || bytes <= maximumBytes else { break }
        chunks.append(LocalChunk(hash: hash, bytes: data))
      }
      return chunks
    }
  }
}

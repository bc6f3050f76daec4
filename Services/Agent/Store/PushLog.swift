internal import CaravanAgentCore
internal import CaravanModel
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

/// What is on its way to the cloud: plans, from when they are made until their outcomes are recorded.
final class PushLog: TablePart {
  let arrivals: Arrivals
  let lossQueue: LossQueue
  let refusals: Refusals
  /// Tables whose changes are planned with the change itself.
  var plannedTables: Set<TableID> = []

  var catalog: TableCatalog { arrivals.catalog }
  var batches: Batches { catalog.batches }
  var tolerances: Tolerances { catalog.tolerances }
  var repair: Repair { arrivals.repair }
  var ancestors: Ancestors { arrivals.ancestors }
  var objectChunks: ObjectChunks { arrivals.objectChunks }
  var retention: Retention { arrivals.retention }
  var inbox: Inbox { arrivals.inbox }
  var writer: RowWriter { arrivals.writer }
  var openWrites: OpenWrites { arrivals.openWrites }
  var cloudDamage: CloudDamageLog { arrivals.cloudDamage }

  init(arrivals: Arrivals, lossQueue: LossQueue, refusals: Refusals) {
    (self.arrivals, self.lossQueue, self.refusals) = (arrivals, lossQueue, refusals)
  }

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

  func plansInFlight() throws(CaravanError) -> [PushPlan] {
    catalog.dropUntaken()
    var plans: [PushPlan] = []
    let heads = try database.all("SELECT op, epoch, table_id, batch FROM plans ORDER BY op") { row in
      (op: row.unsigned(0), epoch: row.unsigned(1), table: row.integer(2), isAtomic: row.integer(3) != 0)
    }
    for head in heads {
      guard let state = catalog.tables.values.first(where: { $0.number == head.table }) else { continue }
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

  struct PlannedRow {
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
  func record(
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
        if case .accepted(let version) = outcome { cloudDamage.isWhole(row.id, version: version, of: table) }
      }
      try liftRefusals(after: zip(rows, outcomes).filter { $0.1.isAccepted }.map(\.0), in: &state)
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

  func abort(_ op: UInt64) throws(CaravanError) {
    guard let table = table(ofOp: op) else { return }
    let rows = try plannedRows(of: op)
    try change(table, isFreeing: true) { (state) throws(CaravanError) in
      var summary = PushSummary()
      try settle(op, rows, rows.map { _ in .aborted }, in: &state, &summary)
      try finish(op, rows, &state)
    }
    try afterSettling(table)
  }

  private func table(ofOp op: UInt64) -> TableID? { catalog.tables.values.first { $0.op == op }?.table }

  /// The plan has done its work: what waited for its rows is applied, and what is not to be kept can go.
  private func finish(_ op: UInt64, _ rows: [PlannedRow], _ state: inout TableState) throws(CaravanError) {
    for case let body? in rows.map(\.body) { try chunkTable.release(try RowCodec.chunks(inBody: body)) }
    try database.run("DELETE FROM plan_rows WHERE op = ?", op)
    try database.run("DELETE FROM plans WHERE op = ?", op)
    state.op = nil
    try arrivals.applyWaiting(&state)
    try retention.evictOutOfFilter(among: rows.map(\.key), in: &state)
    try retention.evictOld(&state)
    try openWrites.sweep()
    try state.save(database)
  }

  private func afterSettling(_ table: TableID) throws(CaravanError) {
    catalog.tellNewsIfAny(of: table)
    if !damage.isEmpty { damage.tell?() }
    try catalog.tellCollectable(of: table)
  }

  // MARK: Chunks

  func unsentChunks(of op: UInt64) throws(CaravanError) -> [ChunkNeed] {
    let rows = try database.all(
      """
      SELECT plan_rows.body, ancestors.body FROM plan_rows JOIN plans ON plans.op = plan_rows.op
      LEFT JOIN ancestors ON ancestors.table_id = plans.table_id AND ancestors.row = plan_rows.row
        AND ancestors.version = plan_rows.base
      WHERE plan_rows.op = ? AND plan_rows.body IS NOT NULL ORDER BY position
      """, op
    ) { row in (body: row.bytes(0), ancestor: row.bytes(1)) }
    guard let state = catalog.tables.values.first(where: { $0.op == op }) else { return [] }
    var seen: Set<ChunkHash> = []
    var needs: [ChunkNeed] = []
    for (body, ancestor) in rows {
      let old = try RowCodec.objects(inBody: ancestor)
      needs += try objectChunks.needs(of: body, in: state) { field in old.first { $0.field == field }?.object }
        .filter { seen.insert($0.hash).inserted }
    }
    return needs
  }
}

internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Rows that an app has changed together, as long as the cloud does not have them (REC-23). They go to it in one commit
/// that takes all of them or none; a row that was changed by two batches makes them one.
enum BatchTable {
  static let statements = """
    CREATE TABLE batch_rows (
      table_id INTEGER NOT NULL, row INTEGER NOT NULL, batch INTEGER NOT NULL, PRIMARY KEY (table_id, row)
    ) WITHOUT ROWID;
    CREATE INDEX batch_rows_by_batch ON batch_rows (table_id, batch);
    """

  /// Numbers of the tables that have some.
  static func tables(_ database: Connection) throws(CaravanError) -> Set<Int64> {
    Set(try database.all("SELECT DISTINCT table_id FROM batch_rows") { row in row.integer(0) })
  }
}

/// Which rows go to the cloud together. Everything here runs in the transaction of its caller.
final class Batches: StorePart {
  let context: StoreContext
  /// Numbers of tables with rows that go to the cloud together; those that have had such since the start, too.
  private var batched: Set<Int64> = []

  init(_ context: StoreContext) { self.context = context }

  func recall() throws(CaravanError) { batched = try BatchTable.tables(database) }

  // MARK: Joining

  /// - Throws: `limitExceeded` when it is more than the cloud commits at once.
  static func check(rows: Int, bytes: Int, of app: ContainerID) throws(CaravanError) {
    guard rows <= Limits.groupRecords, bytes <= Limits.groupBytes else {
      throw CaravanError(
        .limitExceeded,
        "\(rows) rows with \(bytes) bytes of app '\(app)' would be written together: the limit is "
          + "\(Limits.groupRecords) rows and \(Limits.groupBytes) bytes, make more batches")
    }
  }

  /// Rows become one batch, with all that they were to go together with and that is not on its way.
  /// - Throws: `limitExceeded` when that are more than the cloud takes at once.
  func join(_ rows: [StoredRow], in state: TableState) throws(CaravanError) {
    guard !state.isLocalOnly else { return }
    let bytes = rows.reduce(0) { $0 + $1.bodyBytes }
    try Self.check(rows: rows.count, bytes: bytes, of: state.table.app)
    let joined = try newBatch(in: state)
    let sent = try batchInFlight(in: state)
    for row in rows {
      // What a row that is in flight was changed together with since waits for it like the row.
      if let old = try batch(of: row.key, in: state), old != joined, old != sent {
        try merge(old, into: joined, in: state)
      }
      try database.run("INSERT OR REPLACE INTO batch_rows VALUES (?, ?, ?)", state.number, row.key, joined)
    }
    let count = try rowsAtOnce(with: joined, in: state)
    guard count <= Limits.groupRecords else {
      throw CaravanError(
        .limitExceeded,
        "\(count) rows of '\(state.table.name)' would have to go to the cloud at once, those of earlier batches "
          + "included that wait: the limit is \(Limits.groupRecords), sync first")
    }
  }

  /// Nil: no batch is on its way.
  private func batchInFlight(in state: TableState) throws(CaravanError) -> Int64? {
    guard let op = state.op else { return nil }
    let batch = try batch(ofOp: op)
    return batch == 0 ? nil : batch
  }

  /// How many go with the batch at most: if what is in flight comes to nothing, all that share its rows are one.
  private func rowsAtOnce(with batch: Int64, in state: TableState) throws(CaravanError) -> Int {
    var batches: Set<Int64> = [batch]
    if let op = state.op, let sent = try batchInFlight(in: state) {
      let shared = try database.all(
        """
        SELECT DISTINCT batch FROM batch_rows JOIN plan_rows ON plan_rows.row = batch_rows.row
        WHERE table_id = ? AND op = ?
        """, state.number, op
      ) { row in row.integer(0) }
      if shared.contains(batch) { batches.formUnion(shared + [sent]) }
    }
    var count = 0
    for batch in batches {
      count +=
        try database.first(
          "SELECT count(*) FROM batch_rows WHERE table_id = ? AND batch = ?", state.number, batch
        ) { row in Int(row.integer(0)) } ?? 0
    }
    return count
  }

  private func newBatch(in state: TableState) throws(CaravanError) -> Int64 {
    batched.insert(state.number)
    return nextChange()
  }

  private func merge(_ old: Int64, into batch: Int64, in state: TableState) throws(CaravanError) {
    try database.run(
      "UPDATE batch_rows SET batch = ? WHERE table_id = ? AND batch = ?", batch, state.number, old)
  }

  // MARK: Leaving

  /// The row has nothing more to go together with others.
  func leave(_ key: Int64, in state: TableState) throws(CaravanError) {
    guard batched.contains(state.number) else { return }
    try database.run("DELETE FROM batch_rows WHERE table_id = ? AND row = ?", state.number, key)
  }

  /// Rows that are no more have left.
  func leaveMissing(in state: TableState) throws(CaravanError) {
    try database.statement(
      text: "DELETE FROM batch_rows WHERE table_id = ? AND row NOT IN (SELECT _row FROM \(state.rows.quotedName))"
    ).run(state.number)
  }

  /// The cloud has the row as it was in `batch`; what it was changed in since is another one.
  func leave(_ batch: Int64, row key: Int64, in state: TableState) throws(CaravanError) {
    try database.run(
      "DELETE FROM batch_rows WHERE table_id = ? AND row = ? AND batch = ?", state.number, key, batch)
  }

  /// The cloud has not taken a batch: what its rows were changed together with since waits for them.
  func rejoin(_ batch: Int64, _ rows: [Int64], in state: TableState) throws(CaravanError) {
    for key in rows {
      if let newer = try self.batch(of: key, in: state), newer != batch { try merge(newer, into: batch, in: state) }
    }
  }

  // MARK: Collecting

  /// Nil: the row goes by itself.
  func batch(of key: Int64, in state: TableState) throws(CaravanError) -> Int64? {
    guard batched.contains(state.number) else { return nil }
    return try database.first("SELECT batch FROM batch_rows WHERE table_id = ? AND row = ?", state.number, key) { row in
      row.integer(0)
    }
  }

  /// 0: its rows went by themselves.
  func batch(ofOp op: UInt64) throws(CaravanError) -> Int64 {
    try database.first("SELECT batch FROM plans WHERE op = ?", op) { row in row.integer(0) } ?? 0
  }

  func newestChange(of batch: Int64, in state: TableState) throws(CaravanError) -> Int64 {
    let text = """
      SELECT max(_change) FROM \(state.rows.quotedName) JOIN batch_rows ON batch_rows.row = _row
      WHERE batch_rows.table_id = ? AND batch_rows.batch = ?
      """
    return try database.statement(text: text).first(state.number, batch) { row in row.integer(0) } ?? 0
  }

  /// Of those that have not been changed while they were on their way; what has been is newer than all of them.
  func newestUnchanged(among keys: [Int64], in state: TableState) throws(CaravanError) -> Int64 {
    var newest: Int64 = 0
    for key in keys {
      guard let row = try state.rows.unverified(key: key, database)?.row, !row.head.flags.isDirty else {
        continue
      }
      newest = max(newest, row.change)
    }
    return newest
  }

  /// What is to be sent of a batch, oldest change first. Nil: one of its rows may not go now, so none does.
  func rows(of batch: Int64, in state: TableState) throws(CaravanError) -> [StoredRow]? {
    let members = try heads(in: state, of: batch).filter { !$0.isDone }
    guard members.allSatisfy(\.mayGo) else { return nil }
    var rows: [StoredRow] = []
    for member in members {
      guard let row = try state.rows.soundRow(key: member.key, database) else { return nil }
      rows.append(row)
    }
    return rows
  }

  /// Dirty rows that wait for others of their batch.
  func heldBack(in state: TableState) throws(CaravanError) -> Int {
    guard batched.contains(state.number) else { return 0 }
    let heads = try heads(in: state)
    let waiting = Set(heads.lazy.filter { !$0.isDone && !$0.mayGo }.map(\.batch))
    return heads.count { $0.mayGo && waiting.contains($0.batch) }
  }

  private struct Member {
    let key: Int64
    let batch: Int64
    let head: RowHead

    /// Came to be as the cloud has it, one way or another.
    var isDone: Bool { head.flags == .clean && head.presence == .live }
    var mayGo: Bool { head.flags.isCollectable && !head.presence.isUnconfirmed }
  }

  /// - Parameter batch: nil: all of them.
  private func heads(in state: TableState, of batch: Int64? = nil) throws(CaravanError) -> [Member] {
    let text = """
      SELECT batch_rows.row, batch_rows.batch, _flags, _presence FROM batch_rows
      JOIN \(state.rows.quotedName) ON _row = batch_rows.row
      WHERE batch_rows.table_id = ?1 AND \(batch == nil ? "?2 IS NULL" : "batch_rows.batch = ?2")
      ORDER BY _change, _row
      """
    return try database.statement(text: text).all(state.number, batch) { row in
      Member(
        key: row.integer(0), batch: row.integer(1),
        head: RowHead(
          flags: RowFlags(packed: row.integer(2)), presence: RowHead.Presence(rawValue: row.integer(3)) ?? .torn))
    }
  }
}

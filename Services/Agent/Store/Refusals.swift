internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Rows of which the cloud has said that it does not take them as they are (SIM-83): at most one entry for each row
/// that there is, on the disk only, so that however many they are they take no memory.
enum RefusalTable {
  /// `change` is the row's, then: who has changed it since has to hear what the cloud says of that. `newest` is the
  /// newest change of what went with it: who has changed one row of a batch has changed all.
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS refusals (
        id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, row INTEGER NOT NULL, change INTEGER NOT NULL,
        reason TEXT NOT NULL, newest INTEGER NOT NULL DEFAULT 0, UNIQUE (table_id, row))
      """)
    let columns = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('refusals') WHERE name = 'newest')"
    guard try database.statement(text: columns).first(read: { row in row.flag(0) }) != true else { return }
    // Until then only memory had it, and the next agent asked once more.
    try database.execute("ALTER TABLE refusals ADD COLUMN newest INTEGER NOT NULL DEFAULT 0")
  }

  /// Numbers of the tables that have some.
  static func tables(_ database: Connection) throws(CaravanError) -> Set<Int64> {
    Set(try database.all("SELECT DISTINCT table_id FROM refusals") { row in row.integer(0) })
  }

  static func hasAny(ofTable table: Int64, _ database: Connection) throws(CaravanError) -> Bool {
    try database.first("SELECT EXISTS (SELECT 1 FROM refusals WHERE table_id = ?)", table) { row in row.flag(0) }
      ?? false
  }

  /// Why a row was refused as it is at `change`; empty: it was not.
  static func reason(
    row key: Int64, atChange change: Int64, of table: Int64, _ database: Connection
  ) throws(CaravanError) -> String {
    try database.first(
      "SELECT reason FROM refusals WHERE table_id = ? AND row = ? AND change = ?", table, key, change
    ) { row in row.text(0) } ?? ""
  }
}

/// What the cloud has refused, and does not get again before something else has gone.
struct Refusals: StorePart {
  let context: StoreContext
  let batches: Batches

  /// Whether a batch was refused as it is: none of its rows has been changed since.
  func isRefused(batch: Int64, in state: TableState) throws(CaravanError) -> Bool {
    guard state.hasRefusals else { return false }
    let text = """
      SELECT max(refusals.newest) FROM batch_rows
      CROSS JOIN refusals ON refusals.table_id = batch_rows.table_id AND refusals.row = batch_rows.row
      CROSS JOIN \(state.rows.quotedName) ON _row = refusals.row AND _change = refusals.change
      WHERE batch_rows.table_id = ? AND batch_rows.batch = ? AND \(RowTable.isCollectable)
      """
    let refused = try database.statement(text: text).first(state.number, batch) { row in
      row.isNull(0) ? nil : row.integer(0)
    }
    guard case let newest?? = refused else { return false }
    return try batches.newestChange(of: batch, in: state) <= newest
  }

  /// Whether a row that goes by itself was refused as it is.
  func isRefused(_ row: StoredRow, in state: TableState) throws(CaravanError) -> Bool {
    guard state.hasRefusals else { return false }
    return try database.first(
      "SELECT EXISTS (SELECT 1 FROM refusals WHERE table_id = ? AND row = ? AND change = ?)", state.number, row.key,
      row.change
    ) { row in row.flag(0) } ?? false
  }

  /// Visits keys of rows that were refused as they are and could go, what was refused longest ago first, until `body`
  /// answers false. Of those of a batch, others may have been changed since.
  func visit(
    in state: TableState, _ body: (Int64) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    guard state.hasRefusals else { return }
    let text = """
      SELECT refusals.row FROM refusals
      CROSS JOIN \(state.rows.quotedName) ON _row = refusals.row AND _change = refusals.change
      WHERE refusals.table_id = ? AND \(RowTable.isCollectable) ORDER BY refusals.id
      """
    try database.statement(text: text).visit(state.number) { (row) throws(CaravanError) in try body(row.integer(0)) }
  }

  /// What the cloud said of a row, before the row is settled. Runs in the transaction that does.
  /// - Parameter newest: of the rows that went together; nil: it went by itself.
  func note(
    _ outcome: Outcome, ofRow key: Int64, newest: Int64?, in state: inout TableState
  ) throws(CaravanError) {
    if try forget(of: key, in: state) {
      state.hasRefusals = try RefusalTable.hasAny(ofTable: state.number, database)
    }
    // What was changed while it was on its way is another row to the cloud.
    guard case .refused(let error) = outcome, let row = try state.rows.unverified(key: key, database)?.row,
      !row.head.flags.isDirty
    else { return }
    try database.run(
      "INSERT INTO refusals (table_id, row, change, reason, newest) VALUES (?, ?, ?, ?, ?)", state.number, key,
      row.change, String(error.message.prefix(StoreLimits.refusalCharacters)), newest ?? row.change)
    state.hasRefusals = true
  }

  /// - Returns: whether there was one.
  @discardableResult
  func forget(of key: Int64, in state: TableState) throws(CaravanError) -> Bool {
    guard state.hasRefusals else { return false }
    return try database.first(
      "DELETE FROM refusals WHERE table_id = ? AND row = ? RETURNING 1", state.number, key
    ) { row in row.flag(0) } ?? false
  }

  /// Those of rows that are no more go.
  func forgetMissing(in state: TableState) throws(CaravanError) {
    try database.statement(
      text: "DELETE FROM refusals WHERE table_id = ? AND row NOT IN (SELECT _row FROM \(state.rows.quotedName))"
    ).run(state.number)
  }
}

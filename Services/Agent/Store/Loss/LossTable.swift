internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Which tables may lose rows, what became of them, and which rows wait: `tolerated` is the bounded queue of UNI-16, of
/// rows that are in their table as any other. Counts and queue change in the transaction of what they count.
struct LossTable {
  let database: Connection

  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS tolerances (
        table_id INTEGER PRIMARY KEY, maximum INTEGER NOT NULL, ttl INTEGER NOT NULL, on_request INTEGER NOT NULL,
        accepted INTEGER NOT NULL, settled INTEGER NOT NULL, expired INTEGER NOT NULL, lost_in_queue INTEGER NOT NULL,
        lost_to_server INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS tolerated (
        table_id INTEGER NOT NULL, row INTEGER NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (table_id, row)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS tolerated_by_end ON tolerated (table_id, expires) WHERE expires > 0;
      CREATE TABLE IF NOT EXISTS deadlines (table_id INTEGER PRIMARY KEY, due INTEGER NOT NULL);
      """)
  }

  /// Numbers of the tables that are registered with a tolerance.
  func tables() throws(CaravanError) -> Set<Int64> {
    Set(try database.all("SELECT table_id FROM tolerances") { row in row.integer(0) })
  }

  func ledger(of table: Int64) throws(CaravanError) -> LossLedger? {
    try database.first(
      """
      SELECT maximum, ttl, on_request, accepted, settled, expired, lost_in_queue, lost_to_server FROM tolerances
      WHERE table_id = ?
      """, table
    ) { row in
      LossLedger(
        LossTolerance(
          maximumPermille: UInt32(truncatingIfNeeded: row.integer(0)),
          timeToLiveMilliseconds: UInt32(truncatingIfNeeded: row.integer(1)), isOnRequest: row.flag(2)),
        accepted: row.unsigned(3), settled: row.unsigned(4), expired: row.unsigned(5), lostInQueue: row.unsigned(6),
        lostToServer: row.unsigned(7))
    }
  }

  func save(_ ledger: LossLedger, of table: Int64) throws(CaravanError) {
    let tolerance = ledger.tolerance
    try database.run(
      "INSERT OR REPLACE INTO tolerances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", table, tolerance.maximumPermille,
      tolerance.timeToLiveMilliseconds, tolerance.isOnRequest, ledger.accepted, ledger.settled, ledger.expired,
      ledger.lostInQueue, ledger.lostToServer)
  }

  /// Rows of the table may no longer be lost; those that wait are as any other.
  func end(_ table: Int64) throws(CaravanError) {
    try database.run("DELETE FROM tolerances WHERE table_id = ?", table)
    try database.run("DELETE FROM tolerated WHERE table_id = ?", table)
  }

  // MARK: Rows that wait

  /// - Parameter expires: wall clock, milliseconds; 0: never.
  func add(row: Int64, of table: Int64, expires: Int64) throws(CaravanError) {
    try database.run("INSERT INTO tolerated VALUES (?, ?, ?)", table, row, expires)
  }

  /// - Returns: whether the row was one that may be lost.
  func remove(row: Int64, of table: Int64) throws(CaravanError) -> Bool {
    try database.run("DELETE FROM tolerated WHERE table_id = ? AND row = ?", table, row)
    return database.changedRows > 0
  }

  /// Oldest first: rows get their keys in the order of their creation.
  func rows(of table: Int64) throws(CaravanError) -> [Int64] {
    try database.all("SELECT row FROM tolerated WHERE table_id = ? ORDER BY row", table) { row in row.integer(0) }
  }

  func rows(of table: Int64, expiredAt now: Int64) throws(CaravanError) -> [Int64] {
    try database.all(
      "SELECT row FROM tolerated WHERE table_id = ? AND expires > 0 AND expires <= ? ORDER BY row", table, now
    ) { row in row.integer(0) }
  }

  func contains(row: Int64, of table: Int64) throws(CaravanError) -> Bool {
    try database.first("SELECT 1 FROM tolerated WHERE table_id = ? AND row = ?", table, row) { _ in true } ?? false
  }

  // MARK: Deadlines of single writes

  /// Something in the table was written with a deadline of its own: wall clock, milliseconds.
  func note(deadline: Int64, of table: Int64) throws(CaravanError) {
    try database.run(
      "INSERT INTO deadlines VALUES (?, ?) ON CONFLICT DO UPDATE SET due = min(due, excluded.due)", table, deadline)
  }

  func deadline(of table: Int64) throws(CaravanError) -> Int64? {
    try database.first("SELECT due FROM deadlines WHERE table_id = ?", table) { row in row.integer(0) }
  }

  func clearDeadline(of table: Int64) throws(CaravanError) {
    try database.run("DELETE FROM deadlines WHERE table_id = ?", table)
  }
}

internal import AgentCore
internal import Model
internal import SQLite

/// Rows that a repair gave up, until their app has been told (SIM-82). The number of a table's is kept with the last.
enum DiscardTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS discarded (
        id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, row TEXT NOT NULL, count INTEGER NOT NULL);
      CREATE INDEX IF NOT EXISTS discarded_by_table ON discarded (table_id, id);
      """)
  }
}

extension LocalStore {
  func recallDiscarded() throws(CaravanError) {
    let counts = try database.all("SELECT table_id, max(count) FROM discarded GROUP BY table_id") { row in
      (number: row.integer(0), rows: Int(row.integer(1)))
    }
    for table in tables.keys {
      guard let rows = counts.first(where: { $0.number == tables[table]?.number })?.rows else { continue }
      tables[table]?.discarded = rows
    }
  }

  /// Its content is lost here, and the cloud does not have the row. The caller saves the table's state.
  func discard(_ row: StoredRow, of state: inout TableState) throws(CaravanError) {
    try removeRow(row, of: state)
    state.discarded += 1
    try database.run(
      "INSERT INTO discarded (table_id, row, count) VALUES (?, ?, ?)", state.number, row.id, state.discarded)
    try database.run(
      """
      DELETE FROM discarded WHERE table_id = ?1 AND id <= (
        SELECT id FROM discarded WHERE table_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
      """, state.number, StoreLimits.discardedRows)
  }

  /// A power cut may bring them back: told twice is better than never.
  func takeDiscarded(of state: TableState) throws(CaravanError) -> PendingUpcalls.Discarded {
    let names = try database.all("SELECT row FROM discarded WHERE table_id = ? ORDER BY id", state.number) { row in
      row.text(0)
    }
    try freeing { () throws(CaravanError) in
      try transaction(.later) { () throws(CaravanError) in
        try database.run("DELETE FROM discarded WHERE table_id = ?", state.number)
      }
    }
    return PendingUpcalls.Discarded(rows: state.discarded, names: names)
  }
}

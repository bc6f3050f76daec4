internal import AgentCore
internal import Model
internal import SQLite

/// Why the cloud refused a row.
struct RowRefusal: Sendable, Hashable {
  /// The row's, then: who has changed it since has to hear what the cloud says of that.
  let change: Int64
  let reason: String

  func reason(atChange change: Int64) -> String? { change == self.change ? reason : nil }
}

/// Rows of which the cloud has said that it does not take them as they are (SIM-83).
enum RefusalTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS refusals (
        id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, row INTEGER NOT NULL, change INTEGER NOT NULL,
        reason TEXT NOT NULL, UNIQUE (table_id, row))
      """)
  }

  /// By table and row.
  static func all(_ database: Connection) throws(CaravanError) -> [Int64: [Int64: RowRefusal]] {
    var refusals: [Int64: [Int64: RowRefusal]] = [:]
    let found = try database.all("SELECT table_id, row, change, reason FROM refusals") { row in
      (row.integer(0), row.integer(1), RowRefusal(change: row.integer(2), reason: row.text(3)))
    }
    for (table, row, refusal) in found { refusals[table, default: [:]][row] = refusal }
    return refusals
  }
}

extension LocalStore {
  /// What the cloud said of a row, before the row is settled. Runs in the transaction that does.
  func note(_ outcome: Outcome, ofRow key: Int64, in state: inout TableState) throws(CaravanError) {
    if state.refusals.removeValue(forKey: key) != nil {
      try database.run("DELETE FROM refusals WHERE table_id = ? AND row = ?", state.number, key)
    }
    // What was changed while it was on its way is another row to the cloud.
    guard case .refused(let error) = outcome, let row = try state.rows.unverified(key: key, database)?.row,
      !row.head.flags.isDirty
    else { return }
    let refusal = RowRefusal(change: row.change, reason: String(error.message.prefix(StoreLimits.refusalCharacters)))
    if state.refusals.count == StoreLimits.refusedRows {
      let oldest = try database.first(
        "SELECT row FROM refusals WHERE table_id = ? ORDER BY id LIMIT 1", state.number
      ) { row in row.integer(0) }
      if let oldest {
        state.refusals[oldest] = nil
        try database.run("DELETE FROM refusals WHERE table_id = ? AND row = ?", state.number, oldest)
      }
    }
    state.refusals[key] = refusal
    try database.run(
      "INSERT INTO refusals (table_id, row, change, reason) VALUES (?, ?, ?, ?)", state.number, key, refusal.change,
      refusal.reason)
  }
}

internal import AgentCore
internal import Model
internal import SQLite

/// Why the cloud refused a row.
struct RowRefusal: Sendable, Hashable {
  /// The row's, then: who has changed it since has to hear what the cloud says of that.
  let change: Int64
  let reason: String
  /// The newest change of what went with it: who has changed one row of a batch has changed all.
  let newest: Int64

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
      let change = row.integer(2)
      return (row.integer(0), row.integer(1), RowRefusal(change: change, reason: row.text(3), newest: change))
    }
    for (table, row, refusal) in found { refusals[table, default: [:]][row] = refusal }
    return refusals
  }
}

extension LocalStore {
  /// Those that could go, and have not been changed since, nor has a row of their batch.
  func refusedRows(in state: TableState) throws(CaravanError) -> Set<Int64> {
    guard !state.refusals.isEmpty else { return [] }
    var rows: Set<Int64> = []
    for (key, refusal) in state.refusals {
      guard let row = try state.rows.unverified(key: key, database)?.row, row.head.flags.isCollectable else { continue }
      guard refusal.reason(atChange: row.change) != nil else { continue }
      if let batch = try batch(of: key, in: state), try newestChange(of: batch, in: state) > refusal.newest { continue }
      rows.insert(key)
    }
    return rows
  }

  /// Keys of refused rows, what was refused longest ago first.
  func refusalsInTurn(in state: TableState) throws(CaravanError) -> [Int64] {
    guard !state.refusals.isEmpty else { return [] }
    return try database.all("SELECT row FROM refusals WHERE table_id = ? ORDER BY id", state.number) { row in
      row.integer(0)
    }
  }

  /// What the cloud said of a row, before the row is settled. Runs in the transaction that does.
  /// - Parameter newest: of the rows that went together; nil: it went by itself.
  func note(
    _ outcome: Outcome, ofRow key: Int64, newest: Int64?, in state: inout TableState
  ) throws(CaravanError) {
    if state.refusals.removeValue(forKey: key) != nil {
      try database.run("DELETE FROM refusals WHERE table_id = ? AND row = ?", state.number, key)
    }
    // What was changed while it was on its way is another row to the cloud.
    guard case .refused(let error) = outcome, let row = try state.rows.unverified(key: key, database)?.row,
      !row.head.flags.isDirty
    else { return }
    let refusal = RowRefusal(
      change: row.change, reason: String(error.message.prefix(StoreLimits.refusalCharacters)),
      newest: newest ?? row.change)
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

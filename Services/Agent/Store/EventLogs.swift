internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Each table's numbered events, and how far its app was told of them (SIM-23, SIM-24, SIM-44, SIM-82).
enum EventTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS event_logs (
        table_id INTEGER PRIMARY KEY, floor INTEGER NOT NULL, told INTEGER NOT NULL);
      -- `rows`: ids, a line each; fewer than `count` where they are many.
      CREATE TABLE IF NOT EXISTS events (
        table_id INTEGER NOT NULL, number INTEGER NOT NULL, kind INTEGER NOT NULL, count INTEGER NOT NULL,
        rows TEXT NOT NULL, PRIMARY KEY (table_id, number)) WITHOUT ROWID;
      """)
    try adoptCounts(in: database)
  }

  /// Until then a table's news were a number, and its lost rows had a table of their own.
  private static func adoptCounts(in database: Connection) throws(CaravanError) {
    let known = try database.first("SELECT 1 FROM sqlite_master WHERE name = 'discarded'") { _ in true }
    guard known == true else { return }
    try database.transaction { () throws(CaravanError) in
      try database.execute(
        """
        INSERT INTO events SELECT id, 1, \(TableEvent.changed.rawValue), news, '' FROM tables WHERE news > 0;
        INSERT INTO events SELECT table_id, 2, \(TableEvent.lost.rawValue), max(count), group_concat(row, char(10))
          FROM discarded WHERE table_id IN (SELECT id FROM tables) GROUP BY table_id;
        INSERT INTO event_logs SELECT id, 0, 0 FROM tables;
        UPDATE tables SET news = 0;
        DROP TABLE discarded;
        """)
    }
  }
}

/// What a transaction does to a table that its app is to hear of. Empty between transactions.
final class EventDraft {
  private(set) var rows: [TableEvent: EventRows] = [:]

  var isEmpty: Bool { rows.isEmpty }

  func note(_ event: TableEvent, _ row: String) { add(event, EventRows(count: 1, names: [row])) }

  /// Of rows without their names.
  func note(_ event: TableEvent, count: Int) { if count > 0 { add(event, EventRows(count: count)) } }

  private func add(_ event: TableEvent, _ more: EventRows) {
    rows[event, default: EventRows()].add(more, limit: StoreLimits.rowsPerEvent)
  }

  func take() -> [TableEvent: EventRows] {
    defer { rows = [:] }
    return rows
  }
}

/// The events of each table, as they are kept. Belongs to the transaction of its caller, unless it only reads.
struct EventLogs: StorePart {
  let context: StoreContext

  /// Every log that there is, by the number of its table.
  func all() throws(CaravanError) -> [Int64: EventLog] {
    let logs = try database.all("SELECT table_id, floor, told FROM event_logs") { row in
      (table: row.integer(0), floor: row.unsigned(1), told: row.unsigned(2))
    }
    let counts = try database.all("SELECT table_id, max(number), count(*) FROM events GROUP BY table_id") { row in
      (table: row.integer(0), last: row.unsigned(1), count: Int(row.integer(2)))
    }
    var all: [Int64: EventLog] = [:]
    for log in logs {
      let found = counts.first { $0.table == log.table }
      all[log.table] = EventLog(
        lowWatermark: log.floor, last: found?.last ?? log.floor, told: log.told, count: found?.count ?? 0)
    }
    return all
  }

  /// The log was lost with the file that it was in: who had been told anything looks anew.
  func beginAnew(of state: inout TableState) throws(CaravanError) {
    try database.run("DELETE FROM events WHERE table_id = ?", state.number)
    try begin(of: &state)
  }

  /// Part of making a table, inside its transaction.
  func begin(of state: inout TableState) throws(CaravanError) {
    state.log = EventLog(from: eventStamp)
    try database.run(
      "INSERT OR REPLACE INTO event_logs VALUES (?, ?, ?)", state.number, state.log.lowWatermark, state.log.told)
  }

  private var eventStamp: UInt64 { HybridStamp(milliseconds: host.clock.wallTime.milliseconds).rawValue }

  /// Writes down what the transaction that is about to end has done.
  func write(of state: inout TableState) throws(CaravanError) {
    guard !state.draft.isEmpty else { return }
    for (event, rows) in state.draft.take().sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      try database.run(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?)", state.number, state.log.next(eventStamp), event.rawValue,
        rows.count, rows.names.joined(separator: "\n"))
    }
    state.hasNews = true
    if state.log.count >= 2 * StoreLimits.eventsKept { try forget(of: &state) }
    try save(of: &state)
  }

  private func forget(of state: inout TableState) throws(CaravanError) {
    let floor = try database.first(
      "SELECT number FROM events WHERE table_id = ? ORDER BY number DESC LIMIT 1 OFFSET ?", state.number,
      StoreLimits.eventsKept
    ) { row in row.unsigned(0) }
    guard let floor else { return }
    try database.run("DELETE FROM events WHERE table_id = ? AND number <= ?", state.number, floor)
    (state.log.lowWatermark, state.log.count) = (floor, StoreLimits.eventsKept)
  }

  func save(of state: inout TableState) throws(CaravanError) {
    try database.run(
      "UPDATE event_logs SET floor = ?, told = ? WHERE table_id = ?", state.log.lowWatermark, state.log.told,
      state.number)
    state.log.noteSaved()
  }

  /// What happened to a table behind the event of this number, its conflicts aside.
  func upcalls(of state: TableState, after number: UInt64) throws(CaravanError) -> PendingUpcalls {
    var upcalls = PendingUpcalls(number: state.log.last)
    upcalls.isCutOff = !state.log.isWhole(after: number)
    let start = upcalls.isCutOff ? state.log.lowWatermark : number
    if start < state.log.last {
      let events = try database.all(
        "SELECT kind, count, rows FROM events WHERE table_id = ? AND number > ? ORDER BY number", state.number, start
      ) { row in
        (kind: TableEvent(rawValue: row.integer(0)), count: Int(row.integer(1)), names: row.text(2))
      }
      for event in events {
        let names = event.names.isEmpty ? [] : event.names.split(separator: "\n").map(String.init)
        upcalls.add(event.kind, EventRows(count: event.count, names: names), limit: StoreLimits.rowsPerUpcall)
      }
    }
    return upcalls
  }
}

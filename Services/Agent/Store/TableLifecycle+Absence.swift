internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// A device that hears that a table's zone does not exist hides the table's rows at once, and keeps what was not sent
// until the answer has been the same for long enough: access may be given back, or have been taken by mistake.
extension TableLifecycle {
  func zoneIsGone(_ table: TableID) throws(CaravanError) -> ZoneVerdict {
    let known = try state(table)
    if known.absence == nil, try !wasAtCloud(known) { return .neverThere }
    let now = host.clock.now.nanoseconds
    let verdict = try change(table) { (state) throws(CaravanError) -> ZoneVerdict in
      guard state.absence != nil else {
        state.absence = ZoneAbsence(at: now)
        state.draft.note(.changed, count: try state.rows.count(where: RowTable.visible, database))
        try saveAbsence(of: state)
        return .hidden
      }
      state.absence?.heardAgain(at: now)
      guard state.absence?.isFinal == true, state.op == nil, !openWrites.isOpen(table) else {
        try saveAbsence(of: state)
        return .hidden
      }
      try discardEverything(of: &state)
      return .discarded
    }
    if known.absence == nil {
      resolutions.sessions[table] = nil
      readers.closeAll(of: table)
      host.log.warning("the cloud says that a table's zone does not exist: its rows are hidden", [.table: table])
    } else if verdict == .discarded {
      retention.forget(table)
      host.log.warning("a table's zone is gone for good: its rows are discarded", [.table: table])
    }
    catalog.tellNewsIfAny(of: table)
    return verdict
  }

  func zoneIsThere(_ table: TableID) throws(CaravanError) {
    guard try state(table).absence != nil else { return }
    try change(table) { (state) throws(CaravanError) in
      (state.absence, state.refused) = (nil, "")
      state.draft.note(.changed, count: try state.rows.count(where: RowTable.visible, database))
      try database.run("DELETE FROM absences WHERE table_id = ?", state.number)
      try state.save(database)
    }
    catalog.tellNewsIfAny(of: table)
    try catalog.tellCollectable(of: table, bytes: 1)
  }

  /// Where the cloud has had nothing of a table, that there is no zone says nothing.
  private func wasAtCloud(_ state: TableState) throws(CaravanError) -> Bool {
    if !state.token.isEmpty { return true }
    return try state.rows.count(where: "_version > 0", database) > 0
  }

  private func saveAbsence(of state: TableState) throws(CaravanError) {
    try database.run("INSERT OR REPLACE INTO absences VALUES (?, ?)", state.number, state.absence?.waited ?? 0)
  }

  /// The table is as if it had just been made. Its app is told which changes are lost.
  func discardEverything(of state: inout TableState) throws(CaravanError) {
    for id in try state.rows.ids(where: RowTable.isUnsent, limit: -1, database) { state.draft.note(.lost, id) }
    for key in try state.rows.keys(where: "1", database) {
      if let row = try state.rows.soundRow(key: key, database) { try writer.remove(row, of: state) }
    }
    // What is left is damaged.
    try releaseEverything(of: state, keepingLog: true)
    try database.statement(text: "DELETE FROM \(state.rows.quotedName)").run()
    state.hasRefusals = false
    (state.absence, state.refused, state.fault) = (nil, "", nil)
    (state.token, state.isResyncing, state.mustStartOver) = ([], false, false)
    (state.lacksOwnRows, state.hasRowsOutsideFilter, state.skipsRowsOutsideFilter) = (false, false, false)
    (state.lacksOlder, state.lacksBodies, state.ownThrough) = (false, false, nil)
    (state.waiting, state.repairs, state.point) = (0, 0, 0)
    try chunkTable.sweep()
    try state.save(database)
  }

  /// - Parameter keepingLog: what is remembered of the table for its app stays.
  func releaseEverything(of state: TableState, keepingLog: Bool = false) throws(CaravanError) {
    for key in try state.rows.keys(where: "1", database) {
      guard let row = try state.rows.soundRow(key: key, database) else { continue }
      try chunkTable.release(try state.codec.chunks(row.cells, extra: row.extra))
    }
    let bodies = try database.all(
      """
      SELECT body FROM ancestors WHERE table_id = ?1 UNION ALL
      SELECT body FROM incoming WHERE table_id = ?1 UNION ALL
      SELECT body FROM plan_rows WHERE body IS NOT NULL AND op IN (SELECT op FROM plans WHERE table_id = ?1)
      """, state.number
    ) { row in row.bytes(0) }
    for body in bodies { try chunkTable.release(try RowCodec.chunks(inBody: body)) }
    try database.run("DELETE FROM ancestors WHERE table_id = ?", state.number)
    try database.run("DELETE FROM pushed WHERE table_id = ?", state.number)
    try database.run("DELETE FROM refusals WHERE table_id = ?", state.number)
    try database.run("DELETE FROM absences WHERE table_id = ?", state.number)
    try SettingsTable.forget(ofTable: state.number, database)
    if !keepingLog {
      try database.run("DELETE FROM events WHERE table_id = ?", state.number)
      try database.run("DELETE FROM event_logs WHERE table_id = ?", state.number)
    }
    try database.run("DELETE FROM batch_rows WHERE table_id = ?", state.number)
    try database.run("DELETE FROM wants WHERE incoming IN (SELECT id FROM incoming WHERE table_id = ?)", state.number)
    try database.run("DELETE FROM incoming WHERE table_id = ?", state.number)
    try database.run("DELETE FROM plan_rows WHERE op IN (SELECT op FROM plans WHERE table_id = ?)", state.number)
    try database.run("DELETE FROM plans WHERE table_id = ?", state.number)
  }
}

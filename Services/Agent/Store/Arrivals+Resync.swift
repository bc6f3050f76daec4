internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// How a table starts over, and how that ends.
extension Arrivals {
  /// - Throws: `serverBusy` while a push of the table has no answer.
  func reset(_ table: TableID, lost: [LostRange] = [], token: [UInt8] = []) throws(CaravanError) {
    try change(table) { (state) throws(CaravanError) in try reset(&state, lost: lost, token: token) }
    forgetAfterReset(table)
  }

  /// Ends the table's fault and starts over, with what is dirty here kept or not (REC-27, UNI-19).
  /// - Throws: `serverBusy` while a push of the table has no answer.
  func reset(_ table: TableID, _ choice: ResetChoice) throws(CaravanError) {
    try change(table) { (state) throws(CaravanError) in
      (state.fault, state.refused) = (nil, "")
      try SettingsTable.forget(ofTable: state.number, database)
      if choice == .takeServer { try forgetChanges(in: state) }
      try reset(&state)
    }
    forgetAfterReset(table)
    catalog.tellNewsIfAny(of: table)
  }

  /// What was decided about conflicts was decided against copies that are void now: the app has to look again.
  private func forgetAfterReset(_ table: TableID) {
    retention.forget(table)
    resolutions.sessions[table] = nil
  }

  /// All rows are as if they were the cloud's; those that are not go away when it has named its own.
  private func forgetChanges(in state: TableState) throws(CaravanError) {
    for key in try state.rows.keys(where: "_flags <> 0 AND _flags < 256", database) {
      guard var row = try state.rows.soundRow(key: key, database) else { continue }
      try tolerances.settle(row: key, in: state)
      try ancestors.forget(of: key, in: state)
      // What it holds is not what any version was.
      row.head = RowHead(presence: row.head.presence == .torn ? .torn : .unconfirmed)
      try state.rows.updateHead(row, database)
    }
  }

  func reset(
    _ state: inout TableState, lost: [LostRange] = [], token: [UInt8] = []
  ) throws(CaravanError) {
    guard state.op == nil else {
      throw CaravanError(
        .serverBusy, "a push of '\(state.table.name)' has no answer yet: retry when it has",
        retryAfterMilliseconds: 500)
    }
    for role in [IncomingRole.waiting, .serverCopy] {
      for name in try inbox.names(role, of: state) { try inbox.drop(named: name, role: role, of: state) }
    }
    let name = state.rows.quotedName
    for range in lost {
      let rows = "_flags = 0 AND _presence IN (0, 3) AND _version > \(range.after) AND _version <= \(range.through)"
      for key in try state.rows.keys(where: rows, database) {
        guard var row = try state.rows.soundRow(key: key, database) else { continue }
        row.head.reset(lost: lost, isWhole: try isWhole(row, in: state))
        row.change = nextChange()
        try state.rows.updateHead(row, database)
      }
    }
    try database.statement(text: "UPDATE \(name) SET _presence = 3 WHERE _flags = 0 AND _presence = 0").run()
    try database.statement(
      text: "UPDATE \(name) SET _version = 0 WHERE _flags = 0 AND _presence = 2 AND _presence <> 0"
    ).run()
    for key in try state.rows.keys(where: "_flags <> 0", database) {
      // Its head counts, whatever has become of its content.
      guard var row = try state.rows.unverified(key: key, database)?.row else { continue }
      // Nothing of the table is in flight: what says otherwise is damaged.
      row.head.forgetPush()
      row.head.reset(lost: lost)
      try state.rows.updateHead(row, database)
    }
    state.lacksOwnRows = state.lacksOwnRows || state.mustStartOver || state.properties.isPartial
    (state.token, state.isResyncing, state.mustStartOver) = (token, true, false)
    (state.waiting, state.point, state.ownThrough, state.lacksOlder) = (0, 0, nil, false)
    state.skipsRowsOutsideFilter = try retention.maySkipOutOfFilter(state)
    try openWrites.sweep()
    try state.save(database)
  }

  private func isWhole(_ row: StoredRow, in state: TableState) throws(CaravanError) -> Bool {
    let reader = chunkReader(try database)
    for hash in try objectChunks.named(by: row, in: state) where try !reader.isPresent(hash) { return false }
    return true
  }

  /// The cloud has named all it has: what it did not name is gone there, unless it was lost.
  func endResync(_ state: inout TableState, _ summary: inout PullSummary) throws(CaravanError) {
    // What was named before it was lost is not named again.
    guard !state.mustStartOver else { return }
    // What is newer than the point says nothing of it.
    let named = state.showsSnapshots ? "AND version <= \(state.point)" : ""
    let waiting = "SELECT name FROM incoming WHERE table_id = \(state.number) AND role = 0 \(named)"
    let unnamed = "(_presence IN (3, 7) OR _presence IN (1, 2) AND _version = 0) AND _id NOT IN (\(waiting))"
    let keys = try state.rows.keys(where: "_presence <> 0 AND \(unnamed)", database)
    guard try !retention.lacksOutOfFilter(among: keys, in: state) else {
      summary.lacksOutOfFilter = true
      return
    }
    for key in keys {
      guard var row = try state.rows.row(key: key, database) else { continue }
      switch row.head.endResync(wasSent: try ancestors.wasPushed(key, in: state)) {
      case .stay: try state.rows.updateHead(row, database)
      case .remove:
        if row.head.presence == .torn { try repair.discard(row, of: state) } else { try writer.remove(row, of: state) }
        guard !row.head.presence.isDeleted else { continue }
        state.draft.note(.changed, row.id)
        summary.removed += 1
      case .conflict:
        let deleted = Entry(name: row.id, version: 0, created: 0, isDeleted: true, writer: "")
        try inbox.keep(deleted, role: .serverCopy, of: state)
        try state.rows.updateHead(row, database)
        summary.conflicts += 1
      }
    }
    (state.isResyncing, state.lacksOwnRows, state.skipsRowsOutsideFilter) = (false, false, false)
  }
}

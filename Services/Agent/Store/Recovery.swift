internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Brings the store into a state from which work can go on, when it is opened.
struct Recovery: TablePart {
  let arrivals: Arrivals
  let refusals: Refusals
  let checks: StoreChecks

  var catalog: TableCatalog { arrivals.catalog }
  private var batches: Batches { catalog.batches }
  private var ancestors: Ancestors { arrivals.ancestors }
  private var repair: Repair { arrivals.repair }
  private var retention: Retention { arrivals.retention }
  private var objectChunks: ObjectChunks { arrivals.objectChunks }

  /// Brings every row into a state from which work can go on (SIM-73, SIM-77: from local state alone).
  /// - Parameter report: of a salvage before.
  func run(after report: PageRecoveryReport?) throws(CaravanError) {
    if options.maximumBytes > 0 {
      try database.execute("PRAGMA max_page_count = \(max(1, options.maximumBytes / options.pageBytes))")
    }
    try chunkTable.adoptFile()
    try catalog.recall()
    try ancestors.recall()
    if let report { try takeStock(after: report) }
    if context.meta.countsAnew { try countAnew() }
    for table in catalog.tables.keys.sorted() {
      let restored = try change(table) { (state) throws(CaravanError) in
        let torn = try recoverRows(of: &state)
        try arrivals.applyWaiting(&state)
        if state.hasRowsOutsideFilter { try retention.evictOutOfFilter(in: &state) }
        return torn
      }
      let newest = try newestChange(of: table)
      context.lastChange = max(context.lastChange, newest)
      if restored > 0 { host.log.warning("rows were cut off in the middle of a write and will be restored") }
    }
    try context.transaction { () throws(CaravanError) in try chunkTable.sweep() }
    try repair.repairDamage()
    try? context.reserve.hold()
  }

  /// Counts anew what is left after damage, and finds out what of it lacks its chunks.
  private func takeStock(after report: PageRecoveryReport) throws(CaravanError) {
    host.log.error("\(report)")
    try countAnew()
    let absent = try database.all("SELECT hash FROM chunks WHERE present = 0 AND refs > 0") { row in
      ChunkHash(row.bytes(0))
    }
    for case let hash? in absent { damage.note(hash) }
    for table in catalog.tables.keys {
      try change(table) { (state) throws(CaravanError) in
        try batches.leaveMissing(in: state)
        try refusals.forgetMissing(in: state)
        state.refused = "\(report)"
        try state.save(database)
      }
    }
  }

  /// In proportion to the store, and so only where it is opened.
  private func countAnew() throws(CaravanError) {
    try context.transaction { () throws(CaravanError) in
      try chunkTable.recount(checks.namedChunks())
      try context.meta.note(countsAnew: false, database)
    }
  }

  /// Rows of a plan keep SP until the plan is settled: only the cloud knows whether they were taken.
  /// - Returns: torn rows.
  private func recoverRows(of state: inout TableState) throws(CaravanError) -> Int {
    let planned = Set(
      try database.all("SELECT row FROM plan_rows WHERE op IN (SELECT op FROM plans WHERE table_id = ?)", state.number)
      {
        row in row.integer(0)
      })
    // Where the row says other than the plan, the row is damaged: its flags are in no sum.
    for key in planned {
      guard var row = try state.rows.unverified(key: key, database)?.row, !row.head.flags.syncPending else { continue }
      (row.head.flags.syncPending, row.head.flags.inConflict) = (true, false)
      try state.rows.updateHead(row, database)
    }
    var torn = 0
    // Closed rows in no push need nothing; they are not even read.
    for key in try state.rows.keys(where: "_flags <> 0 AND (_flags > 255 OR _flags & 4)", database) {
      guard let (found, isSound) = try state.rows.unverified(key: key, database) else { continue }
      if !isSound { damage.note(row: key, of: state.table) }
      var row = found
      guard !planned.contains(key) else {
        // Its objects were opened while it was in flight, and nothing that is in flight is overwritten.
        guard row.head.flags.openObjects > 0 else { continue }
        row.head.flags.openObjects = 0
        try state.rows.updateHead(row, database)
        continue
      }
      guard isSound else {
        // Its content is seen to with all that is damaged; of its push nobody knows any more.
        row.head.flags.openObjects = 0
        row.head.forgetPush()
        try state.rows.updateHead(row, database)
        continue
      }
      switch CrashRecovery.of(row.head.flags) {
      case nil:
        throw CaravanError(
          .internalError, "row \(row.id) is both in a push and in conflict: the store's file is damaged")
      case .goOn(let flags)?:
        row.head.flags = flags
        try state.rows.updateHead(row, database)
        continue
      case .restoreTorn?: break
      }
      (row.head.flags.openObjects, row.head.flags.syncPending) = (0, false)
      if try repair.restoreClosed(row, suspects: objectChunks.named(by: row, in: state), in: &state) { torn += 1 }
      try retention.evictOutOfFilter(among: [key], in: &state)
    }
    return torn
  }

  private func newestChange(of table: TableID) throws(CaravanError) -> Int64 {
    let rows = try state(table).rows
    let text = "SELECT max(_change) FROM \(rows.quotedName) WHERE _flags <> 0"
    return try database.statement(text: text).first { row in row.integer(0) } ?? 0
  }
}

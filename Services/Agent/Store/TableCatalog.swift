internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// The tables of the store, each with what is known of it, and the transactions that change them.
final class TableCatalog: StorePart {
  let context: StoreContext
  let batches: Batches
  let tolerances: Tolerances
  var tables: [TableID: TableState] = [:]
  private var logs: EventLogs { EventLogs(context: context) }

  init(_ context: StoreContext, batches: Batches, tolerances: Tolerances) {
    (self.context, self.batches, self.tolerances) = (context, batches, tolerances)
  }

  /// Learns what there is; before anything else is asked of it.
  func recall() throws(CaravanError) {
    for state in try TableState.loadAll(database, damage: damage) { tables[state.table] = state }
    noteWaiting()
    let refused = try RefusalTable.tables(database)
    for (table, state) in tables { tables[table]?.hasRefusals = refused.contains(state.number) }
    try recallLogs()
    try recallAbsences()
    try tolerances.recall()
    try batches.recall()
  }

  private func recallLogs() throws(CaravanError) {
    let known = try logs.all()
    for (table, found) in tables {
      var state = found
      if let log = known[state.number] { state.log = log } else { try logs.beginAnew(of: &state) }
      tables[table] = state
    }
  }

  private func recallAbsences() throws(CaravanError) {
    let absences = try database.all("SELECT table_id, waited FROM absences") { row in
      (table: row.integer(0), waited: row.unsigned(1))
    }
    for (number, waited) in absences {
      guard let table = tables.values.first(where: { $0.number == number })?.table else { continue }
      tables[table]?.absence = ZoneAbsence(waited: waited, at: host.clock.now.nanoseconds)
    }
  }

  func state(_ table: TableID) throws(CaravanError) -> TableState {
    _ = try database
    if let state = tables[table] { return state }
    throw CaravanError(.tableNotFound, "app '\(table.app)' has no table '\(table.name.prefix(80))': create it first")
  }

  /// One transaction that may change the table's state; what the store remembers changes only if that does.
  /// - Parameter isFreeing: also on a full disk, as rows are deleted and pushes settled.
  func change<Result>(
    _ table: TableID, _ durability: TransactionDurability = .atOnce, isFreeing: Bool = false,
    _ body: (inout TableState) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    if isFreeing { return try context.freeing { () throws(CaravanError) in try change(table, durability, body) } }
    var state = try state(table)
    let (wasResyncing, hadWaiting) = (state.isResyncing, state.waiting)
    let before = (context.lastChange, context.meta)
    do {
      let result = try context.transaction(durability) { () throws(CaravanError) in
        let result = try body(&state)
        try logs.write(of: &state)
        return result
      }
      let isOther = tables[table].map { state.showsOtherwise(than: $0) } ?? false
      tables[table] = state
      if isOther { context.events.tableChanged?(table) }
      if state.waiting != hadWaiting { noteWaiting() }
      // Nothing of it was collected until the cloud had named all it has.
      if wasResyncing, !state.isResyncing { try? tellCollectable(of: table, bytes: 1) }
      return result
    } catch {
      (context.lastChange, context.meta) = before
      for state in tables.values { _ = state.draft.take() }
      throw error
    }
  }

  func noteWaiting() {
    host.metrics.gauge(.waitingRows).set(tables.values.reduce(0) { $0 + $1.waiting })
  }

  // MARK: Making and dropping

  /// Inside the transaction that makes the table.
  func beginLog(of state: inout TableState) throws(CaravanError) { try logs.begin(of: &state) }

  // MARK: What is to be sent

  /// - Parameter bytes: 0: nothing new, what was not sent yet.
  func tellCollectable(of table: TableID, bytes: Int = 0) throws(CaravanError) {
    let state = try state(table)
    let rows = try collectable(of: state.rows.count(where: RowTable.isCollectable, database), in: state)
    if rows.dirty > 0 { context.events.tellDirtied(state, bytes: bytes) }
    if rows.tolerated > 0 { context.events.tellDirtied(state, LocalChange(bytes: 0, isTolerated: true)) }
  }

  /// Of the rows that can be collected, those that may start a transfer, and those that only ride along.
  func collectable(of all: Int, in state: TableState) throws(CaravanError) -> (dirty: Int, tolerated: Int) {
    let dirty = try all - batches.heldBack(in: state)
    guard tolerances.mayLose.contains(state.number), dirty > 0 else { return (dirty, 0) }
    let tolerated = try state.rows.count(
      where: "\(RowTable.isCollectable) AND _row IN (SELECT row FROM tolerated WHERE table_id = \(state.number))",
      database)
    return (dirty - tolerated, tolerated)
  }

  /// Hands out the plan that was made with the last change.
  func takePlan(of table: TableID) -> PushPlan? {
    guard let plan = tables[table]?.untaken else { return nil }
    tables[table]?.untaken = nil
    return plan
  }

  /// Plans that nobody has taken are found in flight, as all others.
  func dropUntaken() {
    for table in tables.keys { tables[table]?.untaken = nil }
  }

  /// Rows whose last change the cloud does not have, as far as is known here; deletions, too.
  func unsentCount(of state: TableState) throws(CaravanError) -> Int {
    try state.rows.count(where: RowTable.isUnsent, database)
  }

  /// - Throws: `invalidData` naming how many rows have changes that the cloud does not have.
  func requireNothingUnsent(in state: TableState) throws(CaravanError) {
    let unsent = try unsentCount(of: state)
    guard unsent > 0 else { return }
    throw CaravanError(
      .invalidData,
      "\(unsent) row\(unsent == 1 ? "" : "s") of table '\(state.table.name)' ha\(unsent == 1 ? "s" : "ve") changes "
        + "that the cloud does not have: sync the table first, or say that they are to be discarded")
  }

  /// - Throws: `zoneDoesNotExist` while the table's rows are hidden.
  func requireZone(of state: TableState) throws(CaravanError) {
    guard state.absence != nil else { return }
    let unsent = try unsentCount(of: state)
    throw CaravanError(
      .zoneDoesNotExist,
      "the cloud says that the zone of table '\(state.table.name)' does not exist: its rows are hidden, \(unsent) "
        + "unsent changes are kept aside, and nothing can be written until it is there again")
  }

  // MARK: Telling

  /// Where a connection goes on that names no number: all of the app's have taken what there was up to here.
  func told(of table: TableID) throws(CaravanError) -> UInt64 { try state(table).log.told }

  /// Tables of the app in which something has happened that none of its connections was told.
  func untold(of app: ContainerID) -> [TableID] {
    tables.filter { $0.key.app == app && $0.value.log.hasUntold }.keys.sorted()
  }

  /// The app has taken the events up to this number.
  func tell(_ table: TableID, upTo number: UInt64) throws(CaravanError) {
    _ = try state(table)
    tables[table]?.log.tell(upTo: number)
  }

  /// Remembers how far apps have been told, as far as that is not written down with events: told twice after a crash is
  /// better than never.
  func saveTold() throws(CaravanError) {
    let unsaved = tables.values.filter(\.log.hasUnsaved)
    guard !unsaved.isEmpty else { return }
    try context.freeing { () throws(CaravanError) in
      try context.transaction(.later) { () throws(CaravanError) in
        for var state in unsaved { try logs.save(of: &state) }
      }
    }
    for state in unsaved { tables[state.table]?.log.noteSaved() }
  }

  /// Tells whoever listens when something has happened to the table.
  func tellNewsIfAny(of table: TableID) {
    guard tables[table]?.hasNews == true else { return }
    tables[table]?.hasNews = false
    context.events.tellNews(table)
  }
}

/// A part of the store that looks after tables.
protocol TablePart: StorePart {
  var catalog: TableCatalog { get }
}

extension TablePart {
  var context: StoreContext { catalog.context }

  func state(_ table: TableID) throws(CaravanError) -> TableState { try catalog.state(table) }

  func change<Result>(
    _ table: TableID, _ durability: TransactionDurability = .atOnce, isFreeing: Bool = false,
    _ body: (inout TableState) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result { try catalog.change(table, durability, isFreeing: isFreeing, body) }
}

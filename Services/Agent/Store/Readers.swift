internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanQuery
internal import CaravanRuntime
internal import CaravanSQLite

/// What apps read, each in a snapshot of its own, and what is kept open for that.
final class Readers: TablePart {
  let pool: ReaderPool
  let wanted: WantedObjects
  let writer: RowWriter
  let openWrites: OpenWrites
  let slow: SlowSelections
  /// By handle.
  var cursors: [UInt64: ReadCursor] = [:] { didSet { context.isBeingRead = !cursors.isEmpty } }
  /// Rings when a cursor may have been idle for too long; without cursors nobody wakes.
  let idleSignal = Signal()
  let idleAlarm: Alarm
  /// Of an object that is being read in pieces, which mostly end in the middle of a chunk.
  var readLast: PartReader.Current?

  var catalog: TableCatalog { wanted.catalog }

  init(pool: ReaderPool, wanted: WantedObjects, writer: RowWriter, openWrites: OpenWrites, slow: SlowSelections) {
    (self.pool, self.wanted, self.writer, self.openWrites) = (pool, wanted, writer, openWrites)
    self.slow = slow
    idleAlarm = Alarm(clock: pool.host.clock, ring: idleSignal)
  }

  /// - Returns: nil: the table shows nothing now.
  func begin(_ request: ReadRequest, owner: UInt64) throws(CaravanError) -> ReadCursor? {
    let state = try state(request.table)
    let columns = try projection(request.columns, of: state)
    // While its zone is gone a table shows nothing, and has nothing aside while it is there.
    guard request.isAside == (state.absence != nil) else { return nil }
    closeIdle()
    guard cursors.values.count(where: { $0.table.app == request.table.app }) < StoreLimits.cursorsPerApp else {
      throw CaravanError(
        .limitExceeded, "\(StoreLimits.cursorsPerApp) reads are open: close one, or read it to its end")
    }
    let shape = PageShape(
      schema: state.schema, columns: columns, refusalsOf: state.hasRefusals ? state.number : nil,
      rows: request.pageRows > 0 ? min(request.pageRows, StoreLimits.pageRows) : StoreLimits.pageRows,
      hasAuthorship: request.wantsAuthorship)
    let reader = try pool.take()
    do {
      try reader.connection.begin(.read)
      let selection = try rows(request.selection, of: state)
      let prepared = try reader.prepared(
        try selectText(request, selection, of: state),
        SelectionGuard(state.rows, calls: selection?.functions ?? []))
      try selection?.bind(to: prepared.statement)
      // A snapshot begins with the first thing read in it.
      if prepared.isHeavy { _ = try reader.connection.first("SELECT 1 FROM tables LIMIT 1") { $0.integer(0) } }
      return ReadCursor(
        owner: owner, table: request.table, reader: reader, statement: prepared.statement, shape: shape,
        isHeld: request.isHeld, overwritten: openWrites.rowsBeingOverwritten(of: request.table),
        lastUse: host.clock.now,
        isSlow: prepared.isHeavy)
    } catch {
      reader.close()
      throw error
    }
  }

  func cursor(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> ReadCursor {
    guard let cursor = cursors[handle], cursor.owner == owner else {
      throw CaravanError(.leaseExpired, "cursor \(handle) is closed: begin the read again")
    }
    guard !cursor.isLent else {
      throw CaravanError(
        .serverBusy, "a page of cursor \(handle) is being made: wait for it", retryAfterMilliseconds: 50)
    }
    return cursor
  }

  func close(_ cursor: ReadCursor, handle: UInt64) {
    // Whoever waits for it closes the reader.
    guard !cursor.isLent else {
      cursors[handle] = nil
      return cursor.reader.pace.stopper.stop()
    }
    cursors[handle] = nil
    cursor.statement?.reset()
    cursor.reader.connection.rollBack()
    pool.giveBack(cursor.reader)
    if cursors.isEmpty { context.chunkFile.releaseFreed() }
  }

  /// Closes cursors that nobody uses any more.
  func closeIdle() {
    let now = host.clock.now
    // Of a page that is being made, its end sets the alarm.
    for (handle, cursor) in cursors where !cursor.isLent {
      if now - cursor.lastUse >= StoreLimits.cursorIdle {
        close(cursor, handle: handle)
      } else {
        idleAlarm.set(cursor.lastUse + StoreLimits.cursorIdle)
      }
    }
  }

  /// Reads of the table that are open end.
  func closeAll(of table: TableID) {
    for (handle, cursor) in cursors where cursor.table == table { close(cursor, handle: handle) }
  }

  func closeAll(owner: UInt64) {
    for (handle, cursor) in cursors where cursor.owner == owner { close(cursor, handle: handle) }
  }

  func closeAll() {
    for cursor in cursors.values where !cursor.isLent { cursor.reader.close() }
    pool.close()
    cursors = [:]
  }

  // MARK: The statement

  func projection(_ names: [String], of state: TableState) throws(CaravanError) -> [Int] {
    guard !names.isEmpty else { return Array(state.schema.columns.indices) }
    var columns: [Int] = []
    for name in names { columns.append(try state.column(named: name)) }
    return columns
  }

  /// What a page is made of (`PageShape`): all columns, for the checksum is of the whole row.
  static func read(of state: TableState) -> [String] {
    ["_id", "_version", "_flags", "_row", "_extra", "_sum", "_change"] + state.schema.columns.map(RowTable.stored)
  }

  private func selectText(
    _ request: ReadRequest, _ selection: RowSelection?, of state: TableState
  ) throws(CaravanError) -> String {
    let names = Self.read(of: state) + (request.wantsAuthorship ? RowAuthorship.columns : [])
    var order = try orderTerms(request.order, of: state).map { $0.text + ($0.isDescending ? " DESC" : "") }
    // Rows of equal rank, and all where no order is asked for, come as they were created.
    order.append("_row")
    return """
      SELECT \(names.joined(separator: ", ")) FROM \(state.rows.quotedName)
      WHERE \(condition(selection))\(request.isAside ? " AND \(RowTable.isUnsent)" : "")
      ORDER BY \(order.joined(separator: ", "))
      """
  }

  /// - Throws: `schemaViolation` for a column that is unknown or has no order.
  func orderTerms(
    _ order: [ReadRequest.OrderTerm], of state: TableState
  ) throws(CaravanError) -> [(text: String, isDescending: Bool)] {
    var terms: [(text: String, isDescending: Bool)] = []
    for term in order {
      if let field = SystemField(rawValue: term.column) {
        terms.append((field.orderText, term.isDescending))
        continue
      }
      let column = state.schema.columns[try state.column(named: term.column)]
      guard column.hasOrder else {
        throw CaravanError(
          .schemaViolation, "column '\(column.name)' is \(column.typeText), which has no order: order by another one")
      }
      terms.append((RowTable.quoted(column.name), term.isDescending))
    }
    return terms
  }

  func rows(_ selection: Selection?, of state: TableState) throws(CaravanError) -> RowSelection? {
    try selection.map { (selection) throws(CaravanError) in
      try RowSelection(selection.text, selection.arguments, columns: state.schema.columns)
    }
  }

  func condition(_ selection: RowSelection?) -> String {
    selection.map { "\(RowTable.visible) AND (\($0.condition))" } ?? RowTable.visible
  }
}

public import CaravanAgentCore
internal import CaravanChunkFiles
public import CaravanModel
internal import CaravanQuery
internal import CaravanRuntime
internal import CaravanSQLite

/// A row as its app sees it.
public struct RowView: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    case clean
    /// Changed here, and the cloud does not have it yet.
    case dirty
    /// On its way to the cloud.
    case pending
    case conflict
  }

  public struct ObjectSize: Sendable, Hashable {
    public let column: String
    public let size: UInt64
  }

  public let id: String
  /// Of the copy at the cloud it is based on (MOB-15); 0: none.
  public let version: Seq
  public let state: State
  public let cells: [CellValue]
  /// Object columns that hold an object.
  public let objects: [ObjectSize]
  /// Why the cloud does not take the row as it is (SIM-83); empty: it has not said so.
  public var refused = ""
  /// When and by whom it was made and last changed at the cloud, where that was asked for; nil: nobody knows.
  public var authorship: RowAuthorship?
}

public struct RowsPage: Sendable, Hashable {
  /// 0: closed.
  public let cursor: UInt64
  public let rows: [RowView]
  /// More follow.
  public let hasMore: Bool
}

public struct ReadRequest: Sendable, Hashable {
  public var table: TableID
  /// None: all.
  public var columns: [String]
  public var selection: Selection?
  public var order: [OrderTerm]
  /// 0: as many as fit.
  public var pageRows: Int
  /// Keep the snapshot after the last page, for reading objects: the cursor is then closed by hand.
  public var isHeld: Bool
  /// The changes that are kept aside since the table's zone is said not to exist, in place of its rows.
  public var isAside: Bool
  /// With `RowView.authorship`.
  public var wantsAuthorship = false

  public struct OrderTerm: Sendable, Hashable {
    /// A column that is no OBJECT, or a `SystemField`.
    public var column: String
    public var isDescending: Bool

    public init(_ column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  public init(
    table: TableID, columns: [String] = [], selection: Selection? = nil, order: [OrderTerm] = [], pageRows: Int = 0,
    isHeld: Bool = false, isAside: Bool = false
  ) {
    self.table = table
    self.columns = columns
    self.selection = selection
    self.order = order
    self.pageRows = pageRows
    self.isHeld = isHeld
    self.isAside = isAside
  }
}

/// A read in progress: a snapshot, and a statement standing in the middle of its rows.
struct ReadCursor {
  let owner: UInt64
  let table: TableID
  let reader: Reader
  /// Nil once the last row was read.
  var statement: Statement?
  let shape: PageShape
  let isHeld: Bool
  /// Rows whose objects were being written in place when the read began: its snapshot has neither version of them.
  let overwritten: Set<String>
  var lastUse: Instant
  /// Rows that its pages have gone over.
  var steps = 0
  /// Its pages are made beside the store.
  var isSlow: Bool
  /// One of them is being made there: the reader is not the store's now.
  var isLent = false
}

extension LocalStore {
  /// The first page of a read. All its pages, and objects read through its cursor, are of one moment (SIM-15).
  /// - Throws: `schemaViolation` for an unknown column, `invalidData` for a selection that is no plain expression over
  ///   the table's columns, `limitExceeded` for one that costs too much or for too many cursors.
  public func beginRead(_ request: ReadRequest, owner: UInt64) async throws(CaravanError) -> RowsPage {
    let state = try state(request.table)
    let columns = try projection(request.columns, of: state)
    // While its zone is gone a table shows nothing, and has nothing aside while it is there.
    guard request.isAside == (state.absence != nil) else { return RowsPage(cursor: 0, rows: [], hasMore: false) }
    closeIdleCursors()
    guard cursors.values.count(where: { $0.table.app == request.table.app }) < StoreLimits.cursorsPerApp else {
      throw CaravanError(
        .limitExceeded, "\(StoreLimits.cursorsPerApp) reads are open: close one, or read it to its end")
    }
    let shape = PageShape(
      schema: state.schema, columns: columns, refusalsOf: state.hasRefusals ? state.number : nil,
      rows: request.pageRows > 0 ? min(request.pageRows, StoreLimits.pageRows) : StoreLimits.pageRows,
      hasAuthorship: request.wantsAuthorship)
    let reader = try takeReader()
    let cursor: ReadCursor
    do {
      try reader.connection.begin(.read)
      let prepared = try reader.prepared(try selectText(request, of: state), SelectionGuard(state.rows))
      try bind(request.selection?.arguments ?? [], to: prepared.statement)
      // A snapshot begins with the first thing read in it.
      if prepared.isHeavy { _ = try reader.connection.first("SELECT 1 FROM tables LIMIT 1") { $0.integer(0) } }
      cursor = ReadCursor(
        owner: owner, table: request.table, reader: reader, statement: prepared.statement, shape: shape,
        isHeld: request.isHeld, overwritten: openWrites.rowsBeingOverwritten(of: request.table),
        lastUse: host.clock.now,
        isSlow: prepared.isHeavy)
    } catch {
      reader.close()
      throw error
    }
    return try await page(of: cursor, handle: newHandle())
  }

  /// - Throws: `leaseExpired` for a cursor that was closed, read to its end, or not used for long; `serverBusy` while
  ///   another page of it is being made.
  public func nextPage(_ handle: UInt64, owner: UInt64) async throws(CaravanError) -> RowsPage {
    let cursor = try cursor(handle, owner: owner)
    cursors[handle] = nil
    return try await page(of: cursor, handle: handle)
  }

  /// Closing a cursor that is closed already does nothing.
  public func closeCursor(_ handle: UInt64, owner: UInt64) {
    if let cursor = cursors[handle], cursor.owner == owner { close(cursor, handle: handle) }
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
      return cursor.reader.stopper.stop()
    }
    cursors[handle] = nil
    cursor.statement?.reset()
    cursor.reader.connection.rollBack()
    giveBack(cursor.reader)
    if cursors.isEmpty { context.chunkFile.releaseFreed() }
  }

  /// Closes cursors that nobody uses any more, also where nobody asks for anything else; until the task is cancelled.
  func closeCursorsInTime() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.idleAlarm.run() }
      while !Task.isCancelled {
        await idleSignal.wait()
        closeIdleCursors()
      }
    }
  }

  private func closeIdleCursors() {
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

  func giveBack(_ reader: Reader) {
    guard connection != nil, idleReaders.count < StoreLimits.idleReaders else { return reader.close() }
    idleReaders.append(reader)
  }

  func takeReader() throws(CaravanError) -> Reader {
    if let reader = idleReaders.popLast() { return reader }
    let reader = try Reader("\(context.directory)/agent.db", options, host.clock)
    reader.connection.whenDamaged = { [damage, directory = context.directory] in
      damage.noteDatabase(SalvageFiles(directory: directory))
    }
    return reader
  }

  // MARK: The statement

  private func projection(_ names: [String], of state: TableState) throws(CaravanError) -> [Int] {
    guard !names.isEmpty else { return Array(state.schema.columns.indices) }
    var columns: [Int] = []
    for name in names { columns.append(try state.column(named: name)) }
    return columns
  }

  private func selectText(
    _ request: ReadRequest, of state: TableState
  ) throws(CaravanError) -> String {
    // All columns, for the checksum is of the whole row.
    let names =
      ["_id", "_version", "_flags", "_row", "_extra", "_sum", "_change"]
      + state.schema.columns.map { RowTable.quoted($0.name) } + (request.wantsAuthorship ? RowAuthorship.columns : [])
    var order: [String] = []
    for term in request.order {
      if let field = SystemField(rawValue: term.column) {
        order.append(field.orderText + (term.isDescending ? " DESC" : ""))
        continue
      }
      let column = state.schema.columns[try state.column(named: term.column)]
      guard column.kind != .object else {
        throw CaravanError(.schemaViolation, "column '\(column.name)' is an OBJECT: it has no order")
      }
      order.append(RowTable.quoted(column.name) + (term.isDescending ? " DESC" : ""))
    }
    // Rows of equal rank, and all where no order is asked for, come as they were created.
    order.append("_row")
    return """
      SELECT \(names.joined(separator: ", ")) FROM \(state.rows.quotedName)
      WHERE \(try condition(request.selection, of: state))\(request.isAside ? " AND \(RowTable.isUnsent)" : "")
      ORDER BY \(order.joined(separator: ", "))
      """
  }

  func condition(_ selection: Selection?, of state: TableState) throws(CaravanError) -> String {
    guard let selection else { return RowTable.visible }
    let text = try SelectionText(selection.text, columns: Set(state.schema.columns.map(\.name)))
    guard text.arguments == selection.arguments.count else {
      throw CaravanError(
        .invalidData,
        "the selection has \(text.arguments) '?' and \(selection.arguments.count) arguments came: give one for each")
    }
    return "\(RowTable.visible) AND (\(text.text))"
  }

  /// - Parameter others: that come before them.
  func bind(_ arguments: [Value], to statement: Statement, after others: Int = 0) throws(CaravanError) {
    for (index, argument) in arguments.enumerated() {
      let value: SQLValue =
        switch argument {
        case .null: .null
        case .text(let text): .text(text)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .data(let bytes): .blob(bytes)
        case .asset, .assetList, .location, .reference, .list:
          throw CaravanError(
            .invalidData, "argument \(index + 1) is \(argument.kindName): only texts, numbers and bytes can be compared"
          )
        }
      try value.bind(to: statement, at: Int32(others + index) + 1)
    }
  }

  // MARK: Pages

  private func page(of open: ReadCursor, handle: UInt64) async throws(CaravanError) -> RowsPage {
    var cursor = open
    cursor.lastUse = host.clock.now
    var page = PageShape.Page(isLast: true)
    if let statement = cursor.statement {
      do throws(CaravanError) { page = try await rows(of: &cursor, statement, handle: handle) } catch {
        cursors[handle] = nil
        cursor.reader.close()
        throw error
      }
      for key in page.damaged { damage.note(row: key, of: cursor.table) }
      cursor.steps += page.steps
      if page.isLast {
        statement.reset()
        cursor.statement = nil
      }
    }
    let hasMore = cursor.statement != nil
    guard hasMore || cursor.isHeld else {
      close(cursor, handle: handle)
      return RowsPage(cursor: 0, rows: page.rows, hasMore: false)
    }
    cursors[handle] = cursor
    idleAlarm.set(cursor.lastUse + StoreLimits.cursorIdle)
    return RowsPage(cursor: handle, rows: page.rows, hasMore: hasMore)
  }

  /// What takes long is begun anew beside the store, in the same snapshot, and goes on there.
  private func rows(
    of cursor: inout ReadCursor, _ statement: Statement, handle: UInt64
  ) async throws(CaravanError) -> PageShape.Page {
    let shape = cursor.shape
    var skipped = 0
    if !cursor.isSlow {
      let reader = cursor.reader
      let page = try reader.within(.short) { () throws(CaravanError) in try shape.page(of: statement, reader.connection)
      }
      if let page { return page }
      statement.reset()
      (cursor.isSlow, skipped) = (true, cursor.steps)
    }
    cursor.isLent = true
    cursors[handle] = cursor
    let (lent, after) = (LentSelection(reader: cursor.reader, statement: statement), skipped)
    let result: Result<PageShape.Page, CaravanError>
    do throws(CaravanError) {
      result = .success(
        try await beside(cursor.reader, for: cursor.table.app) { () throws(CaravanError) in
          try lent.reader.bounded { () throws(CaravanError) in
            try shape.page(of: lent.statement, lent.reader.connection, after: after)
          }
        })
    } catch { result = .failure(error) }
    guard cursors[handle] != nil else {
      throw CaravanError(.cancelled, "the read was closed meanwhile: begin it again")
    }
    cursor.isLent = false
    return try result.get()
  }
}

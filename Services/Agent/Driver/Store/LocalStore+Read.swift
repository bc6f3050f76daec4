public import AgentCore
internal import ChunkFiles
public import Model
internal import Runtime
internal import SQLite

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

  public struct OrderTerm: Sendable, Hashable {
    public var column: String
    public var isDescending: Bool

    public init(_ column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  public init(
    table: TableID, columns: [String] = [], selection: Selection? = nil, order: [OrderTerm] = [], pageRows: Int = 0,
    isHeld: Bool = false
  ) {
    self.table = table
    self.columns = columns
    self.selection = selection
    self.order = order
    self.pageRows = pageRows
    self.isHeld = isHeld
  }
}

/// A read in progress: a snapshot, and a statement standing in the middle of its rows.
struct ReadCursor {
  let owner: UInt64
  let table: TableID
  let reader: Reader
  /// Nil once the last row was read.
  var statement: Statement?
  let columns: [Int]
  let pageRows: Int
  let isHeld: Bool
  /// Rows whose objects were being written in place when the read began: its snapshot has neither version of them.
  let overwritten: Set<String>
  var lastUse: Instant
}

extension LocalStore {
  /// The first page of a read. All its pages, and objects read through its cursor, are of one moment (SIM-15).
  /// - Throws: `schemaViolation` for an unknown column, `invalidData` for a selection that is no plain expression over
  ///   the table's columns, `limitExceeded` for one that costs too much or for too many cursors.
  public func beginRead(_ request: ReadRequest, owner: UInt64) throws(CaravanError) -> RowsPage {
    let state = try state(request.table)
    let columns = try projection(request.columns, of: state)
    closeIdleCursors()
    guard cursors.values.count(where: { $0.table.app == request.table.app }) < StoreLimits.cursorsPerApp else {
      throw CaravanError(
        .limitExceeded, "\(StoreLimits.cursorsPerApp) reads are open: close one, or read it to its end")
    }
    let reader = try takeReader()
    do {
      try reader.connection.begin(.read)
      let text = try selectText(request, of: state)
      let statement = try reader.statement(text, SelectionGuard(state.rows))
      try bind(request.selection?.arguments ?? [], to: statement)
      let cursor = ReadCursor(
        owner: owner, table: request.table, reader: reader, statement: statement, columns: columns,
        pageRows: request.pageRows > 0 ? min(request.pageRows, StoreLimits.pageRows) : StoreLimits.pageRows,
        isHeld: request.isHeld, overwritten: rowsBeingOverwritten(of: request.table), lastUse: host.clock.now)
      return try page(of: cursor, handle: newHandle(), state)
    } catch {
      reader.close()
      throw error
    }
  }

  /// - Throws: `leaseExpired` for a cursor that was closed, read to its end, or not used for long.
  public func nextPage(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> RowsPage {
    let cursor = try cursor(handle, owner: owner)
    cursors[handle] = nil
    do { return try page(of: cursor, handle: handle, try state(cursor.table)) } catch {
      cursor.reader.close()
      throw error
    }
  }

  /// Closing a cursor that is closed already does nothing.
  public func closeCursor(_ handle: UInt64, owner: UInt64) {
    if let cursor = cursors[handle], cursor.owner == owner { close(cursor, handle: handle) }
  }

  func cursor(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> ReadCursor {
    guard let cursor = cursors[handle], cursor.owner == owner else {
      throw CaravanError(.leaseExpired, "cursor \(handle) is closed: begin the read again")
    }
    return cursor
  }

  func close(_ cursor: ReadCursor, handle: UInt64) {
    cursors[handle] = nil
    cursor.statement?.reset()
    cursor.reader.connection.rollBack()
    giveBack(cursor.reader)
    if cursors.isEmpty { chunkFile.releaseFreed() }
  }

  private func closeIdleCursors() {
    let now = host.clock.now
    for (handle, cursor) in cursors where now - cursor.lastUse > StoreLimits.cursorIdle {
      close(cursor, handle: handle)
    }
  }

  func giveBack(_ reader: Reader) {
    if idleReaders.count < StoreLimits.idleReaders { idleReaders.append(reader) } else { reader.close() }
  }

  func takeReader() throws(CaravanError) -> Reader {
    if let reader = idleReaders.popLast() { return reader }
    let reader = try Reader(path, options)
    reader.connection.whenDamaged = { [damage, directory] in
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
      + state.schema.columns.map { RowTable.quoted($0.name) }
    var order: [String] = []
    for term in request.order {
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
      WHERE \(try condition(request.selection, of: state)) ORDER BY \(order.joined(separator: ", "))
      """
  }

  private func condition(_ selection: Selection?, of state: TableState) throws(CaravanError) -> String {
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

  /// Rows that an update or a delete concerns.
  func keys(of selection: Selection?, in state: TableState) throws(CaravanError) -> [Int64] {
    let reader = try takeReader()
    defer { giveBack(reader) }
    let text = "SELECT _row FROM \(state.rows.quotedName) WHERE \(try condition(selection, of: state)) ORDER BY _row"
    let statement = try reader.statement(text, SelectionGuard(state.rows))
    try bind(selection?.arguments ?? [], to: statement)
    var keys: [Int64] = []
    try reader.bounded { () throws(CaravanError) in
      defer { statement.reset() }
      while let row = try statement.next() {
        keys.append(row.integer(0))
        guard keys.count <= StoreLimits.rowsPerChange else {
          throw CaravanError(
            .limitExceeded, "the selection has more than \(StoreLimits.rowsPerChange) rows: change them in parts")
        }
      }
    }
    return keys
  }

  // MARK: Pages

  private func page(of open: ReadCursor, handle: UInt64, _ state: TableState) throws(CaravanError) -> RowsPage {
    var cursor = open
    cursor.lastUse = host.clock.now
    var rows: [RowView] = []
    if let statement = cursor.statement {
      let isDone = try cursor.reader.bounded { () throws(CaravanError) in
        try gather(&rows, from: statement, cursor, state)
      }
      if isDone {
        statement.reset()
        cursor.statement = nil
      }
    }
    let hasMore = cursor.statement != nil
    guard hasMore || cursor.isHeld else {
      close(cursor, handle: handle)
      return RowsPage(cursor: 0, rows: rows, hasMore: false)
    }
    cursors[handle] = cursor
    return RowsPage(cursor: handle, rows: rows, hasMore: hasMore)
  }

  /// - Returns: whether the last row has been read.
  private func gather(
    _ rows: inout [RowView], from statement: Statement, _ cursor: ReadCursor, _ state: TableState
  ) throws(CaravanError) -> Bool {
    var bytes = 0
    while rows.count < cursor.pageRows, bytes < StoreLimits.pageBytes {
      guard let row = try statement.next() else { return true }
      let cells = state.schema.columns.indices.map { row.value(Int32($0) + 7) }
      let isSound =
        row.isNull(5)
        || row.unsigned(5) == StoredRow.sum(id: row.text(0), extra: row.bytes(4), cells: cells)
      if isSound {
        rows.append(try view(row, cells, cursor.columns, of: state, bytes: &bytes))
      } else {
        damage.note(row: row.integer(3), of: state.table)
      }
    }
    return false
  }

  private func view(
    _ row: Row, _ stored: [SQLValue], _ columns: [Int], of state: TableState, bytes: inout Int
  ) throws(CaravanError) -> RowView {
    var cells: [CellValue] = []
    var objects: [RowView.ObjectSize] = []
    bytes += 64
    for index in columns {
      let column = state.schema.columns[index]
      let cell = stored[index]
      if let value = RowCodec.value(cell, of: column) {
        cells.append(CellValue(column.name, value))
        bytes += column.name.utf8.count + cell.bodyBytes
      } else if let size = try RowCodec.objectSize(cell) {
        objects.append(RowView.ObjectSize(column: column.name, size: size))
        bytes += column.name.utf8.count + 12
      }
    }
    return RowView(
      id: row.text(0), version: row.unsigned(1), state: RowView.State(RowFlags(packed: row.integer(2))), cells: cells,
      objects: objects, refused: state.refusals[row.integer(3)]?.reason(atChange: row.integer(6)) ?? "")
  }
}

extension RowView.State {
  init(_ flags: RowFlags) {
    self =
      if flags.inConflict { .conflict } else if flags.syncPending { .pending } else if flags.isDirty { .dirty } else {
        .clean
      }
  }
}

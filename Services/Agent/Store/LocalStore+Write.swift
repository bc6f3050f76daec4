public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

extension LocalStore {
  /// Inserts a row, or updates every row of the selection, without opening objects. Durable on return.
  /// - Returns: ids of the rows.
  /// - Throws: `schemaViolation` naming the column; `objectExists` for a taken primary key; `limitExceeded`.
  @discardableResult
  public func write(
    _ table: TableID, cells: [CellValue], selection: Selection? = nil, intent: WriteIntent = WriteIntent()
  ) async throws(CaravanError) -> [String] {
    let state = try state(table)
    try catalog.requireZone(of: state)
    let values = try writer.checked(cells, of: state, isInsert: selection == nil)
    let promise = try tolerances.promise(intent, isInsert: selection == nil, in: state)
    try context.reserve.hold()
    guard let selection else { return [try writes.insert(values, into: table, intent, promise)] }
    guard !values.isEmpty else { throw CaravanError(.invalidData, "an update of '\(table.name)' names no column") }
    return try writes.update(table, keys: try await selected.keys(of: selection, in: table), values, intent, promise)
  }

  /// Inserts a row, or updates every row of the selection, with whole objects. Durable on return.
  @discardableResult
  public func write(
    _ table: TableID, cells: [CellValue], contents: [ObjectValue], selection: Selection? = nil,
    intent: WriteIntent = WriteIntent()
  ) async throws(CaravanError) -> [String] {
    let values = try writer.checked(cells, of: try state(table), isInsert: selection == nil)
    let opened = try await open(
      .write(values), .closedAtOnce, in: table, contents.map(\.column), selection, intent, owner: 0)
    return try writes.complete(opened, contents)
  }

  /// Opens objects for writing: of a new row, or of every row of the selection. Nothing changes before `closeWrites`.
  /// - Parameters:
  ///   - owner: the session that may use the handle, and whose end abandons it.
  ///   - isHeld: the write waits to be closed together with others, objects or not.
  /// - Throws: besides what `write` does, `serverBusy` when another open write has one of the objects.
  public func openWrite(
    _ table: TableID, cells: [CellValue], objects: [String], selection: Selection? = nil,
    intent: WriteIntent = WriteIntent(), owner: UInt64, isHeld: Bool = false
  ) async throws(CaravanError) -> OpenedWrite {
    guard !isHeld || intent.loss != .tolerated else {
      throw CaravanError(.invalidData, "rows written together are never lost: leave the tolerance out")
    }
    var intent = intent
    if isHeld { intent.loss = .none }
    let values = try writer.checked(cells, of: try state(table), isInsert: selection == nil)
    return try await open(
      .write(values), isHeld ? .held : .open, in: table, objects, selection, intent, owner: owner)
  }

  /// Opens a deletion, which waits to be closed together with writes. The rows are there until then.
  /// - Throws: what `delete` does.
  public func openDeletion(
    _ table: TableID, selection: Selection?, owner: UInt64
  ) async throws(CaravanError) -> OpenedWrite {
    try await open(
      .deletion, .held, in: table, [], selection ?? Selection("1"), WriteIntent(loss: .none), owner: owner)
  }

  private func open(
    _ action: OpenWrite.Action, _ life: OpenWrite.Life, in table: TableID, _ objects: [String], _ selection: Selection?,
    _ intent: WriteIntent, owner: UInt64
  ) async throws(CaravanError) -> OpenedWrite {
    var state = try state(table)
    try catalog.requireZone(of: state)
    let promise = try tolerances.promise(intent, isInsert: selection == nil, in: state)
    let columns = try writer.objectColumns(objects, of: state)
    if case .write = action { try context.reserve.hold() }
    var keys: [Int64]?
    if let selection {
      keys = try await selected.keys(of: selection, in: table)
      state = try self.state(table)
    }
    return try writes.open(action, life, in: state, columns, keys, intent, promise, owner: owner)
  }

  public func fill(_ opened: OpenedWrite, _ contents: [ObjectValue], owner: UInt64) throws(CaravanError) {
    try writes.fill(opened, contents, owner: owner)
  }

  /// Puts bytes into an open object; beyond its end it grows, a gap is zeros.
  /// - Parameter row: index into the rows of the opened write.
  public func writeObject(
    _ handle: UInt64, row: Int, object: String, offset: UInt64, bytes: [UInt8], owner: UInt64
  ) throws(CaravanError) {
    try writes.writeObject(handle, row: row, object: object, offset: offset, bytes: bytes, owner: owner)
  }

  /// Cuts an open object to `size`, or grows it with zeros.
  public func truncateObject(
    _ handle: UInt64, row: Int, object: String, size: UInt64, owner: UInt64
  ) throws(CaravanError) {
    try writes.truncateObject(handle, row: row, object: object, size: size, owner: owner)
  }

  /// Opens objects of a record of the cloud; they are written as those of rows are, and abandoned.
  public func openCloudObjects(_ objects: [String], of app: ContainerID, owner: UInt64) throws(CaravanError) -> UInt64 {
    try writes.cloud.open(objects, of: app, owner: owner)
  }

  /// What a record has to hold to have these objects, by column. They stay open.
  public func cloudObjects(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> [String: Value] {
    try writes.cloud.objects(handle, owner: owner)
  }

  // MARK: Closing

  /// Makes open writes to one table visible, all of them in one transaction (SIM-13). Durable on return. If it throws,
  /// nothing has changed and they are still open: try again, or abandon them.
  /// - Returns: ids of the rows.
  /// - Throws: `noSuchObject` when a row was deleted meanwhile; `objectExists`, `storageFull`, `limitExceeded`.
  @discardableResult
  public func closeWrites(
    _ handles: [UInt64], isAtomic: Bool = false, owner: UInt64
  ) throws(CaravanError) -> [String] { try writes.close(handles, isAtomic: isAtomic, owner: owner) }

  /// The same, of one.
  @discardableResult
  public func closeWrite(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> [String] {
    try writes.close([handle], owner: owner)
  }

  /// Forgets open writes; their rows stay as they were.
  public func abandonWrites(_ handles: [UInt64], owner: UInt64) throws(CaravanError) {
    try writes.abandon(handles, owner: owner)
  }

  /// The same, of one.
  public func abandonWrite(_ handle: UInt64, owner: UInt64) throws(CaravanError) {
    try writes.abandon([handle], owner: owner)
  }

  /// The owner has gone: frees its open writes, cursors and resolutions (SIM-43).
  public func release(owner: UInt64) {
    readers.closeAll(owner: owner)
    lives.closeAll(owner: owner)
    writes.release(owner: owner)
  }
}

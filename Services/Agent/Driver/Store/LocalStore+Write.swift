public import AgentCore
internal import ChunkFiles
public import Model
internal import Runtime
internal import SQLite

extension LocalStore {
  /// Inserts a row, or updates every row of the selection, without opening objects. Durable on return.
  /// - Returns: ids of the rows.
  /// - Throws: `schemaViolation` naming the column; `objectExists` for a taken primary key; `limitExceeded`.
  @discardableResult
  public func write(
    _ table: TableID, cells: [CellValue], selection: Selection? = nil, intent: WriteIntent = WriteIntent()
  ) async throws(CaravanError) -> [String] {
    let state = try state(table)
    let values = try checked(cells, of: state, isInsert: selection == nil)
    let promise = try promise(intent, isInsert: selection == nil, in: state)
    try reserve.hold()
    guard let selection else { return [try insert(values, into: table, intent, promise)] }
    guard !values.isEmpty else { throw CaravanError(.invalidData, "an update of '\(table.name)' names no column") }
    let keys = try await keys(of: selection, in: table)
    var bytes = 0
    let ids = try change(table) { (state) throws(CaravanError) -> [String] in
      var ids: [String] = []
      for key in keys {
        guard let row = try state.rows.row(key: key, database) else { continue }
        let written = try rewrite(row, cells: values, drafts: [:], of: state)
        ids.append(written.id)
        bytes += written.bytes
      }
      if !ids.isEmpty { try note(intent, promise, in: state) }
      try planAtOnce(&state)
      try chunkTable.sweepUnlessWriting(openWrites)
      return ids
    }
    if !ids.isEmpty { tellDirtied(state, bytes: bytes, intent, promise) }
    return ids
  }

  /// Inserts a row, or updates every row of the selection, with whole objects. Durable on return.
  @discardableResult
  public func write(
    _ table: TableID, cells: [CellValue], contents: [ObjectValue], selection: Selection? = nil,
    intent: WriteIntent = WriteIntent()
  ) async throws(CaravanError) -> [String] {
    // Nobody else has the handle: no session is called 0. It is closed at once, so no crash finds it open.
    let opened = try await openWrite(
      table, cells: cells, objects: contents.map(\.column), selection: selection, intent: intent, owner: 0,
      staysOpen: false)
    do {
      for row in opened.rows.indices {
        for object in contents {
          try truncateObject(opened.handle, row: row, object: object.column, size: 0, owner: 0)
          try writeObject(opened.handle, row: row, object: object.column, offset: 0, bytes: object.bytes, owner: 0)
        }
      }
      return try closeWrite(opened.handle, owner: 0)
    } catch {
      try abandonWrite(opened.handle, owner: 0)
      throw error
    }
  }

  /// Opens objects for writing: of a new row, or of every row of the selection. Nothing changes before `closeWrite`.
  /// - Parameter owner: the session that may use the handle, and whose end abandons it.
  /// - Throws: besides what `write` does, `serverBusy` when another open write has one of the objects.
  public func openWrite(
    _ table: TableID, cells: [CellValue], objects: [String], selection: Selection? = nil,
    intent: WriteIntent = WriteIntent(), owner: UInt64
  ) async throws(CaravanError) -> OpenedWrite {
    try await openWrite(
      table, cells: cells, objects: objects, selection: selection, intent: intent, owner: owner, staysOpen: true)
  }

  private func openWrite(
    _ table: TableID, cells: [CellValue], objects: [String], selection: Selection?, intent: WriteIntent,
    owner: UInt64, staysOpen: Bool
  ) async throws(CaravanError) -> OpenedWrite {
    var state = try state(table)
    let values = try checked(cells, of: state, isInsert: selection == nil)
    let promise = try promise(intent, isInsert: selection == nil, in: state)
    let columns = try objectColumns(objects, of: state)
    try reserve.hold()
    var selected: [Int64]?
    if let selection {
      selected = try await keys(of: selection, in: table)
      state = try self.state(table)
    }
    guard openWrites.values.count(where: { $0.table.app == table.app }) < StoreLimits.openWritesPerApp else {
      throw CaravanError(
        .limitExceeded, "app '\(table.app)' has \(StoreLimits.openWritesPerApp) open writes: close some")
    }
    var targets: [OpenWrite.Target] = []
    if let keys = selected {
      guard keys.count <= StoreLimits.rowsPerObjectWrite else {
        throw CaravanError(
          .limitExceeded,
          "the selection has \(keys.count) rows, objects of \(StoreLimits.rowsPerObjectWrite) can be open: narrow it")
      }
      for key in keys { targets.append(try target(key, columns, of: state)) }
    } else {
      let id = try newID(values, of: state)
      let drafts = columns.map { ($0, ObjectDraft(nil, state.chunking ?? options.chunking)) }
      targets = [OpenWrite.Target(key: nil, id: id, drafts: Dictionary(uniqueKeysWithValues: drafts))]
    }
    if staysOpen { try countOpen(&targets, of: state) }
    let handle = newHandle()
    openWrites[handle] = OpenWrite(
      owner: owner, table: table, cells: values, intent: intent, promise: promise, targets: targets)
    return OpenedWrite(handle: handle, rows: targets.map(\.id), promise: promise)
  }

  /// Puts bytes into an open object; beyond its end it grows, a gap is zeros.
  /// - Parameter row: index into the rows of the opened write.
  public func writeObject(
    _ handle: UInt64, row: Int, object: String, offset: UInt64, bytes: [UInt8], owner: UInt64
  ) throws(CaravanError) {
    try withDraft(handle, row: row, object: object, owner: owner) { (draft, target, place) throws(CaravanError) in
      guard target.isCounted else { return try draft.write(bytes, at: offset, chunkTable) }
      var claimed = target
      defer { target.claimed = claimed.claimed }
      try draft.write(bytes, at: offset, chunkTable) { (hash) throws(CaravanError) in
        try self.claim(hash, column: place.column, for: &claimed, of: place.table)
      }
    }
  }

  /// Cuts an open object to `size`, or grows it with zeros.
  public func truncateObject(
    _ handle: UInt64, row: Int, object: String, size: UInt64, owner: UInt64
  ) throws(CaravanError) {
    try withDraft(handle, row: row, object: object, owner: owner) { (draft, _, _) throws(CaravanError) in
      try draft.truncate(to: size, chunkTable)
    }
  }

  /// Chunks of a new row go to the cloud before the row does, and what is left of them with it. A crash in between
  /// leaves there what is collected.
  private func sendAhead(_ draft: inout ObjectDraft, of table: TableID) {
    // What the disk refuses, the next piece is refused for.
    guard planned.tables.contains(table), let chunkTable = try? chunkTable,
      let cut = try? draft.takeCut(ofBytes: EngineLimits.bytesAhead, chunkTable), !cut.isEmpty
    else { return }
    tellCut(table, cut)
  }

  public func chunksBeingWritten(_ hashes: [ChunkHash]) throws(CaravanError) -> [LocalChunk] {
    let reader = chunkReader(try database)
    let drafts = openWrites.values.flatMap(\.targets).flatMap(\.drafts.values)
    var chunks: [LocalChunk] = []
    for hash in hashes {
      let loose = drafts.lazy.compactMap { $0.loose[hash] }.first
      guard let bytes = if let loose { try reader.bytes(loose) } else { try reader.bytes(hash) } else { continue }
      chunks.append(LocalChunk(hash: hash, bytes: bytes))
    }
    return chunks
  }

  /// Makes the write visible, all of it in one transaction (SIM-13). Durable on return. When it throws, nothing has
  /// changed and the write is still open: try again, or abandon it.
  /// - Returns: ids of the rows.
  /// - Throws: `noSuchObject` when a row was deleted meanwhile; `storageFull`; `limitExceeded`.
  @discardableResult
  public func closeWrite(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> [String] {
    var write = try openWrite(handle, owner: owner)
    let state = try state(write.table)
    var bytes = 0
    // Rows of this write are free from here on, unless another one has them.
    openWrites[handle] = nil
    do {
      try write.fold(chunkTable)
      try chunkFile.beginSync(by: helper)
      try change(write.table, write.promise.durability) { (state) throws(CaravanError) in
        for target in write.targets { bytes += try carryOut(write, target, in: state) }
        try note(write.intent, write.promise, in: state)
        try planAtOnce(&state)
        try applyWaiting(&state)
        try leaveStrangers(among: write.targets.compactMap(\.key), in: &state)
        try chunkTable.sweepUnlessWriting(openWrites)
      }
    } catch {
      openWrites[handle] = write
      throw error
    }
    damage.overwrote(write.claimed)
    tellDirtied(state, bytes: bytes, write.intent, write.promise)
    tellNewsIfAny(of: write.table)
    return write.rows
  }

  /// Forgets an open write; the rows stay as they were.
  public func abandonWrite(_ handle: UInt64, owner: UInt64) throws(CaravanError) {
    let write = try openWrite(handle, owner: owner)
    openWrites[handle] = nil
    try discard([write])
    try afterAbandoning([write.table], [write])
  }

  /// The owner has gone: frees its open writes, cursors and resolutions (SIM-43).
  public func release(owner: UInt64) {
    let writes = openWrites.filter { $0.value.owner == owner }
    for handle in writes.keys { openWrites[handle] = nil }
    for (handle, cursor) in cursors where cursor.owner == owner { close(cursor, handle: handle) }
    var tables = Set(writes.values.map(\.table))
    for (table, session) in resolutions where session.owner == owner {
      resolutions[table] = nil
      tables.insert(table)
    }
    // What waited for those rows can also wait for the next call; nothing is lost.
    do throws(CaravanError) {
      try discard(writes.values)
      try afterAbandoning(tables, Array(writes.values))
    } catch {
      host.log.warning("entries that waited for an app could not be applied yet", [.error: error])
    }
  }

  func discard(_ writes: some Sequence<OpenWrite>) throws(CaravanError) {
    let table = try chunkTable
    for write in writes {
      for target in write.targets {
        for var draft in target.drafts.values { draft.discard(table) }
      }
    }
  }

  private func afterAbandoning(_ tables: Set<TableID>, _ writes: [OpenWrite]) throws(CaravanError) {
    for write in writes { damage.overwrote(write.claimed) }
    for table in tables.sorted() where self.tables[table] != nil {
      let isTorn = try change(table) { (state) throws(CaravanError) in
        let given = writes.filter { $0.table == table }
        let isTorn = try restore(given, in: &state)
        try applyWaiting(&state)
        // What was not to be kept did not go as long as it was open, or somebody was making it under the same key.
        for id in given.flatMap(\.rows) {
          if let row = try state.rows.soundRow(id: id, database) { try leaveStrangers(among: [row.key], in: &state) }
        }
        try leaveOld(&state)
        try chunkTable.sweepUnlessWriting(openWrites)
        return isTorn
      }
      tellNewsIfAny(of: table)
      if isTorn { damage.tell?() }
    }
  }

  // MARK: Handles

  private func openWrite(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> OpenWrite {
    guard let write = openWrites[handle], write.owner == owner else {
      throw CaravanError(.invalidData, "write \(handle) is not open here: begin a new one")
    }
    return write
  }

  private func withDraft(
    _ handle: UInt64, row: Int, object: String, owner: UInt64,
    _ body: (inout ObjectDraft, inout OpenWrite.Target, (table: TableID, column: Int)) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    var write = try openWrite(handle, owner: owner)
    let column = try state(write.table).column(named: object)
    guard write.targets.indices.contains(row), var draft = write.targets[row].drafts[column] else {
      throw CaravanError(.invalidData, "object '\(object.prefix(80))' of row \(row) is not open in write \(handle)")
    }
    // The draft must have one owner while it is edited, or its bytes would be copied with every call.
    openWrites[handle] = nil
    write.targets[row].drafts[column] = nil
    defer {
      write.targets[row].drafts[column] = draft
      openWrites[handle] = write
    }
    try body(&draft, &write.targets[row], (write.table, column))
    let waiting = openWrites.values.reduce(draft.waitingBytes + write.waitingBytes) {
      $1.table.app == write.table.app ? $0 + $1.waitingBytes : $0
    }
    if draft.isFull || waiting > StoreLimits.overlayBytesPerApp { _ = try draft.fold(chunkTable) }
    if write.targets[row].key == nil { sendAhead(&draft, of: write.table) }
  }

  // MARK: Rows

  private func target(
    _ key: Int64, _ columns: [Int], of state: TableState
  ) throws(CaravanError) -> OpenWrite.Target {
    guard let row = try state.rows.row(key: key, database) else {
      throw CaravanError(.noSuchObject, "a row of the selection has gone: select again")
    }
    let reader = chunkReader(try database)
    var drafts: [Int: ObjectDraft] = [:]
    for column in columns {
      if isOpen(row, column: column, of: state.table) {
        throw CaravanError(
          .serverBusy,
          "object '\(state.schema.columns[column].name)' of row \(row.id) is open in another write: close that",
          retryAfterMilliseconds: 50)
      }
      let object = try StoredObject(row.cells[column])
      let manifest = try object.map { (object) throws(CaravanError) in try reader.manifest(object) }
      drafts[column] = ObjectDraft(manifest, state.chunking ?? options.chunking)
    }
    return OpenWrite.Target(key: key, id: row.id, drafts: drafts)
  }

  private func isOpen(_ row: StoredRow, column: Int, of table: TableID) -> Bool {
    openWrites.values.contains { write in
      write.table == table && write.targets.contains { $0.isRow(row) && $0.drafts[column] != nil }
    }
  }

  /// An app has the row open: what arrives for it waits.
  func isOpen(row id: String, of table: TableID) -> Bool {
    openWrites.values.contains { write in write.table == table && write.targets.contains { $0.id == id } }
  }

  /// - Returns: bytes of its body, about.
  private func carryOut(
    _ write: OpenWrite, _ target: OpenWrite.Target, in state: TableState
  ) throws(CaravanError) -> Int {
    guard let key = target.key else {
      let bytes = try insertRow(id: target.id, cells: write.cells, drafts: target.drafts, into: state)
      if write.promise == .accepted { try accept(target.id, write.intent, in: state) }
      return bytes
    }
    let row = try state.rows.row(key: key, database)
    guard row?.head.presence != .torn else {
      throw CaravanError(
        .rowTorn, "row \(target.id) was found damaged while it was open and is being restored: abandon the write")
    }
    guard var row, target.isRow(row), row.head.presence.isVisible else {
      throw CaravanError(.noSuchObject, "row \(target.id) was deleted while it was open: abandon the write")
    }
    try countClosed(target, &row, in: state)
    return try rewrite(row, cells: write.cells, drafts: target.drafts, of: state).bytes
  }
}

internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// How apps write rows: at once, or in writes that stay open until they are closed.
struct WriteSessions: TablePart {
  let pushLog: PushLog
  let inPlace: InPlaceWrites

  var catalog: TableCatalog { pushLog.catalog }
  var arrivals: Arrivals { pushLog.arrivals }
  var retention: Retention { arrivals.retention }
  var writer: RowWriter { arrivals.writer }
  var openWrites: OpenWrites { arrivals.openWrites }
  var cloud: CloudWrites { CloudWrites(context: openWrites.context, openWrites: openWrites) }
  var lossQueue: LossQueue { pushLog.lossQueue }
  var tolerances: Tolerances { catalog.tolerances }
  var batches: Batches { catalog.batches }

  /// A whole insert in its own transaction.
  func insert(
    _ values: [Int: SQLValue], into table: TableID, _ intent: WriteIntent, _ promise: WritePromise
  ) throws(CaravanError) -> String {
    let state = try state(table)
    let id = try writer.newID(values, of: state)
    let bytes = try change(table, promise.durability) { (state) throws(CaravanError) in
      let bytes = try writer.insert(id: id, cells: values, drafts: [:], into: state)
      if promise == .accepted { try lossQueue.accept(id, intent, in: state) }
      try tolerances.note(intent, promise, in: state)
      try pushLog.planAtOnce(&state)
      return bytes
    }
    context.events.tellDirtied(state, bytes: bytes, intent, promise)
    return id
  }

  /// Updates these rows in one transaction.
  /// - Returns: ids of those that are there.
  func update(
    _ table: TableID, keys: [Int64], _ values: [Int: SQLValue], _ intent: WriteIntent, _ promise: WritePromise
  ) throws(CaravanError) -> [String] {
    let state = try state(table)
    var bytes = 0
    let ids = try change(table) { (state) throws(CaravanError) -> [String] in
      var ids: [String] = []
      for key in keys {
        guard let row = try state.rows.row(key: key, database) else { continue }
        let written = try writer.rewrite(row, cells: values, drafts: [:], of: state)
        ids.append(written.id)
        bytes += written.bytes
      }
      if !ids.isEmpty { try tolerances.note(intent, promise, in: state) }
      try pushLog.planAtOnce(&state)
      try openWrites.sweep()
      return ids
    }
    if !ids.isEmpty { context.events.tellDirtied(state, bytes: bytes, intent, promise) }
    return ids
  }

  /// Opens a write that has been looked at.
  func open(
    _ action: OpenWrite.Action, _ life: OpenWrite.Life, in state: TableState, _ columns: [Int], _ selected: [Int64]?,
    _ intent: WriteIntent, _ promise: WritePromise, owner: UInt64
  ) throws(CaravanError) -> OpenedWrite {
    let table = state.table
    var targets: [OpenWrite.Target] = []
    if let keys = selected {
      guard columns.isEmpty || keys.count <= StoreLimits.rowsPerObjectWrite else {
        throw CaravanError(
          .limitExceeded,
          "the selection has \(keys.count) rows, objects of \(StoreLimits.rowsPerObjectWrite) can be open: narrow it")
      }
      for key in keys { targets.append(try target(key, columns, of: state)) }
    } else if case .write(let values) = action {
      let id = try writer.newID(values, of: state)
      let drafts = columns.map { ($0, ObjectDraft(nil, state.chunking ?? options.chunking)) }
      targets = [OpenWrite.Target(key: nil, id: id, drafts: Dictionary(uniqueKeysWithValues: drafts))]
    }
    var write = OpenWrite(
      owner: owner, table: table, action, life, intent: intent, promise: promise, targets: targets)
    try openWrites.requireRoom(for: write)
    if life != .closedAtOnce, !columns.isEmpty { try inPlace.countOpen(&write.targets, of: state) }
    let handle = context.newHandle()
    openWrites.all[handle] = write
    return OpenedWrite(handle: handle, rows: write.rows, promise: promise)
  }

  /// Gives objects of an open write these contents, in every one of its rows.
  func fill(_ opened: OpenedWrite, _ contents: [ObjectValue], owner: UInt64) throws(CaravanError) {
    for row in opened.rows.indices {
      for object in contents {
        try truncateObject(opened.handle, row: row, object: object.column, size: 0, owner: owner)
        try writeObject(opened.handle, row: row, object: object.column, offset: 0, bytes: object.bytes, owner: owner)
      }
    }
  }

  /// Gives objects of a write these contents and closes it at once, so that no crash finds it open. Nobody else has the
  /// handle: no session is called 0.
  func complete(_ opened: OpenedWrite, _ contents: [ObjectValue]) throws(CaravanError) -> [String] {
    do throws(CaravanError) {
      try fill(opened, contents, owner: 0)
      return try close([opened.handle], owner: 0)
    } catch {
      try abandon([opened.handle], owner: 0)
      throw error
    }
  }

  /// Puts bytes into an open object; beyond its end it grows, a gap is zeros.
  /// - Parameter row: index into the rows of the opened write.
  func writeObject(
    _ handle: UInt64, row: Int, object: String, offset: UInt64, bytes: [UInt8], owner: UInt64
  ) throws(CaravanError) {
    guard openWrites.cloud[handle] == nil else {
      return try cloud.write(handle, object: object, offset: offset, bytes: bytes, owner: owner)
    }
    try withDraft(handle, row: row, object: object, owner: owner) { (draft, target, place) throws(CaravanError) in
      guard target.isCounted else { return try draft.write(bytes, at: offset, chunkTable) }
      var claimed = target
      defer { target.claimed = claimed.claimed }
      try draft.write(bytes, at: offset, chunkTable) { (hash) throws(CaravanError) in
        try inPlace.claim(hash, column: place.column, for: &claimed, of: place.table)
      }
    }
  }

  /// Cuts an open object to `size`, or grows it with zeros.
  func truncateObject(
    _ handle: UInt64, row: Int, object: String, size: UInt64, owner: UInt64
  ) throws(CaravanError) {
    guard openWrites.cloud[handle] == nil else {
      return try cloud.truncate(handle, object: object, size: size, owner: owner)
    }
    try withDraft(handle, row: row, object: object, owner: owner) { (draft, _, _) throws(CaravanError) in
      try draft.truncate(to: size, chunkTable)
    }
  }

  /// Chunks of a new row go to the cloud before the row does, and what is left of them with it. A crash in between
  /// leaves there what is collected.
  private func uploadEarly(_ draft: inout ObjectDraft, of table: TableID) {
    // What the disk refuses, the next piece is refused for.
    guard pushLog.plannedTables.contains(table), let chunkTable = try? chunkTable,
      let cut = try? draft.takeCut(ofBytes: EngineLimits.earlyBytes, chunkTable), !cut.isEmpty
    else { return }
    context.events.tellCut(table, cut)
  }

  // MARK: Handles

  private func withDraft(
    _ handle: UInt64, row: Int, object: String, owner: UInt64,
    _ body: (inout ObjectDraft, inout OpenWrite.Target, (table: TableID, column: Int)) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    var write = try openWrites.write(handle, owner: owner)
    let column = try state(write.table).column(named: object)
    guard write.targets.indices.contains(row), var draft = write.targets[row].drafts[column] else {
      throw CaravanError(.invalidData, "object '\(object.prefix(80))' of row \(row) is not open in write \(handle)")
    }
    // The draft must have one owner while it is edited, or its bytes would be copied with every call.
    openWrites.all[handle] = nil
    write.targets[row].drafts[column] = nil
    defer {
      write.targets[row].drafts[column] = draft
      openWrites.all[handle] = write
    }
    try body(&draft, &write.targets[row], (write.table, column))
    let waiting = draft.waitingBytes + write.waitingBytes + openWrites.waitingBytes(of: write.table.app)
    if draft.isFull || waiting > StoreLimits.overlayBytesPerApp { _ = try draft.fold(chunkTable) }
    if write.targets[row].key == nil { uploadEarly(&draft, of: write.table) }
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
      if openWrites.isOpen(row, column: column, of: state.table) {
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
}

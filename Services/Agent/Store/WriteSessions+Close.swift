internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// How open writes end.
extension WriteSessions {
  /// Makes open writes to one table visible, all of them in one transaction (SIM-13). Durable on return. If it throws,
  /// nothing has changed and they are still open: try again, or abandon them.
  /// - Parameters:
  ///   - handles: in the order in which they are to be carried out.
  ///   - isAtomic: the cloud commits all of their rows or none, too (REC-23).
  /// - Returns: ids of the rows.
  /// - Throws: `noSuchObject` when a row was deleted meanwhile; `objectExists`, `storageFull`, `limitExceeded`.
  @discardableResult
  func close(
    _ handles: [UInt64], isAtomic: Bool = false, owner: UInt64
  ) throws(CaravanError) -> [String] {
    var writes = try openWrites(handles, owner: owner)
    let table = writes[0].table
    let state = try state(table)
    let durability = openWrites.promise(ofWrites: handles).durability
    let changes: [LocalChange]
    // Rows of these writes are free from here on, unless another one has them.
    for handle in handles { openWrites.all[handle] = nil }
    do {
      for index in writes.indices { try writes[index].fold(chunkTable) }
      try context.chunkFile.beginSync(by: context.helper)
      changes = try change(table, durability, isFreeing: writes.allSatisfy(\.isDeletion)) {
        (state) throws(CaravanError) in
        let changes = try carryOut(writes, in: &state)
        if isAtomic { try join(writes, in: state) }
        try pushLog.planAtOnce(&state)
        try arrivals.applyWaiting(&state)
        try retention.evictOutOfFilter(among: writes.flatMap(\.targets).compactMap(\.key), in: &state)
        try openWrites.sweep()
        return changes
      }
    } catch {
      for (handle, write) in zip(handles, writes) { openWrites.all[handle] = write }
      throw error
    }
    for write in writes { damage.overwrote(write.claimed) }
    for change in changes { context.events.tellDirtied(state, change) }
    catalog.tellNewsIfAny(of: table)
    return writes.flatMap(\.rows)
  }

  /// Forgets open writes; their rows stay as they were.
  func abandon(_ handles: [UInt64], owner: UInt64) throws(CaravanError) {
    let objects = handles.filter { openWrites.cloud[$0] != nil }
    for handle in Set(objects) { try cloud.abandon(handle, owner: owner) }
    guard objects.isEmpty || objects.count < handles.count else { return }
    let handles = handles.filter { !objects.contains($0) }
    let writes = try openWrites(handles, owner: owner)
    for handle in handles { openWrites.all[handle] = nil }
    try discard(writes)
    try afterAbandoning(Set(writes.map(\.table)), writes)
  }

  /// - Returns: at least one.
  /// - Throws: `invalidData` when there is none, or one is not open here, is named twice, or is of another table.
  private func openWrites(_ handles: [UInt64], owner: UInt64) throws(CaravanError) -> [OpenWrite] {
    var writes: [OpenWrite] = []
    for handle in handles { writes.append(try openWrites.write(handle, owner: owner)) }
    guard Set(handles).count == handles.count, Set(writes.map(\.table)).count == 1 else {
      throw CaravanError(.invalidData, "writes end together when they are of one table: name one at least, each once")
    }
    return writes
  }

  // MARK: Carrying out

  private func carryOut(_ writes: [OpenWrite], in state: inout TableState) throws(CaravanError) -> [LocalChange] {
    var changes: [LocalChange] = []
    var made: Set<String> = []
    for write in writes {
      var bytes = 0
      for target in write.targets {
        // What was selected had this name before, and is gone.
        guard target.key == nil || !made.contains(target.id) else { throw Self.gone(target.id) }
        if target.key == nil { made.insert(target.id) }
        bytes += try carryOut(write, target, in: state)
      }
      try tolerances.note(write.intent, write.promise, in: state)
      changes.add(LocalChange(bytes: bytes, write.intent, write.promise))
    }
    return changes
  }

  /// Their rows belong together until the cloud has them.
  private func join(_ writes: [OpenWrite], in state: TableState) throws(CaravanError) {
    var rows: [StoredRow] = []
    for id in Set(writes.flatMap(\.rows)).sorted() {
      // What the cloud never had is gone when it is deleted.
      if let row = try state.rows.row(id: id, database) { rows.append(row) }
    }
    if rows.count > 1 { try batches.join(rows, in: state) }
  }

  /// - Returns: bytes that will be sent of it, about.
  private func carryOut(
    _ write: OpenWrite, _ target: OpenWrite.Target, in state: TableState
  ) throws(CaravanError) -> Int {
    switch (write.action, target.key) {
    case (.write(let cells), nil):
      let bytes = try writer.insert(id: target.id, cells: cells, drafts: target.drafts, into: state)
      if write.promise == .accepted { try lossQueue.accept(target.id, write.intent, in: state) }
      return bytes
    case (.write(let cells), let key?):
      guard var row = try row(key, of: target, in: state) else {
        throw Self.gone(target.id)
      }
      try inPlace.countClosed(target, &row, in: state)
      return try writer.rewrite(row, cells: cells, drafts: target.drafts, of: state).bytes
    case (.deletion, let key?):
      guard try row(key, of: target, in: state) != nil else { return 0 }
      try writer.delete(key, of: state)
      return RowWriter.deletionBytes
    case (.deletion, nil): return 0
    }
  }

  private static func gone(_ id: String) -> CaravanError {
    CaravanError(.noSuchObject, "row \(id) was deleted while it was open: abandon the write")
  }

  /// The row as it is now; nil: it is there no more.
  private func row(_ key: Int64, of target: OpenWrite.Target, in state: TableState) throws(CaravanError) -> StoredRow? {
    let row = try state.rows.row(key: key, database)
    guard row?.head.presence != .torn else {
      throw CaravanError(
        .rowTorn, "row \(target.id) was found damaged while it was open and is being restored: abandon the write")
    }
    guard let row, target.isRow(row), row.head.presence.isVisible else { return nil }
    return row
  }

  // MARK: Abandoning

  /// The owner has gone: frees its open writes, cursors and resolutions (SIM-43).
  func release(owner: UInt64) {
    cloud.release(owner: owner)
    let writes = openWrites.all.filter { $0.value.owner == owner }
    for handle in writes.keys { openWrites.all[handle] = nil }
    var tables = Set(writes.values.map(\.table))
    for (table, session) in arrivals.resolutions.sessions where session.owner == owner {
      arrivals.resolutions.sessions[table] = nil
      tables.insert(table)
    }
    // What waited for those rows can also wait for the next call; nothing is lost.
    do throws(CaravanError) {
      try discard(writes.values)
      try afterAbandoning(tables, Array(writes.values))
      try catalog.saveTold()
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
    for table in tables.sorted() where catalog.tables[table] != nil {
      let isTorn = try change(table) { (state) throws(CaravanError) in
        let given = writes.filter { $0.table == table }
        let isTorn = try inPlace.restore(given, in: &state)
        try arrivals.applyWaiting(&state)
        // What was not to be kept did not go as long as it was open, or somebody was making it under the same key.
        for id in given.flatMap(\.rows) {
          if let row = try state.rows.soundRow(id: id, database) {
            try retention.evictOutOfFilter(among: [row.key], in: &state)
          }
        }
        try retention.evictOld(&state)
        try openWrites.sweep()
        return isTorn
      }
      catalog.tellNewsIfAny(of: table)
      if isTorn { damage.tell?() }
    }
  }
}

extension [LocalChange] {
  /// Changes that are to travel alike are told as one.
  fileprivate mutating func add(_ change: LocalChange) {
    guard let last = indices.last, self[last].withinMilliseconds == change.withinMilliseconds,
      self[last].isTolerated == change.isTolerated
    else { return append(change) }
    self[last].bytes += change.bytes
  }
}

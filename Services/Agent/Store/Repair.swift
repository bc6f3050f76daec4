internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Damage that checksums have found. A row that it concerns is refused as torn, every other one stays as usable as it
/// was; its lost chunks are asked of the cloud by their hashes, or its last whole version takes its place (SIM-78…82).
struct Repair: TablePart {
  let retention: Retention
  let ancestors: Ancestors

  var catalog: TableCatalog { retention.catalog }
  private var inbox: Inbox { retention.inbox }
  private var objectChunks: ObjectChunks { inbox.objects }
  private var writer: RowWriter { retention.writer }
  private var openWrites: OpenWrites { retention.openWrites }

  func repairDamage() throws(CaravanError) {
    try repairRows()
    let found = damage.chunks
    guard !found.isEmpty else { return }
    let lost = try context.transaction { () throws(CaravanError) in try discard(found) }
    damage.forget(found)
    guard !lost.isEmpty else { return }
    for table in catalog.tables.keys.sorted() {
      let rows = try change(table) { (state) throws(CaravanError) in try repairRows(naming: lost, in: &state) }
      guard rows > 0 else { continue }
      host.log.warning("objects were damaged on the disk and are being restored", [.table: table, .count: rows])
      catalog.tellNewsIfAny(of: table)
    }
  }

  /// - Returns: the chunks among them whose bytes are gone.
  func discard(_ found: Set<ChunkHash>) throws(CaravanError) -> Set<ChunkHash> {
    var lost: Set<ChunkHash> = []
    var lacksList = false
    for hash in found.sorted() {
      switch try chunkTable.examine(hash) {
      case .sound: continue
      case .lost: lost.insert(hash)
      case .lostList:
        lost.insert(hash)
        lacksList = true
      }
    }
    if lacksList { try context.meta.note(countsAnew: true, database) }
    return lost
  }

  /// - Returns: how many rows the damage concerns.
  private func repairRows(naming lost: Set<ChunkHash>, in state: inout TableState) throws(CaravanError) -> Int {
    var concerned = 0
    for key in try state.rows.keys(where: namesObjects(state), database) {
      guard let row = try state.rows.soundRow(key: key, database) else { continue }
      let missing = try objectChunks.named(by: row, in: state, onlyEager: true).intersection(lost)
      guard !missing.isEmpty, state.tracks(row.head), !row.head.presence.isDeleted else { continue }
      concerned += 1
      if row.head.flags.syncPending {
        // What is sent stands already; the row is seen to when its push has been answered.
        for hash in missing { damage.postpone(hash) }
      } else if row.head.presence != .torn {
        try repair(row, lacking: missing, in: &state)
      }
    }
    concerned += try inbox.wantAgain(lost, in: state)
    try openWrites.sweep()
    try state.save(database)
    return concerned
  }

  private func namesObjects(_ state: TableState) -> String {
    let objects = state.schema.columns.filter { $0.kind == .object }.map { "\(RowTable.quoted($0.name)) IS NOT NULL" }
    return (objects + ["length(_extra) > 0"]).joined(separator: " OR ")
  }

  // MARK: Rows whose cells are damaged

  private func repairRows() throws(CaravanError) {
    let found = damage.rows.sorted { ($0.table, $0.key) < ($1.table, $1.key) }
    for row in found where catalog.tables[row.table] != nil {
      let isMended = try change(row.table) { (state) throws(CaravanError) in try repairCells(row.key, in: &state) }
      guard isMended else { continue }
      host.log.warning("a row was damaged on the disk and is being restored", [.table: row.table])
      catalog.tellNewsIfAny(of: row.table)
    }
    for row in found {
      // A row in flight is seen to when its push has been answered.
      if let state = catalog.tables[row.table], try state.rows.unverified(key: row.key, database)?.isSound == false {
        continue
      }
      damage.forget(row)
    }
  }

  /// - Returns: whether there was anything to do.
  private func repairCells(_ key: Int64, in state: inout TableState) throws(CaravanError) -> Bool {
    guard let found = try state.rows.unverified(key: key, database), !found.isSound,
      !found.row.head.flags.syncPending
    else { return false }
    var row = found.row
    // What it names cannot be believed: to release that might take another row's chunks. To find out what it named
    // would take every other row of the store, so its chunks stay counted until the next start.
    (row.cells, row.extra) = (row.cells.map { _ in .null }, [])
    try state.rows.update(row, database)
    try context.meta.note(countsAnew: true, database)
    switch row.head.presence {
    // The cloud is told of a deletion without any content; what is torn is on its way already.
    case .deleted, .deletedLost, .deletedUnconfirmed, .torn: break
    case .live, .unconfirmed, .lost, .changedLost: try putBackOrGiveUp(row, in: &state)
    }
    try openWrites.sweep()
    try state.save(database)
    return true
  }

  // MARK: One row

  func repair(
    _ row: StoredRow, lacking missing: Set<ChunkHash>, in state: inout TableState
  ) throws(CaravanError) {
    let copy = try inbox.entry(named: row.id, role: .serverCopy, of: state)
    let ancestor = try ancestorAtCloud(of: row, in: state)
    var atCloud: Set<ChunkHash> = []
    for body in [copy?.body, ancestor].compactMap(\.self) {
      atCloud.formUnion(try objectChunks.everyChunk(inBody: body))
    }
    let isClean = !row.head.flags.isDirty && !row.head.flags.inConflict
    if isClean || missing.isSubset(of: atCloud) { return try awaitChunks(of: row, in: &state) }
    // The change that named them is lost with them.
    try putBackOrGiveUp(row, in: &state)
  }

  /// A row whose content is lost becomes the cloud's copy as far as that is known here. Its app is told.
  private func putBackOrGiveUp(_ row: StoredRow, in state: inout TableState) throws(CaravanError) {
    if let copy = try inbox.entry(named: row.id, role: .serverCopy, of: state) {
      if copy.isDeleted { try writer.remove(row, of: state) } else { try putBack(row, to: copy.entry, in: &state) }
    } else if let ancestor = try ancestorAtCloud(of: row, in: state) {
      try putBack(row, to: row.entry(ancestor), in: &state)
    } else {
      return try giveUpContent(of: row, in: &state)
    }
    state.draft.note(.changed, row.id)
  }

  private func ancestorAtCloud(of row: StoredRow, in state: TableState) throws(CaravanError) -> [UInt8]? {
    row.head.version > 0 ? try ancestors.body(of: row.key, in: state) : nil
  }

  private func awaitChunks(of old: StoredRow, in state: inout TableState) throws(CaravanError) {
    var row = old
    try inbox.keep(row.entry(try state.codec.body(row.cells, extra: row.extra)), role: .repair, of: state)
    row.head.tear()
    try state.rows.updateHead(row, database)
    state.repairs += 1
  }

  /// The row as the cloud last told of it, without asking.
  private func putBack(_ row: StoredRow, to entry: Entry, in state: inout TableState) throws(CaravanError) {
    try writer.overwrite(row, with: entry, in: state)
    guard try !objectChunks.absent(entry.body, in: state).isEmpty, let old = try state.rows.row(key: row.key, database)
    else {
      return
    }
    try awaitChunks(of: old, in: &state)
  }

  /// The row's content cannot be trusted: the cloud sends it again when the table's next pull starts over. A row it
  /// never had is dropped, and the app told (SIM-82). The caller saves the table's state.
  func giveUpContent(of old: StoredRow, in state: inout TableState) throws(CaravanError) {
    var row = old
    guard row.head.version > 0 else {
      state.draft.note(.changed, row.id)
      return try discard(row, of: state)
    }
    try ancestors.forget(of: row.key, in: state)
    try inbox.drop(named: row.id, role: .serverCopy, of: state)
    row.head = RowHead(version: 0, presence: .torn)
    state.mustStartOver = true
    try state.rows.updateHead(row, database)
  }

  /// Its content is lost here, and the cloud does not have the row.
  func discard(_ row: StoredRow, of state: TableState) throws(CaravanError) {
    try writer.remove(row, of: state)
    state.draft.note(.lost, row.id)
  }

  /// Rows whose chunks have all come again are what they were. Runs inside its caller's transaction.
  func completeRepairs(_ state: inout TableState) throws(CaravanError) {
    for repair in try inbox.complete(.repair, of: state) {
      if var row = try state.rows.row(id: repair.name, database), row.head.presence == .torn {
        // In a resync that has not named it yet, it may be gone at the cloud.
        row.head.presence =
          state.isResyncing && row.head.version == 0 && !row.head.flags.inConflict ? .unconfirmed : .live
        try state.rows.updateHead(row, database)
        try retention.evictOutOfFilter(among: [row.key], in: &state)
        state.draft.note(.changed, row.id)
      }
      try inbox.drop(named: repair.name, role: .repair, of: state)
    }
    for wanted in try inbox.complete(.wanted, of: state) {
      try inbox.drop(named: wanted.name, role: .wanted, of: state)
    }
    state.repairs = try inbox.count(.repair, of: state) + inbox.count(.wanted, of: state)
    try state.save(database)
  }

  /// The row was cut off in the middle of a write in place. What it was when it was last closed is here, or its lost
  /// chunks are at the cloud; a row that nobody else has is given up, and its app told (SIM-82).
  /// - Parameter suspects: chunks that may have been overwritten.
  /// - Returns: whether any was.
  func restoreClosed(
    _ torn: StoredRow, suspects: Set<ChunkHash>, in state: inout TableState
  ) throws(CaravanError) -> Bool {
    var row = torn
    var isUnsynced = row.head.version == 0 || row.head.flags.inConflict
    if let ancestor = try ancestors.body(of: row.key, in: state), !isUnsynced {
      isUnsynced = try state.codec.body(row.cells, extra: row.extra) != ancestor
      if !isUnsynced { try ancestors.forget(of: row.key, in: state) }
    }
    let closed = CrashRecovery.closed(row.head.flags, isUnsynced: isUnsynced)
    (row.head.flags.tableDirty, row.head.flags.objectDirty) = (closed.tableDirty, closed.objectDirty)
    try state.rows.updateHead(row, database)
    let reader = chunkReader(try database)
    var lost: Set<ChunkHash> = []
    for hash in suspects where try reader.bytes(hash) == nil { lost.insert(hash) }
    guard !lost.isEmpty else { return false }
    _ = try discard(lost)
    damage.forget(lost)
    let awaited = lost.intersection(try objectChunks.named(by: row, in: state, onlyEager: true))
    guard !awaited.isEmpty else { return false }
    try repair(row, lacking: awaited, in: &state)
    try state.save(database)
    return true
  }
}

extension StoredRow {
  /// The row's version at the cloud, with this content.
  fileprivate func entry(_ body: [UInt8]) -> Entry {
    Entry(name: id, version: head.version, created: 0, body: body, writer: "")
  }
}

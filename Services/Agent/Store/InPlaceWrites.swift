internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Store mode `inPlace` (UNI-17, SIM-54, SIM-78…82). It differs from copy-on-write in this alone: chunks that the cloud
/// has, and that nobody else here needs, are overwritten where they lie while the write is open, and the row's OO and
/// OD say so before the first byte is. A write that is cut off leaves those chunks lost, and the row is repaired like
/// one that the disk has damaged. A row with a change that the cloud does not have is written beside as ever: its last
/// closed version stays here (E8).
struct InPlaceWrites: TablePart {
  let repair: Repair

  var catalog: TableCatalog { repair.catalog }
  private var ancestors: Ancestors { repair.ancestors }

  // MARK: Opening

  /// The rows count their objects as open; until they are closed, none of them is collected (SIM-63).
  func countOpen(_ targets: inout [OpenWrite.Target], of state: TableState) throws(CaravanError) {
    guard state.properties.mode == .inPlace, targets.contains(where: { $0.key != nil }) else { return }
    let counted = targets
    // Nothing is overwritten yet: what a power cut forgets of it nobody misses.
    try change(state.table, .later) { (state) throws(CaravanError) in
      for target in counted {
        guard let key = target.key, var row = try state.rows.row(key: key, database) else { continue }
        row.head.open(target.drafts.count)
        try state.rows.updateHead(row, database)
      }
    }
    for index in targets.indices { targets[index].isCounted = targets[index].key != nil }
  }

  // MARK: Overwriting

  /// Whether a chunk of an open object may be overwritten, and where it lies. The row's flags say that it may be torn,
  /// durably, before this says yes.
  func claim(
    _ hash: ChunkHash, column: Int, for target: inout OpenWrite.Target, of table: TableID
  ) throws(CaravanError) -> Int? {
    let state = try state(table)
    // A reader may look at the row as it was.
    guard target.isCounted, !context.isBeingRead, !state.isLocalOnly, let key = target.key,
      let row = try state.rows.row(key: key, database), target.isRow(row), row.head.presence == .live,
      row.head.flags.isTorn ? !target.claimed.isEmpty : row.head.flags.isUntouched,
      let object = try StoredObject(row.cells[column]), let place = try place(of: hash, in: object, of: row, state)
    else { return nil }
    if target.claimed.isEmpty { try markTorn(row, opened: target.drafts.count + 1, in: state) }
    target.claimed[column, default: []].insert(hash)
    damage.overwriting(hash, at: place)
    return place
  }

  /// Nil: somebody else names the chunk here too.
  private func place(
    of hash: ChunkHash, in object: StoredObject, of row: StoredRow, _ state: TableState
  ) throws(CaravanError) -> Int? {
    let named = try state.codec.chunks(row.cells, extra: row.extra)
    guard row.head.version > 0 else { return nil }
    // Since the first chunk was claimed, the ancestor names what the row does.
    let holders = row.head.flags.isTorn ? 2 : 1
    guard named.count(where: { $0 == object.list ?? hash }) == 1 else { return nil }
    guard let list = object.list else { return try chunkTable.place(of: hash, namedBy: holders) }
    return try chunkTable.isNamed(list, by: holders) ? try chunkTable.place(of: hash, namedBy: 1) : nil
  }

  /// OD=1 and OO>0: what the row holds cannot be believed until the write is closed.
  private func markTorn(_ old: StoredRow, opened: Int, in state: TableState) throws(CaravanError) {
    try change(state.table) { (state) throws(CaravanError) in
      var row = old
      if row.head.overwrite(opened) == .keepAncestor { try ancestors.keep(old, in: state) }
      try state.rows.updateHead(row, database)
    }
  }

  // MARK: The end

  /// The write's objects are open no more. Runs in the transaction that closes it.
  func countClosed(_ target: OpenWrite.Target, _ row: inout StoredRow, in state: TableState) throws(CaravanError) {
    guard target.isCounted else { return }
    row.head.close(target.drafts.count)
    try state.rows.updateHead(row, database)
  }

  /// Writes were given up: their rows get their last closed versions back.
  /// - Returns: whether some of that has to come from the cloud.
  func restore(_ writes: [OpenWrite], in state: inout TableState) throws(CaravanError) -> Bool {
    var isTorn = false
    for target in writes.flatMap(\.targets) where target.isCounted {
      guard let key = target.key, var row = try state.rows.soundRow(key: key, database), target.isRow(row) else {
        continue
      }
      try countClosed(target, &row, in: state)
      let claimed = target.claimed.values.reduce(into: Set<ChunkHash>()) { $0.formUnion($1) }
      guard !claimed.isEmpty, !row.head.presence.isDeleted else { continue }
      if try repair.restoreClosed(row, suspects: claimed, in: &state) { isTorn = true }
    }
    return isTorn
  }
}

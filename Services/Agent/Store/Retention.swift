internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanQuery
internal import CaravanRuntime
internal import CaravanSQLite

/// What a table keeps of its zone: what its query asks for, or its recent rows (UNI-15). The content that the cloud has
/// decides which rows belong: one that leaves the query's set leaves the device, unless it has changes that the cloud
/// lacks.
final class Retention: TablePart {
  let inbox: Inbox
  let writer: RowWriter
  let openWrites: OpenWrites
  let readers: ReaderPool
  private var deletions = RecentDeletions()

  var catalog: TableCatalog { inbox.catalog }

  init(inbox: Inbox, writer: RowWriter, openWrites: OpenWrites, readers: ReaderPool) {
    (self.inbox, self.writer, self.openWrites, self.readers) = (inbox, writer, openWrites, readers)
  }

  /// - Throws: `invalidData` for a query that is no plain expression over the table's columns.
  func checkQuery(of state: TableState) throws(CaravanError) {
    guard state.properties.query != nil else { return }
    _ = try belongs([SQLValue](repeating: .null, count: state.schema.columns.count), to: state)
  }

  /// Whether the table keeps a row of this content.
  func belongs(_ entry: Entry, to state: TableState) throws(CaravanError) -> Bool {
    if state.properties.query == nil || entry.isDeleted { return true }
    return try belongs(try state.codec.content(entry.body).cells, to: state)
  }

  private func belongs(_ cells: [SQLValue], to state: TableState) throws(CaravanError) -> Bool {
    guard let query = state.properties.query else { return true }
    let columns = state.schema.columns
    let kept = try RowSelection(query.template, query.parameters, columns: columns, subject: "query")
    // The cells compare as those of the table would.
    let row = columns.enumerated().map { index, column in
      let cell = RowTable.seen("?\(index + 1)", of: column)
      return "CAST(\(cell) AS \(RowTable.affinity(column))) AS \(RowTable.quoted(column.name))"
    }
    let text = "SELECT 1 FROM (SELECT \(row.joined(separator: ", "))) WHERE (\(kept.condition))"
    let reader = try readers.take()
    defer { readers.giveBack(reader) }
    let statement = try reader.prepared(text, SelectionGuard(state.rows, selects: 2, calls: kept.functions)).statement
    for (index, cell) in cells.enumerated() { try cell.bind(to: statement, at: Int32(index) + 1) }
    try kept.bind(to: statement, from: Int32(cells.count) + 1)
    defer { statement.reset() }
    return try reader.pace.bounded(on: reader.connection) { () throws(CaravanError) in try statement.next() != nil }
  }

  /// Rows that do not belong go from the device; what is not at the cloud yet stays, and what an app has open until it
  /// has not.
  /// - Parameter keys: of rows whose content may have changed; nil: of all.
  func evictOutOfFilter(among keys: [Int64]? = nil, in state: inout TableState) throws(CaravanError) {
    guard state.properties.query != nil else { return }
    let all = "_flags & 15 = 0 AND _presence IN (0, 3)"
    let changed = if let keys { keys } else { try state.rows.keys(where: all, database) }
    let before = state.hasRowsOutsideFilter
    if keys == nil { state.hasRowsOutsideFilter = false }
    for key in changed {
      guard let row = try state.rows.soundRow(key: key, database), row.head.flags.isUntouched,
        row.head.presence == .live || row.head.presence == .unconfirmed, try !belongs(row.cells, to: state)
      else { continue }
      if openWrites.isOpen(row: row.id, of: state.table) {
        state.hasRowsOutsideFilter = true
      } else {
        if keys != nil { try outdate(row.id, version: row.head.version, in: &state) }
        try writer.remove(row, of: state)
      }
    }
    if state.hasRowsOutsideFilter != before { try state.save(database) }
  }

  /// Whether a resync loses nothing by not naming rows outside its filter: a row that it does not name goes, whatever
  /// it has become.
  func maySkipOutOfFilter(_ state: TableState) throws(CaravanError) -> Bool {
    guard state.properties.query != nil, !openWrites.isOpen(state.table) else {
      return false
    }
    let changed = "_presence NOT IN (0, 3) OR _presence = 3 AND _flags <> 0"
    return try state.rows.count(where: changed, database) == 0
  }

  /// In a resync that names no rows outside its filter, a row that it did not name and that has been changed here
  /// meanwhile, or is open, may be gone, or not.
  func lacksOutOfFilter(among keys: [Int64], in state: TableState) throws(CaravanError) -> Bool {
    guard state.skipsRowsOutsideFilter else { return false }
    for key in keys {
      guard let row = try state.rows.unverified(key: key, database)?.row else { continue }
      if row.head.flags != .clean || row.head.presence != .unconfirmed
        || openWrites.isOpen(row: row.id, of: state.table)
      {
        return true
      }
    }
    return false
  }

  /// What the cloud told before it had the row as it was left there may still be on its way, or wait.
  func outdate(_ row: String, version: Seq, in state: inout TableState) throws(CaravanError) {
    deletions.add(row, of: state.table, version: version)
    try inbox.dropWaiting(named: row, through: version, of: &state)
  }

  // MARK: Deletions

  /// The cloud has taken a deletion of the row, or it was left to the cloud.
  func noteDeletion(of row: String, of table: TableID, version: Seq) {
    deletions.add(row, of: table, version: version)
  }

  /// The row goes from the device.
  func note(_ removal: RowPlan.Removal, of row: String, in state: inout TableState) throws(CaravanError) {
    switch removal {
    case .deleted(let version): noteDeletion(of: row, of: state.table, version: version)
    case .outdated(let version): try outdate(row, version: version, in: &state)
    case .untold: break
    }
  }

  /// Whether the row had been deleted here when this version of it was the newest.
  func wasDeleted(_ row: String, of table: TableID, version: Seq) -> Bool {
    deletions.cover(row, of: table, version: version)
  }

  /// Versions of the table mean nothing any more.
  func forget(_ table: TableID) { deletions.forget(table) }

  // MARK: Recent rows

  /// Rows that the table's window leaves to the cloud go from the device; what is not at the cloud yet stays (UNI-15).
  /// What waits for its chunks is not fetched either.
  /// - Returns: the version of the oldest row that the window has room for; nil: there is room for more.
  @discardableResult
  func evictOld(_ state: inout TableState) throws(CaravanError) -> Seq? {
    guard let window = state.properties.window else { return nil }
    let least = try window.rows.map { (rows) throws(CaravanError) in try leastVersion(of: rows, in: state) } ?? nil
    let birth = window.milliseconds.map { age in
      RowID.make(
        milliseconds: host.clock.wallTime.milliseconds - Int64(clamping: age), random: [UInt8](repeating: 0, count: 10))
    }
    func isOld(version: String, id: String) -> String {
      let conditions = [least.map { "\(version) < \($0)" }, birth.map { "\(id) < '\($0)'" }].compactMap(\.self)
      return conditions.isEmpty ? "0" : conditions.joined(separator: " OR ")
    }
    let waiting = "table_id = \(state.number) AND role = 0 AND (\(isOld(version: "version", id: "name")))"
    let names = try database.statement(text: "SELECT name FROM incoming WHERE \(waiting)").all { row in row.text(0) }
    for name in names {
      if let row = try state.rows.row(id: name, database) {
        // What it is to be told of by the entry it still has to be told.
        guard row.head.flags == .clean, row.head.presence == .live || row.head.presence == .unconfirmed,
          !openWrites.isOpen(row: row.id, of: state.table)
        else { continue }
        try writer.remove(row, of: state)
      }
      if try inbox.drop(named: name, role: .waiting, of: state) { state.waiting -= 1 }
    }
    let rows = "\(Self.kept(state)) AND (\(isOld(version: "_version", id: "_id")))"
    for key in try state.rows.keys(where: rows, database) {
      guard let row = try state.rows.soundRow(key: key, database), !openWrites.isOpen(row: row.id, of: state.table)
      else {
        continue
      }
      try writer.remove(row, of: state)
    }
    return least.map { Seq($0) }
  }

  /// Rows that may have to go; those of which a newer version waits count as that.
  private static func kept(_ state: TableState) -> String {
    let live = "_flags = 0 AND _presence = 0"
    guard state.waiting > 0 else { return live }
    return "\(live) AND _id NOT IN (SELECT name FROM incoming WHERE table_id = \(state.number) AND role = 0)"
  }

  /// Rows and waiting entries of smaller versions are too many; nil: none are.
  private func leastVersion(of rows: UInt64, in state: TableState) throws(CaravanError) -> Int64? {
    let text = """
      SELECT version FROM (
        SELECT _version AS version FROM \(state.rows.quotedName) WHERE \(Self.kept(state))
        UNION ALL SELECT version FROM incoming WHERE table_id = \(state.number) AND role = 0 AND deleted = 0)
      ORDER BY version DESC LIMIT 1 OFFSET \(rows - 1)
      """
    return try database.statement(text: text).first { row in row.integer(0) }
  }
}

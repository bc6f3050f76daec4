internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanQuery
internal import CaravanSQLite

// Tables that keep what a query asks for (UNI-15). Who belongs is decided by the content that the cloud has: a row that
// leaves the query's set leaves the device, unless it has changes that the cloud does not have yet.
extension LocalStore {
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
    let template = try SelectionText(query.template, columns: Set(columns.map(\.name)))
    guard template.arguments == query.parameters.count else {
      throw CaravanError(
        .invalidData,
        "the query has \(template.arguments) '?' and \(query.parameters.count) parameters came: give one for each")
    }
    // The cells compare as those of the table would.
    let row = columns.enumerated().map { index, column in
      "CAST(?\(index + 1) AS \(RowTable.affinity(column.kind))) AS \(RowTable.quoted(column.name))"
    }
    let text = "SELECT 1 FROM (SELECT \(row.joined(separator: ", "))) WHERE (\(template.text))"
    let reader = try takeReader()
    defer { giveBack(reader) }
    let statement = try reader.prepared(text, SelectionGuard(state.rows, selects: 2)).statement
    for (index, cell) in cells.enumerated() { try cell.bind(to: statement, at: Int32(index) + 1) }
    try bind(query.parameters, to: statement, after: cells.count)
    defer { statement.reset() }
    return try reader.bounded { () throws(CaravanError) in try statement.next() != nil }
  }

  /// Rows that do not belong go from the device; what is not at the cloud yet stays, and what an app has open until it
  /// has not.
  /// - Parameter keys: of rows whose content may have changed; nil: of all.
  func leaveStrangers(among keys: [Int64]? = nil, in state: inout TableState) throws(CaravanError) {
    guard state.properties.query != nil else { return }
    let all = "_flags & 15 = 0 AND _presence IN (0, 3)"
    let changed = if let keys { keys } else { try state.rows.keys(where: all, database) }
    let before = state.hasStrangers
    if keys == nil { state.hasStrangers = false }
    for key in changed {
      guard let row = try state.rows.soundRow(key: key, database), row.head.flags.isUntouched,
        row.head.presence == .live || row.head.presence == .unconfirmed, try !belongs(row.cells, to: state)
      else { continue }
      if openWrites.isOpen(row: row.id, of: state.table) {
        state.hasStrangers = true
      } else {
        if keys != nil { try outdate(row.id, version: row.head.version, in: &state) }
        try writer.remove(row, of: state)
      }
    }
    if state.hasStrangers != before { try state.save(database) }
  }

  /// Whether a page says enough of the rows whose bodies it left out: they are not here, are no news, or go.
  func knowsEnough(of page: [IncomingEntry], in state: TableState) throws(CaravanError) -> Bool {
    for incoming in page where incoming.isStranger {
      let row = try state.rows.row(id: incoming.entry.name, database)
      switch try decide(incoming.entry, isOwn: false, isStranger: true, row, in: state) {
      case .ignore, .remove: continue
      case .insert, .apply, .adopt, .conflict, .hold, .unexplained: return false
      }
    }
    return true
  }

  /// Whether a resync loses nothing by not naming strangers: a row that it does not name goes, whatever it has become.
  func maySkipStrangers(_ state: TableState) throws(CaravanError) -> Bool {
    guard state.properties.query != nil, !openWrites.isOpen(state.table) else {
      return false
    }
    let changed = "_presence NOT IN (0, 3) OR _presence = 3 AND _flags <> 0"
    return try state.rows.count(where: changed, database) == 0
  }

  /// In a resync that names no strangers, a row that it did not name and that has been changed here meanwhile, or is
  /// open, may be gone, or not.
  func lacksStrangers(among keys: [Int64], in state: TableState) throws(CaravanError) -> Bool {
    guard state.skipsStrangers else { return false }
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
}

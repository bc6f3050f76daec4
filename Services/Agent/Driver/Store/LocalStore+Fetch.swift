public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// Objects that do not come with their rows: columns whose fetch policy is lazy or none.
extension LocalStore {
  /// - Throws: `chunksMissing` when bytes of the part have to be fetched first (`want`), `networkNotPermitted` when
  ///   they stay in the cloud.
  func requirePresence(
    _ object: StoredObject, column: Int, from offset: UInt64, length: Int, in state: TableState
  ) throws(CaravanError) {
    // Of a column that has become eager, some may still be on their way.
    guard !state.isEager(column: column) || state.repairs > 0,
      try !objectChunks.absent(from: object, at: offset, length: length, chunkReader(database)).isEmpty
    else { return }
    let name = state.schema.columns[column].name
    guard state.policy(of: column) != .none else {
      throw CaravanError(
        .networkNotPermitted, "object '\(name)' stays in the cloud, as its column's fetch policy says: change that")
    }
    throw CaravanError(.chunksMissing, "object '\(name)' is not on this device yet: read it when there is a connection")
  }

  /// What a read lacks comes with the table's next way down.
  public func want(
    _ table: TableID, row id: String, object name: String, offset: UInt64, length: Int
  ) throws(CaravanError) {
    let state = try state(table)
    let column = try state.column(named: name)
    try change(table) { (state) throws(CaravanError) in
      guard let row = try state.rows.row(id: id, database), row.head.presence.isVisible,
        let object = try StoredObject(row.cells[column])
      else { return }
      let length = min(max(0, length), StoreLimits.readBytes)
      try want(
        objectChunks.absent(from: object, at: offset, length: length, chunkReader(database)), of: row, in: &state)
    }
  }

  private func want(_ chunks: Set<ChunkHash>, of row: StoredRow, in state: inout TableState) throws(CaravanError) {
    guard !chunks.isEmpty else { return }
    let body = try state.codec.body(row.cells, extra: row.extra)
    let entry = Entry(name: row.id, version: row.head.version, created: 0, body: body, writer: "")
    try inbox.keep(entry, role: .wanted, of: state, wanting: chunks)
    state.repairs = try inbox.count(.repair, of: state) + inbox.count(.wanted, of: state)
    try state.save(database)
  }

  /// Objects of columns that have become eager are wanted, whoever reads them.
  func wantEverything(in columns: [Int], of state: inout TableState) throws(CaravanError) {
    guard state.type != nil else { return }
    let reader = chunkReader(try database)
    for key in try state.rows.keys(where: RowTable.visible, database) {
      guard let row = try state.rows.soundRow(key: key, database) else { continue }
      var missing: Set<ChunkHash> = []
      for column in columns {
        guard let object = try StoredObject(row.cells[column]) else { continue }
        missing.formUnion(try objectChunks.absent(from: object, at: 0, length: .max, reader))
      }
      try want(missing, of: row, in: &state)
    }
  }

  // MARK: Recent rows

  /// Rows that the table's window leaves to the cloud go from the device; what is not at the cloud yet stays (UNI-15).
  /// What waits for its chunks is not fetched either.
  /// - Returns: the version of the oldest row that the window has room for; nil: there is room for more.
  @discardableResult
  func leaveOld(_ state: inout TableState) throws(CaravanError) -> Seq? {
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

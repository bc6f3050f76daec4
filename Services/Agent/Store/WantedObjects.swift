internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Objects that do not come with their rows: columns whose fetch policy is lazy or none.
struct WantedObjects: TablePart {
  let inbox: Inbox

  var catalog: TableCatalog { inbox.catalog }
  private var objectChunks: ObjectChunks { inbox.objects }

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
  func want(
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
}

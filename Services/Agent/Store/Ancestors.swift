internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// What changed rows are based on: their content as the cloud knew it, and what was sent of them and came to nothing.
/// Everything here runs in the transaction of its caller.
final class Ancestors: StorePart {
  let context: StoreContext
  /// Some push came to nothing; most of the time none has, and then nobody looks for it.
  private var hasPushedInVain = false

  init(_ context: StoreContext) { self.context = context }

  func recall() throws(CaravanError) {
    hasPushedInVain = try database.first("SELECT EXISTS (SELECT 1 FROM pushed)") { row in row.flag(0) } ?? false
  }

  /// The content the cloud knows, kept while the row differs from it.
  func keep(_ row: StoredRow, in state: TableState) throws(CaravanError) {
    try set(
      try state.codec.body(row.cells, extra: row.extra), version: row.head.version, of: row.key, in: state)
  }

  func set(_ body: [UInt8], version: Seq, of key: Int64, in state: TableState) throws(CaravanError) {
    try chunkTable.retain(try RowCodec.chunks(inBody: body))
    try forget(of: key, in: state)
    try database.run("INSERT INTO ancestors VALUES (?, ?, ?, ?)", state.number, key, version, body)
  }

  func forget(of key: Int64, in state: TableState) throws(CaravanError) {
    if hasPushedInVain {
      try database.run("DELETE FROM pushed WHERE table_id = ? AND row = ?", state.number, key)
    }
    guard let body = try body(of: key, in: state) else { return }
    try chunkTable.release(try RowCodec.chunks(inBody: body))
    try database.run("DELETE FROM ancestors WHERE table_id = ? AND row = ?", state.number, key)
  }

  func body(of key: Int64, in state: TableState) throws(CaravanError) -> [UInt8]? {
    try database.first("SELECT body FROM ancestors WHERE table_id = ? AND row = ?", state.number, key) { row in
      row.bytes(0)
    }
  }

  // MARK: Pushes in vain

  /// A cloud that was restored since may have had it, and get it back from others: what the row holds by then is based
  /// on it, and in no conflict with it.
  func keepPushed(_ body: [UInt8], of key: Int64, in state: TableState) throws(CaravanError) {
    hasPushedInVain = true
    try database.run(
      "INSERT OR REPLACE INTO pushed (table_id, row, content) VALUES (?, ?, ?)", state.number, key, ChunkHash(of: body))
    try database.run("DELETE FROM pushed WHERE id <= ?", database.lastInsertedRow - StoreLimits.pushesInVain)
  }

  /// Whether anything of the row was.
  func wasPushed(_ key: Int64, in state: TableState) throws(CaravanError) -> Bool {
    guard hasPushedInVain else { return false }
    return try database.first("SELECT 1 FROM pushed WHERE table_id = ? AND row = ?", state.number, key) { _ in true }
      ?? false
  }

  func wasPushed(_ body: [UInt8], of key: Int64, in state: TableState) throws(CaravanError) -> Bool {
    // An echo has no body.
    guard hasPushedInVain, !body.isEmpty else { return false }
    return try database.first(
      "SELECT 1 FROM pushed WHERE table_id = ? AND row = ? AND content = ?", state.number, key, ChunkHash(of: body)
    ) { _ in true } ?? false
  }

  /// Whether the cloud's copy is what the row's change was made from.
  func isOwnPast(_ copy: Entry, of row: StoredRow, in state: TableState) throws(CaravanError) -> Bool {
    if try body(of: row.key, in: state) == copy.body { return true }
    return try wasPushed(copy.body, of: row.key, in: state)
  }
}

internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

extension FileReads {
  /// The bytes of a chunk, or that they are lost.
  enum ChunkContent {
    case whole([UInt8])
    case damaged

    var bytes: [UInt8]? {
      switch self {
      case .whole(let bytes): bytes
      case .damaged: nil
      }
    }
  }

  func content(of chunk: ChunkRow) throws(CaravanError) -> ChunkContent {
    guard let bytes = try stored(chunk), bytes.count == chunk.size, XXHash64.hash(bytes) == chunk.sum else {
      return .damaged
    }
    return .whole(bytes)
  }

  /// nil: nothing of it is there, or the pages that it lies on are damaged.
  private func stored(_ chunk: ChunkRow) throws(CaravanError) -> [UInt8]? {
    if let place = chunk.place { return try chunkFile?.read(at: place, count: chunk.size) }
    guard let row = chunk.row else { return nil }
    do throws(CaravanError) {
      return try db.first("SELECT bytes FROM chunk_bytes WHERE id = ?", row) { row in row.bytes(0) }
    } catch {
      guard db.lastFailure?.kind == .corrupt else { throw error }
      return nil
    }
  }

  /// Reads the bytes of some chunks.
  /// - Returns: those that are damaged.
  func damaged(among hashes: [ChunkHash], in database: DatabaseID) throws(CaravanError) -> [ChunkHash] {
    chunkFile?.share()
    defer { chunkFile?.unlock() }
    guard let database = try self.database(database) else { return [] }
    var damaged: [ChunkHash] = []
    for hash in hashes {
      guard let row = try chunk(hash, in: database) else { continue }
      if case .damaged = try content(of: row) { damaged.append(hash) }
    }
    return damaged
  }
}

extension FileReads.ChunkRow {
  /// From columns id, place, size, sum.
  init(_ row: Row, from column: Int32) {
    self.init(
      row: row.isNull(column) ? nil : row.integer(column),
      place: row.isNull(column + 1) ? nil : Int(row.integer(column + 1)), size: Int(row.integer(column + 2)),
      sum: row.unsigned(column + 3))
  }
}

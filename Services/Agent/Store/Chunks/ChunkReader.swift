internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanSQLite

/// Reads chunks on any connection, in whatever snapshot it has, and never hands out bytes whose checksum is not right.
struct ChunkReader {
  let database: Connection
  let file: ChunkFile
  let damage: DamageLog

  /// - Returns: nil: they are not here, or not as they were; then `damage` has the chunk.
  func bytes(_ hash: ChunkHash) throws(CaravanError) -> [UInt8]? {
    let found = try database.first(
      """
      SELECT place, length, sum, (SELECT bytes FROM chunk_bytes WHERE id = chunks.id AND chunks.place IS NULL)
      FROM chunks WHERE hash = ? AND present > 0
      """, hash
    ) { row in
      (
        place: row.isNull(0) ? nil : Int(row.integer(0)), length: Int(row.integer(1)),
        sum: row.isNull(2) ? nil : row.unsigned(2), inline: row.bytes(3)
      )
    }
    guard let found, !damage.isOverwritten(hash, at: found.place) else { return nil }
    let bytes = if let place = found.place { try file.read(at: place, count: found.length) } else { found.inline }
    if let sum = found.sum, bytes.count != found.length || XXHash64.hash(bytes) != sum {
      damage.note(hash)
      return nil
    }
    return bytes
  }

  /// - Throws: `chunkDamaged`.
  func bytes(_ chunk: LooseChunk) throws(CaravanError) -> [UInt8] {
    switch chunk.content {
    case .inline(let bytes): return bytes
    case .file(let place):
      let bytes = try file.read(at: place, count: chunk.length)
      guard bytes.count == chunk.length, XXHash64.hash(bytes) == chunk.sum else {
        throw CaravanError(.chunkDamaged, "the disk lost part of an object that is being written: write it again")
      }
      return bytes
    }
  }

  func isPresent(_ hash: ChunkHash) throws(CaravanError) -> Bool {
    try database.first("SELECT present, place FROM chunks WHERE hash = ?", hash) { row in
      row.flag(0) && !damage.isOverwritten(hash, at: row.isNull(1) ? nil : Int(row.integer(1)))
    } ?? false
  }

  /// - Throws: `chunkDamaged` for a chunk that must be there and is not, or not as it was.
  func required(_ hash: ChunkHash) throws(CaravanError) -> [UInt8] {
    guard let bytes = try bytes(hash) else {
      damage.note(hash)
      throw CaravanError(.chunkDamaged, "chunk \(hash) of the local store is damaged: its row is being restored")
    }
    return bytes
  }
}

/// Chunks and rows that reads have found to be damaged, until somebody sees to them.
final class DamageLog {
  struct RowKey: Hashable {
    let table: TableID
    let key: Int64
  }

  private(set) var chunks: Set<ChunkHash> = []
  private(set) var rows: Set<RowKey> = []
  /// Chunks that open writes have overwritten, and where: not as they were, and no damage.
  private var overwritten: [ChunkHash: Int] = [:]
  /// Called with every find; must return at once.
  var tell: (@Sendable () -> Void)?
  /// SQLite has found the database itself damaged: it is salvaged when the store is opened next.
  private(set) var isOfDatabase = false
  /// Called once; must return at once.
  var tellOfDatabase: (@Sendable () -> Void)?

  func noteDatabase(_ files: PageRecoveryFiles) {
    guard !isOfDatabase else { return }
    isOfDatabase = true
    try? files.write([], to: files.mark)
    tellOfDatabase?()
  }

  func note(_ hash: ChunkHash) {
    guard overwritten[hash] == nil else { return }
    chunks.insert(hash)
    tell?()
  }

  func overwriting(_ hash: ChunkHash, at place: Int) { overwritten[hash] = place }
  func overwrote(_ hashes: some Sequence<ChunkHash>) { for hash in hashes { overwritten[hash] = nil } }
  func isOverwritten(_ hash: ChunkHash, at place: Int?) -> Bool { place != nil && overwritten[hash] == place }

  func note(row key: Int64, of table: TableID) {
    rows.insert(RowKey(table: table, key: key))
    tell?()
  }

  /// To be seen to later.
  func postpone(_ hash: ChunkHash) { chunks.insert(hash) }

  func forget(_ seenTo: Set<ChunkHash>) { chunks.subtract(seenTo) }
  func forget(_ seenTo: RowKey) { rows.remove(seenTo) }

  var isEmpty: Bool { chunks.isEmpty && rows.isEmpty }
}

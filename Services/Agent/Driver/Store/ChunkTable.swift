internal import Crypto
internal import Model
internal import SQLite

/// Chunks by content, counted by those who name them: cells, ancestors, plans, waiting entries, and the lists of large
/// objects. Runs inside its caller's transaction.
struct ChunkTable {
  let database: Connection

  /// `present` in the table.
  enum Presence: Int64 {
    /// Named before it is here: by a waiting entry.
    case absent = 0
    case here = 1
    /// Here, and the chunks that it lists are counted as long as it is.
    case opened = 2
  }

  /// The bytes are here now; counted by nobody yet, unless the chunk was known.
  func put(_ bytes: [UInt8], hash: ChunkHash) throws(CaravanError) {
    let known = try database.first("SELECT id, present FROM chunks WHERE hash = ?", hash) { row in
      (id: row.integer(0), isPresent: row.flag(1))
    }
    if let known, known.isPresent { return }
    if let known {
      try database.run("UPDATE chunks SET present = 1 WHERE id = ?", known.id)
    } else {
      try database.run("INSERT INTO chunks (hash, refs, present) VALUES (?, 0, 1)", hash)
    }
    let id = known?.id ?? database.lastInsertedRow
    try database.statement("INSERT INTO chunk_bytes VALUES (?, ?)").run(id, borrowing: bytes)
  }

  /// One more names the chunk.
  /// - Returns: whether its bytes are here.
  func retain(_ hash: ChunkHash) throws(CaravanError) -> Bool {
    try database.first(
      """
      INSERT INTO chunks (hash, refs, present) VALUES (?, 1, 0)
      ON CONFLICT (hash) DO UPDATE SET refs = refs + 1 RETURNING present
      """, hash
    ) { row in row.flag(0) } ?? false
  }

  /// Retains each distinct chunk once.
  /// - Returns: those whose bytes are not here.
  @discardableResult
  func retain(_ hashes: some Sequence<ChunkHash>) throws(CaravanError) -> [ChunkHash] {
    var absent: [ChunkHash] = []
    for hash in Set(hashes).sorted() where try !retain(hash) { absent.append(hash) }
    return absent
  }

  /// One fewer names each distinct chunk. Those that nobody names go with the next sweep.
  func release(_ hashes: some Sequence<ChunkHash>) throws(CaravanError) {
    for hash in Set(hashes).sorted() { try database.run("UPDATE chunks SET refs = refs - 1 WHERE hash = ?", hash) }
  }

  /// A holder names `new` in place of `old`.
  func replace(_ old: some Sequence<ChunkHash>, by new: some Sequence<ChunkHash>) throws(CaravanError) {
    let (before, after) = (Set(old), Set(new))
    try retain(after.subtracting(before))
    try release(before.subtracting(after))
  }

  /// Takes away what nobody names.
  func sweep() throws(CaravanError) {
    while true {
      let unused = try database.all("SELECT id, hash, present FROM chunks WHERE refs = 0") { row in
        (id: row.integer(0), hash: ChunkHash(row.bytes(1)), presence: row.integer(2))
      }
      var released = false
      for chunk in unused {
        if chunk.presence == Presence.opened.rawValue, let hash = chunk.hash {
          try release(ChunkReader(database: database).listed(hash))
          released = true
        }
        try database.run("DELETE FROM chunk_bytes WHERE id = ?", chunk.id)
        try database.run("DELETE FROM chunks WHERE id = ?", chunk.id)
      }
      if !released { return }
    }
  }
}

/// Reading works on any connection, in whatever snapshot it has.
struct ChunkReader {
  let database: Connection

  func bytes(_ hash: ChunkHash) throws(CaravanError) -> [UInt8]? {
    try database.first(
      "SELECT bytes FROM chunk_bytes WHERE id = (SELECT id FROM chunks WHERE hash = ? AND present > 0)", hash
    ) { row in row.bytes(0) }
  }

  func isPresent(_ hash: ChunkHash) throws(CaravanError) -> Bool {
    try database.first("SELECT present FROM chunks WHERE hash = ?", hash) { row in row.flag(0) } ?? false
  }

  /// - Throws: `internalError` for a chunk that must be there and is not.
  func required(_ hash: ChunkHash) throws(CaravanError) -> [UInt8] {
    guard let bytes = try bytes(hash) else {
      throw CaravanError(.internalError, "chunk \(hash) is missing in the local store: its file is damaged")
    }
    return bytes
  }
}

extension ChunkHash {
  init(of bytes: [UInt8]) {
    guard let hash = ChunkHash(SHA256.hash(bytes).bytes) else {
      preconditionFailure("a SHA-256 digest has other than \(ChunkHash.byteCount) bytes")
    }
    self = hash
  }
}

internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Chunks that come in parts (MOB-23), until they are whole.
enum PartTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      "CREATE TABLE IF NOT EXISTS chunk_parts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, bytes BLOB NOT NULL)")
  }
}

/// Keeps what has come of chunks whose rest is awaited.
struct PartialChunks: StorePart {
  let context: StoreContext

  func part(of hash: ChunkHash) throws(CaravanError) -> [UInt8] {
    let parts = try database.all("SELECT bytes FROM chunk_parts WHERE hash = ? ORDER BY id", hash) { row in
      row.bytes(0)
    }
    return parts.reduce(into: []) { $0 += $1 }
  }

  func keep(_ part: [UInt8], of hash: ChunkHash, from start: Int) throws(CaravanError) {
    // What a power cut takes comes again.
    try context.transaction(.later) { () throws(CaravanError) in
      let held = try database.first("SELECT ifnull(sum(length(bytes)), 0) FROM chunk_parts WHERE hash = ?", hash) {
        row in Int(row.integer(0))
      }
      guard held == start else { return }
      try database.run("INSERT INTO chunk_parts (hash, bytes) VALUES (?, ?)", hash, part)
      try database.run(
        """
        DELETE FROM chunk_parts WHERE hash NOT IN (
          SELECT hash FROM chunk_parts GROUP BY hash ORDER BY max(id) DESC LIMIT ?)
        """, Int64(EngineLimits.chunksInParts))
    }
  }

  func drop(_ hash: ChunkHash) throws(CaravanError) {
    try context.transaction(.later) { () throws(CaravanError) in
      try database.run("DELETE FROM chunk_parts WHERE hash = ?", hash)
    }
  }
}

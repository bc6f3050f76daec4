internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// Compares chunks with what was written.
struct ChunkScrub {
  let file: FileReads

  private var db: Connection { file.db }

  /// Where scrubbing has come to: the chunk that was read last.
  struct Position: Sendable, Hashable {
    var database: Int64
    var hash: ChunkHash
  }

  struct Progress: Sendable {
    var step: ScrubStep
    var end: Position?
    var damaged: [Position] = []
    /// Known to be damaged, and whole after all: they could not be read for a while.
    var recovered: [Position] = []
  }

  /// Reads the chunks behind the position, until about so many bytes have been read.
  func read(bytes limit: Int) throws(CaravanError) -> Progress {
    file.chunkFile?.share()
    defer { file.chunkFile?.unlock() }
    let last = try db.first(
      "SELECT database, hash FROM scrubbing WHERE id = 0", read: { (database: $0.integer(0), hash: $0.bytes(1)) })
    let rows = try db.all(
      """
      SELECT database, hash, id, place, size, sum FROM chunks WHERE (database, hash) > (?, ?)
      ORDER BY database, hash LIMIT ?
      """, last?.database ?? 0, last?.hash ?? [], FileLimits.scrubbedChunks
    ) { (row) throws(CaravanError) in
      (
        position: Position(database: row.integer(0), hash: try DamageReads.hash(row.bytes(1))),
        chunk: FileReads.ChunkRow(row, from: 2)
      )
    }
    var scrubbed = Progress(step: ScrubStep())
    for row in rows where scrubbed.step.bytes < limit {
      scrubbed.step.chunks += 1
      scrubbed.step.bytes += row.chunk.size
      scrubbed.end = row.position
      if case .damaged = try file.content(of: row.chunk) { scrubbed.damaged.append(row.position) }
    }
    if let end = scrubbed.end {
      let known = try damage(after: last?.database ?? 0, last?.hash ?? [], upTo: end)
      scrubbed.recovered = known.filter { !scrubbed.damaged.contains($0) }
    }
    scrubbed.step.damaged = scrubbed.damaged.count
    if scrubbed.step.chunks == rows.count, rows.count < FileLimits.scrubbedChunks {
      scrubbed.step.isRoundOver = true
      scrubbed.end = nil
    }
    return scrubbed
  }

  private func damage(
    after database: Int64, _ hash: [UInt8], upTo end: Position
  ) throws(CaravanError) -> [Position] {
    try db.all(
      "SELECT database, hash FROM damage WHERE (database, hash) > (?, ?) AND (database, hash) <= (?, ?)", database,
      hash, end.database, end.hash
    ) { (row) throws(CaravanError) in Position(database: row.integer(0), hash: try DamageReads.hash(row.bytes(1))) }
  }
}

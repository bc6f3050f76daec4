internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Compares rows of `entries` with what was written: their sums, and their lists of chunks.
struct EntryScrub {
  let db: Connection

  private static let summed = SummedColumns(
    created: 1, flags: 2, type: 3, expires: 4, name: 5, fields: 6, body: 7, sum: 8)

  /// nil: there is no such row.
  func isDamaged(_ key: Int64) throws(CaravanError) -> Bool? {
    try db.first(
      "SELECT key, created, flags, type, expires, name, fields, body, sum, chunks FROM entries WHERE key = ?", key
    ) { (row) throws(CaravanError) in try !isWhole(row, key) }
  }

  private func isWhole(_ row: Row, _ key: Int64) throws(CaravanError) -> Bool {
    guard try row.isWhole(Self.summed, version: Key.counter(key)) else { return false }
    return row.isNull(9) ? true : try knows(row.bytes(9), ofEntry: key)
  }

  /// Whether the database has each chunk that a list names. Chunks stay while a record names them, so a list that names
  /// another is not as it was written; no sum is kept of lists.
  private func knows(_ list: [UInt8], ofEntry key: Int64) throws(CaravanError) -> Bool {
    guard let hashes = try? ChunkHash.list(list) else { return false }
    for hash in hashes {
      let isKnown = try db.first(
        "SELECT 1 FROM zones z JOIN chunks c ON c.database = z.database WHERE z.id = ? AND c.hash = ?",
        Key.owner(key), hash, read: { _ in true })
      guard isKnown ?? false else { return false }
    }
    return true
  }

  struct Progress: Sendable {
    var step = ScrubStep()
    /// The key of the row that was read last; nil: it was the last one.
    var end: Int64?
    var damaged: [Int64] = []
  }

  /// Reads the rows behind a key, until about so many bytes have been read. Pages that cannot be read are passed with
  /// their zone: whoever reads that is told.
  func read(after key: Int64, bytes limit: Int) throws(CaravanError) -> Progress {
    var scrubbed = Progress()
    var last = key
    do throws(CaravanError) {
      try db.statement(
        """
        SELECT key, created, flags, type, expires, name, fields, body, sum, chunks FROM entries WHERE key > ?
        ORDER BY key LIMIT ?
        """
      ).visit(key, FileLimits.scrubbedEntries) { (row) throws(CaravanError) in
        last = row.integer(0)
        scrubbed.step.records += 1
        scrubbed.step.bytes += row.isNull(8) ? 0 : row.byteCount(7)
        if try !isWhole(row, last) { scrubbed.damaged.append(last) }
        return scrubbed.step.bytes < limit
      }
    } catch {
      guard db.lastFailure?.kind == .corrupt else { throw error }
      scrubbed.end = Key.make(Key.owner(last) + 1, 0)
    }
    scrubbed.step.damaged = scrubbed.damaged.count
    if scrubbed.end == nil {
      let isOver = scrubbed.step.records < FileLimits.scrubbedEntries && scrubbed.step.bytes < limit
      (scrubbed.step.isRoundOver, scrubbed.end) = (isOver, isOver ? nil : last)
    }
    return scrubbed
  }

  /// Where scrubbing of rows goes on; nil: chunks are scrubbed.
  var position: Int64? {
    get throws(CaravanError) {
      try db.first("SELECT key FROM scrubbing_entries WHERE id = 0", read: { $0.integer(0) })
    }
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Rows of `entries` against their sums.
extension FileReads {
  private static let summed = SummedColumns(
    created: 1, flags: 2, type: 3, expires: 4, name: 5, fields: 6, body: 7, sum: 8)

  func damagedBodies(_ filter: DamageFilter, atMost count: Int) throws(CaravanError) -> [DamagedBody] {
    var found: [DamagedBody] = []
    for databases in try numbers(of: filter) where found.count < count {
      found += try db.all(
        """
        SELECT m.key, m.found, e.name, length(e.body), z.name, d.container, d.environment, d.owner
        FROM damaged_entries m JOIN entries e ON e.key = m.key JOIN zones z ON z.id = m.key >> 40
        JOIN databases d ON d.id = z.database
        WHERE z.state = 0 AND z.database BETWEEN ? AND ? ORDER BY m.key LIMIT ?
        """, databases.lowerBound, databases.upperBound, count - found.count
      ) { (row) throws(CaravanError) in
        DamagedBody(
          zone: try zoneID(row, from: 4), name: row.text(2), version: Key.counter(row.integer(0)),
          size: Int(row.integer(3)), found: row.integer(1))
      }
    }
    return found
  }

  /// nil: there is no such row.
  func isDamaged(entry key: Int64) throws(CaravanError) -> Bool? {
    try db.first(
      "SELECT key, created, flags, type, expires, name, fields, body, sum FROM entries WHERE key = ?", key
    ) { (row) throws(CaravanError) in try !row.isWhole(Self.summed, version: Key.counter(key)) }
  }

  struct ScrubbedEntries: Sendable {
    var step = ScrubStep()
    /// The key of the row that was read last; nil: it was the last one.
    var end: Int64?
    var damaged: [Int64] = []
  }

  /// Reads the rows behind a key, until about so many bytes have been read. Pages that cannot be read are passed with
  /// their zone: whoever reads that is told.
  func scrubEntries(after key: Int64, bytes limit: Int) throws(CaravanError) -> ScrubbedEntries {
    var scrubbed = ScrubbedEntries()
    var last = key
    do throws(CaravanError) {
      try db.statement(
        """
        SELECT key, created, flags, type, expires, name, fields, body, sum FROM entries WHERE key > ?
        ORDER BY key LIMIT ?
        """
      ).visit(key, FileLimits.scrubbedEntries) { (row) throws(CaravanError) in
        last = row.integer(0)
        scrubbed.step.records += 1
        scrubbed.step.bytes += row.isNull(8) ? 0 : row.byteCount(7)
        if try !row.isWhole(Self.summed, version: Key.counter(last)) { scrubbed.damaged.append(last) }
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
  var scrubbedEntry: Int64? {
    get throws(CaravanError) {
      try db.first("SELECT key FROM scrubbing_entries WHERE id = 0", read: { $0.integer(0) })
    }
  }
}

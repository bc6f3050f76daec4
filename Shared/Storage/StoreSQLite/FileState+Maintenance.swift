internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Maintenance in steps small enough that no commit waits long behind one.
extension FileState {
  /// - Parameter sightings: to be written down.
  /// - Returns: whether there is more to do now.
  func collect(_ sightings: [Sighting], _ rule: TombstoneRule) throws(CaravanError) -> Bool {
    try devices.write(sightings, rule)
    let isSome = sightings.count == StoreLimits.sightingsWritten
    let more = [
      try collectZone(), try groups.collect(), try leases.collect(), try chunks.collect(), try collectLog(),
      try TombstonePurge(context: context, entries: entries).collect(rule), try snapshots.collect(),
      try ZoneBurial(context: context).collect(rule), try compaction.compact(),
    ]
    return isSome || more.contains(true)
  }

  /// Removes entries of one deleted zone.
  private func collectZone() throws(CaravanError) -> Bool {
    guard let zone = try zoneToCollect() else { return false }
    let end = Key.make(zone.id, StoreLimits.highestNumber)
    let rows = try db.all(
      "SELECT key, name, flags FROM entries WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?", Key.make(zone.id, 0), end,
      FileLimits.collectedRows,
      read: { (key: $0.integer(0), name: $0.text(1), flags: EntryFlags(rawValue: $0.integer(2))) })
    for row in rows {
      if row.flags.contains(.holdsChunks) {
        for hash in try chunks.chunks(ofEntry: row.key) { try chunks.release(hash, in: zone.database) }
      }
      if objects.queues, row.flags.holdsObjects { try objects.queue(of: row.name, in: zone.id) }
      if row.flags.contains(.holdsReferences) {
        try db.run("DELETE FROM refs WHERE zone = ? AND source = ?", zone.id, row.name)
      }
      try entries.remove(row.key)
      try db.run("DELETE FROM names WHERE zone = ? AND name = ?", zone.id, row.name)
    }
    if rows.count < FileLimits.collectedRows {
      guard try snapshots.removeSuperseded(upTo: end, of: zone.id, in: zone.database) == nil else { return true }
      try devices.remove(of: zone.id)
      try db.run("UPDATE zones SET state = iif(state = 4, 5, 2) WHERE id = ?", zone.id)
    }
    return true
  }

  /// One that was deleted, or has gone to another store.
  private func zoneToCollect() throws(CaravanError) -> (id: Int64, database: Int64)? {
    let deleted = try db.first(
      "SELECT id, database FROM zones WHERE state = 1 LIMIT 1", read: { (id: $0.integer(0), database: $0.integer(1)) })
    if let deleted { return deleted }
    return try db.first(
      "SELECT id, database FROM zones WHERE state = 4 LIMIT 1", read: { (id: $0.integer(0), database: $0.integer(1)) })
  }

  /// Shortens the log of every partition to what is kept; the newest entry always stays, as it is the head.
  private func collectLog() throws(CaravanError) -> Bool {
    var hasMore = false
    let heads = try reads.logHeads().filter { $0.value > StoreLimits.logEntriesKept }
    for (partition, head) in heads.sorted(by: { $0.key < $1.key }) {
      let owner = Int64(partition.number)
      try db.run(
        "DELETE FROM log WHERE key IN (SELECT key FROM log WHERE key >= ? AND key <= ? ORDER BY key LIMIT ?)",
        Key.make(owner, 0), Key.make(owner, head - StoreLimits.logEntriesKept), FileLimits.collectedRows)
      hasMore = hasMore || db.changedRows == FileLimits.collectedRows
    }
    return hasMore
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// The tombstones that all devices of a zone have seen, or that are so old that nobody waits for devices that have not.
struct TombstonePurge: FilePart {
  let context: FileContext
  let entries: FileEntries

  /// Looks at the next few zones that have tombstones.
  /// - Returns: whether some went.
  func collect(_ rule: TombstoneRule) throws(CaravanError) -> Bool {
    var hasPurged = false
    for _ in 0..<StoreLimits.zonesPerPurge {
      guard let zone = try nextBuried() else { break }
      if try purge(zone, rule) { hasPurged = true }
    }
    return hasPurged
  }

  /// The next zone with a tombstone, round and round.
  private func nextBuried() throws(CaravanError) -> Int64? {
    let next = try db.first(
      "SELECT key FROM entries WHERE flags & 1 AND key >= ? ORDER BY key LIMIT 1", Key.make(context.turns.purge, 0),
      read: { $0.integer(0) >> 40 })
    context.turns.purge = next.map { $0 + 1 } ?? 0
    return next
  }

  private func purge(_ zone: Int64, _ rule: TombstoneRule) throws(CaravanError) -> Bool {
    guard
      let seq = try db.first("SELECT seq FROM zones WHERE id = ? AND state = 0", zone, read: { $0.unsigned(0) }),
      let age = try age(of: zone, at: seq, rule)
    else { return false }
    let least = try db.first(
      "SELECT min(seen) FROM sightings WHERE zone = ? AND time > ?", zone, rule.activeSince(now),
      read: { $0.isNull(0) ? nil : $0.unsigned(0) })
    let limit = rule.limit(age, leastSeen: least ?? nil)
    let gone = try db.all(
      "SELECT key, name FROM entries WHERE flags & 1 AND key > ? AND key <= ? ORDER BY key LIMIT ?", Key.make(zone, 0),
      Key.make(zone, limit), FileLimits.collectedRows, read: { (key: $0.integer(0), name: $0.text(1)) })
    guard let last = gone.last else { return false }
    for tombstone in gone {
      try entries.remove(tombstone.key)
      try db.run("DELETE FROM names WHERE zone = ? AND name = ?", zone, tombstone.name)
    }
    try db.run("UPDATE zones SET purged = ? WHERE id = ?", Key.counter(last.key), zone)
    context.metrics.purged(tombstones: gone.count)
    return true
  }

  private func age(of zone: Int64, at seq: Seq, _ rule: TombstoneRule) throws(CaravanError) -> TombstoneAge? {
    let known = try db.first(
      "SELECT aged, mark, marked FROM tombstone_ages WHERE zone = ?", zone,
      read: { TombstoneAge(aged: $0.unsigned(0), mark: $0.unsigned(1), markedAt: $0.integer(2)) })
    guard let age = TombstoneAge.advanced(known, seq: seq, now: now, rule) else { return known }
    try db.run(
      "REPLACE INTO tombstone_ages(zone, aged, mark, marked) VALUES (?, ?, ?, ?)", zone, age.aged, age.mark,
      age.markedAt)
    return age
  }
}

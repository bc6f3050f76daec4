internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// What the file knows of devices: the footprints of their commits, the sightings of their pulls; and the tombstones
/// that they let go.
extension FileState {
  struct ReadPositionKey: Hashable {
    var zone: Int64
    var writer: String
  }

  /// Part of every answer to a commit.
  func keepReadPosition(of writer: String, in zone: ZoneRecord) throws(CaravanError) {
    let known = try footprint(of: writer, in: zone)
    guard let moved = ReadPosition.moved(known, to: zone.seq, isExact: zone.snapshot > 0) else { return }
    try save(moved, of: writer, in: zone)
  }

  func footprint(of writer: String, in zone: ZoneRecord) throws(CaravanError) -> ReadPosition? {
    let key = ReadPositionKey(zone: zone.id, writer: writer)
    if let known = footprints[key] { return known }
    guard let known = try reads.footprint(of: writer, in: zone.id) else { return nil }
    remember(&footprints, key, known)
    return known
  }

  func save(_ footprint: ReadPosition, of writer: String, in zone: ZoneRecord) throws(CaravanError) {
    try db.run(
      """
      INSERT INTO footprints(zone, writer, first, reach) VALUES (?, ?, ?, ?)
      ON CONFLICT (zone, writer) DO UPDATE SET reach = excluded.reach
      """, zone.id, writer, footprint.first, footprint.reach)
    remember(&footprints, ReadPositionKey(zone: zone.id, writer: writer), footprint)
  }

  func write(_ sightings: [Sighting], _ rule: TombstoneRule) throws(CaravanError) {
    for sighting in sightings {
      guard let zone = try reads.zoneNumber(sighting.zone) else { continue }
      try db.run(
        """
        INSERT INTO sightings(zone, device, seen, target, time)
        SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM zones WHERE id = ?1 AND state = 0)
        ON CONFLICT (zone, device) DO UPDATE SET seen = excluded.seen, target = excluded.target, time = excluded.time
        WHERE seen <> excluded.seen OR target <> excluded.target OR excluded.time >= time + ?6
        """, zone, sighting.device, sighting.seen, sighting.target, sighting.time,
        sighting.target > 0 ? rule.snapshotStep : rule.activityStep)
    }
  }

  // MARK: Purge

  /// Looks at the next few zones that have tombstones.
  /// - Returns: whether some went.
  func purgeTombstones(_ rule: TombstoneRule) throws(CaravanError) -> Bool {
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
      "SELECT key FROM entries WHERE flags & 1 AND key >= ? ORDER BY key LIMIT 1", Key.make(turns.purge, 0),
      read: { $0.integer(0) >> 40 })
    turns.purge = next.map { $0 + 1 } ?? 0
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
      try removeEntry(tombstone.key)
      try db.run("DELETE FROM names WHERE zone = ? AND name = ?", zone, tombstone.name)
    }
    try db.run("UPDATE zones SET purged = ? WHERE id = ?", Key.counter(last.key), zone)
    metrics.purged(tombstones: gone.count)
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

  /// Of a zone whose last entry has gone.
  func forgetDevices(of zone: Int64) throws(CaravanError) {
    try db.run("DELETE FROM footprints WHERE zone = ?", zone)
    try db.run("DELETE FROM sightings WHERE zone = ?", zone)
    try db.run("DELETE FROM tombstone_ages WHERE zone = ?", zone)
  }
}

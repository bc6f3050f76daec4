internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Snapshots: versions of a zone that readers are on their way to. While there is one, the entries it has stay when
/// their records are written again (CK-49).
struct FileSnapshots: FilePart {
  let context: FileContext
  let zones: FileZones
  let devices: FileDevices
  let chunks: FileChunks

  /// The zone as it is now.
  /// - Parameter reader: its footprint becomes exact, so that only what it writes from now on is beyond the snapshot.
  /// - Returns: its version; nil: there is no such zone any more.
  func make(
    of name: ZoneID, _ incarnation: Incarnation, for reader: String?
  ) throws(CaravanError) -> Seq? {
    guard var zone = try zones.zone(name), zone.incarnation == incarnation else { return nil }
    if zone.snapshot != zone.seq {
      try db.run(
        "UPDATE zones SET snapshot = ?, oldest_snapshot = iif(snapshot = 0, ?, oldest_snapshot) WHERE id = ?", zone.seq,
        zone.seq, zone.id)
      zone.snapshot = zone.seq
      zones.remember(zone, of: name)
    }
    if let reader, let known = try devices.footprint(of: reader, in: zone), known.reach > zone.seq {
      try devices.save(ReadPosition(first: known.first, reach: zone.seq), of: reader, in: zone)
    }
    return zone.seq
  }

  /// Removes what no reader needs any more (CK-52), of the next few zones with snapshots.
  /// - Returns: whether there may be more.
  func collect() throws(CaravanError) -> Bool {
    var hasMore = false
    for _ in 0..<StoreLimits.zonesPerPurge {
      let next = try db.first(
        "SELECT id, database FROM zones WHERE snapshot > 0 AND id > ? ORDER BY id LIMIT 1", context.turns.snapshots,
        read: { (id: $0.integer(0), database: $0.integer(1)) })
      context.turns.snapshots = next?.id ?? 0
      guard let next else { break }
      if try collect(of: next.id, in: next.database) { hasMore = true }
    }
    return hasMore
  }

  private func collect(of zone: Int64, in database: Int64) throws(CaravanError) -> Bool {
    let since = now - StoreLimits.snapshotPatience.components.seconds * 1_000
    let targets = try db.first(
      "SELECT min(target) FROM sightings WHERE zone = ? AND target > 0 AND time > ?", zone, since,
      read: { $0.isNull(0) ? nil : $0.unsigned(0) })
    let least = targets ?? nil
    let limit = Key.make(zone, least ?? StoreLimits.highestNumber)
    if let last = try removeSuperseded(upTo: limit, of: zone, in: database) {
      try db.run("UPDATE zones SET oldest_snapshot = max(oldest_snapshot, ?) WHERE id = ?", Key.counter(last), zone)
      return true
    }
    if least == nil {
      try db.run("UPDATE zones SET snapshot = 0 WHERE id = ?", zone)
      zones.forget()
    }
    return false
  }

  /// Some of what was superseded up to `limit`.
  /// - Returns: the `until` of the last; nil: there are none.
  func removeSuperseded(upTo limit: Int64, of zone: Int64, in database: Int64) throws(CaravanError) -> Int64? {
    let gone = try db.all(
      "SELECT key, until, chunks FROM superseded WHERE until > ? AND until <= ? ORDER BY until LIMIT ?",
      Key.make(zone, 0), limit, FileLimits.collectedRows,
      read: { (key: $0.integer(0), until: $0.integer(1), chunks: $0.bytes(2)) })
    for row in gone {
      for hash in try ChunkHash.list(row.chunks) { try chunks.release(hash, in: database) }
      try db.run("DELETE FROM superseded WHERE key = ?", row.key)
    }
    return gone.last?.until
  }
}

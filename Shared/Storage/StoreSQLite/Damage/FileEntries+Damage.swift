internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Damaged rows stay as they are, in case that what lies on the disk can be repaired, until the record is written anew.
extension FileEntries {
  /// A reader has left these out.
  func noteDamage(_ entries: [DamagedVersion], in zone: ZoneRecord?) throws(CaravanError) {
    guard let zone else { return }
    for entry in entries { try noteDamage(Key.make(zone.id, entry.version)) }
  }

  /// Only what is damaged now: the record may have been written since it was read.
  func noteDamage(_ key: Int64) throws(CaravanError) {
    guard try EntryScrub(db: db).isDamaged(key) ?? false else { return }
    try db.run("INSERT OR IGNORE INTO damaged_entries(key, found) VALUES (?, ?)", key, now)
  }

  /// Notes what a step of scrubbing has found, and where it ended.
  /// - Parameter isRoundOver: of all that is scrubbed.
  func note(_ scrubbed: EntryScrub.Progress) throws(CaravanError) {
    for key in scrubbed.damaged { try noteDamage(key) }
    guard let end = scrubbed.end else {
      try db.run("DELETE FROM scrubbing_entries")
      return try db.run(
        "DELETE FROM damaged_entries WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.key = damaged_entries.key)")
    }
    try db.run("INSERT OR REPLACE INTO scrubbing_entries(id, key) VALUES (0, ?)", end)
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Rows of zones that were deleted long ago go (`BuriedZones`), and count no more for their owner. Their ids do not
/// come back: tokens, outcomes of ops and positions of those who follow the log name lives by them for as long as
/// anybody keeps one, and a life that had another's id would take them for its own.
struct ZoneBurial: FilePart {
  let context: FileContext

  private struct Incarnation {
    let id: Int64
    let database: Int64
    let name: String
    let seq: Seq
    let changed: UInt64
    let stage: Int64
    let time: Int64

    init(_ row: CaravanSQLite.Row) {
      (id, database, name, seq) = (row.integer(0), row.integer(1), row.text(2), row.unsigned(3))
      (changed, stage, time) = (row.unsigned(4), row.integer(5), row.integer(6))
    }
  }

  /// Looks at the next few zones, round and round; sightings of devices that have not been there for so long that
  /// nobody waits for them go as well.
  /// - Returns: whether there is more to do now.
  func collect(_ rule: TombstoneRule) throws(CaravanError) -> Bool {
    let lives = try db.all(
      "SELECT id, database, name, seq, changed, state, time FROM zones WHERE id > ? ORDER BY id LIMIT ?",
      context.turns.burial,
      FileLimits.zonesPerBurial, read: Incarnation.init)
    if let last = lives.last {
      try db.run(
        "DELETE FROM sightings WHERE zone > ? AND zone <= ? AND time <= ?", context.turns.burial, last.id,
        rule.activeSince(now)
      )
    }
    let deadBefore = now - StoreLimits.deadZonesKept.components.seconds * 1_000
    for life in lives where life.stage == ZoneStage.purged && life.time < deadBefore && life.name != BuriedZones.name {
      // What is not done with one step begins with the same zone next time.
      guard try bury(life) else { return true }
      context.turns.burial = life.id
    }
    context.turns.burial = lives.count < FileLimits.zonesPerBurial ? 0 : lives.last?.id ?? 0
    return false
  }

  /// - Returns: whether it is done with, gone or not.
  private func bury(_ life: Incarnation) throws(CaravanError) -> Bool {
    let lives = try lives(life.name, of: life.database)
    // What a restore took back is known by the names of zones.
    guard !lives.contains(where: { $0.stage == ZoneStage.restored }) else { return true }
    // Of a zone that was deleted again since, the last life that is over says enough.
    let isFollowed = lives.contains { $0.id > life.id && $0.stage == ZoneStage.purged }
    let mayLeaveNone = if lives.count == 1 { try reads.reach == 0 } else { false }
    guard isFollowed || mayLeaveNone, try mayGo(life) else { return true }
    guard try trimLog(to: life) else { return false }
    if !isFollowed { try remember(buried: life) }
    try db.run("DELETE FROM zones WHERE id = ?", life.id)
    try db.run("UPDATE databases SET made = max(0, made - 1) WHERE id = ?", life.database)
    return true
  }

  /// Not the newest zone, lest its id be given again, and none whose objects are still to be removed; nor the newest
  /// entry of a log, which says where it goes on.
  private func mayGo(_ life: Incarnation) throws(CaravanError) -> Bool {
    let isNewest = try db.first("SELECT max(id) FROM zones", read: { $0.integer(0) }) == life.id
    let hasObjects = try db.first("SELECT 1 FROM objects WHERE zone = ? LIMIT 1", life.id, read: { _ in true }) ?? false
    let head = try reads.logHead(of: partition(of: life.database))
    return !isNewest && !hasObjects && life.changed < head
  }

  private func partition(of database: Int64) throws(CaravanError) -> UInt32 {
    try db.first("SELECT partition FROM databases WHERE id = ?", database, read: { UInt32($0.integer(0)) }) ?? 0
  }

  /// Entries that refer to the zone, and those before: whoever has not read them in all that time reads zones anew.
  /// - Returns: whether all are gone.
  private func trimLog(to life: Incarnation) throws(CaravanError) -> Bool {
    let partition = Int64(try partition(of: life.database))
    try db.run(
      "DELETE FROM log WHERE key IN (SELECT key FROM log WHERE key >= ? AND key <= ? ORDER BY key LIMIT ?)",
      Key.make(partition, 0), Key.make(partition, life.changed), FileLimits.collectedRows)
    return db.changedRows < FileLimits.collectedRows
  }

  private func remember(buried life: Incarnation) throws(CaravanError) {
    if let known = try lives(BuriedZones.name, of: life.database).last {
      try db.run(
        "UPDATE zones SET seq = max(seq, ?), changed = max(changed, ?) WHERE id = ?", life.seq, life.changed, known.id)
      return
    }
    try db.run(
      """
      INSERT INTO zones(database, name, seq, records, bytes, state, changed) VALUES (?, ?, ?, 0, 0, ?, ?)
      """, life.database, BuriedZones.name, life.seq, ZoneStage.purged, life.changed)
    try context.checkRoom(for: db.lastInsertedRow, .zones)
  }

  private func lives(_ name: String, of database: Int64) throws(CaravanError) -> [Incarnation] {
    try db.all(
      """
      SELECT id, database, name, seq, changed, state, time FROM zones WHERE database = ? AND name = ? ORDER BY id
      """, database, name, read: Incarnation.init)
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// An owner comes from another store, or goes to one.
struct OwnerAdoption {
  let file: FileState

  private var db: Connection { file.db }
  private var reads: FileReads { file.reads }

  static func logCursor(of store: String) -> String { "log of \(store)" }

  func adopt(_ content: OwnerContent) throws(CaravanError) {
    try db.run("UPDATE meta SET reach = max(reach, ?)", content.reach)
    for zone in content.zones { try adopt(zone) }
    for op in content.ops {
      let writer = try file.writers.writer(op.op, isCarried: true)
      try db.run(
        "INSERT OR REPLACE INTO ops(key, outcome) VALUES (?, ?)", Key.make(writer.id, op.op.number), op.outcome.encoded)
      try db.run("UPDATE writers SET floor = max(floor, ?) WHERE id = ?", op.floor, writer.id)
    }
    for known in content.groups { try adopt(known) }
    for (name, tenure) in content.locks { try file.leases.write(tenure, name) }
    file.forget()
  }

  private func adopt(_ zone: OwnerContent.Zone) throws(CaravanError) {
    for life in zone.restored { try file.zones.addPastIncarnation(life, of: zone.id) }
    if zone.ended > 0 { try file.zones.addPastIncarnation(PastIncarnation(seq: zone.ended), of: zone.id) }
    let row = try file.zones.makeZone(zone.id, seq: zone.content.seq)
    // Beyond what any position in this log has seen: whoever asks for changed zones from one is told of it.
    let changed = try reads.logHead(of: Partition(of: zone.id.database).number) + 1
    let dead = zone.content.past.isRestored ? ZoneStage.restored : ZoneStage.purged
    try db.run(
      "UPDATE zones SET incarnation = ?, purged = ?, changed = ?, state = ?, lost_through = ? WHERE id = ?",
      zone.content.incarnation, zone.purged, changed, zone.content.isAlive ? ZoneStage.alive : dead,
      zone.content.lostThrough, row.id)
    for (writer, footprint) in zone.footprints { try file.devices.save(footprint, of: writer, in: row) }
    for sighting in zone.sightings {
      try db.run(
        "INSERT INTO sightings(zone, device, seen, target, time) VALUES (?, ?, ?, ?, ?)", row.id, sighting.device,
        sighting.seen, sighting.target, sighting.time)
    }
  }

  /// One that has ended, and is remembered.
  private func adopt(_ known: OwnerContent.Group) throws(CaravanError) {
    let writer = try file.writers.writer(known.op, isCarried: true)
    var group = known.group
    // Parts that are still stored here are those of an earlier time.
    group.held = try reads.group(Key.make(writer.id, known.op.number))?.held ?? 0
    try db.run(
      """
      INSERT OR IGNORE INTO groups(key, database, zone, stage, parts, records, bytes, chunks, held, until)
      VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0)
      """, Key.make(writer.id, known.op.number), file.zones.makeDatabase(group.zone.database), group.zone.name,
      group.stage.rawValue)
    try file.groups.save(group, of: known.op, writer)
  }

  func adopt(_ records: [RecordContent], in zone: ZoneID) throws(CaravanError) {
    guard var row = try file.zones.zone(zone) else {
      throw CaravanError(.zoneDoesNotExist, "zone \(zone) was not adopted before its records")
    }
    for record in records { try file.entries.restore(record, in: &row, file.writers, file.objects) }
    let isLinked = row.isLinked || records.contains { !$0.links.isEmpty }
    row.isLinked = isLinked
    try db.run(
      "UPDATE zones SET records = ?, bytes = ?, linked = ?, time = ? WHERE id = ?", row.records, row.bytes, isLinked,
      row.time, row.id)
    file.forget()
  }

  func discard(_ owner: UserID) throws(CaravanError) {
    for (number, _) in try reads.databases(of: owner) {
      try db.run(
        """
        UPDATE zones SET state = CASE WHEN state IN (2, 3, 5) THEN 5 ELSE 4 END, records = 0, bytes = 0, snapshot = 0
        WHERE database = ?
        """, number)
      try db.run("UPDATE groups SET until = 0 WHERE database = ?", number)
    }
    file.forget()
  }

  // MARK: The log of another store

  func enter(
    _ commits: [LoggedCommit], from store: String, upTo position: UInt64, in partition: Partition
  ) throws(CaravanError) {
    let cursor = Self.logCursor(of: store)
    let known = try reads.cursor(of: cursor, in: partition.number)
    guard position > known else { return }
    for commit in commits where commit.position > known {
      try file.log.append(
        commit.zone, elsewhere(commit.zone, commit.incarnation, seq: commit.high), low: commit.low, high: commit.high,
        writer: commit.writer, isDeletion: commit.isDeletion, hasEntries: false, entries: [])
    }
    try db.run(
      """
      INSERT INTO cursors(consumer, partition, position) VALUES (?, ?, ?)
      ON CONFLICT (consumer, partition) DO UPDATE SET position = excluded.position
      """, cursor, partition.number, position)
  }

  /// What the log refers to, of a zone that is in another store.
  private func elsewhere(
    _ zone: ZoneID, _ incarnation: Incarnation, seq: Seq
  ) throws(CaravanError) -> ZoneRecord {
    let database = try file.zones.makeDatabase(zone.database)
    let rows = try db.all(
      "SELECT id, incarnation FROM zones WHERE database = ? AND name = ? ORDER BY id DESC", database, zone.name,
      read: { (id: $0.integer(0), incarnation: reads.incarnation($0.integer(0), $0.unsigned(1))) })
    let id: Int64
    if let known = rows.first(where: { $0.incarnation == incarnation }) {
      id = known.id
    } else {
      id = try file.zones.makeZone(zone, seq: 0).id
      try db.run(
        "UPDATE zones SET state = ?, incarnation = ? WHERE id = ?", ZoneStage.elsewhere, incarnation, id)
      file.forget()
    }
    return ZoneRecord(id: id, database: database, incarnation: incarnation, seq: seq, records: 0, bytes: 0)
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// What there is of one owner, for a copy of it.
struct OwnerReads {
  let file: FileReads

  private var db: Connection { file.db }

  func content(of owner: UserID) throws(CaravanError) -> OwnerContent {
    var content = OwnerContent()
    content.reach = try file.reach
    var lives: Set<Incarnation> = []
    var writers: Set<String> = []
    for (number, database) in try file.databases(of: owner) {
      for (id, zone) in try zones(of: number, in: database) {
        for known in try knownIncarnations(of: zone.id.name, in: number) { lives.insert(known) }
        var zone = zone
        if zone.content.isAlive {
          zone.footprints = try footprints(in: id)
          zone.sightings = try sightings(in: id, of: zone)
        }
        writers.formUnion(zone.footprints.keys)
        content.zones.append(zone)
      }
      content.groups += try groups(of: number, in: database)
      if let lock = try file.lease("lock/\(database)") { content.locks["lock/\(database)"] = lock }
    }
    content.ops = try ops { op in
      guard let incarnation = op.incarnation else { return true }
      return lives.contains(incarnation) || writers.contains(op.op.writer)
    }
    return content
  }

  /// Of every name its newest life.
  private func zones(
    of database: Int64, in id: DatabaseID
  ) throws(CaravanError) -> [(Int64, OwnerContent.Zone)] {
    let rows = try db.all(
      """
      SELECT max(id), name, seq, state, incarnation, purged, lost_through FROM zones WHERE database = ? AND state < 4
      GROUP BY name ORDER BY name
      """, database
    ) { (row) throws(CaravanError) in
      let content = ZoneContent(
        name: row.text(1), seq: row.unsigned(2), incarnation: file.incarnation(row.integer(0), row.unsigned(4)),
        isAlive: row.integer(3) == ZoneStage.alive, lostThrough: row.unsigned(6))
      return (
        row.integer(0), OwnerContent.Zone(id: try ZoneID(id, row.text(1)), content: content, purged: row.unsigned(5))
      )
    }
    var zones: [(Int64, OwnerContent.Zone)] = []
    for (number, zone) in rows {
      var zone = zone
      if zone.content.isAlive { zone.ended = try file.ended(zone.id) }
      zone.restored = try db.all(
        "SELECT seq, lost_through FROM zones WHERE database = ? AND name = ? AND state = 3 AND id < ? ORDER BY id",
        database, zone.id.name, number, read: { PastIncarnation(seq: $0.unsigned(0), lostThrough: $0.unsigned(1)) })
      zones.append((number, zone))
    }
    return zones
  }

  private func knownIncarnations(of name: String, in database: Int64) throws(CaravanError) -> [Incarnation] {
    try db.all(
      "SELECT id, incarnation FROM zones WHERE database = ? AND name = ?", database, name,
      read: { file.incarnation($0.integer(0), $0.unsigned(1)) })
  }

  private func footprints(in zone: Int64) throws(CaravanError) -> [String: ReadPosition] {
    let rows = try db.all(
      "SELECT writer, first, reach FROM footprints WHERE zone = ?", zone,
      read: { ($0.text(0), ReadPosition(first: $0.unsigned(1), reach: $0.unsigned(2))) })
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// Without the snapshots they read, which stay behind.
  private func sightings(in number: Int64, of zone: OwnerContent.Zone) throws(CaravanError) -> [Sighting] {
    try db.all(
      "SELECT device, seen, time FROM sightings WHERE zone = ? ORDER BY device", number,
      read: {
        Sighting(
          partition: Partition(of: zone.id.database), zone: zone.content.incarnation, device: $0.text(0),
          seen: $0.unsigned(1), target: 0, time: $0.integer(2))
      })
  }

  private func groups(
    of database: Int64, in id: DatabaseID
  ) throws(CaravanError) -> [OwnerContent.Group] {
    let ops = try db.all(
      """
      SELECT g.key, w.name, w.epoch FROM groups g JOIN writers w ON w.id = g.key >> 40
      WHERE g.database = ? ORDER BY g.key
      """, database,
      read: { OpID(writer: $0.text(1), epoch: $0.unsigned(2), number: Key.counter($0.integer(0))) })
    var groups: [OwnerContent.Group] = []
    for op in ops {
      guard let key = try file.groupKey(op), let group = try file.group(key) else { continue }
      groups.append(OwnerContent.Group(op: op, group: group))
    }
    return groups
  }

  private func ops(_ isWanted: (OpContent) -> Bool) throws(CaravanError) -> [OpContent] {
    var ops: [OpContent] = []
    try db.statement(
      "SELECT o.key, o.outcome, w.name, w.epoch, w.floor FROM ops o JOIN writers w ON w.id = o.key >> 40 ORDER BY o.key"
    ).visit { (row) throws(CaravanError) in
      let op = OpContent(
        op: OpID(writer: row.text(2), epoch: row.unsigned(3), number: Key.counter(row.integer(0))),
        floor: row.unsigned(4), outcome: try OpOutcome(encoded: row.bytes(1)))
      if isWanted(op) { ops.append(op) }
      return true
    }
    return ops
  }

  func records(of zone: ZoneID, after version: Seq) throws(CaravanError) -> [RecordContent] {
    guard let row = try file.zone(zone), row.isAlive else { return [] }
    var records: [RecordContent] = []
    var bytes = 0
    try file.visitRecords(of: row.id, after: version) { record in
      records.append(record)
      bytes += record.entry.body.count
      return records.count < MoveLimits.recordsPerStep && bytes < MoveLimits.bytesPerStep
    }
    return records
  }

  func chunkHashes(of database: DatabaseID, after hash: ChunkHash?) throws(CaravanError) -> [ChunkHash] {
    guard let database = try file.database(database) else { return [] }
    let rows = try db.all(
      "SELECT hash FROM chunks WHERE database = ? AND hash > ? AND refs > 0 ORDER BY hash LIMIT ?", database,
      hash?.bytes ?? [], MoveLimits.chunksPerStep, read: { $0.bytes(0) })
    return try rows.map { (bytes) throws(CaravanError) in
      guard let hash = ChunkHash(bytes) else { throw CaravanError(.internalError, "a chunk's hash is damaged") }
      return hash
    }
  }
}

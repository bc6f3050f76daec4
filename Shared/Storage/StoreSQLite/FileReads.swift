internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// Reads of one file, on the snapshot of the connection's open transaction.
struct FileReads {
  let db: Connection
  let life: UInt64
  /// Long chunks; nil: of a store in memory, which has none.
  let chunkFile: DiskFile?

  struct ZoneRow {
    var id: Int64
    var database: Int64
    var seq: Seq
    var purged: Seq
    var snapshots: ClosedRange<Seq>?
    var isAlive: Bool
    var incarnation: Incarnation
  }

  /// - Parameter stored: `zones.incarnation`.
  func incarnation(_ zone: Int64, _ stored: UInt64) -> Incarnation { stored == 0 ? life << 24 | UInt64(zone) : stored }

  /// nil: of a zone that is not here; of another file, or of this one's predecessor.
  func zoneNumber(_ incarnation: Incarnation) throws(CaravanError) -> Int64? {
    let adopted = try db.first(
      "SELECT id FROM zones WHERE incarnation = ? AND incarnation > 0 AND state = 0", incarnation,
      read: { $0.integer(0) })
    return adopted ?? (incarnation >> 24 == life ? Int64(incarnation & 0xff_ffff) : nil)
  }

  /// Whether it is known as an incarnation of another zone. Of zones that came from another store only the newest life
  /// is known here.
  func isForeign(_ incarnation: Incarnation, to zone: ZoneID) throws(CaravanError) -> Bool {
    let database = try database(zone.database)
    let known = try db.all(
      """
      SELECT database, name FROM zones WHERE incarnation = ? AND incarnation > 0
      UNION ALL SELECT database, name FROM zones WHERE id = ? AND incarnation = 0
      """, incarnation, incarnation >> 24 == life ? Int64(incarnation & 0xff_ffff) : -1,
      read: { $0.integer(0) == database && $0.text(1) == zone.name })
    return !known.isEmpty && !known.contains(true)
  }

  func database(_ id: DatabaseID) throws(CaravanError) -> Int64? {
    try db.first(
      "SELECT id FROM databases WHERE owner = ? AND container = ? AND environment = ?", id.ownerText,
      id.container.text, id.environment.rawValue, read: { $0.integer(0) })
  }

  /// The newest zone of this name, alive or not.
  func zone(_ zone: ZoneID) throws(CaravanError) -> ZoneRow? {
    guard let database = try database(zone.database) else { return nil }
    return try db.first(
      """
      SELECT id, seq, purged, snapshot, oldest_snapshot, state, incarnation FROM zones
      WHERE database = ? AND name = ? ORDER BY id DESC LIMIT 1
      """, database, zone.name,
      read: {
        ZoneRow(
          id: $0.integer(0), database: database, seq: $0.unsigned(1), purged: $0.unsigned(2),
          snapshots: ZoneState.snapshots(from: $0.unsigned(4), to: $0.unsigned(3)),
          isAlive: $0.integer(5) == ZoneStage.alive, incarnation: incarnation($0.integer(0), $0.unsigned(6)))
      })
  }

  func head(of name: String, in zone: Int64) throws(CaravanError) -> RecordHead? {
    let select: StaticString = "SELECT seq, created, flags, size, born, maker FROM names WHERE zone = ? AND name = ?"
    let head = try db.statement(select).first(
      binding: { (row) throws(CaravanError) in
        try row.bind(zone, at: 1)
        try row.bind(name, at: 2)
      },
      read: { row in
        RecordHead(
          version: row.unsigned(0), created: row.unsigned(1), flags: EntryFlags(rawValue: row.integer(2)),
          bytes: row.integer(3), origin: RecordOrigin(time: row.integer(4), writer: .number(row.integer(5))))
      })
    guard var head, head.flags.contains(.expires) else { return head }
    let key = Key.make(zone, head.version)
    head.expires = try db.first("SELECT expires FROM entries WHERE key = ?", key, read: { $0.integer(0) }) ?? 0
    return head
  }

  func entry(_ name: String, in zone: Int64) throws(CaravanError) -> Entry? {
    guard let head = try head(of: name, in: zone) else { return nil }
    return try entry(name, head, in: zone)
  }

  func entry(_ name: String, _ head: RecordHead, in zone: Int64) throws(CaravanError) -> Entry {
    let entry = try db.first(
      """
      SELECT e.type, w.name, e.expires, e.fields, e.body, e.time, e.born, m.name, e.name, e.created, e.flags, e.sum
      FROM entries e JOIN writers w ON w.id = e.writer LEFT JOIN writers m ON m.id = e.maker WHERE e.key = ?
      """, Key.make(zone, head.version)
    ) { (row) throws(CaravanError) in
      let columns = SummedColumns(created: 9, flags: 10, type: 0, expires: 2, name: 8, fields: 3, body: 4, sum: 11)
      let isWhole = try row.isWhole(columns, version: head.version)
      var entry = Entry(
        name: name, version: head.version, created: head.created, isDeleted: head.isDeleted,
        type: UInt32(truncatingIfNeeded: row.integer(0)), body: isWhole ? row.bytes(4) : [], writer: row.text(1),
        expires: row.integer(2), fields: isWhole ? row.bytes(3) : [], authorship: row.authorship(writer: 1, from: 5))
      entry.isDamaged = !isWhole
      return entry
    }
    guard let entry else {
      throw CaravanError(.internalError, "record '\(name)' is in the names but not in the index: restore the file")
    }
    return entry
  }

  /// - Parameters:
  ///   - fields: ids of those the bodies are to have; nil: all.
  ///   - now: Unix milliseconds: what expired before is out of sight, where its type wants that.
  func fetch(
    _ names: [String], fields: Set<UInt32>?, in zone: ZoneID, now: Int64
  ) throws(CaravanError) -> [Entry] {
    guard let row = try self.zone(zone), row.isAlive else { return [] }
    var entries: [Entry] = []
    for name in names {
      guard let head = try head(of: name, in: row.id), head.isVisible(at: now) else { continue }
      var entry = try entry(name, head, in: row.id)
      if let fields, !entry.isDamaged { try entry.select(fields) }
      entries.append(entry)
    }
    return entries
  }

  /// - Parameter now: Unix milliseconds.
  func expired(after last: ExpiredRecord?, by now: Int64, atMost count: Int) throws(CaravanError) -> [ExpiredRecord] {
    let time = last?.expires ?? 0
    return try db.all(
      """
      SELECT e.expires, e.key, e.name, z.name, d.container, d.environment, d.owner FROM entries e
      JOIN zones z ON z.id = e.key >> 40 JOIN databases d ON d.id = z.database
      WHERE e.expires >= ? AND e.expires <= ? AND (e.expires > ? OR e.name > ?) AND z.state = 0
      ORDER BY e.expires, e.name LIMIT ?
      """, time, now, time, last?.name ?? "", count
    ) { (row) throws(CaravanError) in
      ExpiredRecord(
        zone: try zoneID(row, from: 3), name: row.text(2), version: Key.counter(row.integer(1)),
        expires: row.integer(0))
    }
  }

  /// Records that refer to one, by name.
  func referrers(of target: String, in zone: Int64, atMost count: Int) throws(CaravanError) -> [Referrer] {
    try db.all(
      "SELECT source, kinds FROM refs WHERE zone = ? AND target = ? ORDER BY source LIMIT ?", zone, target, count,
      read: {
        Referrer(name: $0.text(0), kinds: Referrer.Kinds(rawValue: $0.integer(1)))
      })
  }

  func zones(in partition: Partition, _ filter: ZoneFilter) throws(CaravanError) -> [ZonePosition] {
    let read = { (row: Row) throws(CaravanError) -> ZonePosition in try zonePosition(row, from: 0) }
    let database: DatabaseID
    switch filter {
    case .everything:
      return try db.all(
        """
        SELECT z.id, z.name, d.container, d.environment, d.owner, z.seq, z.incarnation
        FROM databases d JOIN zones z ON z.database = d.id
        WHERE d.partition = ? AND z.state = 0 ORDER BY z.id LIMIT ?
        """, partition.number, StoreLimits.zonesListed, read: read)
    case .named(let name):
      return try db.all(
        """
        SELECT z.id, z.name, d.container, d.environment, d.owner, z.seq, z.incarnation
        FROM databases d JOIN zones z ON z.database = d.id
        WHERE d.partition = ? AND z.name = ? AND z.state = 0 ORDER BY z.id LIMIT ?
        """, partition.number, name, StoreLimits.zonesListed, read: read)
    case .owner(let user):
      // Shards have the owner's name, a `#` and their number; the character that follows `#` is `$`.
      return try db.all(
        """
        SELECT z.id, z.name, d.container, d.environment, d.owner, z.seq, z.incarnation
        FROM databases d JOIN zones z ON z.database = d.id
        WHERE d.partition = ? AND (d.owner = ? OR d.owner > ? AND d.owner < ?) AND z.state = 0 ORDER BY z.id LIMIT ?
        """, partition.number, user.text, "\(user)#", "\(user)$", StoreLimits.zonesListed, read: read)
    case .database(let id): database = id
    }
    return try db.all(
      """
      SELECT z.id, z.name, d.container, d.environment, d.owner, z.seq, z.incarnation
      FROM databases d JOIN zones z ON z.database = d.id
      WHERE d.owner = ? AND d.container = ? AND d.environment = ? AND z.state = 0 ORDER BY z.id LIMIT ?
      """, database.ownerText, database.container.text, database.environment.rawValue, StoreLimits.zonesListed,
      read: read)
  }

  /// From columns id, name, container, environment, owner, seq, incarnation, beginning at `column`.
  private func zonePosition(_ row: Row, from column: Int32) throws(CaravanError) -> ZonePosition {
    ZonePosition(
      zone: try zoneID(row, from: column + 1), seq: row.unsigned(column + 5),
      incarnation: incarnation(row.integer(column), row.unsigned(column + 6)))
  }

  /// From columns name, container, environment, owner.
  func zoneID(_ row: Row, from column: Int32) throws(CaravanError) -> ZoneID {
    try ZoneID(databaseID(row, from: column + 1), row.text(column))
  }

  /// From columns container, environment, owner.
  func databaseID(_ row: Row, from column: Int32) throws(CaravanError) -> DatabaseID {
    try DatabaseID(
      container: ContainerID(unchecked: row.text(column)),
      environment: CaravanModel.Environment(rawValue: row.text(column + 1)) ?? .development,
      ownerText: row.text(column + 2))
  }
}

extension Row {
  /// From columns time, born and the maker's name, beginning at `column`, of an entry whose writer's name is in
  /// another.
  func authorship(writer: Int32, from column: Int32) -> Authorship {
    let (time, born) = (integer(column), isNull(column + 1) ? integer(column) : integer(column + 1))
    let creator = born == 0 ? "" : isNull(column + 2) ? text(writer) : text(column + 2)
    return Authorship(modified: time, created: born, creator: creator)
  }
}

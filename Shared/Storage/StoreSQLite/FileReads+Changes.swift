internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

extension FileReads {
  func changes(_ query: ChangeQuery) throws(CaravanError) -> ChangePage {
    let zone = try zone(query.zone).flatMap { $0.isAlive ? $0 : nil }
    let state = zone.map {
      ZoneState(incarnation: $0.incarnation, seq: $0.seq, purged: $0.purged, snapshots: $0.snapshots)
    }
    let plan = try ChangePlan(query, in: state) { () throws(CaravanError) in
      try ended(query.zone)
    } footprint: { () throws(CaravanError) in
      try footprint(of: query.reader, zone)
    }
    switch plan {
    case .answer(let page): return page
    case .reset:
      return query.reset(in: state, after: try pastIncarnations(of: query.zone), try footprint(of: query.reader, zone))
    case .scan(let scan): return try self.scan(scan, query, zone)
    }
  }

  /// The version with which the last life of the zone that is over ended; 0: there was none.
  func ended(_ zone: ZoneID) throws(CaravanError) -> Seq {
    try pastIncarnations(of: zone).map(\.end).max() ?? 0
  }

  /// Those that are over, in their order. Of a zone that is not known by name, those that it may have had.
  func pastIncarnations(of zone: ZoneID) throws(CaravanError) -> [PastIncarnation] {
    guard let database = try database(zone.database) else { return UnknownZone.lives(reach: try reach) }
    let lives = try db.all(
      "SELECT seq, lost_through, state FROM zones WHERE database = ? AND name = ? AND state < 4 ORDER BY id",
      database, zone.name,
      read: { (life: PastIncarnation(seq: $0.unsigned(0), lostThrough: $0.unsigned(1)), state: $0.integer(2)) })
    guard !lives.isEmpty else {
      guard zone.name == BuriedZones.name else { return try pastIncarnations(of: BuriedZones.zone(of: zone.database)) }
      return UnknownZone.lives(reach: try reach)
    }
    return lives.filter { $0.state != ZoneStage.alive }.map(\.life)
  }

  /// `StoreContent.reach`; 0: nothing here was restored.
  var reach: Seq {
    get throws(CaravanError) { try db.first("SELECT reach FROM meta", read: { $0.unsigned(0) }) ?? 0 }
  }

  private static let forward: StaticString = """
    SELECT key, writer, created, flags, type, name, body, expires, fields, time, born, maker, sum FROM entries
    WHERE key > ? AND key <= ? ORDER BY key
    """
  private static let backward: StaticString = """
    SELECT key, writer, created, flags, type, name, body, expires, fields, time, born, maker, sum FROM entries
    WHERE key > ? AND key <= ? ORDER BY key DESC
    """

  /// Both parts come in order, so they are merged as they are read.
  private static let snapshot: StaticString = """
    SELECT key, writer, created, flags, type, name, body, expires, fields, time, born, maker, sum FROM entries
    WHERE key > ?1 AND key <= ?2
    UNION ALL
    SELECT key, writer, created, flags, type, name, body, expires, fields, time, born, maker, sum FROM superseded
    WHERE key > ?1 AND key <= ?2 AND until > ?2
    ORDER BY key
    """

  private static let summed = SummedColumns(
    created: 2, flags: 3, type: 4, expires: 7, name: 5, fields: 8, body: 6, sum: 12)

  private func statement(for scan: ChangeScan) throws(CaravanError) -> Statement {
    if scan.isReverse { return try db.statement(Self.backward) }
    return try db.statement(scan.snapshot == nil ? Self.forward : Self.snapshot)
  }

  private func scan(
    _ scan: ChangeScan, _ query: ChangeQuery, _ zone: ZoneRow?
  ) throws(CaravanError) -> ChangePage {
    let id = zone?.id ?? 0
    let own = try epoch(of: query.reader)
    var writers = WriterNames()
    var makers = WriterNames()
    var page = ChangePageBuilder(scan, query)
    let range = scan.range
    try statement(for: scan).visit(Key.make(id, range.after), Key.make(id, range.through)) {
      (row) throws(CaravanError) -> Bool in
      let writer = row.integer(1)
      let flags = EntryFlags(rawValue: row.integer(3))
      let version = Key.counter(row.integer(0))
      let isOwn = writer == own?.id && row.integer(9) >= own?.since ?? 0 && !flags.contains(.unseen)
      if !isOwn, try !row.isWhole(Self.summed, version: version) {
        return page.add(damaged: DamagedVersion(name: row.text(5), version: version))
      }
      var head = EntryPageWriter.Head(
        version: version, created: row.unsigned(2), isDeleted: flags.contains(.deleted),
        type: UInt32(truncatingIfNeeded: row.integer(4)), isOwn: isOwn, expires: row.integer(7),
        fields: isOwn ? [] : row.bytes(8), isRegained: flags.contains(.regained))
      head.modified = row.integer(9)
      head.made = row.isNull(10) ? head.modified : row.integer(10)
      if !row.isNull(11), row.integer(11) != writer { head.creator = try makers.name(row.integer(11), db) }
      if page.asksForReach(head) { page.reach = try footprint(of: query.reader, zone)?.reach ?? 0 }
      return page.add(
        head, endsBatch: flags.contains(.endsBatch), writer: try writers.name(writer, db),
        nameBytes: row.byteCount(5), bodyBytes: row.byteCount(6)
      ) {
        row.append(5, to: &$0)
      } appendBody: {
        row.append(6, to: &$0)
      }
    }
    return page.finish()
  }

  private func footprint(of reader: ChangeQuery.Reader?, _ zone: ZoneRow?) throws(CaravanError) -> ReadPosition? {
    guard let reader, let zone else { return nil }
    return try footprint(of: reader.writer, in: zone.id)
  }

  func footprint(of writer: String, in zone: Int64) throws(CaravanError) -> ReadPosition? {
    try db.first(
      "SELECT first, reach FROM footprints WHERE zone = ? AND writer = ?", zone, writer,
      read: { ReadPosition(first: $0.unsigned(0), reach: $0.unsigned(1)) })
  }

  /// The reader's row, and since when it is its.
  private func epoch(of reader: ChangeQuery.Reader?) throws(CaravanError) -> (id: Int64, since: Int64)? {
    guard let reader else { return nil }
    return try db.first(
      "SELECT id, since FROM writers WHERE name = ? AND epoch = ?", reader.writer, reader.epoch,
      read: { (id: $0.integer(0), since: $0.integer(1)) })
  }
}

extension FileReads {
  /// A database has few zones: they are looked through, so that no commit keeps an index for this.
  func changedZones(_ query: ZoneChangeQuery) throws(CaravanError) -> ZoneChangePage {
    let head = try logHead(of: Partition(of: query.database).number)
    guard query.continues(in: life, upTo: head) else { return ZoneChangePage(resetRequired: true) }
    guard let database = try database(query.database) else { return query.page([], life: life, head: head) }
    let changed = try db.all(
      """
      SELECT z.name, z.seq, z.id, z.state, z.changed, z.incarnation FROM zones z
      WHERE z.database = ? AND z.changed > ? AND (z.state = 0 OR ?)
        AND NOT EXISTS (SELECT 1 FROM zones n WHERE n.database = z.database AND n.name = z.name AND n.id > z.id)
      ORDER BY z.changed LIMIT ?
      """, database, query.position.map { Int64($0.log) } ?? -1, query.position != nil, query.bound + 1,
      read: {
        (
          zone: ZoneChange(
            name: $0.text(0), seq: $0.unsigned(1), incarnation: incarnation($0.integer(2), $0.unsigned(5)),
            isDeleted: $0.integer(3) != ZoneStage.alive), log: $0.unsigned(4)
        )
      })
    return query.page(changed, life: life, head: head)
  }
}

/// Names of the writers met in one page; usually one or two.
struct WriterNames {
  private var last: (id: Int64, name: [UInt8])?
  private var known: [Int64: [UInt8]] = [:]

  mutating func name(_ id: Int64, _ db: Connection) throws(CaravanError) -> [UInt8] {
    if let last, last.id == id { return last.name }
    let name: [UInt8]
    if let met = known[id] {
      name = met
    } else {
      name = try db.first("SELECT name FROM writers WHERE id = ?", id) { row in Array(row.text(0).utf8) } ?? []
      known[id] = name
    }
    last = (id, name)
    return name
  }
}

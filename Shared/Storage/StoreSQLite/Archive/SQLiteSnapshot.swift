public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
public import CaravanStore

/// The files of a store as they were when this was opened, whoever writes them meanwhile: each is read under one
/// snapshot, which its write-ahead log keeps.
public final class SQLiteSnapshot: HomeSource {
  private let files: [FileReads]

  /// - Throws: `invalidData` when the directory holds no store of this release.
  public init(_ directory: String) throws(CaravanError) {
    var opened: [FileReads] = []
    var count = 1
    while opened.count < count {
      var options = ConnectionOptions()
      options.isReadOnly = true
      let place = FilePlace(directory, number: opened.count)
      let db: Connection
      let chunks: DiskFile?
      do throws(CaravanError) {
        db = try Connection(place.database, options)
        chunks = try place.readChunks()
      } catch {
        throw CaravanError(.invalidData, "\(directory) holds no store: \(error.message)")
      }
      // Until the file is closed, no place in it that this snapshot knows is used again.
      chunks?.share()
      try db.begin(.read)
      let layout = try db.userVersion
      guard layout == FileSchema.version else {
        guard (FileMigrations.oldest..<FileSchema.version).contains(layout) else {
          throw FileSchema.refusal("file \(opened.count) of \(directory)", of: layout)
        }
        throw CaravanError(
          .invalidData,
          "file \(opened.count) of \(directory) has layout \(layout): this release reads \(FileSchema.version); start "
            + "its storage on the directory once, or use the release that made it")
      }
      guard let meta = try db.first("SELECT life, files FROM meta", read: { ($0.unsigned(0), Int($0.integer(1))) })
      else { throw CaravanError(.invalidData, "file \(opened.count) of \(directory) has no meta row: restore it") }
      count = meta.1
      opened.append(FileReads(db: db, life: meta.0, chunkFile: chunks))
    }
    files = opened
  }

  public func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    for file in files { try file.exportDatabases(take) }
    for (number, file) in files.enumerated() {
      try file.exportRest(Partition.all.filter { Int($0.number) % files.count == number }, take)
    }
  }

  public func records(of zone: ZoneID) throws(CaravanError) -> [RecordContent] {
    let file = files[Int(Partition(of: zone.database).number) % files.count]
    guard let row = try file.zone(zone), row.isAlive else { return [] }
    var records: [RecordContent] = []
    try file.visitRecords(of: row.id, after: 0) { record in
      records.append(record)
      return true
    }
    return records
  }
}

extension FileReads {
  fileprivate func exportDatabases(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    let databases = try db.all(
      "SELECT id, container, environment, owner FROM databases ORDER BY owner, container, environment"
    ) { (row) throws(CaravanError) in (row.integer(0), try databaseID(row, from: 1)) }
    for (number, database) in databases {
      try take(.database(database))
      try db.statement("SELECT hash FROM chunks WHERE database = ? ORDER BY hash").visit(number) {
        (row) throws(CaravanError) in
        guard let hash = ChunkHash(row.bytes(0)), let chunk = try chunk(hash, in: number) else {
          throw CaravanError(.internalError, "the list of chunks of \(database) is damaged: restore the file")
        }
        switch try content(of: chunk) {
        case .whole(let bytes): try take(.chunk(ChunkBytes(hash: hash, bytes: bytes)))
        case .damaged: try take(.damaged(DamagedChunk(database: database, hash: hash, size: chunk.size, found: 0)))
        }
        return true
      }
      try exportZones(of: number, take)
    }
  }

  /// Of every name its newest life, and those before that were restored, unless the zone was deleted since.
  private func exportZones(
    of database: Int64, _ take: (StoreContent) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    let zones = try db.all(
      """
      SELECT id, name, seq, state, incarnation, lost_through FROM zones z WHERE database = ? AND state < 4
        AND (state = 3 OR NOT EXISTS (SELECT 1 FROM zones n
          WHERE n.database = z.database AND n.name = z.name AND n.id > z.id AND n.state < 4))
        AND NOT (state = 3 AND EXISTS (SELECT 1 FROM zones d WHERE d.database = z.database AND d.name = z.name
          AND d.id > z.id AND d.state IN (1, 2) AND d.seq > z.lost_through))
      ORDER BY name, id
      """, database,
      read: {
        (
          $0.integer(0),
          ZoneContent(
            name: $0.text(1), seq: $0.unsigned(2), incarnation: incarnation($0.integer(0), $0.unsigned(4)),
            isAlive: $0.integer(3) == ZoneStage.alive, lostThrough: $0.unsigned(5))
        )
      })
    for (number, zone) in zones {
      try take(.zone(zone))
      if zone.isAlive { try exportRecords(of: number, take) }
    }
  }

  private func exportRecords(
    of zone: Int64, _ take: (StoreContent) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    try visitRecords(of: zone, after: 0) { (record) throws(CaravanError) in
      try take(.record(record))
      return true
    }
  }

  /// Ascending by version, until `body` has enough.
  func visitRecords(
    of zone: Int64, after seq: Seq, _ body: (RecordContent) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    try db.statement(
      """
      SELECT e.key, e.name, e.created, e.flags, e.type, e.expires, e.fields, e.chunks, w.name, w.epoch, e.body, e.time,
        e.born, m.name, e.sum
      FROM entries e JOIN writers w ON w.id = e.writer LEFT JOIN writers m ON m.id = e.maker
      WHERE e.key > ? AND e.key <= ? ORDER BY e.key
      """
    ).visit(Key.make(zone, seq), Key.make(zone, StoreLimits.highestNumber)) { (row) throws(CaravanError) in
      let flags = EntryFlags(rawValue: row.integer(3))
      let entry = Entry(
        name: row.text(1), version: Key.counter(row.integer(0)), created: row.unsigned(2),
        isDeleted: flags.contains(.deleted), type: UInt32(truncatingIfNeeded: row.integer(4)), body: row.bytes(10),
        writer: row.text(8), expires: row.integer(5), fields: row.bytes(6),
        authorship: row.authorship(writer: 8, from: 11))
      var record = RecordContent(
        entry: entry, flags: flags, epoch: row.unsigned(9), chunks: try ChunkHash.list(row.bytes(7))
      ).checked(against: row.isNull(14) ? nil : row.unsigned(14))
      if flags.contains(.holdsReferences) {
        record.links = try db.all(
          "SELECT target, kinds FROM refs WHERE zone = ? AND source = ? ORDER BY target", zone, entry.name,
          read: { RecordContent.Link(target: $0.text(0), kinds: Referrer.Kinds(rawValue: $0.integer(1))) })
      }
      return try body(record)
    }
  }

  fileprivate func exportRest(
    _ partitions: [Partition], _ take: (StoreContent) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    try db.statement(
      """
      SELECT o.key, o.outcome, w.name, w.epoch, w.floor FROM writers w
      JOIN ops o ON o.key BETWEEN w.id << 40 AND (w.id << 40 | ?) ORDER BY w.name, w.epoch, o.key
      """
    ).visit(StoreLimits.highestNumber) { (row) throws(CaravanError) in
      let op = OpID(writer: row.text(2), epoch: row.unsigned(3), number: Key.counter(row.integer(0)))
      try take(.op(OpContent(op: op, floor: row.unsigned(4), outcome: try OpOutcome(encoded: row.bytes(1)))))
      return true
    }
    let quotas = try db.all(
      "SELECT account, records, bytes FROM quotas ORDER BY account", read: { ($0.text(0), Quota($0, from: 1)) })
    // Every file has all of them.
    for (key, quota) in quotas where Account(key: key).map({ partitions.contains($0.partition) }) ?? true {
      try take(.quota(account: key, quota))
    }
    let reach = try reach
    if reach > 0 { try take(.reach(reach)) }
    for (partition, head) in try logHeads().sorted(by: { $0.key < $1.key }) where partitions.contains(partition) {
      try take(.head(partition, head))
    }
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// What is known to be damaged.
struct DamageReads {
  let file: FileReads

  private var db: Connection { file.db }

  func chunks(_ filter: DamageFilter, atMost count: Int) throws(CaravanError) -> [DamagedChunk] {
    var found: [DamagedChunk] = []
    for databases in try numbers(of: filter) {
      found += try db.all(
        """
        SELECT m.hash, c.size, m.found, d.container, d.environment, d.owner, c.refs > 0 FROM damage m
        JOIN chunks c ON c.database = m.database AND c.hash = m.hash JOIN databases d ON d.id = m.database
        WHERE m.database BETWEEN ? AND ? ORDER BY c.refs = 0, m.database, m.hash LIMIT ?
        """, databases.lowerBound, databases.upperBound, count
      ) { (row) throws(CaravanError) in
        DamagedChunk(
          database: try file.databaseID(row, from: 3), hash: try Self.hash(row.bytes(0)), size: Int(row.integer(1)),
          found: row.integer(2), isHeld: row.flag(6))
      }
    }
    return found.heldFirst(atMost: count)
  }

  /// Of the databases that are asked for.
  private func numbers(of filter: DamageFilter) throws(CaravanError) -> [ClosedRange<Int64>] {
    switch filter {
    case .everything: [0...Int64.max]
    case .database(let database): try file.database(database).map { [$0...$0] } ?? []
    case .owner(let owner): try file.databases(of: owner).map { $0.0...$0.0 }
    }
  }

  func records(
    naming hashes: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) throws(CaravanError) -> [DamagedRecord] {
    guard let number = try file.database(database) else { return [] }
    let zones = try db.all(
      "SELECT id, name FROM zones WHERE database = ? AND state = 0 ORDER BY id", number,
      read: { (id: $0.integer(0), name: $0.text(1)) })
    var found: [DamagedRecord] = []
    for zone in zones where found.count < count {
      let name = try ZoneID(database, zone.name)
      try db.statement("SELECT name, chunks FROM entries WHERE key BETWEEN ? AND ? AND chunks IS NOT NULL").visit(
        Key.make(zone.id, 0), Key.make(zone.id, StoreLimits.highestNumber)
      ) { (row) throws(CaravanError) in
        let named = try ChunkHash.list(row.bytes(1)).filter(hashes.contains)
        if !named.isEmpty { found.append(DamagedRecord(zone: name, name: row.text(0), chunks: named)) }
        return found.count < count
      }
    }
    return found
  }

  func bodies(_ filter: DamageFilter, atMost count: Int) throws(CaravanError) -> [DamagedBody] {
    var found: [DamagedBody] = []
    for databases in try numbers(of: filter) where found.count < count {
      found += try db.all(
        """
        SELECT m.key, m.found, e.name, length(e.body), z.name, d.container, d.environment, d.owner
        FROM damaged_entries m JOIN entries e ON e.key = m.key JOIN zones z ON z.id = m.key >> 40
        JOIN databases d ON d.id = z.database
        WHERE z.state = 0 AND z.database BETWEEN ? AND ? ORDER BY m.key LIMIT ?
        """, databases.lowerBound, databases.upperBound, count - found.count
      ) { (row) throws(CaravanError) in
        DamagedBody(
          zone: try file.zoneID(row, from: 4), name: row.text(2), version: Key.counter(row.integer(0)),
          size: Int(row.integer(3)), found: row.integer(1))
      }
    }
    return found
  }

  static func hash(_ bytes: [UInt8]) throws(CaravanError) -> ChunkHash {
    guard let hash = ChunkHash(bytes) else {
      throw CaravanError(.internalError, "a chunk's hash has \(bytes.count) bytes: restore the file")
    }
    return hash
  }
}

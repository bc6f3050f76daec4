internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

extension FileReads {
  /// Of an op, where its writer was ever heard of.
  func groupKey(_ op: OpID) throws(CaravanError) -> Int64? {
    guard op.number <= StoreLimits.highestNumber else { return nil }
    return try db.first(
      "SELECT id FROM writers WHERE name = ? AND epoch = ?", op.writer, op.epoch,
      read: { Key.make($0.integer(0), op.number) })
  }

  func group(_ op: OpID, in zone: ZoneID) throws(CaravanError) -> StagedGroup? {
    guard let key = try groupKey(op) else { return nil }
    return try group(key)
  }

  func group(_ key: Int64) throws(CaravanError) -> StagedGroup? {
    try db.first(
      """
      SELECT g.zone, d.container, d.environment, d.owner, g.stage, g.parts, g.records, g.bytes, g.chunks, g.held,
        g.until
      FROM groups g JOIN databases d ON d.id = g.database WHERE g.key = ?
      """, key
    ) { (row) throws(CaravanError) in
      guard let stage = StagedGroup.Stage(rawValue: row.integer(4)) else {
        throw CaravanError(.internalError, "a stored group is in stage \(row.integer(4)): restore the file")
      }
      return StagedGroup(
        zone: try zoneID(row, from: 0), stage: stage, parts: Int(row.integer(5)), records: Int(row.integer(6)),
        bytes: Int(row.integer(7)), chunks: Int(row.integer(8)), held: Int(row.integer(9)), until: row.integer(10))
    }
  }

  func part(_ number: Int, of key: Int64) throws(CaravanError) -> [UInt8]? {
    try db.first("SELECT body FROM group_parts WHERE owner = ? AND number = ?", key, number, read: { $0.bytes(0) })
  }

  func parts(of op: OpID) throws(CaravanError) -> [[UInt8]] {
    guard let key = try groupKey(op) else { return [] }
    return try db.all("SELECT body FROM group_parts WHERE owner = ? ORDER BY number", key, read: { $0.bytes(0) })
  }
}

extension GroupCensus {
  /// Of all databases of one owner.
  init(of owner: UserID?, in db: Connection) throws(CaravanError) {
    let counts = try db.first(
      """
      SELECT count(*), count(*) FILTER (WHERE g.stage = 0) FROM databases d JOIN groups g ON g.database = d.id
      WHERE d.owner = ?
      """, owner?.text ?? "", read: { GroupCensus(open: Int($0.integer(1)), known: Int($0.integer(0))) })
    self = counts ?? GroupCensus()
  }
}

public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// Which chunks have to be moved, and what each may be a patch of.
extension LocalStore {
  public func missingChunks(of table: TableID, limit: Int) throws(CaravanError) -> [ChunkNeed] {
    let state = try state(table)
    let wanted = try database.all(
      """
      SELECT hash, incoming.id FROM incoming JOIN wants ON wants.incoming = incoming.id
      WHERE table_id = ? AND lacking > 0 ORDER BY version, incoming.id LIMIT ?
      """, state.number, limit
    ) { row in (hash: ChunkHash(row.bytes(0)), entry: row.integer(1)) }
    var seen: Set<ChunkHash> = []
    var needs: [ChunkNeed] = []
    var entry: (number: Int64, needs: [ChunkHash: ChunkNeed])?
    for case (let hash?, let number) in wanted where seen.insert(hash).inserted {
      if entry?.number != number { entry = (number, try self.needs(ofIncoming: number, in: state)) }
      needs.append(entry?.needs[hash] ?? ChunkNeed(hash: hash))
    }
    return needs
  }

  public func missingChunks(of table: TableID, limit: Int, room: Int) async throws(CaravanError) -> [ChunkNeed] {
    var (needs, room, seen) = ([ChunkNeed](), room, Set<ChunkHash>())
    var last = (version: Int64.min, entry: Int64.min)
    while needs.count < limit {
      let state = try state(table)
      let entries = try database.all(
        """
        SELECT version, id FROM incoming WHERE table_id = ? AND lacking > 0 AND (version, id) > (?, ?)
        ORDER BY version, id LIMIT ?
        """, state.number, last.version, last.entry, EngineLimits.passedOverAtOnce
      ) { row in (version: row.integer(0), entry: row.integer(1)) }
      for (_, entry) in entries where needs.count < limit {
        let known = try self.needs(ofIncoming: entry, in: state)
        let wanted = try database.all("SELECT hash FROM wants WHERE incoming = ?", entry) { row in
          ChunkHash(row.bytes(0))
        }.compactMap(\.self).filter { !seen.contains($0) }.map { known[$0] ?? ChunkNeed(hash: $0) }
        let cost = wanted.reduce(0) { $0 + EngineLimits.chunkCost + $1.mostBytes }
        guard cost <= room else { continue }
        room -= cost
        seen.formUnion(wanted.map(\.hash))
        needs += wanted
      }
      guard entries.count == EngineLimits.passedOverAtOnce, let end = entries.last else { break }
      last = end
      // The device has other things to do.
      await Task.yield()
    }
    return Array(needs.prefix(limit))
  }

  public func chunks(lackedBy page: [IncomingEntry], of table: TableID) throws(CaravanError) -> [ChunkNeed] {
    let state = try state(table)
    guard state.agreedType != nil else { return [] }
    var lacked: [ChunkNeed] = []
    for incoming in page where !incoming.isOwn {
      let absent = try absentChunks(incoming.entry.body, in: state)
      // The row of a list that has come would want what it names.
      guard !absent.isEmpty,
        try !RowCodec.objects(inBody: incoming.entry.body).contains(where: { $0.object.list != nil })
      else { return [] }
      let row = try state.rows.row(id: incoming.entry.name, database)
      // A conflict is one as soon as it is known.
      if let row, row.head.flags != .clean { return [] }
      lacked += try needs(of: incoming.entry.body, in: state, sinceRow: row).filter { absent.contains($0.hash) }
      let bytes = lacked.reduce(0) { $0 + $1.length }
      guard lacked.count <= EngineLimits.chunksPerRequest, bytes <= Limits.chunkBatchBytes else { return [] }
    }
    return lacked
  }

  /// Of an entry that waits, since what its row holds now.
  private func needs(ofIncoming number: Int64, in state: TableState) throws(CaravanError) -> [ChunkHash: ChunkNeed] {
    let entry = try database.first("SELECT name, body FROM incoming WHERE id = ?", number) { row in
      (name: row.text(0), body: row.bytes(1))
    }
    guard let entry else { return [:] }
    let needs = try needs(of: entry.body, in: state, sinceRow: state.rows.row(id: entry.name, database))
    return Dictionary(needs.map { ($0.hash, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private func needs(
    of body: [UInt8], in state: TableState, sinceRow row: StoredRow?
  ) throws(CaravanError) -> [ChunkNeed] {
    try needs(of: body, in: state) { (field) throws(CaravanError) in
      guard let row, let column = state.codec.column(ofField: field) else { return nil }
      return try StoredObject(row.cells[column])
    }
  }

  public func unsentChunks(of op: UInt64) throws(CaravanError) -> [ChunkNeed] {
    let rows = try database.all(
      """
      SELECT plan_rows.body, ancestors.body FROM plan_rows JOIN plans ON plans.op = plan_rows.op
      LEFT JOIN ancestors ON ancestors.table_id = plans.table_id AND ancestors.row = plan_rows.row
        AND ancestors.version = plan_rows.base
      WHERE plan_rows.op = ? AND plan_rows.body IS NOT NULL ORDER BY position
      """, op
    ) { row in (body: row.bytes(0), ancestor: row.bytes(1)) }
    guard let state = tables.values.first(where: { $0.op == op }) else { return [] }
    var seen: Set<ChunkHash> = []
    var needs: [ChunkNeed] = []
    for (body, ancestor) in rows {
      let old = try RowCodec.objects(inBody: ancestor)
      needs += try self.needs(of: body, in: state) { field in old.first { $0.field == field }?.object }
        .filter { seen.insert($0.hash).inserted }
    }
    return needs
  }

  /// Of a row's chunks that the cloud is likely to lack, as they would travel if none is a patch.
  func unsentBytes(of row: StoredRow, in state: TableState) throws(CaravanError) -> Int {
    let old = try RowCodec.objects(inBody: ancestors.body(of: row.key, in: state) ?? [])
    return try needs(of: state.codec.body(row.cells, extra: row.extra), in: state) { field in
      old.first { $0.field == field }?.object
    }.reduce(0) { $0 + $1.length }
  }

  /// - Parameter old: the object that a field had before.
  private func needs(
    of body: [UInt8], in state: TableState, since old: (UInt32) throws(CaravanError) -> StoredObject?
  ) throws(CaravanError) -> [ChunkNeed] {
    let reader = chunkReader(try database)
    // What was overwritten in place, or was never fetched, nothing can be a patch of.
    let mayLackBases = state.properties.mode == .inPlace || !state.properties.fetch.isEmpty
    var needs: [ChunkNeed] = []
    for (field, object) in try RowCodec.objects(inBody: body) {
      let before = try old(field).map { (object) throws(CaravanError) in try reader.version(object) }
      for need in ObjectDelta.needs(of: try reader.version(object), since: before) {
        var lacksBase = false
        if mayLackBases { for base in need.bases where try !reader.isPresent(base) { lacksBase = true } }
        needs.append(lacksBase ? ChunkNeed(hash: need.hash, length: need.length) : need)
      }
    }
    return needs
  }
}

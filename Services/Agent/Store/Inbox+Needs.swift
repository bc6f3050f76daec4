internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// Which chunks have to be moved, and what each may be a patch of.
extension Inbox {
  func missingChunks(of table: TableID, limit: Int) throws(CaravanError) -> [ChunkNeed] {
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

  nonisolated(nonsending) func missingChunks(of table: TableID, limit: Int, room: Int) async throws(CaravanError)
    -> [ChunkNeed]
  {
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

  func chunks(lackedBy page: [IncomingEntry], of table: TableID) throws(CaravanError) -> [ChunkNeed] {
    let state = try state(table)
    guard state.agreedType != nil else { return [] }
    var lacked: [ChunkNeed] = []
    for incoming in page where !incoming.isOwn {
      let absent = try objects.absent(incoming.entry.body, in: state)
      // The row of a list that has come would want what it names.
      guard !absent.isEmpty,
        try !RowCodec.objects(inBody: incoming.entry.body).contains(where: { $0.object.list != nil })
      else { return [] }
      let row = try state.rows.row(id: incoming.entry.name, database)
      // A conflict is one as soon as it is known.
      if let row, row.head.flags != .clean { return [] }
      lacked += try objects.needs(of: incoming.entry.body, in: state, sinceRow: row).filter { absent.contains($0.hash) }
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
    let needs = try objects.needs(of: entry.body, in: state, sinceRow: state.rows.row(id: entry.name, database))
    return Dictionary(needs.map { ($0.hash, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

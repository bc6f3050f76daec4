internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanSQLite

/// What a doctor, a simulation or a test looks at.
struct StoreChecks: TablePart {
  let inbox: Inbox
  let openWrites: OpenWrites

  var catalog: TableCatalog { inbox.catalog }
  private var objectChunks: ObjectChunks { inbox.objects }

  /// Looks for what must never be: chunks counted wrongly, objects whose bytes are missing, flags without their plan
  /// (invariants I2 and I3). Takes time in proportion to the store.
  /// - Returns: one line each; none in a sound store.
  func problems() throws(CaravanError) -> [String] {
    var problems = try database.integrityProblems()
    for state in catalog.tables.values {
      for key in try state.rows.keys(where: "1", database) {
        guard let row = try state.rows.soundRow(key: key, database) else {
          problems.append("row \(key) of \(state.table) is not as it was written")
          continue
        }
        let awaited = try inbox.entry(named: row.id, role: .wanted, of: state)
        let isWhole = row.head.presence.isVisible && !row.head.flags.isTorn && awaited == nil
        for hash in isWhole ? try objectChunks.named(by: row, in: state, onlyEager: true) : []
        where try chunkReader(database).bytes(hash) == nil {
          problems.append("row \(row.id) of \(state.table) names chunk \(hash), which is not here")
        }
        if row.head.flags.syncPending, row.head.flags.inConflict {
          problems.append("row \(row.id) of \(state.table) is in a push and in conflict")
        }
      }
      problems += try loosePlans(of: state)
      problems += try looseBatches(of: state)
    }
    return problems + (try miscounts(namedChunks()))
  }

  /// By how many rows, entries, plans and lists each chunk is named.
  func namedChunks() throws(CaravanError) -> [ChunkHash: Int] {
    var named: [ChunkHash: Int] = [:]
    func count(_ chunks: [ChunkHash]) { for hash in Set(chunks) { named[hash, default: 0] += 1 } }
    for state in catalog.tables.values {
      for key in try state.rows.keys(where: "1", database) {
        guard let row = try state.rows.soundRow(key: key, database) else { continue }
        count(try state.codec.chunks(row.cells, extra: row.extra))
      }
    }
    let bodies = "SELECT body FROM ancestors UNION ALL SELECT body FROM incoming UNION ALL SELECT body FROM plan_rows"
    for body in try database.prepare("SELECT body FROM (\(bodies)) WHERE body IS NOT NULL").all(read: { row in
      row.bytes(0)
    }) {
      count(try RowCodec.chunks(inBody: body))
    }
    let lists = try database.prepare("SELECT hash FROM chunks WHERE present = 2").all { row in ChunkHash(row.bytes(0)) }
    for case let list? in lists { count(try chunkReader(database).listed(list)) }
    return named
  }

  /// What belongs to a batch is there.
  private func looseBatches(of state: TableState) throws(CaravanError) -> [String] {
    let rows = "SELECT _row FROM \(state.rows.quotedName)"
    return try database.prepare("SELECT row FROM batch_rows WHERE table_id = ? AND row NOT IN (\(rows))").all(
      state.number
    ) { row in "row \(row.integer(0)) of \(state.table) is in a batch, and nowhere else" }
  }

  /// UNI-08: SP=1 ⇔ the row is in a plan.
  private func loosePlans(of state: TableState) throws(CaravanError) -> [String] {
    let planned = "SELECT row FROM plan_rows WHERE op IN (SELECT op FROM plans WHERE table_id = \(state.number))"
    return try state.rows.keys(where: "_flags & 4 AND _row NOT IN (\(planned))", database).map {
      "row \($0) of \(state.table) is marked pending and is in no plan"
    }
  }

  private func miscounts(_ named: [ChunkHash: Int]) throws(CaravanError) -> [String] {
    var problems: [String] = []
    var left = named
    let stored = try database.all("SELECT hash, refs, id FROM chunks") { row in
      (hash: ChunkHash(row.bytes(0)), refs: Int(row.integer(1)))
    }
    for case (let hash?, let refs) in stored {
      let expected = left.removeValue(forKey: hash) ?? 0
      // An open write's chunks are counted by nobody until it closes.
      // After damage more may be counted than is named, never less.
      if refs > expected, context.meta.countsAnew { continue }
      if refs != expected, !(refs == 0 && !openWrites.all.isEmpty) {
        problems.append("chunk \(hash) is counted \(refs) times and named \(expected) times")
      } else if refs == 0, openWrites.all.isEmpty {
        problems.append("chunk \(hash) is named by nobody and still here")
      }
    }
    return problems + left.keys.map { "chunk \($0) is named and unknown" }
  }
}

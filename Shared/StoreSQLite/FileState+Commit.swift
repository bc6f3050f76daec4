internal import Model
internal import SQLite
internal import Store

extension FileState {
  func commit(_ commit: Commit) throws(CaravanError) -> CommitResult {
    let writer = try checkedWriter(commit.op, floor: commit.opFloor)
    if let outcome = try outcome(of: commit.op, writer, in: commit.zone) {
      return try result(of: outcome, in: commit.zone)
    }

    let zone = try self.zone(commit.zone)
    let state = ZoneCommit(
      zoneSeq: try seq(of: commit.zone, zone), heads: try heads(of: commit, in: zone), lacking: try lacking(of: commit))
    switch state.plan(commit) {
    case .missing(let hashes): return .missing(hashes)
    case .decided(let writes, let verdicts, let zoneSeq):
      let outcome = try carryOut(commit, writes, verdicts, from: state.zoneSeq, to: zoneSeq, zone)
      try keep(outcome, of: commit.op, writer, floor: commit.opFloor)
      return try result(of: outcome, in: commit.zone)
    }
  }

  func settle(_ op: OpID, in zone: ZoneID) throws(CaravanError) -> CommitResult {
    let writer = try checkedWriter(op, floor: 0)
    if let outcome = try outcome(of: op, writer, in: zone) { return try result(of: outcome, in: zone) }
    try keep(.aborted, of: op, writer, floor: 0)
    return .aborted
  }

  // MARK: Ops

  private func checkedWriter(_ op: OpID, floor: UInt64) throws(CaravanError) -> WriterRow {
    let writer = try self.writer(op)
    try op.check(floor: floor, stored: writer.floor)
    return writer
  }

  private func outcome(of op: OpID, _ writer: WriterRow, in zone: ZoneID) throws(CaravanError) -> OpOutcome? {
    guard op.number <= writer.highest else { return nil }
    let key = Key.make(writer.id, op.number)
    guard let stored = try db.first("SELECT outcome FROM ops WHERE key = ?", key, read: { $0.bytes(0) }) else {
      return nil
    }
    let outcome = try OpOutcome(encoded: stored)
    if case .decided(_, _, let incarnation) = outcome, incarnation != 0 {
      guard try reads.belongs(incarnation, to: zone) else { throw op.foreign(to: zone) }
    }
    return outcome
  }

  private func keep(_ outcome: OpOutcome, of op: OpID, _ writer: WriterRow, floor: UInt64) throws(CaravanError) {
    var writer = writer
    try db.run("INSERT INTO ops(key, outcome) VALUES (?, ?)", Key.make(writer.id, op.number), outcome.encoded)
    writer.highest = max(writer.highest, op.number)
    if floor >= writer.floor + StoreLimits.opFloorStep {
      try db.run(
        "DELETE FROM ops WHERE key >= ? AND key < ?", Key.make(writer.id, writer.floor), Key.make(writer.id, floor))
      try db.run("UPDATE writers SET floor = ? WHERE id = ?", floor, writer.id)
      writer.floor = floor
    }
    remember(writer, of: op)
  }

  /// The answer to an op, now or again: conflicts show what the store holds at this moment.
  private func result(of outcome: OpOutcome, in zone: ZoneID) throws(CaravanError) -> CommitResult {
    switch outcome {
    case .aborted: return .aborted
    case .decided(let verdicts, let zoneSeq, let incarnation):
      let row = try self.zone(zone)
      var outcomes: [Outcome] = []
      outcomes.reserveCapacity(verdicts.count)
      for verdict in verdicts {
        switch verdict {
        case .accepted(let version): outcomes.append(.accepted(version: version))
        case .aborted: outcomes.append(.aborted)
        case .conflict(let name):
          outcomes.append(
            .conflict(server: try row.flatMap { (row) throws(CaravanError) in try reads.entry(name, in: row.id) }))
        }
      }
      return .applied(outcomes: outcomes, zoneSeq: zoneSeq, incarnation: incarnation)
    }
  }

  // MARK: What the planner asks for

  /// Of a zone that is not alive, the seq its predecessor ended with.
  private func seq(of zone: ZoneID, _ known: ZoneRecord?) throws(CaravanError) -> Seq {
    if let known { return known.seq }
    return try reads.zone(zone)?.seq ?? 0
  }

  private func heads(of commit: Commit, in zone: ZoneRecord?) throws(CaravanError) -> [String: RecordHead] {
    guard let zone else { return [:] }
    var heads: [String: RecordHead] = [:]
    for mutation in commit.mutations {
      if let head = try reads.head(of: mutation.name, in: zone.id) { heads[mutation.name] = head }
    }
    return heads
  }

  private func lacking(of commit: Commit) throws(CaravanError) -> Set<ChunkHash> {
    var lacking: Set<ChunkHash> = []
    var seen: Set<ChunkHash> = []
    guard commit.mutations.contains(where: \.holdsChunks) else { return lacking }
    let database = try databaseID(of: commit.zone.database)
    for mutation in commit.mutations {
      for hash in mutation.chunks where seen.insert(hash).inserted {
        let row = try database.flatMap { (id) throws(CaravanError) in try reads.chunk(hash, in: id) }
        if row == nil { lacking.insert(hash) }
      }
    }
    return lacking
  }

  // MARK: Writing

  private func carryOut(
    _ commit: Commit, _ writes: [ZoneCommit.Write], _ verdicts: [ZoneCommit.Verdict], from low: Seq, to high: Seq,
    _ known: ZoneRecord?
  ) throws(CaravanError) -> OpOutcome {
    guard !writes.isEmpty else {
      let incarnation = known.map { reads.incarnation($0.id) } ?? 0
      return .decided(verdicts: verdicts, zoneSeq: high, incarnation: incarnation)
    }
    var zone: ZoneRecord
    if let known { zone = known } else { zone = try makeZone(commit.zone, seq: low) }
    let writer = try self.writer(commit.op).id
    for write in writes { try self.write(write, of: commit, by: writer, &zone) }
    zone.seq = high
    try save(zone, of: commit.zone)
    try log(
      commit.zone, zone, low: low, high: high, writer: commit.op.writer, entries: commit.entries(writes))
    return .decided(verdicts: verdicts, zoneSeq: high, incarnation: reads.incarnation(zone.id))
  }

  private func write(
    _ write: ZoneCommit.Write, of commit: Commit, by writer: Int64, _ zone: inout ZoneRecord
  ) throws(CaravanError) {
    let mutation = commit.mutations[write.mutation]
    let hashes = mutation.distinctChunks
    if let replaced = write.replaced {
      let old = Key.make(zone.id, replaced.version)
      try exchangeChunks(of: old, held: replaced.holdsChunks, hashes, in: zone.database)
      try db.run("DELETE FROM entries WHERE key = ?", old)
    } else {
      for hash in hashes { try refer(to: hash, in: zone.database) }
    }
    let flags = write.flags(of: mutation).rawValue
    let (type, body): (UInt32, [UInt8]) =
      switch mutation.change {
      case .save(let type, let body, _): (type, body)
      case .delete: (0, [])
      }
    try db.statement(
      """
      INSERT INTO entries(key, writer, created, flags, type, name, chunks, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      Key.make(zone.id, write.version), writer, write.created, flags, type, mutation.name,
      hashes.isEmpty ? nil : ChunkHash.joined(hashes), borrowing: body)
    if write.replaced == nil {
      try db.run(
        "INSERT INTO names(zone, name, seq, created, flags) VALUES (?, ?, ?, ?, ?)", zone.id, mutation.name,
        write.version, write.created, flags)
    } else {
      try db.run(
        "UPDATE names SET seq = ?, created = ?, flags = ? WHERE zone = ? AND name = ?", write.version, write.created,
        flags, zone.id, mutation.name)
    }
    let wasLive = write.replaced.map { !$0.isDeleted } ?? false
    zone.records += (write.isDeleted ? 0 : 1) - (wasLive ? 1 : 0)
  }
}

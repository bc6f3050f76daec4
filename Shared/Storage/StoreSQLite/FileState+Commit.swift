internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

extension FileState {
  func commit(_ commit: Commit) throws(CaravanError) -> Checked<CommitResult> {
    let writer = try checkedWriter(commit.op, floor: commit.opFloor)
    if let outcome = try outcome(of: commit.op, writer, in: commit.zone) {
      return .done(try result(of: outcome, commit.op, in: commit.zone))
    }

    let group = try checkTerms(of: commit, writer)
    let zone = try self.zone(commit.zone)
    let low = try seq(of: commit.zone, zone)
    let now = now
    var facts = try facts(for: commit, in: zone, now: now)
    if let unread = try lookForDamage(commit, in: zone, &facts) { return .mustRead(unread) }
    switch ZoneCommit(zoneSeq: low, now: now, previous: zone?.time ?? 0, facts: facts).plan(commit) {
    case .missing(let hashes): return .done(.missing(hashes))
    case .decided(let writes, let verdicts, let zoneSeq):
      let outcome = try carryOut(commit, writes, verdicts, from: low, to: zoneSeq, zone)
      try keep(outcome, of: commit.op, writer, floor: commit.opFloor)
      if let group {
        try save(GroupRules.closed(group, by: verdicts, isAtomic: commit.isAtomic, now: now), of: commit.op, writer)
      }
      return .done(try result(of: outcome, commit.op, in: commit.zone))
    }
  }

  func settle(_ op: OpID, in zone: ZoneID) throws(CaravanError) -> CommitResult {
    let writer = try checkedWriter(op, floor: 0)
    if let outcome = try outcome(of: op, writer, in: zone) { return try result(of: outcome, op, in: zone) }
    try keep(.aborted, of: op, writer, floor: 0)
    try endGroup(of: op, writer, as: .aborted)
    return .aborted
  }

  // MARK: Ops

  func checkedWriter(_ op: OpID, floor: UInt64) throws(CaravanError) -> WriterRow {
    let writer = try self.writer(op)
    try op.check(floor: floor, stored: writer.floor)
    return writer
  }

  func outcome(of op: OpID, _ writer: WriterRow, in zone: ZoneID) throws(CaravanError) -> OpOutcome? {
    guard op.number <= writer.highest else { return nil }
    let key = Key.make(writer.id, op.number)
    guard let stored = try db.first("SELECT outcome FROM ops WHERE key = ?", key, read: { $0.bytes(0) }) else {
      return nil
    }
    let outcome = try OpOutcome(encoded: stored)
    if case .decided(_, _, let incarnation, _) = outcome, incarnation != 0 {
      if try reads.isForeign(incarnation, to: zone) { throw op.foreign(to: zone) }
    }
    return outcome
  }

  /// The answer to an op, now or again: conflicts and merges show what the store holds at this moment.
  private func result(of outcome: OpOutcome, _ op: OpID, in zone: ZoneID) throws(CaravanError) -> CommitResult {
    switch outcome {
    case .aborted: return .aborted
    case .decided(let verdicts, let zoneSeq, let incarnation, let time):
      let row = try self.zone(zone)
      if let row { try keepReadPosition(of: op.writer, in: row) }
      var outcomes: [Outcome] = []
      outcomes.reserveCapacity(verdicts.count)
      let now = now
      let entry = { (name: String) throws(CaravanError) -> Entry? in
        guard let row, let head = try self.reads.head(of: name, in: row.id), head.isInSight(at: now) else { return nil }
        return try self.reads.entry(name, head, in: row.id)
      }
      for verdict in verdicts {
        switch verdict {
        case .accepted(let version): outcomes.append(.accepted(version: version))
        case .aborted: outcomes.append(.aborted)
        case .conflict(let name): outcomes.append(OpOutcome.conflict(with: try entry(name)))
        case .merged(let name): outcomes.append(OpOutcome.merged(into: try entry(name)))
        case .read(let name, let version): outcomes.append(OpOutcome.shown(version, of: try entry(name)))
        case .refused(let error): outcomes.append(.refused(error))
        }
      }
      return .applied(outcomes: outcomes, zoneSeq: zoneSeq, incarnation: incarnation, time: time)
    }
  }

  // MARK: What the planner asks for

  /// Of a zone that is not alive, the seq its predecessor ended with.
  private func seq(of zone: ZoneID, _ known: ZoneRecord?) throws(CaravanError) -> Seq {
    if let known { return known.seq }
    if let last = try reads.zone(zone) { return last.seq }
    return UnknownZone.beginning(after: try reads.pastIncarnations(of: zone))
  }

  /// nil: nothing here was ever restored.
  private func past(of zone: ZoneID, _ known: ZoneRecord?) throws(CaravanError) -> ZonePast? {
    let lost = LostRange.ranges(after: try reads.pastIncarnations(of: zone))
    guard !lost.isEmpty else { return nil }
    let row = known == nil ? nil : try reads.zone(zone)
    return ZonePast(lost: lost, purged: row?.purged ?? 0)
  }

  private func facts(
    for commit: Commit, in zone: ZoneRecord?, now: Int64
  ) throws(CaravanError) -> ZoneFacts {
    var inquiry = ZoneInquiry(commit, now: now)
    var facts = ZoneFacts()
    facts.account = try limitedAccount(of: commit.zone.database)
    while let questions = inquiry.next(knowing: facts) {
      if let zone {
        try answer(questions, about: zone, &facts)
        if commit.zone.database.isPublic { try nameMakers(of: questions.heads, &facts) }
      }
      if questions.past { facts.past = try past(of: commit.zone, zone) }
      try find(questions.chunks, in: commit.zone.database, &facts)
      guard !questions.lists.isEmpty, let database = try databaseID(of: commit.zone.database) else { continue }
      for list in questions.lists {
        if let bytes = try reads.bytes(of: list, in: database) { try facts.add(list: list, bytes: bytes) }
      }
    }
    return facts
  }

  private func answer(
    _ questions: ZoneQuestions, about zone: ZoneRecord, _ facts: inout ZoneFacts
  ) throws(CaravanError) {
    for name in questions.heads { facts.heads[name] = try reads.head(of: name, in: zone.id) }
    for name in questions.entries { facts.entries[name] = try reads.entry(name, in: zone.id) }
    for name in questions.referrers {
      facts.referrers[name] =
        zone.isLinked ? try reads.referrers(of: name, in: zone.id, atMost: StoreLimits.referrersAsked) : []
    }
  }

  /// Each is read once, and remembered.
  private func nameMakers(of records: [String], _ facts: inout ZoneFacts) throws(CaravanError) {
    for record in records {
      guard let origin = facts.heads[record]?.origin, origin.time > 0, case .number(let number) = origin.writer,
        facts.makers[number] == nil
      else { continue }
      facts.makers[number] = String(decoding: try writerNames.name(number, db), as: UTF8.self)
    }
  }

  private func find(
    _ hashes: [ChunkHash], in database: DatabaseID, _ facts: inout ZoneFacts
  ) throws(CaravanError) {
    guard !hashes.isEmpty else { return }
    let id = try databaseID(of: database)
    for hash in hashes {
      let row = try id.flatMap { (id) throws(CaravanError) in try readableChunk(hash, in: id) }
      if row == nil { facts.lacking.insert(hash) }
    }
  }

  // MARK: Writing

  private func carryOut(
    _ commit: Commit, _ writes: [ZoneCommit.Write], _ verdicts: [ZoneCommit.Verdict], from low: Seq, to high: Seq,
    _ known: ZoneRecord?
  ) throws(CaravanError) -> OpOutcome {
    guard !writes.isEmpty else {
      let incarnation = known?.incarnation ?? 0
      return .decided(verdicts: verdicts, zoneSeq: high, incarnation: incarnation)
    }
    var zone: ZoneRecord
    if let known { zone = known } else { zone = try beginZone(commit.zone) }
    let writer = try self.writer(commit.op).id
    for write in writes { try self.write(write, by: writer, in: zone) }
    if queuesObjects { try queueObjects(of: writes.ofObjects, commit, in: zone.id) }
    if !zone.isLinked, writes.contains(where: { !$0.references.isEmpty }) {
      try db.run("UPDATE zones SET linked = 1 WHERE id = ?", zone.id)
      zone.isLinked = true
    }
    let growth = writes.growth
    (zone.seq, zone.records, zone.bytes) = (high, zone.records + growth.records, zone.bytes + growth.bytes)
    zone.time = writes.last?.time ?? zone.time
    try save(zone, of: commit.zone)
    accounts.grow(commit.zone.database, by: growth)
    // Who does not know all of it must hear of it like everybody else.
    try log(
      commit.zone, zone, low: low, high: high, writer: writes.areKnownToWriter ? commit.op.writer : "",
      entries: commit.entries(writes) { (writer) throws(CaravanError) in
        String(decoding: try writerNames.name(writer, db), as: UTF8.self)
      })
    return .decided(verdicts: verdicts, zoneSeq: high, incarnation: zone.incarnation, time: zone.time)
  }

  private func write(
    _ write: ZoneCommit.Write, by writer: Int64, in zone: ZoneRecord
  ) throws(CaravanError) {
    let hashes = write.content.chunks
    if let replaced = write.replaced {
      let old = Key.make(zone.id, replaced.version)
      if replaced.version <= zone.snapshot {
        try keep(old, until: Key.make(zone.id, write.version))
        for hash in hashes { try refer(to: hash, in: zone.database) }
      } else {
        try exchangeChunks(of: old, held: replaced.holdsChunks, hashes, in: zone.database)
      }
      try removeEntry(old)
    } else {
      for hash in hashes { try refer(to: hash, in: zone.database) }
    }
    try add(write, hashes, by: writer, in: zone.id)
    try name(write, by: writer, in: zone.id)
    try exchangeReferences(of: write, in: zone.id)
  }

  private func add(
    _ write: ZoneCommit.Write, _ hashes: [ChunkHash], by writer: Int64, in zone: Int64
  ) throws(CaravanError) {
    try db.statement(
      """
      INSERT INTO entries(key, writer, created, flags, type, name, expires, fields, chunks, body, time, born, maker,
        sum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(borrowing: write.content.body, at: 10) { (row) throws(CaravanError) in
      try row.bind(Key.make(zone, write.version), at: 1)
      try row.bind(writer, at: 2)
      try row.bind(write.created, at: 3)
      try row.bind(write.flags.rawValue, at: 4)
      try row.bind(Int64(write.content.type), at: 5)
      try row.bind(write.name, at: 6)
      if write.expires == 0 { try row.bindNull(at: 7) } else { try row.bind(write.expires, at: 7) }
      if write.fields.isEmpty { try row.bindNull(at: 8) } else { try row.bind(write.fields, at: 8) }
      if hashes.isEmpty { try row.bindNull(at: 9) } else { try row.bind(ChunkHash.joined(hashes), at: 9) }
      try row.bind(write.time, at: 11)
      if let origin = write.origin { try row.bind(origin.time, at: 12) } else { try row.bindNull(at: 12) }
      if let maker = write.origin?.number { try row.bind(maker, at: 13) } else { try row.bindNull(at: 13) }
      try row.bind(write.sum, at: 14)
    }
  }

  /// What the commits that follow must know of the record.
  private func name(_ write: ZoneCommit.Write, by writer: Int64, in zone: Int64) throws(CaravanError) {
    let statement =
      write.replaced == nil
      ? try db.statement(
        "INSERT INTO names(seq, created, flags, size, zone, name, born, maker) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      : try db.statement(
        """
        UPDATE names SET seq = ?1, created = ?2, flags = ?3, size = ?4, born = ?7, maker = ?8
        WHERE zone = ?5 AND name = ?6
        """)
    let origin = write.origin ?? RecordOrigin(time: write.time, writer: .number(writer))
    try statement.run { (row) throws(CaravanError) in
      try row.bind(write.version, at: 1)
      try row.bind(write.created, at: 2)
      try row.bind(write.flags.rawValue, at: 3)
      try row.bind(write.bytes, at: 4)
      try row.bind(zone, at: 5)
      try row.bind(write.name, at: 6)
      if origin.time > 0 {
        try row.bind(origin.time, at: 7)
        // What this commit itself has made goes by a name.
        try row.bind(origin.number ?? writer, at: 8)
      } else {
        try row.bindNull(at: 7)
        try row.bindNull(at: 8)
      }
    }
  }

  func removeEntry(_ key: Int64) throws(CaravanError) {
    try db.run("DELETE FROM entries WHERE key = ?", key)
    compaction.noteRemoval()
  }

  private func exchangeReferences(of write: ZoneCommit.Write, in zone: Int64) throws(CaravanError) {
    if write.replaced?.holdsReferences ?? false {
      try db.run("DELETE FROM refs WHERE zone = ? AND source = ?", zone, write.name)
    }
    for reference in write.references {
      try db.run(
        """
        INSERT INTO refs(zone, target, source, kinds) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET kinds = kinds | excluded.kinds
        """, zone, reference.target, write.name, Referrer.Kinds(reference.kind).rawValue)
    }
  }
}

extension RecordOrigin {
  /// nil: whoever writes the entry, or nobody knows.
  fileprivate var number: Int64? {
    guard case .number(let number) = writer, time > 0 else { return nil }
    return number
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

extension FileState {
  func commit(_ commit: Commit) throws(CaravanError) -> Checked<CommitResult> {
    let writer = try writers.checked(commit.op, floor: commit.opFloor)
    if let outcome = try writers.outcome(of: commit.op, writer, in: commit.zone) {
      return .done(try result(of: outcome, commit.op, in: commit.zone))
    }

    let group = try groups.checkTerms(of: commit, writer)
    let zone = try zones.zone(commit.zone)
    let low = try seq(of: commit.zone, zone)
    let now = now
    var facts = try facts(for: commit, in: zone, now: now)
    if let unread = try chunks.lookForDamage(commit, in: zone, &facts) { return .mustRead(unread) }
    switch ZoneCommit(zoneSeq: low, now: now, previous: zone?.time ?? 0, facts: facts).plan(commit) {
    case .missing(let hashes): return .done(.missing(hashes))
    case .decided(let writes, let verdicts, let zoneSeq):
      let outcome = try carryOut(commit, writes, verdicts, from: low, to: zoneSeq, zone)
      try writers.keep(outcome, of: commit.op, writer, floor: commit.opFloor)
      if let group {
        try groups.save(
          GroupRules.closed(group, by: verdicts, isAtomic: commit.isAtomic, now: now), of: commit.op, writer)
      }
      return .done(try result(of: outcome, commit.op, in: commit.zone))
    }
  }

  func settle(_ op: OpID, in zone: ZoneID) throws(CaravanError) -> CommitResult {
    let writer = try writers.checked(op, floor: 0)
    if let outcome = try writers.outcome(of: op, writer, in: zone) { return try result(of: outcome, op, in: zone) }
    try writers.keep(.aborted, of: op, writer, floor: 0)
    try groups.end(op, writer, as: .aborted)
    return .aborted
  }

  /// The answer to an op, now or again: conflicts and merges show what the store holds at this moment.
  private func result(of outcome: OpOutcome, _ op: OpID, in zone: ZoneID) throws(CaravanError) -> CommitResult {
    switch outcome {
    case .aborted: return .aborted
    case .decided(let verdicts, let zoneSeq, let incarnation, let time):
      let row = try zones.zone(zone)
      if let row { try devices.keepReadPosition(of: op.writer, in: row) }
      var outcomes: [Outcome] = []
      outcomes.reserveCapacity(verdicts.count)
      let now = now
      let entry = { (name: String) throws(CaravanError) -> Entry? in
        guard let row, let head = try self.reads.head(of: name, in: row.id), head.isVisible(at: now) else { return nil }
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
    facts.account = try accounts.limited(of: commit.zone.database)
    while let questions = inquiry.next(knowing: facts) {
      if let zone {
        try answer(questions, about: zone, &facts)
        if commit.zone.database.isPublic { try nameMakers(of: questions.heads, &facts) }
      }
      if questions.past { facts.past = try past(of: commit.zone, zone) }
      try find(questions.chunks, in: commit.zone.database, &facts)
      guard !questions.lists.isEmpty, let database = try zones.databaseID(of: commit.zone.database) else { continue }
      for list in questions.lists {
        if let bytes = try reads.bytes(of: list, in: database) { try facts.add(list: list, bytes: bytes) }
      }
    }
    if let stager = commit.view.stager { try lookForStager(of: commit, stager, zone, &facts) }
    return facts
  }

  /// In a public database a commit names chunks that its user has staged, or that a record has which it changes.
  private func lookForStager(
    of commit: Commit, _ stager: String, _ zone: ZoneRecord?, _ facts: inout ZoneFacts
  ) throws(CaravanError) {
    let named = Set(commit.mutations.flatMap(\.chunks))
    guard !named.isEmpty else { return }
    let database = try zones.databaseID(of: commit.zone.database)
    facts.unstaged = try named.subtracting(
      database.map { (id) throws(CaravanError) in
        try StagerReads(reads: reads).staged(named, in: id, by: stager)
      } ?? [])
    guard let zone, !facts.unstaged.isEmpty else { return }
    for mutation in commit.mutations where !mutation.chunks.isEmpty {
      guard let head = facts.heads[mutation.name], head.holdsChunks else { continue }
      facts.held[mutation.name] = try chunks.chunks(ofEntry: Key.make(zone.id, head.version))
    }
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
      facts.makers[number] = try writers.name(number)
    }
  }

  private func find(
    _ hashes: [ChunkHash], in database: DatabaseID, _ facts: inout ZoneFacts
  ) throws(CaravanError) {
    guard !hashes.isEmpty else { return }
    let id = try zones.databaseID(of: database)
    for hash in hashes {
      let row = try id.flatMap { (id) throws(CaravanError) in try chunks.readableChunk(hash, in: id) }
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
    if let known { zone = known } else { zone = try zones.beginZone(commit.zone) }
    let writer = try writers.writer(commit.op).id
    for write in writes { try entries.write(write, by: writer, in: zone) }
    if objects.queues { try objects.queue(of: writes.ofObjects, commit, in: zone.id) }
    if !zone.isLinked, writes.contains(where: { !$0.references.isEmpty }) {
      try db.run("UPDATE zones SET linked = 1 WHERE id = ?", zone.id)
      zone.isLinked = true
    }
    let growth = writes.growth
    (zone.seq, zone.records, zone.bytes) = (high, zone.records + growth.records, zone.bytes + growth.bytes)
    zone.time = writes.last?.time ?? zone.time
    try zones.save(zone, of: commit.zone)
    accounts.grow(commit.zone.database, by: growth)
    // Who does not know all of it must hear of it like everybody else.
    try log.append(
      commit.zone, zone, low: low, high: high, writer: writes.areKnownToWriter ? commit.op.writer : "",
      entries: commit.entries(writes) { (writer) throws(CaravanError) in
        try writers.name(writer)
      })
    return .decided(verdicts: verdicts, zoneSeq: high, incarnation: zone.incarnation, time: zone.time)
  }
}

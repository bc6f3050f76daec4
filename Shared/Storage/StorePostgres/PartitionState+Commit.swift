internal import CaravanModel
internal import CaravanStore

extension PartitionState {
  func commit(
    _ commit: Commit, trusting trusted: Set<ChunkHash>
  ) throws(CaravanError) -> Answer<Checked<CommitResult>> {
    let decision = try decide(commit, trusting: trusted)
    return { (state) throws(CaravanError) in
      switch decision {
      case .done(let answer): .done(try answer(state))
      case .mustRead(let unread): .mustRead(unread)
      }
    }
  }

  private func decide(
    _ commit: Commit, trusting trusted: Set<ChunkHash>
  ) throws(CaravanError) -> Checked<Answer<CommitResult>> {
    if let outcome = try known(commit.op, floor: commit.opFloor, in: commit.zone) {
      return .done(answer(outcome, commit.op, in: commit.zone))
    }
    let group = try checkTerms(of: commit)
    let zone = zone(commit.zone)
    let low = try beginning(of: commit.zone)
    let facts = try facts(for: commit, in: zone)
    let unread = unread(of: commit, in: zone, trusting: trusted)
    guard unread.isEmpty else { return .mustRead(unread) }
    switch ZoneCommit(zoneSeq: low, now: now, previous: zone?.time ?? 0, facts: facts).plan(commit) {
    case .missing(let hashes):
      let answer: Answer<CommitResult> = { _ throws(CaravanError) in .missing(hashes) }
      return .done(answer)
    case .decided(let writes, let verdicts, let zoneSeq):
      let outcome = try carryOut(commit, writes, verdicts, from: low, to: zoneSeq, zone)
      keep(outcome, of: commit.op, in: commit.zone, floor: commit.opFloor)
      if let group {
        save(GroupRules.closed(group, by: verdicts, isAtomic: commit.isAtomic, now: now), of: commit.op)
      }
      return .done(answer(outcome, commit.op, in: commit.zone))
    }
  }

  func settle(_ op: OpID, in zone: ZoneID) throws(CaravanError) -> Answer<CommitResult> {
    if let outcome = try known(op, floor: 0, in: zone) { return answer(outcome, op, in: zone) }
    keep(.aborted, of: op, in: zone, floor: 0)
    endGroup(of: op, as: .aborted)
    return answer(.aborted, op, in: zone)
  }

  // MARK: Ops

  func known(_ op: OpID, floor: UInt64, in zone: ZoneID) throws(CaravanError) -> OpOutcome? {
    try op.check(floor: floor, stored: floors[Writer(name: op.writer, epoch: op.epoch)] ?? 0)
    guard let known = ops[op] else { return nil }
    if let home = known.zone, home != zone { throw op.foreign(to: zone) }
    return known.outcome
  }

  func keep(_ outcome: OpOutcome, of op: OpID, in zone: ZoneID, floor: UInt64) {
    var life: Int64 = 0
    if case .decided(_, _, let incarnation, _) = outcome, incarnation != 0 { life = newest[zone] ?? 0 }
    ops[op] = Op(outcome: outcome, zone: life == 0 ? nil : zone)
    newOps.append((op, life, outcome))
    let writer = Writer(name: op.writer, epoch: op.epoch)
    if floor >= (floors[writer] ?? 0) + StoreLimits.opFloorStep {
      floors[writer] = floor
      newFloors[writer] = floor
    }
  }

  /// The answer to an op, now or again: conflicts and merges show what the store holds when it is given. What the
  /// group knows now of records that were read counts: later commits of the group may change them.
  private func answer(_ outcome: OpOutcome, _ op: OpID, in zone: ZoneID) -> Answer<CommitResult> {
    switch outcome {
    case .aborted: return { _ throws(CaravanError) in .aborted }
    case .decided(let verdicts, let zoneSeq, let incarnation, let time):
      if let row = self.zone(zone) { keepReadPosition(of: op.writer, in: row) }
      var read: [String: Outcome] = [:]
      for verdict in verdicts {
        switch verdict {
        case .read(let name, let version):
          if let entry = knownEntry(of: name, in: zone) {
            read[name] = OpOutcome.shown(version, of: entry)
          } else {
            shown.insert(Wants.Record(zone: zone, name: name))
          }
        case .conflict(let name), .merged(let name): shown.insert(Wants.Record(zone: zone, name: name))
        case .accepted, .aborted, .refused: continue
        }
      }
      return { [read] (state) throws(CaravanError) in
        let entry = { (name: String) in state.entries[Wants.Record(zone: zone, name: name)] }
        let outcomes = verdicts.map { verdict -> Outcome in
          switch verdict {
          case .accepted(let version): .accepted(version: version)
          case .aborted: .aborted
          case .conflict(let name): OpOutcome.conflict(with: entry(name))
          case .merged(let name): OpOutcome.merged(into: entry(name))
          case .read(let name, let version): read[name] ?? OpOutcome.shown(version, of: entry(name))
          case .refused(let error): .refused(error)
          }
        }
        return .applied(outcomes: outcomes, zoneSeq: zoneSeq, incarnation: incarnation, time: time)
      }
    }
  }

  // MARK: Writing

  private func carryOut(
    _ commit: Commit, _ writes: [ZoneCommit.Write], _ verdicts: [ZoneCommit.Verdict], from low: Seq, to high: Seq,
    _ known: Zone?
  ) throws(CaravanError) -> OpOutcome {
    guard !writes.isEmpty else {
      return .decided(verdicts: verdicts, zoneSeq: high, incarnation: known?.incarnation ?? 0)
    }
    guard high <= StoreLimits.highestNumber else {
      throw CaravanError(.limitExceeded, "zone \(commit.zone) has used up its versions")
    }
    var zone: Zone
    if let known { zone = known } else { zone = try beginZone(commit.zone) }
    for write in writes { try self.write(write, of: commit, in: zone) }
    for write in writes.ofObjects {
      let group = commit.parts == nil ? nil : commit.op
      objects[RecordKey(zone: zone.id, name: write.name)] = (write.version, group)
    }
    let growth = writes.growth
    if writes.contains(where: { !$0.references.isEmpty }) { zone.isLinked = true }
    (zone.seq, zone.records, zone.bytes) = (high, zone.records + growth.records, zone.bytes + growth.bytes)
    zone.time = writes.last?.time ?? zone.time
    save(zone)
    accounts.grow(commit.zone.database, by: growth)
    // Who does not know all of it must hear of it like everybody else.
    let writer = writes.areKnownToWriter ? commit.op.writer : ""
    append(zone, low: low, writer: writer, entries: try commit.entries(writes))
    return .decided(verdicts: verdicts, zoneSeq: high, incarnation: zone.incarnation, time: zone.time)
  }

  private func write(_ write: ZoneCommit.Write, of commit: Commit, in zone: Zone) throws(CaravanError) {
    let key = RecordKey(zone: zone.id, name: write.name)
    let isKept = write.replaced.map { $0.version <= zone.snapshot } ?? false
    if isKept, let replaced = write.replaced {
      superseded.append(Superseded(zone: zone.id, version: replaced.version, next: write.version))
    }
    exchange(isKept ? [] : heads[key]?.chunks ?? [], for: write.content.chunks, in: commit.zone.database)
    heads[key] = Head(
      head: RecordHead(
        version: write.version, created: write.created, flags: write.flags, expires: write.expires,
        bytes: write.bytes, origin: write.origin ?? RecordOrigin(time: write.time, writer: .name(commit.op.writer))),
      chunks: write.content.chunks)
    rows[key] = Row(
      version: write.version, created: write.created, flags: write.flags, op: commit.op, content: write.content,
      expires: write.expires, fields: write.fields, time: write.time, origin: write.origin,
      authorship: try write.authorship(by: commit.op.writer), isNew: rows[key]?.isNew ?? (write.replaced == nil))
    if write.replaced?.holdsReferences ?? false || !write.references.isEmpty { links[key] = write.references }
  }
}

/// Chunks: their bytes once a database, counted references from records, and a time until which they are kept without.
extension PartitionState {
  /// - Throws: `quotaExceeded` or `limitExceeded`, with nothing staged.
  func stage(_ new: [ChunkBytes], in database: DatabaseID, as view: ChunkView) throws(CaravanError) {
    var added: [ChunkHash: Int] = [:]
    for chunk in new where chunks[Wants.Chunk(database: database, hash: chunk.hash)] == nil {
      added[chunk.hash] = chunk.bytes.count
    }
    let noted = try stagers.note(new, in: database, as: view) { hash in
      chunks[Wants.Chunk(database: database, hash: hash)] != nil
    }
    let growth = Usage(bytes: Int64(added.values.reduce(0, +)) + noted.charged)
    if let refusal = accounts.limited(of: database)?.refusal(of: growth) { throw refusal }
    stagers = noted.stagers
    accounts.grow(database, by: growth)
    for chunk in new {
      let key = Wants.Chunk(database: database, hash: chunk.hash)
      if chunks[key] == nil {
        chunks[key] = Chunk(size: Int64(chunk.bytes.count), refs: 0)
        staged[key] = chunk.bytes
        counts.chunks += 1
        counts.chunkBytes += Int64(chunk.bytes.count)
      } else {
        if chunks[key]?.isDamaged ?? false { heal(key, chunk.bytes) }
        keep(key)
      }
    }
  }

  /// Those of `hashes` that the database lacks or cannot read, or that are not in the view; the others are kept for the
  /// staging lease.
  func missing(_ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView) -> [ChunkHash] {
    hashes.filter { hash in
      let key = Wants.Chunk(database: database, hash: hash)
      guard stagers.keep(hash, in: database, as: view), isReadable(key) else { return true }
      keep(key)
      return false
    }
  }

  /// Only what no record holds: a chunk that loses its last record gets its own grace then.
  private func keep(_ key: Wants.Chunk) {
    if let chunk = chunks[key], chunk.refs == 0, staged[key] == nil { kept.insert(key) }
  }

  /// Moves references from a body that goes to the one that comes; what both name is not touched, so an edit of one
  /// byte of a large object costs two counts.
  private func exchange(_ before: [ChunkHash], for new: [ChunkHash], in database: DatabaseID) {
    let stays = Set(before).intersection(new)
    for hash in new where !stays.contains(hash) { refer(Wants.Chunk(database: database, hash: hash), 1) }
    for hash in before where !stays.contains(hash) { refer(Wants.Chunk(database: database, hash: hash), -1) }
  }

  func refer(_ key: Wants.Chunk, _ change: Int64) {
    references[key, default: 0] += change
    chunks[key]?.refs += change
    if change < 0 { kept.insert(key) }
  }
}

internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// What the planner asks, answered from what the group has read and decided so far. What no commit told in advance, as
/// who goes with whom, is read when it is asked for.
extension PartitionState {
  func facts(for commit: Commit, in zone: Zone?) throws(CaravanError) -> ZoneFacts {
    var inquiry = ZoneInquiry(commit, now: now)
    var facts = ZoneFacts()
    facts.account = accounts.limited(of: commit.zone.database)
    while let questions = inquiry.next(knowing: facts) {
      try look(for: questions, in: commit.zone, zone)
      if let zone { answer(questions, about: zone.id, &facts) }
      if questions.past { facts.past = past(of: commit.zone) }
      for hash in questions.chunks where !isReadable(Wants.Chunk(database: commit.zone.database, hash: hash)) {
        facts.lacking.insert(hash)
      }
      for hash in questions.lists {
        let key = Wants.Chunk(database: commit.zone.database, hash: hash)
        if let bytes = staged[key] ?? looked.lists[key] { try facts.add(list: hash, bytes: bytes) }
      }
    }
    if let stager = commit.view.stager { lookForStager(of: commit, stager, zone, &facts) }
    return facts
  }

  /// In a public database a commit names chunks that its user has staged, or that a record has which it changes.
  private func lookForStager(of commit: Commit, _ stager: String, _ zone: Zone?, _ facts: inout ZoneFacts) {
    for mutation in commit.mutations where !mutation.chunks.isEmpty {
      for hash in mutation.chunks where !stagers.have(hash, in: commit.zone.database, by: stager) {
        facts.unstaged.insert(hash)
      }
      guard let zone else { continue }
      facts.held[mutation.name] = heads[RecordKey(zone: zone.id, name: mutation.name)]?.chunks
    }
  }

  private func answer(_ questions: ZoneQuestions, about zone: Int64, _ facts: inout ZoneFacts) {
    for name in questions.heads { facts.heads[name] = heads[RecordKey(zone: zone, name: name)]?.head }
    for name in questions.entries { facts.entries[name] = entry(RecordKey(zone: zone, name: name)) }
    for name in questions.referrers { facts.referrers[name] = referrers(of: RecordKey(zone: zone, name: name)) }
  }

  /// nil: nothing of the zone was ever restored.
  private func past(of zone: ZoneID) -> ZonePast? {
    guard counts.reach > 0 else { return nil }
    var lives = looked.lives[zone] ?? [:]
    for life in zones.values where life.name == zone && life.stage <= ZoneStage.restored {
      lives[life.id] =
        life.isAlive ? .some(nil) : PastIncarnation(seq: life.seq, lostThrough: life.lostThrough)
    }
    let over =
      lives.isEmpty
      ? UnknownZone.lives(reach: counts.reach) : lives.sorted { $0.key < $1.key }.compactMap(\.value)
    let lost = LostRange.ranges(after: over)
    guard !lost.isEmpty else { return nil }
    return ZonePast(lost: lost, purged: self.zone(zone)?.seqBefore == nil ? 0 : looked.purged[zone] ?? 0)
  }

  /// What answers show of it; nil: the group has not looked.
  func knownEntry(of name: String, in zone: ZoneID) -> Entry?? {
    guard let zone = self.zone(zone) else { return .some(nil) }
    let key = RecordKey(zone: zone.id, name: name)
    if let head = heads[key]?.head, !head.isVisible(at: now) { return .some(nil) }
    return rows[key] != nil || looked.entries[key] != nil || zone.seqBefore == nil ? .some(entry(key)) : nil
  }

  private func entry(_ key: RecordKey) -> Entry? {
    guard let row = rows[key] else { return looked.entries[key] ?? nil }
    return Entry(
      name: key.name, version: row.version, created: row.created, isDeleted: row.flags.contains(.deleted),
      type: row.content.type, body: row.content.body, writer: row.op.writer, expires: row.expires, fields: row.fields,
      authorship: row.authorship)
  }

  private func referrers(of target: RecordKey) -> [Referrer] {
    var kinds: [String: Referrer.Kinds] = [:]
    for referrer in looked.referrers[target] ?? [] where links[RecordKey(zone: target.zone, name: referrer.name)] == nil
    {
      kinds[referrer.name] = referrer.kinds
    }
    for (source, references) in links where source.zone == target.zone {
      for reference in references where reference.target == target.name {
        kinds[source.name, default: []].insert(Referrer.Kinds(reference.kind))
      }
    }
    return kinds.sorted { $0.key < $1.key }.map { Referrer(name: $0.key, kinds: $0.value) }
  }

  /// Reads what is asked for and not known. Of a zone that this group made, everything is known.
  private func look(for questions: ZoneQuestions, in name: ZoneID, _ zone: Zone?) throws(CaravanError) {
    var wants = Wants()
    if let zone, zone.seqBefore != nil {
      func unknown(_ names: [String], _ isKnown: (RecordKey) -> Bool) -> [String] {
        names.filter { !isKnown(RecordKey(zone: zone.id, name: $0)) }
      }
      wants.add(
        records: unknown(questions.heads) { looked.heads.contains($0) || heads[$0] != nil },
        entries: unknown(questions.entries) { looked.entries[$0] != nil || rows[$0] != nil },
        referrers: zone.isLinked ? unknown(questions.referrers) { looked.referrers[$0] != nil } : [], of: name)
    }
    wants.add(
      lists: questions.lists.map { Wants.Chunk(database: name.database, hash: $0) }.filter {
        staged[$0] == nil && looked.lists[$0] == nil
      })
    if questions.past, counts.reach > 0, looked.lives[name] == nil { wants.add(pastOf: name) }
    guard !wants.isEmpty else { return }
    guard let connection, failure == nil else {
      throw CaravanError(.unavailable, "the connection to PostgreSQL was lost while a commit was decided: retry")
    }
    do throws(PostgresError) { try GroupLoad.look(for: wants, on: connection, into: self) } catch {
      failure = error
      throw error.answer
    }
  }
}

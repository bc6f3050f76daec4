internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Commits in parts. While a part is stored it refers to its chunks as a record does.
extension PartitionState {
  func beginGroup(_ op: OpID, floor: UInt64, in zone: ZoneID) throws(CaravanError) -> StagedGroup {
    let isDecided = try known(op, floor: floor, in: zone) != nil
    let stored = groups[op]
    let begun = try GroupRules.begin(
      op, in: zone, known: stored, isDecided: isDecided,
      census: { () throws(CaravanError) in zone.database.owner.flatMap { censuses[$0] } ?? GroupCensus() }, now: now)
    if let begun {
      save(begun, of: op)
      if let owner = zone.database.owner {
        let census = censuses[owner] ?? GroupCensus()
        censuses[owner] = GroupCensus(open: census.open + 1, known: census.known + 1)
      }
    }
    guard let group = begun ?? stored else { preconditionFailure("a group was neither begun nor known") }
    return group
  }

  func stage(_ part: StagedPart, trusting trusted: Set<ChunkHash>) throws(CaravanError) -> Checked<PartStaging> {
    _ = try known(part.op, floor: 0, in: part.zone)
    let key = Wants.Part(op: part.op, number: part.number)
    switch try GroupRules.stage(part, in: groups[part.op], stored: parts[key], now: now) {
    case .done(let group): return .done(.staged(group))
    case .renew(let group):
      save(group, of: part.op)
      return .done(.staged(group))
    case .write(let group):
      let unread = unread(part.chunks, in: part.zone.database, trusting: trusted)
      guard unread.isEmpty else { return .mustRead(unread) }
      let named = part.chunks.map { Wants.Chunk(database: part.zone.database, hash: $0) }
      let missing = named.filter { !isReadable($0) }.map(\.hash)
      guard missing.isEmpty else { return .done(.missing(missing)) }
      for chunk in named { refer(chunk, 1) }
      parts[key] = part.body
      newParts.append(part)
      save(group, of: part.op)
      return .done(.staged(group))
    }
  }

  func removeGroup(_ op: OpID, in zone: ZoneID) throws(CaravanError) {
    let outcome = try known(op, floor: 0, in: zone)
    guard let group = groups[op] else { return }
    guard group.zone == zone else { throw op.foreign(to: zone) }
    if group.isOpen, outcome == nil { keep(.aborted, of: op, in: zone, floor: 0) }
    save(GroupRules.ended(group, as: .removed, now: now), of: op)
  }

  /// What a commit depends on beside the records: its lock, roles of its user, and the group that it makes visible.
  func checkTerms(of commit: Commit) throws(CaravanError) -> StagedGroup? {
    if let fence = commit.fence {
      try fence.check(leases[fence.lease], holder: commit.op.writer, now: now)
    }
    if let zone = try commit.roleZone.map({ self.zone($0) }) {
      try commit.checkRoles(now: now) { record in
        zone.flatMap { heads[RecordKey(zone: $0.id, name: record)]?.head }
      }
    }
    guard commit.parts != nil else { return nil }
    try GroupRules.check(commit, closes: groups[commit.op])
    return groups[commit.op]
  }

  func save(_ group: StagedGroup, of op: OpID) {
    groups[op] = group
    changedGroups.insert(op)
  }

  func endGroup(of op: OpID, as stage: StagedGroup.Stage) {
    guard let group = groups[op] else { return }
    save(GroupRules.ended(group, as: stage, now: now), of: op)
  }
}

/// What is asked about groups of one partition, and where the answers are.
struct GroupQuestions {
  private let groups: [OpID]
  private let parts: [Wants.Part]
  private let owners: [UserID]
  private var groupsAt: Int?
  private var partsAt: Int?
  private var censusesAt: [Int] = []

  init(_ wants: Wants) {
    groups = Array(wants.groups)
    parts = Array(wants.parts)
    owners = Array(wants.owners)
  }

  mutating func ask(_ pipeline: inout Pipeline, _ partition: Int32) {
    if !groups.isEmpty {
      groupsAt = pipeline.add(
        GroupStatements.groups, partition, groups.map(\.writer), groups.map(\.epoch), groups.map(\.number))
    }
    if !parts.isEmpty {
      partsAt = pipeline.add(
        GroupStatements.stagedParts, partition, parts.map(\.op.writer), parts.map(\.op.epoch), parts.map(\.op.number),
        parts.map { Int64($0.number) })
    }
    censusesAt = owners.map { owner in
      pipeline.add(GroupStatements.census, partition, "\(owner)/", "\(owner)0")
    }
  }

  func read(_ answers: [Rows], into state: PartitionState) throws(PostgresError) {
    if let at = groupsAt {
      for row in answers[at] { state.groups[groups[row.ordinal]] = try StagedGroup(row) }
    }
    if let at = partsAt { for row in answers[at] { state.parts[parts[row.ordinal]] = row.bytes(1) } }
    for (owner, at) in zip(owners, censusesAt) {
      var census = GroupCensus()
      for row in answers[at] {
        census.known += Int(row.integer(1))
        if row.integer(0) == StagedGroup.Stage.open.rawValue { census.open += Int(row.integer(1)) }
      }
      state.censuses[owner] = census
    }
  }
}

extension StagedGroup {
  /// From columns -, stage, parts, records, bytes, chunks, held, until, database, zone.
  init(_ row: Row) throws(PostgresError) {
    guard let stage = Stage(rawValue: row.integer(1)) else {
      throw PostgresError(state: "", message: "a stored group is damaged: restore the database", kind: .other)
    }
    self.init(
      zone: try row.zone(from: 8), stage: stage, parts: Int(row.integer(2)), records: Int(row.integer(3)),
      bytes: Int(row.integer(4)), chunks: Int(row.integer(5)), held: Int(row.integer(6)), until: row.integer(7))
  }
}

extension Pipeline {
  mutating func add(groupsOf state: PartitionState) {
    let key = Int32(state.partition.number)
    let changed = state.changedGroups.compactMap { op in state.groups[op].map { (op: op, group: $0) } }
    if !changed.isEmpty {
      add(
        GroupStatements.saveGroups, key, changed.map(\.op.writer), changed.map(\.op.epoch), changed.map(\.op.number),
        changed.map(\.group.zone.database.key), changed.map(\.group.zone.name), changed.map(\.group.stage.rawValue),
        changed.map { Int64($0.group.parts) }, changed.map { Int64($0.group.records) },
        changed.map { Int64($0.group.bytes) }, changed.map { Int64($0.group.chunks) },
        changed.map { Int64($0.group.held) }, changed.map(\.group.until))
    }
    let new = state.newParts
    guard !new.isEmpty else { return }
    add(
      GroupStatements.addParts, key, new.map(\.op.writer), new.map(\.op.epoch), new.map(\.op.number),
      new.map { Int64($0.number) }, new.map { $0.chunks.isEmpty ? nil : Bytes(ChunkHash.joined($0.chunks)) },
      new.map { Bytes($0.body) })
  }
}

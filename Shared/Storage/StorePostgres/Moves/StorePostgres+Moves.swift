public import CaravanModel
internal import CaravanPostgreSQL
public import CaravanStore

/// Users come from the main store, and go to it (CK-100). Its clock is the database's, as theirs is the main store's:
/// the two are to agree.
extension StorePostgres: MovableStore {
  public func content(of owner: UserID) async throws(CaravanError) -> OwnerContent {
    var content = OwnerContent()
    var ops: [OpID: OpContent] = [:]
    let home = Partition(of: .system(owner))
    for partition in Partition.all {
      let part = try await read { (reads) throws(PostgresError) in
        let rows = try reads.zoneRows(of: owner, in: Int32(partition.number))
        guard partition == home || !rows.isEmpty else { return OwnerContent() }
        return try reads.content(of: owner, rows, in: partition)
      }
      content.zones += part.zones
      content.groups += part.groups
      content.reach = max(content.reach, part.reach)
      content.locks.merge(part.locks) { one, other in one.token > other.token ? one : other }
      for op in part.ops { ops[op.op] = op }
    }
    content.ops = Array(ops.values)
    return content
  }

  public func records(of zone: ZoneID, after version: Seq) async throws(CaravanError) -> [RecordContent] {
    try await read { (reads) throws(PostgresError) in try reads.records(of: zone, after: version) }
  }

  public func chunkHashes(
    of database: DatabaseID, after hash: ChunkHash?
  ) async throws(CaravanError) -> [ChunkHash] {
    let partition = Int32(Partition(of: database).number)
    return try await read { (reads) throws(PostgresError) in
      try reads.db.run(
        MoveStatements.chunkHashes, partition, database.key, Bytes(hash?.bytes ?? []), Int64(MoveLimits.chunksPerStep)
      ).map { (row) throws(PostgresError) in
        guard let hash = ChunkHash(row.bytes(0)) else { throw Reads.damaged("a chunk's hash") }
        return hash
      }
    }
  }

  public func adopt(_ content: OwnerContent, of owner: UserID) async throws(CaravanError) {
    // A late message finds the outcome of its op beside the zone that it means, even if that has never been.
    var parts = [Partition(of: .system(owner)): OwnerContent()]
    for zone in content.zones { parts[Partition(of: zone.id.database), default: OwnerContent()].zones.append(zone) }
    for group in content.groups {
      parts[Partition(of: group.group.zone.database), default: OwnerContent()].groups.append(group)
    }
    for partition in parts.keys.sorted() {
      guard var part = parts[partition] else { continue }
      (part.ops, part.locks, part.reach) = (content.ops, content.locks, content.reach)
      let whole = part
      try await perform(in: partition) { (maintenance) throws(PostgresError) in
        try maintenance.adopt(whole, in: partition)
      }
    }
  }

  public func adopt(_ records: [RecordContent], in zone: ZoneID) async throws(CaravanError) {
    try await perform(in: Partition(of: zone.database)) { (maintenance) throws(PostgresError) in
      try maintenance.adopt(records, in: zone)
    }
  }

  public func discard(_ owner: UserID) async throws(CaravanError) {
    for partition in Partition.all {
      let isThere = try await read { (reads) throws(PostgresError) in
        try reads.zoneRows(of: owner, in: Int32(partition.number)).isEmpty == false
      }
      guard isThere else { continue }
      try await perform(in: partition) { (maintenance) throws(PostgresError) in
        try maintenance.discard(owner, in: partition)
      }
    }
  }
}

extension StorePostgres {
  /// Keys of one owner's databases, with and without shards: from one on, below another.
  static func ranges(of owner: UserID) -> [(from: String, below: String)] {
    [("\(owner)/", "\(owner)0"), ("\(owner)#", "\(owner)$")]
  }
}

// MARK: What there is of one owner

extension Reads {
  static func damaged(_ what: String) -> PostgresError {
    PostgresError(state: "", message: "\(what) is damaged: restore the database", kind: .other)
  }

  func zoneRows(of owner: UserID, in partition: Int32) throws(PostgresError) -> [Row] {
    var rows: [Row] = []
    for range in StorePostgres.ranges(of: owner) {
      rows += try db.run(MoveStatements.zones, partition, range.from, range.below)
    }
    return rows
  }

  func content(of owner: UserID, _ rows: [Row], in partition: Partition) throws(PostgresError) -> OwnerContent {
    let key = Int32(partition.number)
    var content = OwnerContent()
    content.reach = try db.run(MoveStatements.reach, key).first?.unsigned(0) ?? 0
    var newest: [ZoneID: (id: Int64, zone: OwnerContent.Zone)] = [:]
    var lives: [Int64] = []
    for row in rows {
      let (id, stage, name) = (row.integer(1), row.integer(5), try row.zone(from: 2))
      lives.append(id)
      guard stage <= ZoneStage.restored else { continue }
      // Of a zone that is alive, the life before; rows come in the order of lives.
      let before = newest[name]?.zone.content.past.end ?? 0
      let zone = ZoneContent(
        name: name.name, seq: row.unsigned(4),
        incarnation: Layout.incarnation(life: row.unsigned(0), zone: id, stored: row.unsigned(6)),
        isAlive: stage == ZoneStage.alive, lostThrough: row.unsigned(8))
      var known = OwnerContent.Zone(id: name, content: zone, ended: zone.isAlive ? before : 0, purged: row.unsigned(7))
      if let last = newest[name]?.zone {
        known.restored = last.restored + (last.content.past.isRestored ? [last.content.past] : [])
      }
      newest[name] = (id, known)
    }
    let found = newest.values.sorted { $0.id < $1.id }
    content.zones = try devices(of: found, in: partition)
    content.groups = try groups(of: owner, in: key)
    for lock in try locks(of: content.databases, in: key) { content.locks[lock.name] = lock.tenure }
    let writers = Set(content.zones.flatMap(\.footprints.keys)).sorted()
    for row in try db.run(MoveStatements.ops, key, lives, writers) {
      guard let outcome = try? OpOutcome(encoded: row.bytes(3)) else { throw Self.damaged("a stored outcome") }
      let op = OpID(writer: row.text(0), epoch: row.unsigned(1), number: row.unsigned(2))
      content.ops.append(OpContent(op: op, floor: row.unsigned(4), outcome: outcome))
    }
    return content
  }

  private func devices(
    of found: [(id: Int64, zone: OwnerContent.Zone)], in partition: Partition
  ) throws(PostgresError) -> [OwnerContent.Zone] {
    var zones = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.zone) })
    let (key, alive) = (Int32(partition.number), found.filter(\.zone.content.isAlive).map(\.id))
    for row in try db.run(MoveStatements.footprints, key, alive) {
      let footprint = ReadPosition(first: row.unsigned(2), reach: row.unsigned(3))
      zones[row.integer(0)]?.footprints[row.text(1)] = footprint
    }
    for row in try db.run(MoveStatements.sightings, key, alive) {
      guard let life = zones[row.integer(0)]?.content.incarnation else { continue }
      // Without the snapshots they read, which stay behind.
      zones[row.integer(0)]?.sightings.append(
        Sighting(
          partition: partition, zone: life, device: row.text(1), seen: row.unsigned(2), target: 0, time: row.integer(3))
      )
    }
    return found.compactMap { zones[$0.id] }
  }

  private func groups(of owner: UserID, in partition: Int32) throws(PostgresError) -> [OwnerContent.Group] {
    var groups: [OwnerContent.Group] = []
    for range in StorePostgres.ranges(of: owner) {
      for row in try db.run(MoveStatements.groups, partition, range.from, range.below) {
        guard let stage = StagedGroup.Stage(rawValue: row.integer(3)) else { throw Self.damaged("a stored group") }
        let group = StagedGroup(
          zone: try row.zone(from: 10), stage: stage, parts: Int(row.integer(4)), records: Int(row.integer(5)),
          bytes: Int(row.integer(6)), chunks: Int(row.integer(7)), held: Int(row.integer(8)), until: row.integer(9))
        let op = OpID(writer: row.text(0), epoch: row.unsigned(1), number: row.unsigned(2))
        groups.append(OwnerContent.Group(op: op, group: group))
      }
    }
    return groups
  }

  private func locks(
    of databases: [DatabaseID], in partition: Int32
  ) throws(PostgresError) -> [(name: String, tenure: LeaseHolder)] {
    try db.run(Statements.leases, partition, databases.map { "lock/\($0)" }).map { ($0.text(0), LeaseHolder($0)) }
  }

  func records(of zone: ZoneID, after version: Seq) throws(PostgresError) -> [RecordContent] {
    let key = Int32(Partition(of: zone.database).number)
    guard let id = try db.run(Statements.aliveZone, key, zone.database.key, zone.name).first?.integer(1) else {
      return []
    }
    return try db.run(ArchiveStatements.records, key, id, version).map { (row) throws(PostgresError) in
      let flags = EntryFlags(rawValue: row.integer(3))
      guard let chunks = try? ChunkHash.list(row.bytes(7)) else { throw Self.damaged("a stored list of chunks") }
      let entry = Entry(
        name: row.text(1), version: row.unsigned(0), created: row.unsigned(2), isDeleted: flags.contains(.deleted),
        type: UInt32(truncatingIfNeeded: row.integer(4)), body: row.bytes(10), writer: row.text(8),
        expires: row.integer(5), fields: row.bytes(6), authorship: row.authorship(writer: 8, from: 11))
      var record = RecordContent(entry: entry, flags: flags, epoch: row.unsigned(9), chunks: chunks)
        .checked(against: row.isNull(14) ? nil : row.unsigned(14))
      if flags.contains(.holdsReferences) {
        record.links = try db.run(ArchiveStatements.links, key, id, entry.name).map {
          RecordContent.Link(target: $0.text(0), kinds: Referrer.Kinds(rawValue: $0.integer(1)))
        }
      }
      return record
    }
  }
}

// MARK: An owner comes, or goes

extension PartitionMaintenance {
  func adopt(_ content: OwnerContent, in partition: Partition) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      guard let counts = try db.run(Statements.holdPartition, key).first else { throw Reads.damaged("a partition") }
      var pipeline = Pipeline()
      pipeline.add(MoveStatements.raiseReach, key, content.reach)
      // Beyond what any position in this log has seen: whoever asks for changed zones from one is told of it.
      let ids = add(
        content.zones, after: counts.integer(2), changed: counts.unsigned(1) + 1, key, &pipeline)
      add(content.ops, ids, key, &pipeline)
      add(content.groups, key, &pipeline)
      if !content.locks.isEmpty {
        let locks = content.locks.sorted { $0.key < $1.key }
        pipeline.add(
          MoveStatements.saveLeases, key, locks.map(\.key), locks.map(\.value.holder), locks.map(\.value.token),
          locks.map(\.value.expires))
      }
      return pipeline
    }
  }

  private struct NewZone {
    let id: Int64
    let zone: ZoneID
    let life: PastIncarnation
    let stage: Int64
    let purged: Seq
    let incarnation: Incarnation
  }

  /// - Returns: the number of each life.
  private func add(
    _ zones: [OwnerContent.Zone], after last: Int64, changed: UInt64, _ key: Int32, _ pipeline: inout Pipeline
  ) -> [Incarnation: Int64] {
    guard !zones.isEmpty else { return [:] }
    var new: [NewZone] = []
    var ids: [Incarnation: Int64] = [:]
    for zone in zones {
      func add(_ life: PastIncarnation, isAlive: Bool = false, _ purged: Seq = 0, _ incarnation: Incarnation = 0) {
        let stage = isAlive ? ZoneStage.alive : life.isRestored ? ZoneStage.restored : ZoneStage.purged
        let id = last + Int64(new.count) + 1
        new.append(
          NewZone(id: id, zone: zone.id, life: life, stage: stage, purged: purged, incarnation: incarnation))
      }
      let content = zone.content
      for life in zone.restored { add(life) }
      if zone.ended > 0 { add(PastIncarnation(seq: zone.ended)) }
      add(content.past, isAlive: content.isAlive, zone.purged, content.incarnation)
      ids[content.incarnation] = new.last?.id
    }
    pipeline.add(
      MoveStatements.addZones, key, new.map(\.id), new.map(\.zone.database.key), new.map(\.zone.name),
      new.map(\.life.seq), new.map(\.stage), new.map { _ in changed }, new.map(\.purged), new.map(\.incarnation),
      new.map(\.life.lostThrough))
    let alive = zones.count { $0.content.isAlive }
    pipeline.add(MoveStatements.countZones, key, Int64(new.count), Int64(alive), Int64(0))
    for zone in zones {
      guard let id = ids[zone.content.incarnation] else { continue }
      let footprints = zone.footprints.sorted { $0.key < $1.key }
      if !footprints.isEmpty {
        pipeline.add(
          DeviceStatements.saveFootprints, key, footprints.map { _ in id }, footprints.map(\.key),
          footprints.map(\.value.first), footprints.map(\.value.reach))
      }
      let seen = zone.sightings
      if !seen.isEmpty {
        pipeline.add(
          MoveStatements.addSightings, key, seen.map { _ in id }, seen.map(\.device), seen.map(\.seen),
          seen.map(\.time))
      }
    }
    return ids
  }

  private func add(
    _ all: [OpContent], _ zones: [Incarnation: Int64], _ key: Int32, _ pipeline: inout Pipeline
  ) {
    guard !all.isEmpty else { return }
    let ops = all.sorted { ($0.op.writer, $0.op.epoch, $0.op.number) < ($1.op.writer, $1.op.epoch, $1.op.number) }
    pipeline.add(
      ArchiveStatements.replaceOps, key, ops.map(\.op.writer), ops.map(\.op.epoch), ops.map(\.op.number),
      ops.map { $0.incarnation.flatMap { zones[$0] } ?? 0 }, ops.map { Bytes($0.outcome.encoded) })
    let floors = Dictionary(
      ops.map { (PartitionState.Writer(name: $0.op.writer, epoch: $0.op.epoch), $0.floor) }, uniquingKeysWith: max
    ).sorted { ($0.key.name, $0.key.epoch) < ($1.key.name, $1.key.epoch) }
    pipeline.add(
      MoveStatements.raiseWatermarks, key, floors.map(\.key.name), floors.map(\.key.epoch), floors.map(\.value))
  }

  /// Those that have ended, and are remembered.
  private func add(_ groups: [OwnerContent.Group], _ key: Int32, _ pipeline: inout Pipeline) {
    guard !groups.isEmpty else { return }
    pipeline.add(
      MoveStatements.addGroups, key, groups.map(\.op.writer), groups.map(\.op.epoch), groups.map(\.op.number),
      groups.map(\.group.zone.database.key), groups.map(\.group.zone.name), groups.map(\.group.stage.rawValue),
      groups.map { Int64($0.group.parts) }, groups.map { Int64($0.group.records) },
      groups.map { Int64($0.group.bytes) }, groups.map { Int64($0.group.chunks) }, groups.map(\.group.until))
  }

  func adopt(_ records: [RecordContent], in zone: ZoneID) throws(PostgresError) {
    let partition = Partition(of: zone.database)
    let (key, database) = (Int32(partition.number), zone.database.key)
    let now = try now(nil)
    try holding(partition) { () throws(PostgresError) in
      guard let id = try db.run(Statements.aliveZone, key, database, zone.name).first?.integer(1) else {
        throw PostgresError(state: "", message: "zone \(zone) was not adopted before its records", kind: .other)
      }
      let references = Dictionary(records.flatMap(\.chunks).map { ($0, Int64(1)) }, uniquingKeysWith: +)
      let hashes = references.keys.sorted()
      guard try db.run(Statements.chunks, key, hashes.map { _ in database }, hashes).count == hashes.count else {
        throw PostgresError(state: "", message: "chunks of zone \(zone) were not staged before it", kind: .other)
      }
      let usage = records.reduce(Usage()) { $0 + $1.usage }
      let links = records.flatMap { record in record.links.map { (record.entry.name, $0) } }
      var pipeline = Pipeline()
      pipeline.add(records, in: id, key)
      pipeline.add(damagedAmong: records, in: id, key, at: now)
      if !links.isEmpty {
        pipeline.add(
          Statements.addRefs, key, links.map { _ in id }, links.map(\.1.target), links.map(\.0),
          links.map(\.1.kinds.rawValue))
      }
      pipeline.add(
        references.map { ChunkChange(hash: $0.key, references: $0.value, keptUntil: 0) }, to: database, key)
      pipeline.add(
        MoveStatements.growZone, key, id, usage.records, usage.bytes, Int64(links.isEmpty ? 0 : 1),
        records.map(\.entry.authorship.modified).max() ?? 0)
      pipeline.add(MoveStatements.countZones, key, Int64(0), Int64(0), usage.records)
      if let account = Account(of: zone.database) { pipeline.add([account: usage], key) }
      return pipeline
    }
  }

  func discard(_ owner: UserID, in partition: Partition) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      for range in StorePostgres.ranges(of: owner) {
        var growth: [Account: Usage] = [:]
        for row in try db.run(MoveStatements.usage, key, range.from, range.below) {
          pipeline.add(MoveStatements.countZones, key, Int64(0), -row.integer(3), -row.integer(1))
          guard let account = DatabaseID(key: row.text(0)).flatMap({ Account(of: $0) }) else { continue }
          growth[account, default: Usage()] += Usage(records: -row.integer(1), bytes: -row.integer(2))
        }
        pipeline.add(growth, key)
        pipeline.add(MoveStatements.discard, key, range.from, range.below)
        pipeline.add(MoveStatements.endGroups, key, range.from, range.below)
      }
      return pipeline
    }
  }
}

extension Pipeline {
  /// Records as another store had them.
  mutating func add(_ records: [RecordContent], in zone: Int64, _ partition: Int32) {
    add(
      Statements.saveRecords, partition, records.map { _ in zone }, records.map(\.entry.version),
      records.map(\.entry.name), records.map(\.entry.created), records.map(\.flags.rawValue),
      records.map { Int64($0.entry.type) }, records.map(\.entry.writer), records.map(\.epoch),
      records.map(\.entry.expires), records.map { $0.entry.fields.isEmpty ? nil : Bytes($0.entry.fields) },
      records.map { $0.chunks.isEmpty ? nil : Bytes(ChunkHash.joined($0.chunks)) },
      records.map { Bytes($0.entry.body) }, records.map(\.entry.storedTime), records.map(\.entry.storedBirth),
      records.map(\.entry.storedMaker), records.map(\.keptSum))
  }
}

extension Entry {
  /// As `caravan_records` has it.
  fileprivate var storedTime: Int64? { authorship.modified > 0 ? authorship.modified : nil }
  fileprivate var storedBirth: Int64? { authorship.modified > 0 ? authorship.created : nil }
  fileprivate var storedMaker: Bytes? {
    authorship.created > 0 && authorship.creator != writer ? Bytes(Array(authorship.creator.utf8)) : nil
  }
}

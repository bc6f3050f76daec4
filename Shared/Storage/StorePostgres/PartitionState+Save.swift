internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// What a group has decided, in one round trip that ends with the commit. Rows that decide who was first change under
/// the condition that they are what they were (`Layout`'s checks undo the transaction if not), so that even where an
/// engine does not hold rows, no update is lost.
struct GroupSave {
  private var pipeline = Pipeline()
  private var shown: [(state: PartitionState, at: Int, records: [Wants.Record])] = []

  /// - Parameter queuesObjects: whether records with objects are noted for the object store.
  init(_ states: [PartitionState], queuesObjects: Bool) {
    for state in states {
      addCounts(state)
      addZones(state)
      addRecords(state)
      addLinks(state)
      addLog(state)
      addOps(state)
      addReadPositions(state)
      addChunks(state)
      pipeline.add(stagersOf: state)
      addAccounts(state)
      addOwnership(state)
      pipeline.add(groupsOf: state)
      if queuesObjects { pipeline.add(objectsOf: state) }
      addShown(state)
    }
    pipeline.add("COMMIT")
  }

  func run(on db: Connection) throws(PostgresError) {
    let answers = try db.run(pipeline)
    guard answers.last?.tag == "COMMIT" else {
      throw PostgresError(state: "40001", message: "the transaction was rolled back")
    }
    for (state, at, records) in shown {
      for row in answers[at] where row.isVisible(at: state.now) {
        state.entries[records[row.ordinal]] = Entry(row, name: records[row.ordinal].name)
      }
    }
  }

  private mutating func addCounts(_ state: PartitionState) {
    let (before, counts) = (state.countsBefore, state.counts)
    guard before != counts else { return }
    pipeline.add(
      Statements.saveCounts, state.key, before.head, counts.head, counts.lastZone, counts.zones, counts.records,
      counts.chunks, counts.chunkBytes)
  }

  private mutating func addZones(_ state: PartitionState) {
    let changed = state.zones.values.filter(\.isChanged).sorted { $0.id < $1.id }
    let new = changed.filter { $0.seqBefore == nil }
    let old = changed.filter { $0.seqBefore != nil }
    if !new.isEmpty {
      pipeline.add(
        Statements.addZones, state.key, new.map(\.id), new.map(\.name.database.key), new.map(\.name.name),
        new.map(\.seq), new.map(\.records), new.map(\.bytes), new.map(\.stage), new.map(\.changed),
        new.map { Int64($0.isLinked ? 1 : 0) }, new.map(\.lostThrough), new.map(\.time))
    }
    if !old.isEmpty {
      pipeline.add(
        Statements.saveZones, state.key, old.map(\.id), old.map { $0.seqBefore ?? 0 }, old.map(\.seq),
        old.map(\.records), old.map(\.bytes), old.map(\.stage), old.map(\.changed),
        old.map { Int64($0.isLinked ? 1 : 0) }, old.map(\.time))
    }
  }

  private mutating func addRecords(_ state: PartitionState) {
    guard !state.rows.isEmpty else { return }
    if !state.superseded.isEmpty {
      pipeline.add(
        DeviceStatements.keepSuperseded, state.key, state.superseded.map(\.zone), state.superseded.map(\.version),
        state.superseded.map(\.next))
    }
    // In the order of their versions, as they will be read.
    let rows = state.rows.sorted { ($0.key.zone, $0.value.version) < ($1.key.zone, $1.value.version) }
    add(Statements.addRecords, rows.filter(\.value.isNew), state)
    add(Statements.saveRecords, rows.filter { !$0.value.isNew }, state)
  }

  private mutating func add(
    _ statement: StaticString, _ rows: [(key: PartitionState.RecordKey, value: PartitionState.Row)],
    _ state: PartitionState
  ) {
    guard !rows.isEmpty else { return }
    pipeline.add(
      statement, state.key, rows.map(\.key.zone), rows.map(\.value.version), rows.map(\.key.name),
      rows.map(\.value.created), rows.map(\.value.flags.rawValue), rows.map { Int64($0.value.content.type) },
      rows.map(\.value.op.writer), rows.map(\.value.op.epoch), rows.map(\.value.expires),
      rows.map { $0.value.fields.isEmpty ? nil : Bytes($0.value.fields) },
      rows.map { $0.value.content.chunks.isEmpty ? nil : Bytes(ChunkHash.joined($0.value.content.chunks)) },
      rows.map { Bytes($0.value.content.body) }, rows.map(\.value.time), rows.map(\.value.storedBirth),
      rows.map(\.value.storedMaker), rows.map { $0.value.sum(under: $0.key.name) })
  }

  private mutating func addLinks(_ state: PartitionState) {
    guard !state.links.isEmpty else { return }
    let sources = state.links.keys.sorted { ($0.zone, $0.name) < ($1.zone, $1.name) }
    for (zone, sources) in Dictionary(grouping: sources, by: \.zone) {
      pipeline.add(Statements.removeRefs, state.key, zone, sources.map(\.name))
    }
    var links: [(source: PartitionState.RecordKey, target: String, kinds: Referrer.Kinds)] = []
    for source in sources {
      let kinds = Dictionary(grouping: state.links[source] ?? [], by: \.target)
        .mapValues { $0.reduce(Referrer.Kinds()) { $0.union(Referrer.Kinds($1.kind)) } }
      for (target, kinds) in kinds.sorted(by: { $0.key < $1.key }) { links.append((source, target, kinds)) }
    }
    guard !links.isEmpty else { return }
    pipeline.add(
      Statements.addRefs, state.key, links.map(\.source.zone), links.map(\.target), links.map(\.source.name),
      links.map(\.kinds.rawValue))
  }

  private mutating func addLog(_ state: PartitionState) {
    guard !state.log.isEmpty else { return }
    pipeline.add(
      Statements.addLog, state.key, state.log.map(\.position), state.loggedZones, state.log.map(\.low),
      state.log.map(\.high), state.log.map(\.isDeletion), state.log.map(\.writer))
  }

  private mutating func addOps(_ state: PartitionState) {
    if !state.newOps.isEmpty {
      pipeline.add(
        Statements.addOps, state.key, state.newOps.map(\.op.writer), state.newOps.map(\.op.epoch),
        state.newOps.map(\.op.number), state.newOps.map(\.zone), state.newOps.map { Bytes($0.outcome.encoded) })
    }
    guard !state.newFloors.isEmpty else { return }
    let floors = state.newFloors.map { $0 }
    let (names, epochs, numbers) = (floors.map(\.key.name), floors.map(\.key.epoch), floors.map(\.value))
    pipeline.add(Statements.saveFloors, state.key, names, epochs, numbers)
    pipeline.add(Statements.forgetOps, state.key, names, epochs, numbers)
  }

  private mutating func addReadPositions(_ state: PartitionState) {
    guard !state.newFootprints.isEmpty else { return }
    let moved = state.newFootprints.map { $0 }
    pipeline.add(
      DeviceStatements.saveFootprints, state.key, moved.map(\.key.zone), moved.map(\.key.writer),
      moved.map(\.value.first), moved.map(\.value.reach))
  }

  private mutating func addChunks(_ state: PartitionState) {
    if !state.staged.isEmpty {
      let staged = state.staged.sorted { $0.key.hash < $1.key.hash }
      pipeline.add(
        Statements.addChunks, state.key, staged.map(\.key.database.key), staged.map(\.key.hash),
        staged.map { Int64($0.value.count) }, staged.map { Bytes($0.value) }, state.keepUntil)
    }
    for (database, healed) in Dictionary(grouping: state.healed, by: \.key.database) {
      pipeline.add(
        DamageStatements.heal, state.key, database.key, healed.map(\.key.hash), healed.map { Int64($0.value.count) },
        healed.map { Bytes($0.value) })
      pipeline.add(DamageStatements.forget, state.key, database.key, healed.map(\.key.hash))
    }
    let changed = Set(state.references.filter { $0.value != 0 }.keys).union(state.kept)
    for (database, chunks) in Dictionary(grouping: changed, by: \.database) {
      let changes = chunks.map { key in
        ChunkChange(
          hash: key.hash, references: state.references[key] ?? 0,
          keptUntil: state.kept.contains(key) ? state.keepUntil : 0)
      }
      pipeline.add(changes, to: database.key, state.key)
    }
  }

  private mutating func addAccounts(_ state: PartitionState) {
    pipeline.add(state.accounts.growth, state.key)
    guard !state.accounts.newQuotas.isEmpty else { return }
    let states = state.accounts.newQuotas.sorted { $0.key < $1.key }.map { state.accounts.account($0) }
    pipeline.add(
      Statements.saveQuotas, state.key, states.map(\.account.key), states.map { $0.isDefault ? Int64(0) : 1 },
      states.map { $0.isDefault ? nil : $0.quota.records.map { Int64(clamping: $0) } },
      states.map { $0.isDefault ? nil : $0.quota.bytes.map { Int64(clamping: $0) } })
  }

  private mutating func addOwnership(_ state: PartitionState) {
    let names = state.newLeases.sorted()
    for (statement, names) in [
      (Statements.addLeases, names.filter { !state.knownLeases.contains($0) }),
      (Statements.saveLeases, names.filter { state.knownLeases.contains($0) }),
    ] where !names.isEmpty {
      let tenures = names.compactMap { state.leases[$0] }
      pipeline.add(
        statement, state.key, names, tenures.map(\.holder), tenures.map(\.token), tenures.map(\.expires))
    }
    guard !state.cursors.isEmpty else { return }
    let cursors = state.cursors.map { $0 }
    pipeline.add(
      Statements.saveCursors, state.key, cursors.map(\.key.consumer), cursors.map { Int64($0.key.followed) },
      cursors.map(\.value))
  }

  /// After everything else, so that it shows what the transaction leaves.
  private mutating func addShown(_ state: PartitionState) {
    guard !state.shown.isEmpty else { return }
    let records = Array(state.shown)
    let at = pipeline.add(
      Statements.entries, state.key, records.map(\.zone.database.key), records.map(\.zone.name), records.map(\.name))
    shown.append((state, at, records))
  }
}

/// What happens to one chunk of a database.
struct ChunkChange {
  let hash: ChunkHash
  /// By how much the count of its references changes.
  let references: Int64
  /// It stays until then, referred to or not; 0: as it was.
  let keptUntil: Int64
}

extension Pipeline {
  mutating func add(_ growth: [Account: Usage], _ partition: Int32) {
    let growth = growth.filter { $0.value != Usage() }.sorted { $0.key.key < $1.key.key }
    guard !growth.isEmpty else { return }
    add(
      Statements.growAccounts, partition, growth.map(\.key.key), growth.map(\.value.records),
      growth.map(\.value.bytes))
  }

  mutating func add(_ changes: [ChunkChange], to database: String, _ partition: Int32) {
    let changes = changes.sorted { $0.hash < $1.hash }
    for start in stride(from: 0, to: changes.count, by: PostgresLimits.chunksPerStatement) {
      let some = changes[start..<min(start + PostgresLimits.chunksPerStatement, changes.count)]
      add(
        Statements.saveChunks, partition, database, some.map(\.hash), some.map(\.references), some.map(\.keptUntil))
    }
  }
}

extension PartitionState {
  fileprivate var key: Int32 { Int32(partition.number) }
}

extension PartitionState.Row {
  fileprivate func sum(under name: String) -> UInt64 {
    var sum = RowSum(
      version: version, created: created, flags: flags.rawValue, type: content.type, expires: expires)
    sum.add(name)
    sum.add(fields)
    sum.add(content.body)
    return sum.value
  }

  /// NULL: this entry has made its record.
  fileprivate var storedBirth: Int64? { origin?.time }
  fileprivate var storedMaker: Bytes? {
    origin == nil || authorship.creator.isEmpty || authorship.creator == op.writer
      ? nil : Bytes(Array(authorship.creator.utf8))
  }
}

extension Row {
  /// From columns time, born and maker, beginning at `column`, of an entry whose writer is in another.
  func authorship(writer: Int32, from column: Int32) -> Authorship {
    let (time, born) = (integer(column), isNull(column + 1) ? integer(column) : integer(column + 1))
    let creator = born == 0 ? "" : isNull(column + 2) ? text(writer) : text(column + 2)
    return Authorship(modified: time, created: born, creator: creator)
  }

  func origin(writer: Int32, from column: Int32) -> RecordOrigin {
    let authorship = authorship(writer: writer, from: column)
    return RecordOrigin(time: authorship.created, writer: .name(authorship.creator))
  }

  /// Whether answers show the entry in these columns.
  func isVisible(at now: Int64) -> Bool {
    RecordHead(version: unsigned(1), created: unsigned(2), flags: EntryFlags(rawValue: integer(3)), expires: integer(7))
      .isVisible(at: now)
  }
}

extension Entry {
  /// From columns -, seq, created, flags, type, writer, body, expires, fields, -, time, born, maker, sum.
  init(_ row: Row, name: String) {
    let columns = SummedColumns(
      version: 1, created: 2, flags: 3, type: 4, expires: 7, name: nil, fields: 8, body: 6, sum: 13)
    let isWhole = row.isWhole(columns, name: name)
    self.init(
      name: name, version: row.unsigned(1), created: row.unsigned(2),
      isDeleted: EntryFlags(rawValue: row.integer(3)).contains(.deleted),
      type: UInt32(truncatingIfNeeded: row.integer(4)), body: isWhole ? row.bytes(6) : [], writer: row.text(5),
      expires: row.integer(7), fields: isWhole ? row.bytes(8) : [], authorship: row.authorship(writer: 5, from: 10))
    isDamaged = !isWhole
  }
}

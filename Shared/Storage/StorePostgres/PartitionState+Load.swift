internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// What a group reads, in one round trip: first it takes hold of the partitions' rows, in ascending order so that two
/// groups never wait for each other; then come statements that each see everything committed before.
struct GroupLoad {
  private var pipeline = Pipeline()
  private var parts: [(counts: Int, part: PartLoad)] = []
  private let clockAt: Int
  private let quotas: DefaultQuotas
  private let spread: SpreadAccounts

  /// - Parameters:
  ///   - clock: nil: the database's.
  ///   - isBrief: whether to wait for those who hold a partition only for a moment.
  init(
    _ wants: [(Partition, Wants)], clock: Int64?, quotas: DefaultQuotas, spread: SpreadAccounts, isBrief: Bool = false
  ) {
    self.quotas = quotas
    self.spread = spread
    pipeline.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    if isBrief { pipeline.add(Statements.waitBriefly) }
    for (partition, wants) in wants {
      let counts = pipeline.add(Statements.holdPartition, Int32(partition.number))
      parts.append((counts, PartLoad(partition, wants)))
    }
    // The clock is read once nobody has to be waited for any more.
    clockAt = pipeline.add(Statements.clock, clock)
    for index in parts.indices { parts[index].part.ask(&pipeline) }
  }

  func run(on db: Connection) throws(PostgresError) -> [PartitionState] {
    let answers = try db.run(pipeline)
    let now = answers[clockAt].first?.integer(0) ?? 0
    var states: [PartitionState] = []
    for (counts, part) in parts {
      guard let row = answers[counts].first else {
        throw PostgresError(
          state: "", message: "partition \(part.partition) is not in the database: restore it", kind: .other)
      }
      let state = PartitionState(
        part.partition,
        counts: PartitionState.Counts(
          life: row.unsigned(0), head: row.unsigned(1), lastZone: row.integer(2), zones: row.integer(3),
          records: row.integer(4), chunks: row.integer(5), chunkBytes: row.integer(6),
          reach: row.unsigned(7)), now: now, quotas: quotas, spread: spread)
      try part.read(answers, into: state)
      state.knownLeases = Set(state.leases.keys)
      states.append(state)
    }
    return states
  }

  /// More that a group must see, within its transaction.
  static func look(for wants: Wants, on db: Connection, into state: PartitionState) throws(PostgresError) {
    var pipeline = Pipeline()
    var part = PartLoad(state.partition, wants)
    part.ask(&pipeline)
    try part.read(db.run(pipeline), into: state)
  }
}

/// What is asked of one partition, in the order asked, and where the answers are.
private struct PartLoad {
  let partition: Partition
  private let zones: [ZoneID]
  private let records: [Wants.Record]
  private let entries: [Wants.Record]
  private let referrers: [Wants.Record]
  private let ops: [OpID]
  private let chunks: [Wants.Chunk]
  private let lists: [Wants.Chunk]
  private var stagers: StagerQuestions
  private let leases: [String]
  private let accounts: [Account]
  private let footprints: [Wants.ReadPosition]
  private var zonesAt: Int?
  private var recordsAt: Int?
  private var entriesAt: Int?
  private var referrersAt: Int?
  private var opsAt: Int?
  private var chunksAt: Int?
  private var listsAt: Int?
  private var leasesAt: Int?
  private var groups: GroupQuestions
  private var accountsAt: Int?
  /// Of accounts at home elsewhere, with only a shard here: their rows there, which have their quotas.
  private var homesAt: [(account: Account, at: Int)] = []
  private var footprintsAt: Int?
  private let pasts: [ZoneID]
  private var pastsAt: [(zone: ZoneID, at: Int)] = []

  init(_ partition: Partition, _ wants: Wants) {
    self.partition = partition
    zones = Array(wants.zones)
    records = Array(wants.records)
    entries = Array(wants.entries)
    referrers = Array(wants.referrers)
    ops = Array(wants.ops)
    chunks = Array(wants.chunks)
    lists = Array(wants.lists)
    stagers = StagerQuestions(wants)
    leases = Array(wants.leases)
    groups = GroupQuestions(wants)
    accounts = Array(wants.accounts)
    footprints = Array(wants.footprints)
    pasts = Array(wants.pasts)
  }

  mutating func ask(_ pipeline: inout Pipeline) {
    let number = Int32(partition.number)
    if !zones.isEmpty {
      zonesAt = pipeline.add(Statements.newestZones, number, zones.map(\.database.key), zones.map(\.name))
    }
    if !records.isEmpty {
      recordsAt = pipeline.add(
        Statements.heads, number, records.map(\.zone.database.key), records.map(\.zone.name), records.map(\.name))
    }
    if !entries.isEmpty {
      entriesAt = pipeline.add(
        Statements.entries, number, entries.map(\.zone.database.key), entries.map(\.zone.name), entries.map(\.name))
    }
    if !referrers.isEmpty {
      referrersAt = pipeline.add(
        Statements.referrers, number, referrers.map(\.zone.database.key), referrers.map(\.zone.name),
        referrers.map(\.name), Int64(StoreLimits.referrersAsked))
    }
    if !ops.isEmpty {
      opsAt = pipeline.add(Statements.ops, number, ops.map(\.writer), ops.map(\.epoch), ops.map(\.number))
    }
    if !chunks.isEmpty {
      chunksAt = pipeline.add(Statements.chunks, number, chunks.map(\.database.key), chunks.map(\.hash))
    }
    if !lists.isEmpty {
      listsAt = pipeline.add(Statements.listBytes, number, lists.map(\.database.key), lists.map(\.hash))
    }
    if !footprints.isEmpty {
      footprintsAt = pipeline.add(
        DeviceStatements.footprints, number, footprints.map(\.zone.database.key), footprints.map(\.zone.name),
        footprints.map(\.writer))
    }
    for zone in pasts {
      pastsAt.append((zone, at: pipeline.add(DeviceStatements.lives, number, zone.database.key, zone.name)))
    }
    if !leases.isEmpty { leasesAt = pipeline.add(Statements.leases, number, leases + [LeaseHolder.forgotten]) }
    groups.ask(&pipeline, number)
    stagers.ask(&pipeline, number)
    if !accounts.isEmpty { accountsAt = pipeline.add(Statements.accounts, number, accounts.map(\.key)) }
    for account in accounts where account.partition != partition {
      let home = Int32(account.partition.number)
      homesAt.append((account, at: pipeline.add(Statements.accounts, home, [account.key])))
    }
  }

  // MARK: Reading the answers

  func read(_ answers: [Rows], into state: PartitionState) throws(PostgresError) {
    if let at = zonesAt { Self.read(answers[at], zones, into: state) }
    if let at = recordsAt { try Self.read(answers[at], records, into: state) }
    if let at = entriesAt { read(entries: answers[at], into: state) }
    if let at = referrersAt { read(referrers: answers[at], into: state) }
    if let at = opsAt { try Self.read(answers[at], ops, into: state) }
    if let at = chunksAt {
      for row in answers[at] {
        state.chunks[chunks[row.ordinal]] = PartitionState.Chunk(
          size: row.integer(1), refs: row.integer(2), isDamaged: !row.isNull(3))
      }
    }
    if let at = listsAt { for row in answers[at] { state.looked.lists[lists[row.ordinal]] = row.bytes(1) } }
    if let at = footprintsAt {
      for row in answers[at] {
        let key = PartitionState.ReadPositionKey(zone: row.integer(1), writer: footprints[row.ordinal].writer)
        state.footprints[key] = ReadPosition(first: row.unsigned(2), reach: row.unsigned(3))
      }
    }
    for (zone, at) in pastsAt { Self.read(lives: answers[at], of: zone, into: state) }
    if let at = leasesAt { for row in answers[at] { state.leases[row.text(0)] = LeaseHolder(row) } }
    try groups.read(answers, into: state)
    stagers.read(answers, into: state)
    if let at = accountsAt { for row in answers[at] { state.accounts.read(accounts[row.ordinal], row) } }
    for (account, at) in homesAt { if let row = answers[at].first { state.accounts.read(quotaOf: account, row) } }
  }

  private func read(entries rows: Rows, into state: PartitionState) {
    for record in entries { if let key = state.key(of: record) { state.looked.entries[key] = .some(nil) } }
    for row in rows {
      let name = entries[row.ordinal].name
      state.looked.entries[PartitionState.RecordKey(zone: row.integer(9), name: name)] = Entry(row, name: name)
    }
  }

  private static func read(lives rows: Rows, of zone: ZoneID, into state: PartitionState) {
    state.looked.lives[zone] = [:]
    for row in rows where !row.isNull(0) {
      let isAlive = row.integer(1) == ZoneStage.alive
      state.looked.lives[zone]?[row.integer(4)] =
        isAlive
        ? .some(nil) : PastIncarnation(seq: row.unsigned(0), lostThrough: row.unsigned(2))
      if isAlive { state.looked.purged[zone] = row.unsigned(5) }
    }
  }

  private func read(referrers rows: Rows, into state: PartitionState) {
    for record in referrers { if let key = state.key(of: record) { state.looked.referrers[key] = [] } }
    for row in rows {
      let key = PartitionState.RecordKey(zone: row.integer(1), name: referrers[row.ordinal].name)
      let referrer = Referrer(name: row.text(2), kinds: Referrer.Kinds(rawValue: row.integer(3)))
      state.looked.referrers[key, default: []].append(referrer)
    }
  }

  private static func read(_ rows: Rows, _ zones: [ZoneID], into state: PartitionState) {
    for row in rows {
      let name = zones[row.ordinal]
      let zone = PartitionState.Zone(
        name: name, id: row.integer(1),
        incarnation: Layout.incarnation(life: state.counts.life, zone: row.integer(1), stored: row.unsigned(8)),
        seq: row.unsigned(2), records: row.integer(3), bytes: row.integer(5),
        stage: row.integer(4), seqBefore: row.unsigned(2), snapshot: row.unsigned(6), isLinked: row.integer(7) > 0,
        time: row.integer(9))
      state.zones[zone.id] = zone
      state.newest[name] = zone.id
    }
  }

  private static func read(_ rows: Rows, _ records: [Wants.Record], into state: PartitionState) throws(PostgresError) {
    for record in records { if let key = state.key(of: record) { state.looked.heads.insert(key) } }
    for row in rows {
      let head = RecordHead(
        version: row.unsigned(2), created: row.unsigned(3), flags: EntryFlags(rawValue: row.integer(4)),
        expires: row.integer(5), bytes: row.integer(7), origin: row.origin(writer: 11, from: 8))
      guard let chunks = try? ChunkHash.list(row.bytes(6)) else {
        throw PostgresError(
          state: "", message: "a stored list of chunks is damaged: restore the database", kind: .other)
      }
      let key = PartitionState.RecordKey(zone: row.integer(1), name: records[row.ordinal].name)
      state.heads[key] = PartitionState.Head(head: head, chunks: chunks)
    }
  }

  private static func read(_ rows: Rows, _ ops: [OpID], into state: PartitionState) throws(PostgresError) {
    for row in rows {
      let op = ops[row.ordinal]
      state.floors[PartitionState.Writer(name: op.writer, epoch: op.epoch)] = row.unsigned(1)
      guard !row.isNull(2) else { continue }
      guard let outcome = try? OpOutcome(encoded: row.bytes(2)) else {
        throw PostgresError(
          state: "", message: "the outcome of op \(op) is damaged: restore the database", kind: .other)
      }
      state.ops[op] = PartitionState.Op(outcome: outcome, zone: row.isNull(3) ? nil : try row.zone(from: 3))
    }
  }
}

extension PartitionState {
  /// nil: its zone is not alive.
  fileprivate func key(of record: Wants.Record) -> RecordKey? {
    zone(record.zone).map { RecordKey(zone: $0.id, name: record.name) }
  }
}

extension Row {
  /// Which of the things asked for this row is about: the first column counts them from 1.
  var ordinal: Int { Int(integer(0)) - 1 }
}

extension AccountState {
  /// From columns -, records, bytes, own, max_records, max_bytes.
  init(account: Account, _ row: Row, _ defaults: DefaultQuotas) {
    let isOwn = row.integer(3) != 0
    let own = Quota(
      records: row.isNull(4) ? nil : row.unsigned(4), bytes: row.isNull(5) ? nil : row.unsigned(5))
    self.init(
      account: account, used: Usage(records: row.integer(1), bytes: row.integer(2)),
      quota: isOwn ? own : defaults[account], isDefault: !isOwn)
  }
}

extension LeaseHolder {
  /// From columns name, holder, token, expires.
  init(_ row: Row) { self.init(holder: row.text(1), token: row.unsigned(2), expires: row.integer(3)) }
}

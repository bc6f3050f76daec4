internal import Model
internal import PostgreSQL
internal import Store

/// What a group reads, in one round trip: first it takes hold of the partitions' rows, in ascending order so that two
/// groups never wait for each other; then come statements that each see everything committed before.
struct GroupLoad {
  private var pipeline = Pipeline()
  private var parts: [Part] = []

  /// What was asked of one partition, in the order asked, and where the answers are.
  private struct Part {
    let partition: Partition
    let zones: [ZoneID]
    let records: [Wants.Record]
    let ops: [OpID]
    let chunks: [Wants.Chunk]
    let counts: Int
    var zonesAt: Int?
    var recordsAt: Int?
    var opsAt: Int?
    var chunksAt: Int?
    var leasesAt: Int?
  }

  /// - Parameter clock: nil: the database's.
  init(_ wants: [(Partition, Wants)], clock: Int64?) {
    pipeline.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    for (partition, wants) in wants {
      let counts = pipeline.add(Statements.holdPartition, Int32(partition.number))
      parts.append(
        Part(
          partition: partition, zones: Array(wants.zones), records: Array(wants.records), ops: Array(wants.ops),
          chunks: Array(wants.chunks), counts: counts))
    }
    // The clock is read once nobody has to be waited for any more.
    clockAt = pipeline.add(Statements.clock, clock)
    for (index, (_, wants)) in wants.enumerated() { ask(index, leases: Array(wants.leases)) }
  }

  private let clockAt: Int

  private mutating func ask(_ index: Int, leases: [String]) {
    var part = parts[index]
    let partition = Int32(part.partition.number)
    if !part.zones.isEmpty {
      part.zonesAt = pipeline.add(
        Statements.newestZones, partition, part.zones.map(\.database.key), part.zones.map(\.name))
    }
    if !part.records.isEmpty {
      part.recordsAt = pipeline.add(
        Statements.heads, partition, part.records.map(\.zone.database.key), part.records.map(\.zone.name),
        part.records.map(\.name))
    }
    if !part.ops.isEmpty {
      part.opsAt = pipeline.add(
        Statements.ops, partition, part.ops.map(\.writer), part.ops.map(\.epoch), part.ops.map(\.number))
    }
    if !part.chunks.isEmpty {
      part.chunksAt = pipeline.add(
        Statements.chunks, partition, part.chunks.map(\.database.key), part.chunks.map(\.hash))
    }
    if !leases.isEmpty { part.leasesAt = pipeline.add(Statements.leases, partition, leases) }
    parts[index] = part
  }

  func run(on db: Connection) throws(PostgresError) -> [PartitionState] {
    let answers = try db.run(pipeline)
    let now = answers[clockAt].first?.integer(0) ?? 0
    var states: [PartitionState] = []
    for part in parts { states.append(try Self.state(part, answers, now: now)) }
    return states
  }

  // MARK: Reading the answers

  private static func state(_ part: Part, _ answers: [Rows], now: Int64) throws(PostgresError) -> PartitionState {
    guard let row = answers[part.counts].first else {
      throw PostgresError(
        state: "", message: "partition \(part.partition) is not in the database: restore it", kind: .other)
    }
    let state = PartitionState(
      part.partition,
      counts: PartitionState.Counts(
        life: row.unsigned(0), head: row.unsigned(1), lastZone: row.integer(2), zones: row.integer(3),
        records: row.integer(4), chunks: row.integer(5), chunkBytes: row.integer(6)), now: now)
    if let at = part.zonesAt { read(answers[at], part.zones, into: state) }
    if let at = part.recordsAt { try read(answers[at], part.records, into: state) }
    if let at = part.opsAt { try read(answers[at], part.ops, into: state) }
    if let at = part.chunksAt {
      for row in answers[at] {
        state.chunks[part.chunks[row.ordinal]] = PartitionState.Chunk(size: row.integer(1), refs: row.integer(2))
      }
    }
    if let at = part.leasesAt {
      for row in answers[at] { state.leases[row.text(0)] = LeaseTenure(row) }
    }
    state.knownLeases = Set(state.leases.keys)
    return state
  }

  private static func read(_ rows: Rows, _ zones: [ZoneID], into state: PartitionState) {
    for row in rows {
      let name = zones[row.ordinal]
      let zone = PartitionState.Zone(
        name: name, id: row.integer(1), seq: row.unsigned(2), records: row.integer(3), stage: row.integer(4),
        seqBefore: row.unsigned(2))
      state.zones[zone.id] = zone
      state.newest[name] = zone.id
    }
  }

  private static func read(_ rows: Rows, _ records: [Wants.Record], into state: PartitionState) throws(PostgresError) {
    for row in rows {
      let flags = EntryFlags(rawValue: row.integer(4))
      let head = RecordHead(
        version: row.unsigned(2), created: row.unsigned(3), isDeleted: flags.contains(.deleted),
        holdsChunks: flags.contains(.holdsChunks))
      guard let chunks = try? ChunkHash.list(row.bytes(5)) else {
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

extension Row {
  /// Which of the things asked for this row is about: the first column counts them from 1.
  var ordinal: Int { Int(integer(0)) - 1 }
}

extension LeaseTenure {
  /// From columns name, holder, token, expires.
  init(_ row: Row) { self.init(holder: row.text(1), token: row.unsigned(2), expires: row.integer(3)) }
}

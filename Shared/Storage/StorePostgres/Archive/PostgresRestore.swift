public import CaravanModel
public import CaravanPostgreSQL
public import CaravanRuntime
public import CaravanStore

/// Fills a database that holds no store, in one transaction.
public final class PostgresRestore: ArchiveSink {
  private struct OpenZone {
    let id: ZoneID
    let number: Int64
    let life: PastIncarnation
    let isAlive: Bool
    var usage = Usage()
    var isLinked = false
    var time: Int64 = 0
  }

  /// What is known of a partition until its row is written at the end.
  private struct Filled {
    var life: UInt64
    var head: UInt64 = 0
    var lastZone: Int64 = 0
    var zones: Int64 = 0
    var records: Int64 = 0
    var chunks: Int64 = 0
    var chunkBytes: Int64 = 0
    var log: [(zone: Int64, seq: Seq)] = []
    var floors: [PartitionState.Writer: UInt64] = [:]
    var growth: [Account: Usage] = [:]
    var quotas: [(account: String, quota: Quota)] = []
  }

  private let db: Connection
  /// Unix milliseconds.
  private let now: Int64
  private var made: Int64
  /// Of what is in the backup.
  private var reach: Seq = 0
  private var filled: [UInt32: Filled] = [:]
  private var database: DatabaseID?
  private var zone: OpenZone?
  private var places: [Incarnation: (partition: UInt32, zone: Int64)] = [:]
  private var records: [RecordContent] = []
  private var bytes = 0
  private var chunks: [ChunkBytes] = []
  /// How many records of the database hold each chunk.
  private var references: [ChunkHash: Int64] = [:]
  private var ops: [UInt32: [(OpContent, zone: Int64)]] = [:]

  /// - Throws: `objectExists` when the database holds a store with something in it.
  public init(_ address: ConnectionString, host: Host) throws(CaravanError) {
    now = host.clock.wallTime.milliseconds
    made = now
    do throws(PostgresError) {
      db = try Connection(.archive(address))
      try Layout.prepare(db, host: host)
      _ = try db.run(Pipeline.beginning)
      for row in try db.run(ArchiveStatements.partitions) {
        filled[UInt32(row.integer(0))] = Filled(life: row.unsigned(1))
      }
      guard try db.run(ArchiveStatements.anything).isEmpty else {
        throw PostgresError(state: "", message: "it holds a store already: restore into a new database", kind: .refused)
      }
    } catch {
      throw CaravanError(error.kind == .refused ? .objectExists : .unavailable, "\(address): \(error.message)")
    }
  }

  deinit { db.close() }

  public func begin(madeAt made: Int64) { self.made = made }

  public func take(_ item: StoreContent) throws(CaravanError) {
    switch item {
    case .database(let id):
      try endDatabase()
      database = id
    case .chunk(let chunk): try add(chunk)
    case .damaged(let chunk): try add(damaged: chunk)
    case .zone(let zone): try begin(zone)
    case .record(let record): try add(record)
    case .op(let op):
      try endDatabase()
      try add(op)
    case .quota(let account, let quota): try add(account, quota)
    case .head(let partition, let head): filled[partition.number]?.head = head
    case .reach(let known): reach = max(reach, known)
    }
  }

  private func run(_ fill: (inout Pipeline) -> Void) throws(CaravanError) {
    var pipeline = Pipeline()
    fill(&pipeline)
    guard pipeline.count > 0 else { return }
    do throws(PostgresError) { _ = try db.run(pipeline) } catch { throw error.caravanError }
  }

  private static let disorder = CaravanError(.invalidData, "the archive's items are not in their order: it is damaged")

  private func here() throws(CaravanError) -> (database: DatabaseID, partition: UInt32) {
    guard let database else { throw Self.disorder }
    return (database, Partition(of: database).number)
  }

  // MARK: Chunks

  private func add(_ chunk: ChunkBytes) throws(CaravanError) {
    chunks.append(chunk)
    if chunks.count >= 32 { try sendChunks() }
  }

  private func sendChunks() throws(CaravanError) {
    guard !chunks.isEmpty else { return }
    let (database, partition) = try here()
    let size = chunks.reduce(0) { $0 + Int64($1.bytes.count) }
    let sent = chunks
    try run { pipeline in
      pipeline.add(
        Statements.addChunks, Int32(partition), sent.map { _ in database.key }, sent.map(\.hash),
        sent.map { Int64($0.bytes.count) }, sent.map { Bytes($0.bytes) }, Int64(0))
    }
    filled[partition]?.chunks += Int64(chunks.count)
    filled[partition]?.chunkBytes += size
    grow(database, Usage(bytes: size))
    chunks = []
  }

  private func add(damaged chunk: DamagedChunk) throws(CaravanError) {
    let (database, partition) = try here()
    var chunk = chunk
    chunk.found = now
    try run { $0.add(damaged: chunk, until: 0) }
    filled[partition]?.chunks += 1
    filled[partition]?.chunkBytes += Int64(chunk.size)
    grow(database, Usage(bytes: Int64(chunk.size)))
  }

  private func grow(_ database: DatabaseID, _ usage: Usage) {
    guard let account = Account(of: database) else { return }
    filled[Partition(of: database).number]?.growth[account, default: Usage()] += usage
  }

  private func endDatabase() throws(CaravanError) {
    try endZone()
    try sendChunks()
    guard let database else { return }
    let changes = references.map { ChunkChange(hash: $0.key, references: $0.value, keptUntil: 0) }
    try run { $0.add(changes, to: database.key, Int32(Partition(of: database).number)) }
    (self.database, references) = (nil, [:])
  }

  // MARK: Zones

  private func begin(_ archived: ZoneContent) throws(CaravanError) {
    try endZone()
    try sendChunks()
    let (database, partition) = try here()
    let id = try ZoneID(database, archived.name)
    var past = archived.past
    if !past.isRestored { past.lostThrough = try ArchiveLimits.reach(after: past.seq, madeAt: made, at: now) }
    try add(OpenZone(id: id, number: number(in: partition), life: past, isAlive: false), as: ZoneStage.restored)
    guard !archived.past.isRestored else { return }
    let number = number(in: partition)
    places[archived.incarnation] = (partition, number)
    zone = OpenZone(
      id: id, number: number, life: PastIncarnation(seq: archived.isAlive ? past.beginning : past.end),
      isAlive: archived.isAlive)
    guard archived.isAlive else { return }
    // Until every device that may hold what was lost has had its time to come and offer it, as deletions of before that
    // would be forgotten otherwise.
    try run { pipeline in
      pipeline.add(
        DeviceStatements.saveAge, Int32(partition), number, UInt64(0), past.beginning,
        TombstoneRule().end(ofWaitFrom: now))
    }
  }

  private func number(in partition: UInt32) -> Int64 {
    let number = (filled[partition]?.lastZone ?? 0) + 1
    filled[partition]?.lastZone = number
    return number
  }

  private func add(_ zone: OpenZone, as stage: Int64) throws(CaravanError) {
    try run { pipeline in
      pipeline.add(
        Statements.addZones, Int32(Partition(of: zone.id.database).number), [zone.number], [zone.id.database.key],
        [zone.id.name], [zone.life.seq], [zone.usage.records], [zone.usage.bytes], [stage], [UInt64(0)],
        [Int64(zone.isLinked ? 1 : 0)], [zone.life.lostThrough], [zone.time])
    }
  }

  private func endZone() throws(CaravanError) {
    guard let ended = zone else { return }
    try sendRecords()
    let usage = ended.usage
    zone = nil
    let partition = Partition(of: ended.id.database).number
    try add(ended, as: ended.isAlive ? ZoneStage.alive : ZoneStage.purged)
    guard ended.isAlive else { return }
    filled[partition]?.zones += 1
    filled[partition]?.records += usage.records
    filled[partition]?.log.append((ended.number, ended.life.seq))
    grow(ended.id.database, usage)
  }

  // MARK: Records

  private func add(_ record: RecordContent) throws(CaravanError) {
    guard let open = zone, open.isAlive, record.entry.version <= open.life.seq else { throw Self.disorder }
    zone?.usage += record.usage
    zone?.time = max(open.time, record.entry.authorship.modified)
    if !record.links.isEmpty { zone?.isLinked = true }
    for hash in record.chunks { references[hash, default: 0] += 1 }
    records.append(record)
    bytes += record.entry.body.count
    if records.count >= 256 || bytes > 1 << 20 { try sendRecords() }
  }

  private func sendRecords() throws(CaravanError) {
    guard !records.isEmpty, let zone else { return }
    let key = Int32(Partition(of: zone.id.database).number)
    let sent = records
    let objects = sent.filter(\.flags.holdsObjects).map(\.entry)
    let links = sent.flatMap { record in record.links.map { (record.entry.name, $0) } }
    try run { pipeline in
      pipeline.add(sent, in: zone.number, key)
      pipeline.add(damagedAmong: sent, in: zone.number, key, at: now)
      if !objects.isEmpty {
        pipeline.add(
          ObjectStatements.noteRestored, key, zone.number, objects.map(\.name), objects.map(\.version))
      }
      guard !links.isEmpty else { return }
      pipeline.add(
        Statements.addRefs, key, links.map { _ in zone.number }, links.map(\.1.target), links.map(\.0),
        links.map(\.1.kinds.rawValue))
    }
    (records, bytes) = ([], 0)
  }

  // MARK: Ops and quotas

  /// Where its zone is; one that wrote to none, everywhere, so that it is known wherever it may come again.
  private func add(_ archived: OpContent) throws(CaravanError) {
    let place = archived.incarnation.flatMap { places[$0] }
    let partitions = place.map { [$0.partition] } ?? Partition.all.map(\.number)
    for partition in partitions {
      ops[partition, default: []].append((archived, place?.zone ?? 0))
      let writer = PartitionState.Writer(name: archived.op.writer, epoch: archived.op.epoch)
      let known = filled[partition]?.floors[writer] ?? 0
      if archived.floor > known { filled[partition]?.floors[writer] = archived.floor }
      if ops[partition]?.count ?? 0 >= 256 { try sendOps(partition) }
    }
  }

  private func sendOps(_ partition: UInt32) throws(CaravanError) {
    guard let sent = ops.removeValue(forKey: partition), let life = filled[partition]?.life else { return }
    // One that comes twice, of two stores that had been one: the last, as a statement takes each key once.
    let unique = Dictionary(sent.map { ($0.0.op, $0) }) { $1 }.values.sorted {
      ($0.0.op.writer, $0.0.op.epoch, $0.0.op.number) < ($1.0.op.writer, $1.0.op.epoch, $1.0.op.number)
    }
    try run { pipeline in
      pipeline.add(
        ArchiveStatements.replaceOps, Int32(partition), unique.map(\.0.op.writer), unique.map(\.0.op.epoch),
        unique.map(\.0.op.number), unique.map(\.zone),
        unique.map { item in
          let incarnation = item.zone == 0 ? nil : Layout.incarnation(life: life, zone: item.zone)
          return Bytes(item.0.outcome(in: incarnation).encoded)
        })
    }
  }

  private func add(_ account: String, _ quota: Quota) throws(CaravanError) {
    try endDatabase()
    guard let named = Account(key: account) else {
      throw CaravanError(.invalidData, "the archive has a quota of '\(account)', which is no account: it is damaged")
    }
    filled[named.partition.number]?.quotas.append((account, quota))
  }

  // MARK: The end

  public func finish() throws(CaravanError) {
    try endDatabase()
    for partition in ops.keys.sorted() { try sendOps(partition) }
    reach = try ArchiveLimits.reach(after: reach, madeAt: made, at: now)
    for (number, part) in filled.sorted(by: { $0.key < $1.key }) { try finish(number, part) }
    try run { $0.add("COMMIT") }
    db.close()
  }

  private func finish(_ number: UInt32, _ part: Filled) throws(CaravanError) {
    let key = Int32(number)
    let start = try ArchiveLimits.reach(after: part.head, madeAt: made, at: now)
    let positions = part.log.indices.map { start + UInt64($0) }
    try run { pipeline in
      pipeline.add(
        Statements.saveCounts, key, UInt64(0), positions.last ?? 0, part.lastZone, part.zones, part.records,
        part.chunks, part.chunkBytes)
      pipeline.add(ArchiveStatements.saveReach, key, reach)
      pipeline.add(part.growth, key)
      if !positions.isEmpty {
        pipeline.add(
          Statements.addLog, key, positions, part.log.map(\.zone), part.log.map { _ in UInt64(0) }, part.log.map(\.seq),
          part.log.map { _ in false }, part.log.map { _ in "" })
        pipeline.add(ArchiveStatements.saveChanged, key, part.log.map(\.zone), positions)
      }
      if !part.floors.isEmpty {
        let floors = part.floors.map { $0 }
        pipeline.add(
          Statements.saveFloors, key, floors.map(\.key.name), floors.map(\.key.epoch), floors.map(\.value))
      }
      if !part.quotas.isEmpty {
        pipeline.add(
          Statements.saveQuotas, key, part.quotas.map(\.account), part.quotas.map { _ in Int64(1) },
          part.quotas.map { $0.quota.records.map { Int64(clamping: $0) } },
          part.quotas.map { $0.quota.bytes.map { Int64(clamping: $0) } })
      }
    }
  }
}

extension Pipeline {
  fileprivate static var beginning: Pipeline {
    var pipeline = Pipeline()
    pipeline.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    return pipeline
  }
}

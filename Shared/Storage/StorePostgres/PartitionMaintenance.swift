internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Maintenance in steps small enough that no commit waits long behind one. Any process may take any step at any time:
/// each holds its partition, and looks again at what there is to do.
struct PartitionMaintenance {
  /// Partitions that have something to remove.
  struct Survey: Sendable {
    var purging: [Partition] = []
    var unreferenced: [Partition] = []
    /// With users whose staging leases have ended.
    var stagers: [Partition] = []
    var longLogs: [Partition] = []
    /// With groups to give up, to clear or to forget.
    var groups: [Partition] = []
    /// With leases that ended long ago.
    var leases: [Partition] = []
    /// Have tombstones, some of which may go.
    var buried: [Partition] = []
    /// Have snapshots, which somebody may read.
    var snapshots: [Partition] = []

    var isEmpty: Bool {
      purging.isEmpty && unreferenced.isEmpty && stagers.isEmpty && longLogs.isEmpty && groups.isEmpty
        && leases.isEmpty
    }
  }

  let db: Connection

  /// - Parameter clock: nil: the database's.
  func survey(clock: Int64?) throws(PostgresError) -> Survey {
    let now = try now(clock)
    func partitions(_ rows: Rows) -> [Partition] {
      rows.map { try? Partition(UInt32($0.integer(0))) }.compactMap(\.self)
    }
    return Survey(
      purging: partitions(try db.run(Surveys.purging)),
      unreferenced: partitions(try db.run(Surveys.unreferenced, now - Self.grace, Self.latestChunk(now))),
      stagers: partitions(try db.run(StagerStatements.survey, now - Self.grace, Self.latestChunk(now))),
      longLogs: partitions(try db.run(Surveys.longLogs, StoreLimits.logEntriesKept)),
      groups: partitions(try db.run(GroupStatements.survey, now, Self.latestGroup(now))),
      leases: partitions(try db.run(Surveys.endedLeases, now - Self.leasesKept)),
      buried: partitions(try db.run(Surveys.buried)), snapshots: partitions(try db.run(Surveys.snapshots)))
  }

  static let grace = StoreLimits.stagingGrace.components.seconds * 1_000

  /// What is to be kept beyond these was staged, or begun, before the database's time went back (TRU-12).
  static func latestChunk(_ now: Int64) -> Int64 {
    now + StoreLimits.stagingLease.components.seconds * 1_000 + PostgresLimits.clockStep
  }

  static func latestGroup(_ now: Int64) -> Int64 {
    now + StoreLimits.groupLease.components.seconds * 1_000 + PostgresLimits.clockStep
  }

  private static let leasesKept = StoreLimits.endedLeasesKept.components.seconds * 1_000

  func now(_ clock: Int64?) throws(PostgresError) -> Int64 {
    try db.run(Statements.clock, clock).first?.integer(0) ?? 0
  }

  /// Runs `body` in a transaction that holds the partition.
  func holding(
    _ partition: Partition, _ body: () throws(PostgresError) -> Pipeline
  ) throws(PostgresError) {
    var begin = Pipeline()
    begin.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    // Writes wait behind it.
    begin.add("SET LOCAL lock_timeout = '1s'")
    begin.add(Statements.holdPartition, Int32(partition.number))
    _ = try db.run(begin)
    var end = try body()
    end.add("COMMIT")
    _ = try db.run(end)
  }

  /// Removes records of one deleted zone.
  func purgeZone(in partition: Partition, clock: Int64?) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      guard let zone = try db.run(MaintenanceStatements.purgedZone, key).first else { return pipeline }
      let (id, database) = (zone.integer(0), zone.text(1))
      let rows = try db.run(MaintenanceStatements.purgedRecords, key, id, PostgresLimits.collectedRows)
      release(rows.flatMap { (try? ChunkHash.list($0.bytes(1))) ?? [] }, in: database, key, try now(clock), &pipeline)
      let holders = rows.filter { EntryFlags(rawValue: $0.integer(3)).contains(.holdsReferences) }.map { $0.text(2) }
      let withObjects = rows.filter { EntryFlags(rawValue: $0.integer(3)).holdsObjects }.map { $0.text(2) }
      if !withObjects.isEmpty { pipeline.add(ObjectStatements.queueAgain, key, id, withObjects, try now(clock)) }
      if !holders.isEmpty { pipeline.add(Statements.removeRefs, key, id, holders) }
      if let last = rows.last { pipeline.add(MaintenanceStatements.removeRecords, key, id, last.integer(0)) }
      let superseded = try removeSuperseded(
        upTo: StoreLimits.highestNumber, of: id, in: database, key, keptUntil: try now(clock), &pipeline)
      if rows.count < PostgresLimits.collectedRows, superseded == nil {
        pipeline.add(DeviceStatements.forgetFootprints, key, id)
        pipeline.add(DeviceStatements.forgetSightings, key, id)
        pipeline.add(DeviceStatements.forgetAge, key, id)
        pipeline.add(MaintenanceStatements.endPurge, key, id)
      }
      return pipeline
    }
  }

  /// Takes back the references of entries that go.
  func release(
    _ hashes: [ChunkHash], in database: String, _ key: Int32, _ now: Int64, _ pipeline: inout Pipeline
  ) {
    guard !hashes.isEmpty else { return }
    let until = now + StoreLimits.stagingLease.components.seconds * 1_000
    let changes = Dictionary(hashes.map { ($0, Int64(-1)) }, uniquingKeysWith: +)
    pipeline.add(changes.map { ChunkChange(hash: $0.key, references: $0.value, keptUntil: until) }, to: database, key)
  }

  /// Removes chunks that no record holds and nobody waits for. Those of a time to come are kept for as long as if they
  /// came now, and not for the years between.
  func removeChunks(in partition: Partition, clock: Int64?) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      let now = try now(clock)
      try db.run(
        MaintenanceStatements.redateChunks, key, now + StoreLimits.stagingLease.components.seconds * 1_000,
        Self.latestChunk(now), PostgresLimits.collectedChunks)
      let dead = try db.run(MaintenanceStatements.deadChunks, key, now - Self.grace, PostgresLimits.collectedChunks)
      guard !dead.isEmpty else { return pipeline }
      var growth: [Account: Usage] = [:]
      for (database, chunks) in Dictionary(grouping: dead, by: { $0.text(0) }) {
        pipeline.add(MaintenanceStatements.removeChunks, key, database, chunks.map { Bytes($0.bytes(1)) })
        pipeline.add(DamageStatements.forget, key, database, chunks.map { Bytes($0.bytes(1)) })
        guard let account = DatabaseID(key: database).flatMap({ Account(of: $0) }) else { continue }
        growth[account, default: Usage()] += Usage(bytes: -chunks.reduce(0) { $0 + $1.integer(2) })
      }
      pipeline.add(growth, key)
      pipeline.add(MaintenanceStatements.countChunks, key, Int64(dead.count), dead.reduce(0) { $0 + $1.integer(2) })
      return pipeline
    }
  }

  /// Shortens the log to what is kept. Nobody else touches its old end.
  func trimLog(of partition: Partition) throws(PostgresError) {
    try db.run(
      MaintenanceStatements.trimLog, Int32(partition.number), StoreLimits.logEntriesKept, PostgresLimits.collectedRows)
  }

  /// Forgets leases that ended long ago, but for their highest token.
  func removeLeases(in partition: Partition, clock: Int64?) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      let ended = try db.run(
        MaintenanceStatements.endedLeases, key, try now(clock) - Self.leasesKept, PostgresLimits.collectedRows)
      guard let highest = ended.map({ $0.unsigned(1) }).max() else { return pipeline }
      pipeline.add(MaintenanceStatements.noteForgotten, key, [LeaseHolder.forgotten], [highest])
      pipeline.add(MaintenanceStatements.removeLeases, key, ended.map { $0.text(0) })
      return pipeline
    }
  }
}

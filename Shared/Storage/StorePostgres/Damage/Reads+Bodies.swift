public import CaravanModel
internal import CaravanPostgreSQL
public import CaravanStore

/// Rows of `caravan_records` against their sums.
extension Reads {
  private static let scrubbed = SummedColumns(
    version: 1, created: 3, flags: 4, type: 5, expires: 6, name: 2, fields: 7, body: 8, sum: 9)

  func damagedBodies(_ filter: DamageFilter, atMost count: Int) throws(PostgresError) -> [DamagedBody] {
    var found: [DamagedBody] = []
    var rows: [Row] = []
    if let ranges = Self.ranges(of: filter) {
      for range in ranges { rows += try db.run(BodyStatements.listBetween, Int64(count), range.from, range.below) }
    } else {
      rows = Array(try db.run(BodyStatements.list, Int64(count)))
    }
    for row in rows.prefix(count) {
      found.append(
        DamagedBody(
          zone: try row.zone(from: 0), name: row.text(2), version: row.unsigned(3), size: Int(row.integer(4)),
          found: row.integer(5)))
    }
    return found
  }

  /// Keys of databases, from one on and below another; nil: all.
  static func ranges(of filter: DamageFilter) -> [(from: String, below: String)]? {
    switch filter {
    case .everything: nil
    case .database(let database): [(database.key, "\(database.key)\u{0}")]
    case .owner(let owner): StorePostgres.ranges(of: owner)
    }
  }

  // MARK: Scrubbing

  struct RecordPosition: Sendable, Hashable {
    var partition: Int32 = 0
    var zone: Int64 = 0
    var seq: Seq = 0
  }

  struct ScrubbedRecords: Sendable {
    var step = ScrubStep()
    var end = RecordPosition()
    var damaged: [Int32: [RecordPosition]] = [:]
  }

  /// Where scrubbing of records goes on; nil: chunks are scrubbed.
  func scrubbedRecord() throws(PostgresError) -> RecordPosition? {
    try db.run(BodyStatements.scrubbed).first.map {
      RecordPosition(partition: Int32($0.integer(0)), zone: $0.integer(1), seq: $0.unsigned(2))
    }
  }

  /// Reads the rows behind the position, until about so many bytes have been read. What the server cannot read is
  /// passed with its zone: whoever reads that is told.
  func scrubRecords(after position: RecordPosition, bytes limit: Int) throws(PostgresError) -> ScrubbedRecords {
    var scrubbed = ScrubbedRecords()
    scrubbed.end = position
    while scrubbed.step.bytes < limit, scrubbed.step.records < PostgresLimits.scrubbedRecords {
      let end = scrubbed.end
      let rows: Rows
      do throws(PostgresError) {
        rows = try db.run(
          BodyStatements.scrub, end.partition, end.zone, end.seq, Int64(PostgresLimits.recordsReadTogether))
      } catch {
        guard error.isDamage else { throw error }
        scrubbed.end = RecordPosition(partition: end.partition, zone: end.zone + 1)
        scrubbed.step.records += PostgresLimits.recordsReadTogether
        continue
      }
      for row in rows {
        scrubbed.end = RecordPosition(partition: end.partition, zone: row.integer(0), seq: row.unsigned(1))
        scrubbed.step.records += 1
        scrubbed.step.bytes += row.byteCount(8)
        if !row.isWhole(Self.scrubbed) || !row.flag(10) {
          scrubbed.damaged[end.partition, default: []].append(scrubbed.end)
        }
      }
      guard rows.isEmpty else { continue }
      scrubbed.end = RecordPosition(partition: end.partition + 1)
      guard scrubbed.end.partition == Int32(Partition.count) else { continue }
      scrubbed.step.isRoundOver = true
      break
    }
    scrubbed.step.damaged = scrubbed.damaged.values.reduce(0) { $0 + $1.count }
    return scrubbed
  }
}

extension PartitionMaintenance {
  func note(damaged entries: [DamagedVersion], in zone: ZoneID, clock: Int64?) throws(PostgresError) {
    _ = try db.run(
      BodyStatements.note, Int32(Partition(of: zone.database).number), zone.database.key, zone.name,
      entries.map(\.version), now(clock))
  }

  /// Notes what a step of scrubbing has found, and where it ended.
  func save(_ scrubbed: Reads.ScrubbedRecords, clock: Int64?) throws(PostgresError) {
    let now = try now(clock)
    for (partition, rows) in scrubbed.damaged {
      _ = try db.run(BodyStatements.noteOfZones, partition, rows.map(\.zone), rows.map(\.seq), now)
    }
    guard scrubbed.step.isRoundOver else { return try saveScrub(scrubbed.end) }
    _ = try db.run(BodyStatements.endScrub, Int32(0))
    for partition in Partition.all { _ = try db.run(BodyStatements.forget, Int32(partition.number)) }
  }

  private func saveScrub(_ end: Reads.RecordPosition) throws(PostgresError) {
    _ = try db.run(BodyStatements.saveScrub, end.partition, end.zone, end.seq)
  }
}

extension StorePostgres {
  /// Readers have left these out of what they answered.
  func note(damaged entries: [DamagedVersion], in zone: ZoneID) async throws(CaravanError) {
    guard !entries.isEmpty else { return }
    let clock = clock
    try await perform(in: Partition(of: zone.database)) { (maintenance) throws(PostgresError) in
      try maintenance.note(damaged: entries, in: zone, clock: clock)
    }
  }

  public func damagedBodies(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedBody] {
    try await read { (reads) throws(PostgresError) in try reads.damagedBodies(filter, atMost: count) }
  }

  func scrubRecords(
    after position: Reads.RecordPosition, bytes: Int
  ) async throws(CaravanError) -> ScrubStep {
    let clock = clock
    let scrubbed = try await read { (reads) throws(PostgresError) in
      try reads.scrubRecords(after: position, bytes: bytes)
    }
    try await perform(in: Partition.all[0]) { (maintenance) throws(PostgresError) in
      try maintenance.save(scrubbed, clock: clock)
    }
    return scrubbed.step
  }
}

internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Where the look for tombstones goes on: zone after zone of partition after partition, round and round.
struct PurgeTurn: Sendable {
  var partition = Partition.all[0]
  /// Zones up to this one have been looked at.
  var zone: Int64 = 0
  /// Zones that may be looked at now.
  var left = StoreLimits.zonesPerPurge
  /// Tombstones removed.
  var purged = 0

  init() {}

  /// Of partitions with tombstones, beginning where the last turn ended.
  func order(_ partitions: [Partition]) -> [Partition] {
    partitions.filter { $0 >= partition } + partitions.filter { $0 < partition }
  }

  mutating func enter(_ next: Partition) {
    if next != partition { (partition, zone) = (next, 0) }
  }
}

/// What is known of devices, and the tombstones that they let go.
extension PartitionMaintenance {
  /// - Parameter countedUntil: what a count of milliseconds shows now by which is said when the devices were seen; nil:
  ///   Unix time says it.
  func write(
    _ sightings: [Sighting], _ rule: TombstoneRule, countedUntil count: Int64? = nil
  ) throws(PostgresError) {
    guard !sightings.isEmpty else { return }
    let zero = if let count { try now(nil) - count } else { Int64(0) }
    for (partition, some) in Dictionary(grouping: sightings, by: \.partition).sorted(by: { $0.key < $1.key }) {
      let key = Int32(partition.number)
      let adopted = try adopted(some.map(\.zone), in: key)
      try db.run(
        DeviceStatements.saveSightings, key, some.map { adopted[$0.zone] == nil ? $0.zone >> 24 : 0 },
        some.map { adopted[$0.zone] ?? Layout.zone($0.zone) }, some.map(\.device), some.map(\.seen), some.map(\.target),
        some.map { zero + $0.time }, rule.activityStep, rule.snapshotStep)
    }
  }

  /// Zones that came from another store, by the lives that devices know.
  private func adopted(_ zones: [Incarnation], in partition: Int32) throws(PostgresError) -> [Incarnation: Int64] {
    let rows = try db.run(MoveStatements.adopted, partition, Set(zones).sorted())
    return Dictionary(rows.map { ($0.unsigned(0), $0.integer(1)) }, uniquingKeysWith: max)
  }

  func zoneNumber(_ incarnation: Incarnation, in partition: Int32) throws(PostgresError) -> Int64 {
    try adopted([incarnation], in: partition)[incarnation] ?? Layout.zone(incarnation)
  }

  /// Looks at the next zones of the turn's partition that have tombstones.
  func purgeTombstones(
    _ turn: inout PurgeTurn, _ rule: TombstoneRule, clock: Int64?
  ) throws(PostgresError) {
    let now = try now(clock)
    let key = Int32(turn.partition.number)
    while turn.left > 0 {
      guard let row = try db.run(DeviceStatements.nextBuried, key, turn.zone, rule.activeSince(now)).first else {
        turn.zone = 0
        return
      }
      turn.left -= 1
      turn.zone = row.integer(0)
      guard row.integer(2) == ZoneStage.alive else { continue }
      let known =
        row.isNull(3)
        ? nil : TombstoneAge(aged: row.unsigned(3), mark: row.unsigned(4), markedAt: row.integer(5))
      let moved = TombstoneAge.advanced(known, seq: row.unsigned(1), now: now, rule)
      if let moved {
        try db.run(DeviceStatements.saveAge, key, turn.zone, moved.aged, moved.mark, moved.markedAt)
      }
      guard let age = moved ?? known else { continue }
      let limit = rule.limit(age, leastSeen: row.isNull(6) ? nil : row.unsigned(6))
      turn.purged += try purge(turn.zone, of: turn.partition, upTo: limit)
    }
  }

  private func purge(_ zone: Int64, of partition: Partition, upTo limit: Seq) throws(PostgresError) -> Int {
    let key = Int32(partition.number)
    guard try !db.run(DeviceStatements.buried, key, zone, limit, 1).isEmpty else { return 0 }
    var count = 0
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      let gone = try db.run(DeviceStatements.buried, key, zone, limit, PostgresLimits.collectedRows).map {
        $0.unsigned(0)
      }
      guard let last = gone.last else { return pipeline }
      count = gone.count
      pipeline.add(DeviceStatements.removeBuried, key, zone, last)
      pipeline.add(DeviceStatements.savePurged, key, zone, last)
      return pipeline
    }
    return count
  }
}

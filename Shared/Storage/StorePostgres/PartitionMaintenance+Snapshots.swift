internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Snapshots: versions of a zone that readers are on their way to. While there is one, the entries it has stay when
/// their records are written again (CK-49).
extension PartitionMaintenance {
  /// The zone as it is now. Whoever writes to it waits, and then knows of it.
  /// - Parameter reader: its footprint becomes exact, so that only what it writes from now on is beyond the snapshot.
  /// - Returns: its version; nil: there is no such zone any more.
  func makeSnapshot(
    of zone: Incarnation, in partition: Partition, for reader: String?
  ) throws(PostgresError) -> Seq? {
    let key = Int32(partition.number)
    let id = try zoneNumber(zone, in: key)
    var made: Seq?
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      made = try db.run(DeviceStatements.makeSnapshot, key, id).first?.unsigned(0)
      if let made, let reader { pipeline.add(DeviceStatements.shortenFootprint, key, id, reader, made) }
      return pipeline
    }
    return made
  }

  /// Removes what no reader needs any more (CK-52).
  /// - Returns: whether there may be more.
  func collectSnapshots(in partition: Partition, clock: Int64?) throws(PostgresError) -> Bool {
    let key = Int32(partition.number)
    let now = try now(clock)
    let since = now - StoreLimits.snapshotPatience.components.seconds * 1_000
    var hasMore = false
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      for zone in try db.run(DeviceStatements.zonesWithSnapshots, key, since, StoreLimits.zonesPerPage) {
        let (id, least) = (zone.integer(0), zone.isNull(2) ? nil : zone.unsigned(2))
        let last = try removeSuperseded(
          upTo: least ?? StoreLimits.highestNumber, of: id, in: zone.text(1), key, keptUntil: now, &pipeline)
        if let last {
          pipeline.add(DeviceStatements.saveOldestSnapshot, key, id, last)
          hasMore = true
        } else if least == nil {
          pipeline.add(DeviceStatements.endSnapshots, key, id)
        }
      }
      return pipeline
    }
    return hasMore
  }

  /// Some of what was superseded up to `limit`, and the references of its chunks.
  /// - Returns: the `until` of the last; nil: there are none.
  func removeSuperseded(
    upTo limit: Seq, of zone: Int64, in database: String, _ key: Int32, keptUntil now: Int64,
    _ pipeline: inout Pipeline
  ) throws(PostgresError) -> Seq? {
    let gone = try db.run(DeviceStatements.superseded, key, zone, limit, PostgresLimits.collectedRows)
    guard let last = gone.last?.unsigned(0) else { return nil }
    release(gone.flatMap { (try? ChunkHash.list($0.bytes(1))) ?? [] }, in: database, key, now, &pipeline)
    pipeline.add(DeviceStatements.removeSuperseded, key, zone, last)
    return last
  }
}

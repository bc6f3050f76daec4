internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// What the file knows of devices: the footprints of their commits, the sightings of their pulls.
final class FileDevices: FilePart {
  let context: FileContext
  private var footprints: [ReadPositionKey: ReadPosition] = [:]

  init(_ context: FileContext) { self.context = context }

  func forget() { footprints = [:] }

  struct ReadPositionKey: Hashable {
    var zone: Int64
    var writer: String
  }

  /// Part of every answer to a commit.
  func keepReadPosition(of writer: String, in zone: ZoneRecord) throws(CaravanError) {
    let known = try footprint(of: writer, in: zone)
    guard let moved = ReadPosition.moved(known, to: zone.seq, isExact: zone.snapshot > 0) else { return }
    try save(moved, of: writer, in: zone)
  }

  func footprint(of writer: String, in zone: ZoneRecord) throws(CaravanError) -> ReadPosition? {
    let key = ReadPositionKey(zone: zone.id, writer: writer)
    if let known = footprints[key] { return known }
    guard let known = try reads.footprint(of: writer, in: zone.id) else { return nil }
    footprints.remember(key, known)
    return known
  }

  func save(_ footprint: ReadPosition, of writer: String, in zone: ZoneRecord) throws(CaravanError) {
    try db.run(
      """
      INSERT INTO footprints(zone, writer, first, reach) VALUES (?, ?, ?, ?)
      ON CONFLICT (zone, writer) DO UPDATE SET reach = excluded.reach
      """, zone.id, writer, footprint.first, footprint.reach)
    footprints.remember(ReadPositionKey(zone: zone.id, writer: writer), footprint)
  }

  func write(_ sightings: [Sighting], _ rule: TombstoneRule) throws(CaravanError) {
    for sighting in sightings {
      guard let zone = try reads.zoneNumber(sighting.zone) else { continue }
      try db.run(
        """
        INSERT INTO sightings(zone, device, seen, target, time)
        SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM zones WHERE id = ?1 AND state = 0)
        ON CONFLICT (zone, device) DO UPDATE SET seen = excluded.seen, target = excluded.target, time = excluded.time
        WHERE seen <> excluded.seen OR target <> excluded.target OR excluded.time >= time + ?6
        """, zone, sighting.device, sighting.seen, sighting.target, sighting.time,
        sighting.target > 0 ? rule.snapshotStep : rule.activityStep)
    }
  }

  /// Of a zone whose last entry has gone.
  func remove(of zone: Int64) throws(CaravanError) {
    try db.run("DELETE FROM footprints WHERE zone = ?", zone)
    try db.run("DELETE FROM sightings WHERE zone = ?", zone)
    try db.run("DELETE FROM tombstone_ages WHERE zone = ?", zone)
  }
}

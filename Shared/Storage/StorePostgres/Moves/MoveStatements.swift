/// What moves of users read and write, a partition at a time; seldom, so that they may look at more than one key.
enum MoveStatements {
  /// All lives of the zones of databases from one key on and below another.
  static let zones: StaticString = """
    SELECT p.life, z.id, z.database, z.name, z.seq, z.stage, z.incarnation, z.purged, z.lost_through
    FROM caravan_zones z JOIN caravan_partitions p ON p.partition = z.partition
    WHERE z.partition = $1 AND z.database >= $2 AND z.database < $3 ORDER BY z.id
    """

  static let reach: StaticString = "SELECT reach FROM caravan_partitions WHERE partition = $1"
  static let raiseReach: StaticString = """
    UPDATE caravan_partitions SET reach = greatest(reach, $2) WHERE partition = $1
    """

  static let footprints: StaticString = """
    SELECT zone, writer, since, reach FROM caravan_footprints WHERE partition = $1 AND zone = ANY($2)
    """

  static let sightings: StaticString = """
    SELECT zone, device, seen, sighted FROM caravan_sightings WHERE partition = $1 AND zone = ANY($2)
    ORDER BY zone, device
    """

  static let groups: StaticString = """
    SELECT writer, epoch, number, stage, parts, records, bytes, chunks, held, until, database, zone
    FROM caravan_groups WHERE partition = $1 AND database >= $2 AND database < $3 ORDER BY writer, epoch, number
    """

  /// Those that wrote to one of the lives, or to none; and those of the writers.
  static let ops: StaticString = """
    SELECT o.writer, o.epoch, o.number, o.outcome, coalesce(w.floor, 0) FROM caravan_ops o
    LEFT JOIN caravan_writers w ON w.partition = $1 AND w.name = o.writer AND w.epoch = o.epoch
    WHERE o.partition = $1 AND (o.zone = 0 OR o.zone = ANY($2) OR o.writer = ANY($3))
    """

  static let chunkHashes: StaticString = """
    SELECT hash FROM caravan_chunks
    WHERE partition = $1 AND database = $2 AND hash > $3 AND refs > 0 ORDER BY hash LIMIT $4
    """

  /// Zones that were adopted under an incarnation.
  static let adopted: StaticString = """
    SELECT incarnation, id FROM caravan_zones
    WHERE partition = $1 AND incarnation = ANY($2) AND incarnation > 0 AND stage = 0
    """

  // MARK: Writing

  static let addZones: StaticString = """
    INSERT INTO caravan_zones(partition, id, database, name, seq, records, bytes, stage, changed, linked, purged,
      snapshot, oldest_snapshot, incarnation, lost_through)
    SELECT $1, w.id, w.database, w.name, w.seq, 0, 0, w.stage, w.changed, 0, w.purged, 0, 0, w.incarnation,
      w.lost_through
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)
      AS w(id, database, name, seq, stage, changed, purged, incarnation, lost_through)
    """

  static let countZones: StaticString = """
    UPDATE caravan_partitions SET last_zone = last_zone + $2, zones = zones + $3, records = records + $4
    WHERE partition = $1
    """

  static let growZone: StaticString = """
    UPDATE caravan_zones SET records = records + $3, bytes = bytes + $4, linked = greatest(linked, $5),
      time = greatest(time, $6)
    WHERE partition = $1 AND id = $2
    """

  static let raiseWatermarks: StaticString = """
    INSERT INTO caravan_writers(partition, name, epoch, floor)
    SELECT $1, w.name, w.epoch, w.floor FROM unnest($2, $3, $4) AS w(name, epoch, floor)
    ON CONFLICT (partition, name, epoch) DO UPDATE SET floor = greatest(caravan_writers.floor, excluded.floor)
    """

  static let addSightings: StaticString = """
    INSERT INTO caravan_sightings(partition, zone, device, seen, target, sighted)
    SELECT $1, w.zone, w.device, w.seen, 0, w.sighted
    FROM unnest($2, $3, $4, $5) AS w(zone, device, seen, sighted)
    """

  static let addGroups: StaticString = """
    INSERT INTO caravan_groups(partition, writer, epoch, number, database, zone, stage, parts, records, bytes, chunks,
      held, until)
    SELECT $1, w.writer, w.epoch, w.number, w.database, w.zone_name, w.stage, w.parts, w.records, w.bytes, w.chunks,
      0, w.until
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      AS w(writer, epoch, number, database, zone_name, stage, parts, records, bytes, chunks, until)
    ON CONFLICT (partition, writer, epoch, number) DO UPDATE SET stage = excluded.stage, until = excluded.until
    """

  static let saveLeases: StaticString = """
    INSERT INTO caravan_leases(partition, name, holder, token, expires)
    SELECT $1, w.name, w.holder, w.token, w.expires FROM unnest($2, $3, $4, $5) AS w(name, holder, token, expires)
    ON CONFLICT (partition, name) DO UPDATE SET holder = excluded.holder, token = excluded.token,
      expires = excluded.expires
    """

  /// What each database is charged for its zones.
  static let usage: StaticString = """
    SELECT database, CAST(sum(records) AS bigint), CAST(sum(bytes) AS bigint), count(*) FILTER (WHERE stage = 0)
    FROM caravan_zones WHERE partition = $1 AND database >= $2 AND database < $3 GROUP BY database
    """

  static let discard: StaticString = """
    UPDATE caravan_zones SET stage = CASE WHEN stage = 0 OR stage = 1 OR stage = 4 THEN 4 ELSE 5 END, records = 0,
      bytes = 0, snapshot = 0
    WHERE partition = $1 AND database >= $2 AND database < $3
    """

  static let endGroups: StaticString = """
    UPDATE caravan_groups SET until = 0 WHERE partition = $1 AND database >= $2 AND database < $3
    """
}

/// What the store knows of devices: the footprints of their commits, the sightings of their pulls; and the tombstones
/// that they let go.
enum DeviceStatements {
  static let footprints: StaticString = """
    SELECT w.ordinal, z.id, f.since, f.reach
    FROM unnest($2, $3, $4) WITH ORDINALITY AS w(database, zone, writer, ordinal)
    CROSS JOIN LATERAL (
      SELECT id FROM caravan_zones
      WHERE partition = $1 AND database = w.database AND name = w.zone AND stage = 0 LIMIT 1) AS z
    CROSS JOIN LATERAL (
      SELECT since, reach FROM caravan_footprints
      WHERE partition = $1 AND zone = z.id AND writer = w.writer LIMIT 1) AS f
    """

  static let saveFootprints: StaticString = """
    INSERT INTO caravan_footprints(partition, zone, writer, since, reach)
    SELECT $1, w.zone, w.writer, w.since, w.reach FROM unnest($2, $3, $4, $5) AS w(zone, writer, since, reach)
    ON CONFLICT (partition, zone, writer) DO UPDATE SET reach = excluded.reach
    """

  /// Of zones that are alive: below stage 1.
  static let saveSightings: StaticString = """
    INSERT INTO caravan_sightings(partition, zone, device, seen, target, sighted)
    SELECT $1, w.zone, w.device, w.seen, w.aim, w.sighted
    FROM unnest($2, $3, $4, $5, $6, $7) AS w(life, zone, device, seen, aim, sighted)
    CROSS JOIN LATERAL (
      SELECT id FROM caravan_zones WHERE partition = $1 AND id = w.zone AND stage < 1 LIMIT 1) AS z
    WHERE w.life = 0 OR w.life = (SELECT life FROM caravan_partitions WHERE partition = $1)
    ON CONFLICT (partition, zone, device) DO UPDATE SET seen = excluded.seen, target = excluded.target,
      sighted = excluded.sighted
    WHERE caravan_sightings.seen <> excluded.seen OR caravan_sightings.target <> excluded.target
      OR excluded.sighted >= caravan_sightings.sighted + CASE WHEN excluded.target > 0 THEN $9 ELSE $8 END
    """

  // MARK: Tombstones

  static let nextBuried: StaticString = """
    SELECT r.zone, z.seq, z.stage, a.aged, a.mark, a.marked,
      (SELECT min(seen) FROM caravan_sightings WHERE partition = $1 AND zone = r.zone AND sighted > $3)
    FROM (
      SELECT zone FROM caravan_records WHERE partition = $1 AND zone > $2 AND flags % 2 = 1 ORDER BY zone LIMIT 1) AS r
    CROSS JOIN LATERAL (SELECT seq, stage FROM caravan_zones WHERE partition = $1 AND id = r.zone LIMIT 1) AS z
    LEFT JOIN LATERAL (
      SELECT aged, mark, marked FROM caravan_tombstone_ages WHERE partition = $1 AND zone = r.zone LIMIT 1) AS a ON true
    """

  static let saveAge: StaticString = """
    INSERT INTO caravan_tombstone_ages(partition, zone, aged, mark, marked) SELECT $1, $2, $3, $4, $5
    ON CONFLICT (partition, zone) DO UPDATE SET aged = excluded.aged, mark = excluded.mark, marked = excluded.marked
    """

  static let buried: StaticString = """
    SELECT seq FROM caravan_records WHERE partition = $1 AND zone = $2 AND seq <= $3 AND flags % 2 = 1
    ORDER BY seq LIMIT $4
    """

  static let removeBuried: StaticString = """
    DELETE FROM caravan_records WHERE partition = $1 AND zone = $2 AND seq <= $3 AND flags % 2 = 1
    """

  static let savePurged: StaticString = "UPDATE caravan_zones SET purged = $3 WHERE partition = $1 AND id = $2"

  // MARK: Snapshots

  /// The same as `Statements.changes`, of the snapshot $10.
  static let changesOfSnapshot: StaticString = """
    SELECT seq, created, flags, type, writer, is_own, name, size, CASE WHEN is_own THEN NULL ELSE body END,
      expires, CASE WHEN is_own THEN NULL ELSE fields END, time, born, maker, sum
    FROM (
      SELECT seq, created, flags, type, writer, name, size, is_own, body, expires, fields, time, born, maker, sum,
        sum(sent) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - sent AS before
      FROM (
        SELECT seq, created, flags, type, writer, name, body, octet_length(body) AS size, expires, fields, time, born,
          maker, sum,
          writer = $5 AND epoch = $6 AND flags & $9 = 0 AS is_own,
          CASE WHEN writer = $5 AND epoch = $6 AND flags & $9 = 0 THEN 0
            ELSE octet_length(body) + coalesce(octet_length(fields), 0) END AS sent
        FROM (
          (SELECT seq, created, flags, type, writer, epoch, name, body, expires, fields, time, born, maker, sum
          FROM caravan_records
          WHERE partition = $1 AND seq > $4 AND seq <= $10 AND zone = (
            SELECT id FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage = 0)
          ORDER BY seq LIMIT $7)
          UNION ALL
          (SELECT seq, created, flags, type, writer, epoch, name, body, expires, fields, time, born, maker, sum
          FROM caravan_superseded
          WHERE partition = $1 AND seq > $4 AND seq <= $10 AND until > $10 AND zone = (
            SELECT id FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage = 0)
          ORDER BY seq LIMIT $7)
        ) AS entries
        ORDER BY seq LIMIT $7) AS scanned) AS measured
    WHERE before < $8 ORDER BY seq
    """

  /// The zone as it is now becomes one, while it is alive: below stage 1.
  static let makeSnapshot: StaticString = """
    UPDATE caravan_zones SET snapshot = seq, oldest_snapshot = CASE WHEN snapshot = 0 THEN seq ELSE oldest_snapshot END
    WHERE partition = $1 AND id = $2 AND stage < 1 RETURNING seq
    """

  /// A footprint becomes exact.
  static let shortenFootprint: StaticString = """
    UPDATE caravan_footprints SET reach = $4 WHERE partition = $1 AND zone = $2 AND writer = $3 AND reach > $4
    """

  /// Bounds and an order, where an equality would do, leave a planner no other index.
  static let keepSuperseded: StaticString = """
    INSERT INTO caravan_superseded(partition, zone, seq, until, name, created, flags, type, writer, epoch, expires,
      fields, chunks, body, time, born, maker, sum)
    SELECT $1, w.zone, w.seq, w.until, r.name, r.created, r.flags, r.type, r.writer, r.epoch, r.expires, r.fields,
      r.chunks, r.body, r.time, r.born, r.maker, r.sum
    FROM unnest($2, $3, $4) AS w(zone, seq, until)
    CROSS JOIN LATERAL (
      SELECT name, created, flags, type, writer, epoch, expires, fields, chunks, body, time, born, maker, sum
      FROM caravan_records
      WHERE partition = $1 AND zone = w.zone AND seq >= w.seq AND seq <= w.seq ORDER BY seq LIMIT 1) AS r
    """

  static let zonesWithSnapshots: StaticString = """
    SELECT z.id, z.database, (
      SELECT min(target) FROM caravan_sightings
      WHERE partition = $1 AND zone = z.id AND target > 0 AND sighted > $2)
    FROM caravan_zones z WHERE z.partition = $1 AND z.snapshot > 0 AND z.stage = 0 ORDER BY z.id LIMIT $3
    """

  static let superseded: StaticString = """
    SELECT until, chunks FROM caravan_superseded WHERE partition = $1 AND zone = $2 AND until <= $3
    ORDER BY until LIMIT $4
    """

  static let removeSuperseded: StaticString = """
    DELETE FROM caravan_superseded WHERE partition = $1 AND zone = $2 AND until <= $3
    """

  static let saveOldestSnapshot: StaticString = """
    UPDATE caravan_zones SET oldest_snapshot = greatest(oldest_snapshot, $3) WHERE partition = $1 AND id = $2
    """

  static let endSnapshots: StaticString = "UPDATE caravan_zones SET snapshot = 0 WHERE partition = $1 AND id = $2"

  // MARK: Zones

  /// The zone's newest lives, the last first: of those that are over, at stages 1 to 3, and of one that is alive; and
  /// how far the numbers of what was restored reach. Of a zone that is not known by name, those of what is buried.
  static let lastLives: StaticString = """
    SELECT z.seq, z.stage, z.lost_through, p.reach FROM caravan_partitions p
    LEFT JOIN LATERAL (
      SELECT id, seq, stage, lost_through FROM caravan_zones
      WHERE partition = $1 AND database = $2 AND stage < 4 AND name = CASE WHEN EXISTS (
        SELECT 1 FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage < 4)
        THEN $3 ELSE '.buried' END
      ORDER BY id DESC LIMIT 2) AS z ON true
    WHERE p.partition = $1 ORDER BY z.id DESC
    """

  /// All that are not elsewhere, in their order. Of a zone that is not known by name, those of what is buried.
  static let lives: StaticString = """
    SELECT z.seq, z.stage, z.lost_through, p.reach, z.id, z.purged FROM caravan_partitions p
    LEFT JOIN LATERAL (
      SELECT id, seq, stage, lost_through, purged FROM caravan_zones
      WHERE partition = $1 AND database = $2 AND stage < 4 AND name = CASE WHEN EXISTS (
        SELECT 1 FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage < 4)
        THEN $3 ELSE '.buried' END) AS z ON true
    WHERE p.partition = $1 ORDER BY z.id
    """

  static let forgetFootprints: StaticString = "DELETE FROM caravan_footprints WHERE partition = $1 AND zone = $2"
  static let forgetSightings: StaticString = "DELETE FROM caravan_sightings WHERE partition = $1 AND zone = $2"
  static let forgetAge: StaticString = "DELETE FROM caravan_tombstone_ages WHERE partition = $1 AND zone = $2"

  /// Of the dead ones those below stage $4: 1 for none, 3 for all.
  static let changedZones: StaticString = """
    SELECT name, seq, id, stage, changed, incarnation FROM (
      SELECT name, seq, id, stage, changed, incarnation FROM caravan_zones z
      WHERE partition = $1 AND database = $2 AND stage = 0 AND changed > $3
      UNION ALL
      SELECT d.name, d.seq, d.id, d.stage, d.changed, d.incarnation FROM caravan_zones d
      LEFT JOIN LATERAL (
        SELECT id FROM caravan_zones WHERE partition = $1 AND name = d.name AND database = $2 AND id > d.id LIMIT 1
      ) AS n ON true
      WHERE d.partition = $1 AND d.database = $2 AND d.stage > 0 AND d.stage < $4 AND d.changed > $3 AND n.id IS NULL
    ) AS c
    ORDER BY changed LIMIT $5
    """
}

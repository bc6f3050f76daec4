/// Every statement of the store but its layout. Each names its partition (`$1`), so a distributed engine sends it to
/// one place; a test holds them to that, and to what all the engines know. Rows are looked up by LATERAL with a LIMIT,
/// and changed by `ANY` of their keys: that leaves a planner without statistics no other way than by key.
enum Statements {
  // MARK: What a group reads

  static let holdPartition: StaticString = """
    SELECT life, head, last_zone, zones, records, chunks, chunk_bytes, reach FROM caravan_partitions
    WHERE partition = $1 FOR UPDATE
    """

  /// For who holds a row, in this transaction.
  static let waitBriefly: StaticString = "SET LOCAL lock_timeout = '100ms'"

  static let life: StaticString = "SELECT life FROM caravan_partitions WHERE partition = $1"

  static let clock: StaticString = """
    SELECT coalesce($1, CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint))
    """

  static let newestZones: StaticString = """
    SELECT w.ordinal, z.id, z.seq, z.records, z.stage, z.bytes, z.snapshot, z.linked, z.incarnation, z.time
    FROM unnest($2, $3) WITH ORDINALITY AS w(database, name, ordinal)
    CROSS JOIN LATERAL (
      SELECT id, seq, records, stage, bytes, snapshot, linked, incarnation, time FROM caravan_zones
      WHERE partition = $1 AND database = w.database AND name = w.name ORDER BY id DESC LIMIT 1) AS z
    """

  static let heads: StaticString = """
    SELECT w.ordinal, z.id, r.seq, r.created, r.flags, r.expires, r.chunks,
      octet_length(r.name) + octet_length(r.body) + coalesce(octet_length(r.fields), 0), r.time, r.born, r.maker,
      r.writer
    FROM unnest($2, $3, $4) WITH ORDINALITY AS w(database, zone, name, ordinal)
    CROSS JOIN LATERAL (
      SELECT id FROM caravan_zones
      WHERE partition = $1 AND database = w.database AND name = w.zone AND stage = 0 LIMIT 1) AS z
    CROSS JOIN LATERAL (
      SELECT seq, created, flags, expires, chunks, name, body, fields, time, born, maker, writer FROM caravan_records
      WHERE partition = $1 AND zone = z.id AND name = w.name LIMIT 1) AS r
    """

  /// Who refers to records, by name, the first of them.
  static let referrers: StaticString = """
    SELECT w.ordinal, z.id, f.source, f.kinds
    FROM unnest($2, $3, $4) WITH ORDINALITY AS w(database, zone, name, ordinal)
    CROSS JOIN LATERAL (
      SELECT id FROM caravan_zones
      WHERE partition = $1 AND database = w.database AND name = w.zone AND stage = 0 AND linked > 0 LIMIT 1) AS z
    CROSS JOIN LATERAL (
      SELECT source, kinds FROM caravan_refs
      WHERE partition = $1 AND zone = z.id AND target = w.name ORDER BY source LIMIT $5) AS f
    ORDER BY w.ordinal, f.source
    """

  /// One row for each op: its writer's low watermark, and its outcome with the zone it wrote to.
  static let ops: StaticString = """
    SELECT w.ordinal, coalesce(v.floor, 0), o.outcome, z.database, z.name
    FROM unnest($2, $3, $4) WITH ORDINALITY AS w(writer, epoch, number, ordinal)
    LEFT JOIN LATERAL (
      SELECT floor FROM caravan_writers
      WHERE partition = $1 AND name = w.writer AND epoch = w.epoch LIMIT 1) AS v ON true
    LEFT JOIN LATERAL (
      SELECT outcome, zone FROM caravan_ops
      WHERE partition = $1 AND writer = w.writer AND epoch = w.epoch AND number = w.number LIMIT 1) AS o ON true
    LEFT JOIN LATERAL (
      SELECT database, name FROM caravan_zones WHERE partition = $1 AND id = o.zone LIMIT 1) AS z ON true
    """

  static let chunks: StaticString = """
    SELECT w.ordinal, c.size, c.refs, d.found FROM unnest($2, $3) WITH ORDINALITY AS w(database, hash, ordinal)
    CROSS JOIN LATERAL (
      SELECT size, refs FROM caravan_chunks
      WHERE partition = $1 AND database = w.database AND hash = w.hash LIMIT 1) AS c
    LEFT JOIN LATERAL (
      SELECT found FROM caravan_damage
      WHERE partition = $1 AND database = w.database AND hash = w.hash LIMIT 1) AS d ON true
    """

  static let listBytes: StaticString = """
    SELECT w.ordinal, c.bytes FROM unnest($2, $3) WITH ORDINALITY AS w(database, hash, ordinal)
    CROSS JOIN LATERAL (
      SELECT bytes FROM caravan_chunks
      WHERE partition = $1 AND database = w.database AND hash = w.hash LIMIT 1) AS c
    """

  static let accounts: StaticString = """
    SELECT w.ordinal, a.records, a.bytes, a.own, a.max_records, a.max_bytes
    FROM unnest($2) WITH ORDINALITY AS w(account, ordinal)
    CROSS JOIN LATERAL (
      SELECT records, bytes, own, max_records, max_bytes FROM caravan_accounts
      WHERE partition = $1 AND account = w.account LIMIT 1) AS a
    """

  static let leases: StaticString = """
    SELECT l.name, l.holder, l.token, l.expires FROM caravan_leases l WHERE l.partition = $1 AND l.name = ANY($2)
    """

  // MARK: What a group writes

  /// -1 undoes the transaction.
  static let saveCounts: StaticString = """
    UPDATE caravan_partitions SET head = CASE WHEN head = $2 THEN $3 ELSE -1 END, last_zone = $4, zones = $5,
      records = $6, chunks = $7, chunk_bytes = $8
    WHERE partition = $1
    """

  static let addZones: StaticString = """
    INSERT INTO caravan_zones(partition, id, database, name, seq, records, bytes, stage, changed, linked, lost_through,
      time, purged, snapshot, oldest_snapshot, incarnation)
    SELECT $1, w.*, 0, 0, 0, 0 FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      AS w(id, database, name, seq, records, bytes, stage, changed, linked, lost_through, time)
    """

  /// -1 undoes the transaction.
  static let saveZones: StaticString = """
    UPDATE caravan_zones z SET seq = CASE WHEN z.seq = w.before THEN w.seq ELSE -1 END, records = w.records,
      bytes = w.bytes, stage = w.stage, changed = w.changed, linked = w.linked, time = w.time
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)
      AS w(id, before, seq, records, bytes, stage, changed, linked, time)
    WHERE z.partition = $1 AND z.id = ANY($2) AND z.id = w.id
    """

  /// New ones: the group has looked already whether they are there.
  static let addRecords: StaticString = """
    INSERT INTO caravan_records(partition, zone, seq, name, created, flags, type, writer, epoch, expires, fields,
      chunks, body, time, born, maker, sum)
    SELECT $1, w.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      AS w(zone, seq, name, created, flags, type, writer, epoch, expires, fields, chunks, body, time, born, maker, sum)
    """

  static let saveRecords: StaticString = """
    INSERT INTO caravan_records(partition, zone, seq, name, created, flags, type, writer, epoch, expires, fields,
      chunks, body, time, born, maker, sum)
    SELECT $1, w.zone, w.seq, w.name, w.created, w.flags, w.type, w.writer, w.epoch, w.expires, w.fields, w.chunks,
      w.body, w.time, w.born, w.maker, w.sum
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      AS w(zone, seq, name, created, flags, type, writer, epoch, expires, fields, chunks, body, time, born, maker, sum)
    ON CONFLICT (partition, zone, name) DO UPDATE SET seq = excluded.seq, created = excluded.created,
      flags = excluded.flags, type = excluded.type, writer = excluded.writer, epoch = excluded.epoch,
      expires = excluded.expires, fields = excluded.fields, chunks = excluded.chunks, body = excluded.body,
      time = excluded.time, born = excluded.born, maker = excluded.maker, sum = excluded.sum
    """

  static let removeRefs: StaticString = """
    DELETE FROM caravan_refs WHERE partition = $1 AND zone = $2 AND source = ANY($3)
    """

  static let addRefs: StaticString = """
    INSERT INTO caravan_refs(partition, zone, target, source, kinds)
    SELECT $1, w.zone, w.target, w.source, w.kinds FROM unnest($2, $3, $4, $5) AS w(zone, target, source, kinds)
    """

  static let addLog: StaticString = """
    INSERT INTO caravan_log(partition, position, zone, low, high, deletion, writer)
    SELECT $1, w.position, w.zone, w.low, w.high, w.deletion, w.writer
    FROM unnest($2, $3, $4, $5, $6, $7) AS w(position, zone, low, high, deletion, writer)
    """

  static let addOps: StaticString = """
    INSERT INTO caravan_ops(partition, writer, epoch, number, zone, outcome)
    SELECT $1, w.writer, w.epoch, w.number, w.zone, w.outcome
    FROM unnest($2, $3, $4, $5, $6) AS w(writer, epoch, number, zone, outcome)
    """

  static let saveFloors: StaticString = """
    INSERT INTO caravan_writers(partition, name, epoch, floor)
    SELECT $1, w.name, w.epoch, w.floor FROM unnest($2, $3, $4) AS w(name, epoch, floor)
    ON CONFLICT (partition, name, epoch) DO UPDATE SET floor = excluded.floor
    """

  static let forgetOps: StaticString = """
    DELETE FROM caravan_ops o USING unnest($2, $3, $4) AS w(name, epoch, floor)
    WHERE o.partition = $1 AND o.writer = ANY($2) AND o.writer = w.name AND o.epoch = w.epoch AND o.number < w.floor
    """

  static let addChunks: StaticString = """
    INSERT INTO caravan_chunks(partition, database, hash, size, refs, staged, bytes)
    SELECT $1, w.database, w.hash, w.size, 0, $6, w.bytes
    FROM unnest($2, $3, $4, $5) AS w(database, hash, size, bytes)
    """

  static let saveChunks: StaticString = """
    UPDATE caravan_chunks c SET refs = c.refs + w.change, staged = greatest(c.staged, w.staged)
    FROM unnest($3, $4, $5) AS w(hash, change, staged)
    WHERE c.partition = $1 AND c.database = $2 AND c.hash = ANY($3) AND c.hash = w.hash
    """

  static let growAccounts: StaticString = """
    INSERT INTO caravan_accounts(partition, account, records, bytes, own)
    SELECT $1, w.account, w.records, w.bytes, 0 FROM unnest($2, $3, $4) AS w(account, records, bytes)
    ON CONFLICT (partition, account) DO UPDATE SET records = caravan_accounts.records + excluded.records,
      bytes = caravan_accounts.bytes + excluded.bytes
    """

  static let saveQuotas: StaticString = """
    INSERT INTO caravan_accounts(partition, account, records, bytes, own, max_records, max_bytes)
    SELECT $1, w.account, 0, 0, w.own, w.max_records, w.max_bytes
    FROM unnest($2, $3, $4, $5) AS w(account, own, max_records, max_bytes)
    ON CONFLICT (partition, account) DO UPDATE SET own = excluded.own, max_records = excluded.max_records,
      max_bytes = excluded.max_bytes
    """

  static let addLeases: StaticString = """
    INSERT INTO caravan_leases(partition, name, holder, token, expires)
    SELECT $1, w.name, w.holder, w.token, w.expires FROM unnest($2, $3, $4, $5) AS w(name, holder, token, expires)
    """

  static let saveLeases: StaticString = """
    UPDATE caravan_leases l SET holder = w.holder, token = w.token, expires = w.expires
    FROM unnest($2, $3, $4, $5) AS w(name, holder, token, expires)
    WHERE l.partition = $1 AND l.name = ANY($2) AND l.name = w.name
    """

  static let saveCursors: StaticString = """
    INSERT INTO caravan_cursors(partition, consumer, followed, position)
    SELECT $1, w.consumer, w.followed, w.position FROM unnest($2, $3, $4) AS w(consumer, followed, position)
    ON CONFLICT (partition, consumer, followed) DO UPDATE SET position = excluded.position
    """

  // MARK: What readers read

  static let entries: StaticString = """
    SELECT w.ordinal, r.seq, r.created, r.flags, r.type, r.writer, r.body, r.expires, r.fields, z.id, r.time, r.born,
      r.maker, r.sum
    FROM unnest($2, $3, $4) WITH ORDINALITY AS w(database, zone, name, ordinal)
    CROSS JOIN LATERAL (
      SELECT id FROM caravan_zones
      WHERE partition = $1 AND database = w.database AND name = w.zone AND stage = 0 LIMIT 1) AS z
    CROSS JOIN LATERAL (
      SELECT seq, created, flags, type, writer, body, expires, fields, time, born, maker, sum FROM caravan_records
      WHERE partition = $1 AND zone = z.id AND name = w.name LIMIT 1) AS r
    ORDER BY w.ordinal
    """

  static let expired: StaticString = """
    SELECT r.expires, r.seq, r.name, z.database, z.name
    FROM (
      SELECT expires, seq, name, zone FROM caravan_records
      WHERE partition = $1 AND expires > 0 AND expires >= $2 AND expires <= $3 AND (expires > $2 OR name > $4)
      ORDER BY expires, name LIMIT $5) AS r
    CROSS JOIN LATERAL (
      SELECT database, name, stage FROM caravan_zones WHERE partition = $1 AND id = r.zone LIMIT 1) AS z
    WHERE z.stage = 0 ORDER BY r.expires, r.name
    """

  static let aliveZone: StaticString = """
    SELECT p.life, z.id, z.seq, z.purged, z.snapshot, z.oldest_snapshot, z.incarnation
    FROM caravan_zones z JOIN caravan_partitions p ON p.partition = z.partition
    WHERE z.partition = $1 AND z.database = $2 AND z.name = $3 AND z.stage = 0
    """

  /// The next entries of a zone, as many as have room, without the bodies of the reader's own. The zone is found by a
  /// subquery, so that its entries are read in order and no further than needed.
  static let changes: StaticString = """
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
        FROM caravan_records
        WHERE partition = $1 AND seq > $4 AND zone = (
          SELECT id FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage = 0)
        ORDER BY seq LIMIT $7) AS scanned) AS measured
    WHERE before < $8 ORDER BY seq
    """

  /// The same backwards from below $4.
  static let changesBack: StaticString = """
    SELECT seq, created, flags, type, writer, is_own, name, size, CASE WHEN is_own THEN NULL ELSE body END,
      expires, CASE WHEN is_own THEN NULL ELSE fields END, time, born, maker, sum
    FROM (
      SELECT seq, created, flags, type, writer, name, size, is_own, body, expires, fields, time, born, maker, sum,
        sum(sent) OVER (ORDER BY seq DESC ROWS UNBOUNDED PRECEDING) - sent AS before
      FROM (
        SELECT seq, created, flags, type, writer, name, body, octet_length(body) AS size, expires, fields, time, born,
          maker, sum,
          writer = $5 AND epoch = $6 AND flags & $9 = 0 AS is_own,
          CASE WHEN writer = $5 AND epoch = $6 AND flags & $9 = 0 THEN 0
            ELSE octet_length(body) + coalesce(octet_length(fields), 0) END AS sent
        FROM caravan_records
        WHERE partition = $1 AND seq < $4 AND zone = (
          SELECT id FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage = 0)
        ORDER BY seq DESC LIMIT $7) AS scanned) AS measured
    WHERE before < $8 ORDER BY seq DESC
    """

  static let everyZone: StaticString = """
    SELECT p.life, z.id, z.database, z.name, z.seq, z.incarnation FROM caravan_zones z
    JOIN caravan_partitions p ON p.partition = z.partition
    WHERE z.partition = $1 AND z.stage = 0 ORDER BY z.id LIMIT $2
    """

  static let namedZones: StaticString = """
    SELECT p.life, z.id, z.database, z.name, z.seq, z.incarnation FROM caravan_zones z
    JOIN caravan_partitions p ON p.partition = z.partition
    WHERE z.partition = $1 AND z.stage = 0 AND z.name = $3 ORDER BY z.id LIMIT $2
    """

  /// Of the databases from one key on and below another.
  static let zonesBetween: StaticString = """
    SELECT p.life, z.id, z.database, z.name, z.seq, z.incarnation FROM caravan_zones z
    JOIN caravan_partitions p ON p.partition = z.partition
    WHERE z.partition = $1 AND z.stage = 0 AND z.database >= $3 AND z.database < $4 ORDER BY z.id LIMIT $2
    """

  /// Chunks in the order asked, absent ones too, until the bytes have no room; the first that is there always has.
  static let chunkBytes: StaticString = """
    SELECT ordinal, bytes FROM (
      SELECT w.ordinal, c.bytes, coalesce(c.size, 0) AS size,
        sum(coalesce(c.size, 0)) OVER (ORDER BY w.ordinal ROWS UNBOUNDED PRECEDING) AS sent
      FROM unnest($3) WITH ORDINALITY AS w(hash, ordinal)
      LEFT JOIN LATERAL (
        SELECT bytes, size FROM caravan_chunks
        WHERE partition = $1 AND database = $2 AND hash = w.hash LIMIT 1) AS c ON true) AS measured
    WHERE sent <= $4 OR sent = size ORDER BY ordinal
    """

  static let logHead: StaticString = "SELECT head, life FROM caravan_partitions WHERE partition = $1"

  static let logHeads: StaticString = "SELECT partition, head FROM caravan_partitions WHERE head > 0"

  static let log: StaticString = """
    SELECT l.position, l.low, l.high, l.deletion, l.writer, l.zone, z.database, z.name, z.incarnation
    FROM (
      SELECT position, low, high, deletion, writer, zone FROM caravan_log
      WHERE partition = $1 AND position > $2 ORDER BY position LIMIT $3) AS l
    CROSS JOIN LATERAL (
      SELECT database, name, incarnation FROM caravan_zones WHERE partition = $1 AND id = l.zone LIMIT 1) AS z
    ORDER BY l.position
    """

  static let liveLeases: StaticString = """
    SELECT l.name, l.holder, l.token, l.expires FROM caravan_leases l
    WHERE l.partition = $1 AND l.name >= $2 AND l.name < $3
      AND l.expires > coalesce($4, CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint))
    ORDER BY l.name
    """

  static let cursor: StaticString = """
    SELECT position FROM caravan_cursors WHERE partition = $1 AND consumer = $2 AND followed = $3
    """
}

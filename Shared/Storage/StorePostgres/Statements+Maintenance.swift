/// Statements that look at all partitions; none of them writes.
enum Surveys {
  static let status: StaticString = """
    SELECT CAST(sum(zones) AS bigint), CAST(sum(records) AS bigint), CAST(sum(chunks) AS bigint),
      CAST(sum(chunk_bytes) AS bigint)
    FROM caravan_partitions
    """

  /// Of the partition that has given most ids of zones.
  static let lastZone: StaticString = "SELECT max(last_zone) FROM caravan_partitions"

  static let purging: StaticString = "SELECT DISTINCT partition FROM caravan_zones WHERE stage % 3 = 1 ORDER BY 1"

  static let unreferenced: StaticString = """
    SELECT DISTINCT partition FROM caravan_chunks WHERE refs = 0 AND (staged < $1 OR staged > $2) ORDER BY 1
    """

  static let buried: StaticString = """
    SELECT p.partition FROM caravan_partitions p
    CROSS JOIN LATERAL (
      SELECT zone FROM caravan_records WHERE partition = p.partition AND flags % 2 = 1 ORDER BY zone LIMIT 1) AS r
    ORDER BY p.partition
    """

  static let snapshots: StaticString = """
    SELECT DISTINCT partition FROM caravan_zones WHERE snapshot > 0 AND stage = 0 ORDER BY 1
    """

  static let endedLeases: StaticString = """
    SELECT p.partition FROM caravan_partitions p
    CROSS JOIN LATERAL (
      SELECT name FROM caravan_leases WHERE partition = p.partition AND expires < $1 AND name <> '' LIMIT 1) AS l
    ORDER BY p.partition
    """

  /// Whose log is longer than what is kept.
  static let longLogs: StaticString = """
    SELECT p.partition FROM caravan_partitions p
    WHERE p.head - $1 >= (
      SELECT l.position FROM caravan_log l WHERE l.partition = p.partition ORDER BY l.position LIMIT 1)
    ORDER BY 1
    """
}

/// Maintenance, a partition at a time.
enum MaintenanceStatements {
  static let purgedZone: StaticString = """
    SELECT id, database FROM caravan_zones WHERE partition = $1 AND stage % 3 = 1 ORDER BY id LIMIT 1
    """

  static let purgedRecords: StaticString = """
    SELECT seq, chunks, name, flags FROM caravan_records WHERE partition = $1 AND zone = $2 ORDER BY seq LIMIT $3
    """

  static let removeRecords: StaticString = """
    DELETE FROM caravan_records WHERE partition = $1 AND zone = $2 AND seq <= $3
    """

  static let endPurge: StaticString = """
    UPDATE caravan_zones SET stage = CASE WHEN stage = 4 THEN 5 ELSE 2 END WHERE partition = $1 AND id = $2
    """

  static let deadChunks: StaticString = """
    SELECT database, hash, size FROM caravan_chunks
    WHERE partition = $1 AND refs = 0 AND staged < $2 ORDER BY staged LIMIT $3
    """

  /// Those to be kept for longer than any is.
  static let redateChunks: StaticString = """
    UPDATE caravan_chunks SET staged = $2 WHERE partition = $1 AND (database, hash) IN (
      SELECT c.database, c.hash FROM caravan_chunks c
      WHERE c.partition = $1 AND c.refs = 0 AND c.staged > $3 ORDER BY c.staged LIMIT $4)
    """

  static let removeChunks: StaticString = """
    DELETE FROM caravan_chunks WHERE partition = $1 AND database = $2 AND hash = ANY($3)
    """

  static let countChunks: StaticString = """
    UPDATE caravan_partitions SET chunks = chunks - $2, chunk_bytes = chunk_bytes - $3 WHERE partition = $1
    """

  static let trimLog: StaticString = """
    DELETE FROM caravan_log WHERE partition = $1 AND position IN (
      SELECT position FROM caravan_log WHERE partition = $1 AND position <= (
        SELECT head - $2 FROM caravan_partitions WHERE partition = $1)
      ORDER BY position LIMIT $3)
    """

  static let endedLeases: StaticString = """
    SELECT name, token FROM caravan_leases WHERE partition = $1 AND expires < $2 AND name <> '' ORDER BY name LIMIT $3
    """

  static let noteForgotten: StaticString = """
    INSERT INTO caravan_leases(partition, name, holder, token, expires)
    SELECT $1, w.name, '', w.token, 0 FROM unnest($2, $3) AS w(name, token)
    ON CONFLICT (partition, name) DO UPDATE SET token = greatest(caravan_leases.token, excluded.token)
    """

  static let removeLeases: StaticString = "DELETE FROM caravan_leases WHERE partition = $1 AND name = ANY($2)"

  /// Writers of more epochs than a device has, or with more outcomes in one than anybody needs; the worst first.
  static let crowdedWriters: StaticString = """
    SELECT e.writer, max(e.kept) FROM (
      SELECT o.writer, o.epoch, count(*) AS kept FROM caravan_ops o WHERE o.partition = $1
      GROUP BY o.writer, o.epoch) AS e
    GROUP BY e.writer HAVING count(*) > $2 OR max(e.kept) > $3
    ORDER BY max(e.kept) DESC, count(*) DESC, e.writer LIMIT $4
    """

  /// The oldest epoch of a writer that is kept.
  static let oldestEpochKept: StaticString = """
    SELECT epoch FROM (SELECT DISTINCT epoch FROM caravan_ops WHERE partition = $1 AND writer = $2) AS e
    ORDER BY epoch DESC LIMIT 1 OFFSET $3
    """

  /// Of epochs before one, but for those that have groups.
  static let forgetEpochs: StaticString = """
    DELETE FROM caravan_ops WHERE partition = $1 AND writer = $2 AND (epoch, number) IN (
      SELECT o.epoch, o.number FROM caravan_ops o WHERE o.partition = $1 AND o.writer = $2 AND o.epoch < $3
        AND NOT EXISTS (
          SELECT 1 FROM caravan_groups g WHERE g.partition = $1 AND g.writer = $2 AND g.epoch = o.epoch)
      ORDER BY o.epoch, o.number LIMIT $4)
    RETURNING number
    """

  static let forgetFloors: StaticString = """
    DELETE FROM caravan_writers w WHERE w.partition = $1 AND w.name = $2 AND w.epoch < $3 AND NOT EXISTS (
      SELECT 1 FROM caravan_ops o WHERE o.partition = $1 AND o.writer = $2 AND o.epoch = w.epoch)
    """

  static let crowdedEpochs: StaticString = """
    SELECT epoch, count(*) FROM caravan_ops WHERE partition = $1 AND writer = $2
    GROUP BY epoch HAVING count(*) > $3 ORDER BY epoch LIMIT $4
    """

  /// The outcome behind so many of an epoch.
  static let outcomeBehind: StaticString = """
    SELECT number FROM caravan_ops WHERE partition = $1 AND writer = $2 AND epoch = $3
    ORDER BY number LIMIT 1 OFFSET $4
    """
}

/// Statements that look at all partitions; none of them writes.
enum Surveys {
  static let status: StaticString = """
    SELECT CAST(sum(zones) AS bigint), CAST(sum(records) AS bigint), CAST(sum(chunks) AS bigint),
      CAST(sum(chunk_bytes) AS bigint)
    FROM caravan_partitions
    """

  static let purging: StaticString = "SELECT DISTINCT partition FROM caravan_zones WHERE stage % 3 = 1 ORDER BY 1"

  static let unreferenced: StaticString = """
    SELECT DISTINCT partition FROM caravan_chunks WHERE refs = 0 AND staged < $1 ORDER BY 1
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

  /// Whose log is longer than what is kept.
  static let longLogs: StaticString = """
    SELECT p.partition FROM caravan_partitions p
    WHERE p.head - $1 >= (
      SELECT l.position FROM caravan_log l WHERE l.partition = p.partition ORDER BY l.position LIMIT 1)
    ORDER BY 1
    """
}

/// Upkeep, a partition at a time.
enum UpkeepStatements {
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
}

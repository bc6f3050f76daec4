internal import CaravanPostgreSQL
internal import CaravanStore

/// What backups read and write: whole partitions, once, so the rules of statements that are always at work do not hold.
enum ArchiveStatements {
  static let partitions: StaticString =
    "SELECT partition, life, head, reach FROM caravan_partitions ORDER BY partition"

  static let databases: StaticString = """
    SELECT DISTINCT database FROM caravan_zones WHERE partition = $1 ORDER BY database
    """

  static let zones: StaticString = """
    SELECT id, name, seq, stage, incarnation, lost_through FROM caravan_zones
    WHERE partition = $1 AND database = $2 AND stage < 4 ORDER BY id
    """

  static let chunks: StaticString = """
    SELECT hash, bytes, size FROM caravan_chunks
    WHERE partition = $1 AND database = $2 AND hash > $3 ORDER BY hash LIMIT 32
    """

  static let records: StaticString = """
    SELECT seq, name, created, flags, type, expires, fields, chunks, writer, epoch, body, time, born, maker, sum
    FROM caravan_records
    WHERE partition = $1 AND zone = $2 AND seq > $3 ORDER BY seq LIMIT 256
    """

  static let links: StaticString = """
    SELECT target, kinds FROM caravan_refs WHERE partition = $1 AND zone = $2 AND source = $3 ORDER BY target
    """

  static let ops: StaticString = """
    SELECT o.writer, o.epoch, o.number, o.outcome, coalesce(w.floor, 0) FROM caravan_ops o
    LEFT JOIN caravan_writers w ON w.partition = $1 AND w.name = o.writer AND w.epoch = o.epoch
    WHERE o.partition = $1 ORDER BY o.writer, o.epoch, o.number
    """

  static let quotas: StaticString = """
    SELECT account, max_records, max_bytes FROM caravan_accounts WHERE partition = $1 AND own = 1 ORDER BY account
    """

  static let saveReach: StaticString = "UPDATE caravan_partitions SET reach = $2 WHERE partition = $1"

  static let anything: StaticString = "SELECT 1 FROM caravan_zones LIMIT 1"

  /// The position of each zone's latest change in the log.
  static let saveChanged: StaticString = """
    UPDATE caravan_zones z SET changed = w.changed FROM unnest($2, $3) AS w(id, changed)
    WHERE z.partition = $1 AND z.id = w.id
    """

  static let replaceOps: StaticString = """
    INSERT INTO caravan_ops(partition, writer, epoch, number, zone, outcome)
    SELECT $1, w.writer, w.epoch, w.number, w.zone, w.outcome
    FROM unnest($2, $3, $4, $5, $6) AS w(writer, epoch, number, zone, outcome)
    ON CONFLICT (partition, writer, epoch, number) DO UPDATE SET zone = excluded.zone, outcome = excluded.outcome
    """
}

extension ConnectionOptions {
  /// A transaction of it may take long.
  static func archive(_ address: ConnectionString) -> ConnectionOptions {
    var options = store(address)
    options.applicationName = "caravan-backup"
    options.replyMilliseconds = 600_000
    options.preamble += [
      "SET statement_timeout = 0", "SET idle_in_transaction_session_timeout = 0", "SET enable_seqscan = on",
      "SET enable_hashjoin = on", "SET enable_mergejoin = on", "SET plan_cache_mode = auto",
    ]
    return options
  }
}

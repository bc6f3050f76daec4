internal import CaravanPostgreSQL

/// Damaged chunks, and how far scrubbing has come. Tables beside those of the layout: they say nothing that the chunks
/// themselves do not show when they are read, so a database without them is whole.
enum DamageStatements {
  static let tables = [
    """
    CREATE TABLE IF NOT EXISTS caravan_damage(
      partition integer NOT NULL, database bytea NOT NULL, hash bytea NOT NULL, found bigint NOT NULL,
      PRIMARY KEY (partition, database, hash))
    """,
    // The chunk that was read last, of which partition.
    """
    CREATE TABLE IF NOT EXISTS caravan_scrub(
      partition integer PRIMARY KEY, reached integer NOT NULL, database bytea NOT NULL, hash bytea NOT NULL)
    """,
    // Rows of caravan_records; what is not there any more was written anew.
    """
    CREATE TABLE IF NOT EXISTS caravan_damaged_records(
      partition integer NOT NULL, zone bigint NOT NULL, seq bigint NOT NULL, found bigint NOT NULL,
      PRIMARY KEY (partition, zone, seq))
    """,
    // The row that was read last, of which partition; none: it is the chunks' turn.
    """
    CREATE TABLE IF NOT EXISTS caravan_scrub_records(
      partition integer PRIMARY KEY, reached integer NOT NULL, zone bigint NOT NULL, seq bigint NOT NULL)
    """,
  ]

  /// Makes them where they are missing; whoever may not make tables is told so.
  static func prepare(_ db: Connection) throws(PostgresError) {
    do throws(PostgresError) { _ = try db.run("SELECT 1 FROM caravan_scrub_records WHERE partition = 0") } catch {
      guard error.kind == .noSuchTable else { throw error }
      for table in tables { try db.execute(table) }
    }
  }

  static let count: StaticString = "SELECT count(*) FROM caravan_damage"

  static let note: StaticString = """
    INSERT INTO caravan_damage(partition, database, hash, found)
    SELECT $1, $2, w.hash, $4 FROM unnest($3) AS w(hash)
    ON CONFLICT (partition, database, hash) DO NOTHING
    """

  static let forget: StaticString = """
    DELETE FROM caravan_damage WHERE partition = $1 AND database = $2 AND hash = ANY($3)
    """

  static let heal: StaticString = """
    UPDATE caravan_chunks c SET size = w.size, bytes = w.bytes FROM unnest($3, $4, $5) AS w(hash, size, bytes)
    WHERE c.partition = $1 AND c.database = $2 AND c.hash = ANY($3) AND c.hash = w.hash
    """

  /// A chunk of which there are no bytes.
  static let adopt: StaticString = """
    INSERT INTO caravan_chunks(partition, database, hash, size, refs, staged, bytes)
    SELECT $1, $2, $3, $4, 0, $5, $6
    """

  static let list: StaticString = """
    SELECT m.database, m.hash, m.found, c.size, c.refs FROM caravan_damage m
    JOIN caravan_chunks c ON c.partition = m.partition AND c.database = m.database AND c.hash = m.hash
    ORDER BY c.refs = 0, m.partition, m.database, m.hash LIMIT $1
    """

  /// Of the databases from one key on and below another.
  static let listBetween: StaticString = """
    SELECT m.database, m.hash, m.found, c.size, c.refs FROM caravan_damage m
    JOIN caravan_chunks c ON c.partition = m.partition AND c.database = m.database AND c.hash = m.hash
    WHERE m.database >= $2 AND m.database < $3 ORDER BY c.refs = 0, m.partition, m.database, m.hash LIMIT $1
    """

  /// Zone by zone: without OFFSET 0 the server joins both tables as it likes, and may begin with all records of the
  /// partition.
  static let namers: StaticString = """
    SELECT z.name, r.name, r.chunks, r.seq FROM caravan_zones z CROSS JOIN LATERAL (
      SELECT name, chunks, seq FROM caravan_records WHERE partition = z.partition AND zone = z.id
      AND chunks IS NOT NULL OFFSET 0) r
    WHERE z.partition = $1 AND z.database = $2 AND z.stage = 0 ORDER BY z.id, r.seq
    """

  static let scrubbed: StaticString = "SELECT reached, database, hash FROM caravan_scrub WHERE partition = 0"

  static let scrub: StaticString = """
    SELECT database, hash, size FROM caravan_chunks WHERE partition = $1 AND (database, hash) > ($2, $3)
    ORDER BY database, hash LIMIT $4
    """

  static let saveScrub: StaticString = """
    INSERT INTO caravan_scrub(partition, reached, database, hash) VALUES (0, $1, $2, $3)
    ON CONFLICT (partition) DO UPDATE SET reached = excluded.reached, database = excluded.database, hash = excluded.hash
    """
}

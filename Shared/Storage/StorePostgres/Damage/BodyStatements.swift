internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Damaged rows of `caravan_records`, in the tables beside those of the layout (`DamageStatements`).
enum BodyStatements {
  static let count: StaticString = """
    SELECT count(*) FROM caravan_damaged_records m
    CROSS JOIN LATERAL (
      SELECT seq FROM caravan_records WHERE partition = m.partition AND zone = m.zone AND seq = m.seq LIMIT 1) AS r
    CROSS JOIN LATERAL (
      SELECT stage FROM caravan_zones WHERE partition = m.partition AND id = m.zone LIMIT 1) AS z
    WHERE z.stage = 0
    """

  static let list: StaticString = """
    SELECT z.database, z.name, r.name, m.seq, octet_length(r.body), m.found FROM caravan_damaged_records m
    CROSS JOIN LATERAL (
      SELECT name, body FROM caravan_records
      WHERE partition = m.partition AND zone = m.zone AND seq = m.seq LIMIT 1) AS r
    CROSS JOIN LATERAL (
      SELECT database, name, stage FROM caravan_zones WHERE partition = m.partition AND id = m.zone LIMIT 1) AS z
    WHERE z.stage = 0 ORDER BY m.partition, m.zone, m.seq LIMIT $1
    """

  /// Of the databases from one key on and below another.
  static let listBetween: StaticString = """
    SELECT z.database, z.name, r.name, m.seq, octet_length(r.body), m.found FROM caravan_damaged_records m
    CROSS JOIN LATERAL (
      SELECT name, body FROM caravan_records
      WHERE partition = m.partition AND zone = m.zone AND seq = m.seq LIMIT 1) AS r
    CROSS JOIN LATERAL (
      SELECT database, name, stage FROM caravan_zones WHERE partition = m.partition AND id = m.zone LIMIT 1) AS z
    WHERE z.stage = 0 AND z.database >= $2 AND z.database < $3 ORDER BY m.partition, m.zone, m.seq LIMIT $1
    """

  static let note: StaticString = """
    INSERT INTO caravan_damaged_records(partition, zone, seq, found)
    SELECT $1, z.id, w.seq, $5 FROM unnest($4) AS w(seq)
    CROSS JOIN LATERAL (
      SELECT id FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 AND stage = 0 LIMIT 1) AS z
    ON CONFLICT (partition, zone, seq) DO NOTHING
    """

  static let noteOfZones: StaticString = """
    INSERT INTO caravan_damaged_records(partition, zone, seq, found)
    SELECT $1, w.zone, w.seq, $4 FROM unnest($2, $3) AS w(zone, seq)
    ON CONFLICT (partition, zone, seq) DO NOTHING
    """

  /// Of records that were written anew.
  static let forget: StaticString = """
    DELETE FROM caravan_damaged_records m WHERE m.partition = $1 AND NOT EXISTS (
      SELECT 1 FROM caravan_records r WHERE r.partition = $1 AND r.zone = m.zone AND r.seq = m.seq)
    """

  static let scrubbed: StaticString = "SELECT reached, zone, seq FROM caravan_scrub_records WHERE partition = 0"

  /// The last column says whether the database has each chunk that the row's list names. Chunks stay while a record
  /// names them, so a list that names another is not as it was written; no sum is kept of lists.
  static let scrub: StaticString = """
    SELECT r.zone, r.seq, r.name, r.created, r.flags, r.type, r.expires, r.fields, r.body, r.sum,
      r.chunks IS NULL OR octet_length(r.chunks) % 32 = 0 AND NOT EXISTS (
        SELECT 1 FROM generate_series(1, octet_length(r.chunks), 32) AS place
        WHERE NOT EXISTS (
          SELECT 1 FROM caravan_zones z
          JOIN caravan_chunks c ON c.partition = $1 AND c.database = z.database
          WHERE z.partition = $1 AND z.id = r.zone AND c.hash = substring(r.chunks FROM place FOR 32)))
    FROM caravan_records r WHERE r.partition = $1 AND (r.zone, r.seq) > ($2, $3) ORDER BY r.zone, r.seq LIMIT $4
    """

  static let saveScrub: StaticString = """
    INSERT INTO caravan_scrub_records(partition, reached, zone, seq) VALUES (0, $1, $2, $3)
    ON CONFLICT (partition) DO UPDATE SET reached = excluded.reached, zone = excluded.zone, seq = excluded.seq
    """

  static let endScrub: StaticString = "DELETE FROM caravan_scrub_records WHERE partition = $1"
}

extension Pipeline {
  /// Records that were damaged where they come from.
  mutating func add(damagedAmong records: [RecordContent], in zone: Int64, _ partition: Int32, at now: Int64) {
    let damaged = records.filter { $0.sum != nil }.map(\.entry.version)
    if !damaged.isEmpty { add(BodyStatements.noteOfZones, partition, damaged.map { _ in zone }, damaged, now) }
  }
}

/// What migrations read and write: whole partitions, once, so the rules of statements that are always at work do not
/// hold.
enum MigrationStatements {
  /// Adding a column that may be NULL, or has a constant for its default, writes to no row.
  static let layout5 = [
    "ALTER TABLE caravan_zones ADD COLUMN IF NOT EXISTS time bigint NOT NULL DEFAULT 0",
    "ALTER TABLE caravan_records ADD COLUMN IF NOT EXISTS time bigint",
    "ALTER TABLE caravan_records ADD COLUMN IF NOT EXISTS born bigint",
    "ALTER TABLE caravan_records ADD COLUMN IF NOT EXISTS maker bytea",
    "ALTER TABLE caravan_superseded ADD COLUMN IF NOT EXISTS time bigint",
    "ALTER TABLE caravan_superseded ADD COLUMN IF NOT EXISTS born bigint",
    "ALTER TABLE caravan_superseded ADD COLUMN IF NOT EXISTS maker bytea",
    "CREATE INDEX IF NOT EXISTS caravan_leases_by_end ON caravan_leases(partition, expires)",
  ]

  /// What is there stays without: nobody can tell whether it still is what was written.
  static let layout6 = [
    "ALTER TABLE caravan_records ADD COLUMN IF NOT EXISTS sum bigint",
    "ALTER TABLE caravan_superseded ADD COLUMN IF NOT EXISTS sum bigint",
  ]

  /// How far each partition is; the first one's row is the database's, and is written last.
  static let layoutOfPartition: StaticString = "SELECT version FROM caravan_layout WHERE partition = $1"
  static let saveLayout: StaticString = """
    INSERT INTO caravan_layout(partition, version) SELECT $1, $2
    ON CONFLICT (partition) DO UPDATE SET version = excluded.version
    """

  static let registry: StaticString = """
    SELECT r.name, r.body FROM caravan_zones z JOIN caravan_records r ON r.partition = z.partition AND r.zone = z.id
    WHERE z.partition = $1 AND z.database = $2 AND z.name = $3 AND z.stage = 0 AND r.flags % 2 = 0
    """

  static let zones: StaticString = "SELECT id, database FROM caravan_zones WHERE partition = $1"

  // MARK: Names beside a zone

  static let writersOfRecords: StaticString =
    "SELECT DISTINCT zone, writer, epoch FROM caravan_records WHERE partition = $1"
  static let renameRecords: StaticString = """
    UPDATE caravan_records r SET writer = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.writer = w.old
    """

  static let writersOfSuperseded: StaticString =
    "SELECT DISTINCT zone, writer, epoch FROM caravan_superseded WHERE partition = $1"
  static let renameSuperseded: StaticString = """
    UPDATE caravan_superseded r SET writer = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.writer = w.old
    """

  static let writersOfFootprints: StaticString =
    "SELECT DISTINCT zone, writer FROM caravan_footprints WHERE partition = $1"
  static let renameFootprints: StaticString = """
    UPDATE caravan_footprints r SET writer = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.writer = w.old
    """

  static let sighted: StaticString = "SELECT DISTINCT zone, device FROM caravan_sightings WHERE partition = $1"
  static let renameSightings: StaticString = """
    UPDATE caravan_sightings r SET device = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.device = w.old
    """

  static let writersOfLog: StaticString = "SELECT DISTINCT zone, writer FROM caravan_log WHERE partition = $1"
  static let renameLog: StaticString = """
    UPDATE caravan_log r SET writer = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.writer = w.old
    """

  static let writersOfObjects: StaticString =
    "SELECT DISTINCT zone, writer FROM caravan_objects WHERE partition = $1"
  static let renameObjects: StaticString = """
    UPDATE caravan_objects r SET writer = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.writer = w.old
    """

  static let writersOfOps: StaticString =
    "SELECT DISTINCT zone, writer, epoch FROM caravan_ops WHERE partition = $1"
  static let renameOps: StaticString = """
    UPDATE caravan_ops r SET writer = w.new FROM unnest($2, $3, $4) AS w(zone, old, new)
    WHERE r.partition = $1 AND r.zone > 0 AND r.zone = w.zone AND r.writer = w.old
    """

  // MARK: Names beside a database

  static let renameParts: StaticString = """
    UPDATE caravan_group_parts p SET writer = w.new FROM unnest($2, $3, $4, $5) AS w(writer, epoch, number, new)
    WHERE p.partition = $1 AND p.writer = w.writer AND p.epoch = w.epoch AND p.number = w.number
    """
  static let groups: StaticString =
    "SELECT database, writer, epoch, number FROM caravan_groups WHERE partition = $1"
  static let renameGroups: StaticString = """
    UPDATE caravan_groups g SET writer = w.new FROM unnest($2, $3, $4, $5) AS w(writer, epoch, number, new)
    WHERE g.partition = $1 AND g.writer = w.writer AND g.epoch = w.epoch AND g.number = w.number
    """

  /// The text after all that begin with `lock/`.
  static let locks: StaticString =
    "SELECT name, holder FROM caravan_leases WHERE partition = $1 AND name > 'lock/' AND name < 'lock0'"
  static let renameLocks: StaticString = """
    UPDATE caravan_leases l SET holder = w.holder FROM unnest($2, $3) AS w(name, holder)
    WHERE l.partition = $1 AND l.name = w.name
    """

  // MARK: Names beside nothing

  static let floors: StaticString = "SELECT name, epoch FROM caravan_writers WHERE partition = $1"
  static let copyFloors: StaticString = """
    INSERT INTO caravan_writers(partition, name, epoch, floor)
    SELECT $1, w.new, r.epoch, r.floor FROM unnest($2, $3, $4) AS w(old, epoch, new), caravan_writers r
    WHERE r.partition = $1 AND r.name = w.old AND r.epoch = w.epoch
    """
  static let removeFloors: StaticString = """
    DELETE FROM caravan_writers r USING unnest($2, $3) AS w(old, epoch)
    WHERE r.partition = $1 AND r.name = w.old AND r.epoch = w.epoch
    """

  /// Of ops that wrote to no zone.
  static let copyOps: StaticString = """
    INSERT INTO caravan_ops(partition, writer, epoch, number, zone, outcome)
    SELECT $1, w.new, r.epoch, r.number, 0, r.outcome FROM unnest($2, $3, $4) AS w(old, epoch, new), caravan_ops r
    WHERE r.partition = $1 AND r.writer = w.old AND r.epoch = w.epoch AND r.zone = 0
    """
  static let removeOps: StaticString = """
    DELETE FROM caravan_ops r USING unnest($2, $3) AS w(old, epoch)
    WHERE r.partition = $1 AND r.writer = w.old AND r.epoch = w.epoch AND r.zone = 0
    """

  // MARK: Histories of fields

  static let histories: StaticString = """
    SELECT zone, seq, writer, fields FROM caravan_records
    WHERE partition = $1 AND fields IS NOT NULL AND (zone > $2 OR zone = $2 AND seq > $3) ORDER BY zone, seq LIMIT 256
    """
  static let saveHistories: StaticString = """
    UPDATE caravan_records r SET fields = w.fields FROM unnest($2, $3, $4) AS w(zone, seq, fields)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.seq = w.seq
    """
  static let supersededHistories: StaticString = """
    SELECT zone, seq, writer, fields FROM caravan_superseded
    WHERE partition = $1 AND fields IS NOT NULL AND (zone > $2 OR zone = $2 AND seq > $3) ORDER BY zone, seq LIMIT 256
    """
  static let saveSupersededHistories: StaticString = """
    UPDATE caravan_superseded r SET fields = w.fields FROM unnest($2, $3, $4) AS w(zone, seq, fields)
    WHERE r.partition = $1 AND r.zone = w.zone AND r.seq = w.seq
    """
}

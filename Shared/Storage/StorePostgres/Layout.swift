internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
internal import CaravanStore

/// The tables, alike on PostgreSQL, Citus, YugabyteDB and CockroachDB: every key begins with the partition, by which
/// they are distributed, so all that one write touches lies in one place; nothing counts or acts by itself in the
/// database. All text is kept as bytes: they have one order on every server, where collations have many.
enum Layout {
  static let version: Int64 = 6

  static let tables = [
    """
    CREATE TABLE IF NOT EXISTS caravan_layout(partition integer PRIMARY KEY, version bigint NOT NULL)
    """,
    // Whoever writes to a partition holds its row: it counts the log and the zones, and knows what there is.
    // `life` is drawn when it is made and part of every incarnation, so that tokens of a lost database never fit its
    // successor; `reach`: of what was restored from a backup, no zone was given a later version before that; 0: nothing
    // was.
    """
    CREATE TABLE IF NOT EXISTS caravan_partitions(
      partition integer PRIMARY KEY, life bigint NOT NULL, head bigint NOT NULL CHECK (head >= 0),
      last_zone bigint NOT NULL, zones bigint NOT NULL, records bigint NOT NULL, chunks bigint NOT NULL,
      chunk_bytes bigint NOT NULL, reach bigint NOT NULL)
    """,
    // A deleted zone keeps its row for a while: its successor's versions continue from its seq, and the log refers to
    // it; then `.buried` stands for it (BuriedZones). `changed`
    // is the position of its latest change in the log; no tombstone above `purged` was ever purged; `snapshot` is its
    // newest snapshot, `oldest_snapshot` the oldest that can still be read, 0: none can; if `linked` is 0, none of its
    // records ever had a row in caravan_refs. `incarnation` is 0 where it follows from the partition's life and the id:
    // else the zone came from another store, and keeps the life that devices know. `lost_through` is where the versions
    // end that a restore took back, 0 but for a life that was restored. `time` is when the zone was last written to,
    // or deleted.
    """
    CREATE TABLE IF NOT EXISTS caravan_zones(
      partition integer NOT NULL, id bigint NOT NULL, database bytea NOT NULL, name bytea NOT NULL,
      seq bigint NOT NULL CHECK (seq >= 0), records bigint NOT NULL, bytes bigint NOT NULL, stage bigint NOT NULL,
      linked bigint NOT NULL, changed bigint NOT NULL, purged bigint NOT NULL, snapshot bigint NOT NULL,
      oldest_snapshot bigint NOT NULL, incarnation bigint NOT NULL, lost_through bigint NOT NULL,
      time bigint NOT NULL DEFAULT 0, PRIMARY KEY (partition, id))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_zones_lives ON caravan_zones(partition, name, database, id)
    """,
    """
    CREATE UNIQUE INDEX IF NOT EXISTS caravan_zones_alive ON caravan_zones(partition, database, name) WHERE stage = 0
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_zones_dead ON caravan_zones(partition, database, id) WHERE stage > 0
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_zones_snapshots ON caravan_zones(partition, id) WHERE snapshot > 0
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_zones_purged ON caravan_zones(partition, id) WHERE stage % 3 = 1
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_zones_adopted ON caravan_zones(partition, incarnation) WHERE incarnation > 0
    """,
    // Sync index and records in one. `time` is when the entry was written; NULL: before layout 5. `born` and `maker`
    // are when and by whom its record was made, NULL where this entry did it or `time` is NULL; born is 0 where nobody
    // knows. `sum` is the row's `RowSum`; NULL: written before layout 6.
    """
    CREATE TABLE IF NOT EXISTS caravan_records(
      partition integer NOT NULL, zone bigint NOT NULL, seq bigint NOT NULL, name bytea NOT NULL,
      created bigint NOT NULL, flags bigint NOT NULL, type bigint NOT NULL, writer bytea NOT NULL,
      epoch bigint NOT NULL, expires bigint NOT NULL, fields bytea, chunks bytea, body bytea NOT NULL,
      time bigint, born bigint, maker bytea, sum bigint, PRIMARY KEY (partition, zone, seq))
    """,
    """
    CREATE UNIQUE INDEX IF NOT EXISTS caravan_records_named ON caravan_records(partition, zone, name)
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_records_expiring ON caravan_records(partition, expires) WHERE expires > 0
    """,
    // Who refers to whom by owning and validating references; kinds: 1 owning, 2 validating.
    """
    CREATE TABLE IF NOT EXISTS caravan_refs(
      partition integer NOT NULL, zone bigint NOT NULL, target bytea NOT NULL, source bytea NOT NULL,
      kinds bigint NOT NULL, PRIMARY KEY (partition, zone, target, source))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_refs_by_source ON caravan_refs(partition, zone, source)
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_records_buried ON caravan_records(partition, zone, seq) WHERE flags % 2 = 1
    """,
    // Entries no more, but of a snapshot; `until` is the version of the next entry of the record.
    """
    CREATE TABLE IF NOT EXISTS caravan_superseded(
      partition integer NOT NULL, zone bigint NOT NULL, seq bigint NOT NULL, until bigint NOT NULL,
      name bytea NOT NULL, created bigint NOT NULL, flags bigint NOT NULL, type bigint NOT NULL,
      writer bytea NOT NULL, epoch bigint NOT NULL, expires bigint NOT NULL, fields bytea, chunks bytea,
      body bytea NOT NULL, time bigint, born bigint, maker bytea, sum bigint,
      PRIMARY KEY (partition, zone, seq))
    """,
    """
    CREATE UNIQUE INDEX IF NOT EXISTS caravan_superseded_by_end ON caravan_superseded(partition, zone, until)
    """,
    // Who has left a footprint: it is written by commits.
    """
    CREATE TABLE IF NOT EXISTS caravan_footprints(
      partition integer NOT NULL, zone bigint NOT NULL, writer bytea NOT NULL, since bigint NOT NULL,
      reach bigint NOT NULL, PRIMARY KEY (partition, zone, writer))
    """,
    // Who has pulled, when last and from where: written now and then by maintenance.
    """
    CREATE TABLE IF NOT EXISTS caravan_sightings(
      partition integer NOT NULL, zone bigint NOT NULL, device bytea NOT NULL, seen bigint NOT NULL,
      target bigint NOT NULL, sighted bigint NOT NULL, PRIMARY KEY (partition, zone, device))
    """,
    """
    CREATE TABLE IF NOT EXISTS caravan_tombstone_ages(
      partition integer NOT NULL, zone bigint NOT NULL, aged bigint NOT NULL, mark bigint NOT NULL,
      marked bigint NOT NULL, PRIMARY KEY (partition, zone))
    """,
    """
    CREATE TABLE IF NOT EXISTS caravan_writers(
      partition integer NOT NULL, name bytea NOT NULL, epoch bigint NOT NULL, floor bigint NOT NULL,
      PRIMARY KEY (partition, name, epoch))
    """,
    // `zone` is the life the op wrote to; 0: none.
    """
    CREATE TABLE IF NOT EXISTS caravan_ops(
      partition integer NOT NULL, writer bytea NOT NULL, epoch bigint NOT NULL, number bigint NOT NULL,
      zone bigint NOT NULL, outcome bytea NOT NULL, PRIMARY KEY (partition, writer, epoch, number))
    """,
    """
    CREATE TABLE IF NOT EXISTS caravan_log(
      partition integer NOT NULL, position bigint NOT NULL, zone bigint NOT NULL, low bigint NOT NULL,
      high bigint NOT NULL, deletion boolean NOT NULL, writer bytea NOT NULL, PRIMARY KEY (partition, position))
    """,
    """
    CREATE TABLE IF NOT EXISTS caravan_chunks(
      partition integer NOT NULL, database bytea NOT NULL, hash bytea NOT NULL, size bigint NOT NULL,
      refs bigint NOT NULL CHECK (refs >= 0), staged bigint NOT NULL, bytes bytea NOT NULL,
      PRIMARY KEY (partition, database, hash))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_chunks_unreferenced ON caravan_chunks(partition, staged) WHERE refs = 0
    """,
    // What accounts use; and where own = 1 their own quotas, NULL: no limit.
    """
    CREATE TABLE IF NOT EXISTS caravan_accounts(
      partition integer NOT NULL, account bytea NOT NULL, records bigint NOT NULL, bytes bigint NOT NULL,
      own bigint NOT NULL, max_records bigint, max_bytes bigint, PRIMARY KEY (partition, account))
    """,
    // Leases and cursors are few and lie in partition 0, so that a cursor's write and the check of its lease meet.
    """
    CREATE TABLE IF NOT EXISTS caravan_leases(
      partition integer NOT NULL, name bytea NOT NULL, holder bytea NOT NULL, token bigint NOT NULL,
      expires bigint NOT NULL, PRIMARY KEY (partition, name))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_leases_by_end ON caravan_leases(partition, expires)
    """,
    """
    CREATE TABLE IF NOT EXISTS caravan_cursors(
      partition integer NOT NULL, consumer bytea NOT NULL, followed bigint NOT NULL, position bigint NOT NULL,
      PRIMARY KEY (partition, consumer, followed))
    """,
    // Commits in parts, by the op that makes them visible. `held` parts are still stored: those of a group that has
    // ended go in steps, and the group itself once its time is over.
    """
    CREATE TABLE IF NOT EXISTS caravan_groups(
      partition integer NOT NULL, writer bytea NOT NULL, epoch bigint NOT NULL, number bigint NOT NULL,
      database bytea NOT NULL, zone bytea NOT NULL, stage bigint NOT NULL, parts bigint NOT NULL,
      records bigint NOT NULL, bytes bigint NOT NULL, chunks bigint NOT NULL, held bigint NOT NULL,
      until bigint NOT NULL, PRIMARY KEY (partition, writer, epoch, number))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_groups_by_database ON caravan_groups(partition, database, stage)
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_groups_by_end ON caravan_groups(partition, until)
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_groups_to_clear ON caravan_groups(partition, writer) WHERE stage > 0 AND held > 0
    """,
    """
    CREATE TABLE IF NOT EXISTS caravan_group_parts(
      partition integer NOT NULL, writer bytea NOT NULL, epoch bigint NOT NULL, number bigint NOT NULL,
      part bigint NOT NULL, chunks bytea, body bytea NOT NULL, PRIMARY KEY (partition, writer, epoch, number, part))
    """,
    // Records whose objects go to the object store, or are there: stage 0 waiting, 1 done, 2 refused, 3 restored.
    // Writer, epoch and number are of the group that wrote them last, or none; `paths` says where the objects lie
    // there.
    """
    CREATE TABLE IF NOT EXISTS caravan_objects(
      partition integer NOT NULL, zone bigint NOT NULL, name bytea NOT NULL, seq bigint NOT NULL,
      writer bytea NOT NULL, epoch bigint NOT NULL, number bigint NOT NULL, stage bigint NOT NULL,
      attempts bigint NOT NULL, due bigint NOT NULL, paths bytea NOT NULL, problem bytea NOT NULL,
      PRIMARY KEY (partition, zone, name))
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_objects_due ON caravan_objects(partition, due) WHERE stage = 0
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_objects_open ON caravan_objects(partition, stage, attempts) WHERE stage <> 1
    """,
    """
    CREATE INDEX IF NOT EXISTS caravan_objects_by_op ON caravan_objects(partition, writer, epoch, number)
    """,
  ]

  /// What makes PostgreSQL itself quicker, where the engine knows it: chunks are compressed already; rows that every
  /// write changes have room beside them for their next version.
  static let tuning = [
    "ALTER TABLE caravan_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "ALTER TABLE caravan_partitions SET (fillfactor = 20)",
    "ALTER TABLE caravan_zones SET (fillfactor = 60)",
    "ALTER TABLE caravan_accounts SET (fillfactor = 60)",
  ]

  static let tableNames = [
    "caravan_layout", "caravan_partitions", "caravan_zones", "caravan_records", "caravan_refs", "caravan_writers",
    "caravan_ops", "caravan_log", "caravan_chunks", "caravan_accounts", "caravan_leases", "caravan_cursors",
    "caravan_groups", "caravan_group_parts", "caravan_footprints", "caravan_sightings", "caravan_superseded",
    "caravan_tombstone_ages", "caravan_objects",
  ]

  /// Which life of a zone, for those who read it.
  /// - Parameter stored: `caravan_zones.incarnation`.
  static func incarnation(life: UInt64, zone: Int64, stored: UInt64 = 0) -> Incarnation {
    stored == 0 ? life << 24 | UInt64(zone) : stored
  }

  static func zone(_ incarnation: Incarnation) -> Int64 { Int64(incarnation & 0xff_ffff) }

  // MARK: Making and checking

  /// Makes the tables of a new database, or brings those of an older one to this layout (`Migrations`). Any number of
  /// processes may do so at once.
  static func prepare(_ db: Connection, host: Host) throws(PostgresError) {
    for attempt in 1... {
      do throws(PostgresError) {
        if let found = try foundVersion(db) {
          guard (Migrations.oldest..<version).contains(found) else {
            try check(db, found)
            try DamageStatements.prepare(db)
            return try StagerStatements.prepare(db)
          }
          host.log.info("the store in PostgreSQL goes from layout \(found) to \(version)")
          if let complaint = try Migrations.run(db, from: found) { host.log.warning(complaint) }
          continue
        }
        try make(db, random: host.random)
      } catch {
        // Two that make the same table at once: one of them is told that its name is taken, in one way or another.
        guard error.kind != .lost, error.kind != .notPermitted, attempt < PostgresLimits.layoutAttempts else {
          throw refusal(error, db)
        }
      }
    }
  }

  private static func foundVersion(_ db: Connection) throws(PostgresError) -> Int64? {
    do throws(PostgresError) {
      return try db.run("SELECT version FROM caravan_layout WHERE partition = 0").first?.integer(0)
    } catch {
      guard error.kind == .noSuchTable else { throw error }
      return nil
    }
  }

  private static func make(_ db: Connection, random: any RandomSource) throws(PostgresError) {
    for table in tables + DamageStatements.tables + StagerStatements.tables { try db.execute(table) }
    for statement in tuning { try? db.execute(statement) }
    let partitions = Partition.all.map { Int64($0.number) }
    var pipeline = Pipeline()
    pipeline.add(
      """
      INSERT INTO caravan_partitions(partition, life, head, last_zone, zones, records, chunks, chunk_bytes,
        reach)
      SELECT w.partition, w.life, 0, 0, 0, 0, 0, 0, 0 FROM unnest($1, $2) AS w(partition, life)
      ON CONFLICT (partition) DO NOTHING
      """, partitions, partitions.map { _ in Int64(1 + random.below(1 << 32)) })
    // Last, so that whoever finds it finds everything.
    pipeline.add(
      "INSERT INTO caravan_layout(partition, version) VALUES (0, $1) ON CONFLICT (partition) DO NOTHING", version)
    _ = try db.run(pipeline)
  }

  private static func check(_ db: Connection, _ found: Int64) throws(PostgresError) {
    guard found == version else {
      throw refusal(of: found)
    }
    let lacking = try db.run(
      """
      SELECT t.name, p.name FROM unnest($1) AS t(name), unnest($2) AS p(name)
      WHERE NOT has_table_privilege(convert_from(t.name, 'UTF8'), convert_from(p.name, 'UTF8')) ORDER BY 1, 2
      """, tableNames, ["SELECT", "INSERT", "UPDATE", "DELETE"]
    ).map { "\($0.text(1)) on \($0.text(0))" }
    guard let first = lacking.first else { return }
    throw PostgresError(
      state: "42501", message: "the role lacks \(first)\(lacking.count > 1 ? " and \(lacking.count - 1) more" : "")",
      kind: .notPermitted)
  }

  /// What to say of a database that this release does not open.
  static func refusal(of layout: Int64) -> PostgresError {
    let words =
      layout > version
      ? "of a newer release: this one knows \(version); go on with the newer one, or restore a backup from before"
      : "this release opens \(Migrations.oldest) to \(version); start the release between them on it first"
    return PostgresError(state: "", message: "the database has layout \(layout), \(words)", kind: .refused)
  }

  private static func refusal(_ error: PostgresError, _ db: Connection) -> PostgresError {
    guard error.kind == .notPermitted, error.message.contains("schema") else { return error }
    return PostgresError(
      state: error.state,
      message: "\(error.message): let the role own the database, or GRANT CREATE ON SCHEMA public TO it", kind: .refused
    )
  }
}

/// `caravan_zones.stage`.
enum ZoneStage {
  static let alive: Int64 = 0
  /// Out of sight; records are being removed.
  static let purging: Int64 = 1
  static let purged: Int64 = 2
  /// Of the store that a backup was made of; what it had is in its successor.
  static let restored: Int64 = 3
  /// In another store, as far as this one knows: the log refers to it, and it is no life of the zone here.
  static let elsewhere: Int64 = 5
  /// The same; records are being removed.
  static let emptying: Int64 = 4
}

extension DatabaseID {
  /// As the tables have it: what belongs to one owner has one beginning.
  var key: String { "\(ownerText)/\(container.text)/\(environment.rawValue)" }

  /// nil when the text is not what `key` makes.
  init?(key: String) {
    let parts = key.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let environment = CaravanModel.Environment(rawValue: parts[2]),
      let database = try? DatabaseID(
        container: ContainerID(unchecked: parts[1]), environment: environment, ownerText: parts[0])
    else { return nil }
    self = database
  }
}

extension Row {
  /// From columns database and name, beginning at `column`.
  func zone(from column: Int32) throws(PostgresError) -> ZoneID {
    guard let database = DatabaseID(key: text(column)), let zone = try? ZoneID(database, text(column + 1)) else {
      throw PostgresError(state: "", message: "a stored zone is damaged: restore the database", kind: .other)
    }
    return zone
  }
}

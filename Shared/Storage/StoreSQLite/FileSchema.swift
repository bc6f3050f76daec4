internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// The tables of one file.
///
/// Big tables are clustered on an ascending integer, owner << 40 | counter: SQLite appends such rows at the edge of the
/// B-tree, where random keys would dirty a page each (8 to 13 times slower, performance.md §1).
enum FileSchema {
  static let version = 6

  static let tables = """
    -- `reach`: of what was restored from a backup, no zone was given a later version before that; 0: nothing was.
    CREATE TABLE meta(
      id INTEGER PRIMARY KEY CHECK (id = 0), life INTEGER NOT NULL, number INTEGER NOT NULL, files INTEGER NOT NULL,
      reach INTEGER NOT NULL DEFAULT 0);
    -- `made` is how many rows of zones there are, but for those of lives that a restore ended.
    CREATE TABLE databases(
      id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, container TEXT NOT NULL, environment TEXT NOT NULL,
      owner TEXT NOT NULL, chunks INTEGER NOT NULL DEFAULT 0, chunk_bytes INTEGER NOT NULL DEFAULT 0,
      made INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, container, environment));
    CREATE INDEX databases_by_partition ON databases(partition);
    -- A deleted zone keeps its row for a while: its successor's versions continue from its seq, and the log refers to
    -- it; then `.buried` stands for it (BuriedZones). `changed`
    -- is the position of its latest change in its partition's log; no tombstone above `purged` was ever purged;
    -- `snapshot` is its newest snapshot, `oldest_snapshot` the oldest that can still be read, 0: none can; if `linked`
    -- is 0, none of its records ever had a row in refs. `incarnation` is 0 where it follows from the file's life and
    -- the id: else the zone came from another store, or is in one, and keeps the life that devices know. `lost_through`
    -- is where the versions end that a restore took back, 0 but for a life that was restored.
    -- `time` is when the zone was last written to, or deleted.
    CREATE TABLE zones(
      id INTEGER PRIMARY KEY, database INTEGER NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL,
      records INTEGER NOT NULL, bytes INTEGER NOT NULL, state INTEGER NOT NULL,
      linked INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 0, purged INTEGER NOT NULL DEFAULT 0,
      snapshot INTEGER NOT NULL DEFAULT 0, oldest_snapshot INTEGER NOT NULL DEFAULT 0,
      incarnation INTEGER NOT NULL DEFAULT 0, lost_through INTEGER NOT NULL DEFAULT 0,
      time INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX zones_by_name ON zones(database, name);
    CREATE INDEX zones_to_purge ON zones(state) WHERE state = 1;
    CREATE INDEX zones_to_empty ON zones(state) WHERE state = 4;
    CREATE INDEX zones_adopted ON zones(incarnation) WHERE incarnation > 0;
    CREATE INDEX zones_with_snapshots ON zones(id) WHERE snapshot > 0;
    -- Sync index and records in one: key is zone << 40 | seq. What precedes the body is read without its overflow
    -- pages; what follows it came later, and is read where the body is. `time` is when the entry was written; NULL:
    -- before layout 5. `born` and `maker` are when and by whom its record was made, NULL where this entry did it
    -- or `time` is
    -- NULL; born is 0 where nobody knows. `sum` is the row's `RowSum`; NULL: written before layout 6.
    CREATE TABLE entries(
      key INTEGER PRIMARY KEY, writer INTEGER NOT NULL, created INTEGER NOT NULL, flags INTEGER NOT NULL,
      type INTEGER NOT NULL, name TEXT NOT NULL, expires INTEGER, fields BLOB, chunks BLOB, body BLOB NOT NULL,
      time INTEGER, born INTEGER, maker INTEGER, sum INTEGER);
    CREATE INDEX entries_by_expiry ON entries(expires) WHERE expires IS NOT NULL;
    CREATE INDEX tombstones ON entries(key) WHERE flags & 1;
    -- Entries no more, but of a snapshot: key is zone << 40 | seq, until is zone << 40 | seq of the next of the record.
    CREATE TABLE superseded(
      key INTEGER PRIMARY KEY, until INTEGER NOT NULL, writer INTEGER NOT NULL, created INTEGER NOT NULL,
      flags INTEGER NOT NULL, type INTEGER NOT NULL, name TEXT NOT NULL, expires INTEGER, fields BLOB, chunks BLOB,
      body BLOB NOT NULL, time INTEGER, born INTEGER, maker INTEGER, sum INTEGER);
    CREATE UNIQUE INDEX superseded_by_end ON superseded(until);
    -- Repeats what a commit must know of a record (created, flags, what it is charged, when and by whom it was made),
    -- so that it looks here only and not in entries. `born` is NULL where nobody knows.
    CREATE TABLE names(
      zone INTEGER NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL, created INTEGER NOT NULL,
      flags INTEGER NOT NULL, size INTEGER NOT NULL, born INTEGER, maker INTEGER,
      PRIMARY KEY (zone, name)) WITHOUT ROWID;
    -- Who refers to whom by owning and validating references: looked up by target when that is deleted, by source when
    -- that is written. kinds: 1 owning, 2 validating.
    CREATE TABLE refs(
      zone INTEGER NOT NULL, target TEXT NOT NULL, source TEXT NOT NULL, kinds INTEGER NOT NULL,
      PRIMARY KEY (zone, target, source)) WITHOUT ROWID;
    CREATE INDEX refs_by_source ON refs(zone, source);
    -- Who has left a footprint: it is written by commits.
    CREATE TABLE footprints(
      zone INTEGER NOT NULL, writer TEXT NOT NULL, first INTEGER NOT NULL, reach INTEGER NOT NULL,
      PRIMARY KEY (zone, writer)) WITHOUT ROWID;
    -- Who has pulled, when last and from where: written now and then by maintenance.
    CREATE TABLE sightings(
      zone INTEGER NOT NULL, device TEXT NOT NULL, seen INTEGER NOT NULL, target INTEGER NOT NULL,
      time INTEGER NOT NULL, PRIMARY KEY (zone, device)) WITHOUT ROWID;
    CREATE TABLE tombstone_ages(
      zone INTEGER PRIMARY KEY, aged INTEGER NOT NULL, mark INTEGER NOT NULL, marked INTEGER NOT NULL);
    -- `used` is about when the epoch last wrote; before `since` the row was another epoch's of the same writer, 0: it
    -- never was.
    CREATE TABLE writers(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, epoch INTEGER NOT NULL, floor INTEGER NOT NULL,
      used INTEGER NOT NULL DEFAULT 0, since INTEGER NOT NULL DEFAULT 0, UNIQUE (name, epoch));
    -- key is writer << 40 | op number.
    CREATE TABLE ops(key INTEGER PRIMARY KEY, outcome BLOB NOT NULL);
    -- key is partition << 40 | position.
    CREATE TABLE log(
      key INTEGER PRIMARY KEY, zone INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
      deletion INTEGER NOT NULL, writer TEXT NOT NULL);
    -- The bytes lie elsewhere, as counting references must not rewrite them: in chunk_bytes, or from `place` on in the
    -- file of long chunks. `sum` is their XXH64.
    CREATE TABLE chunks(
      database INTEGER NOT NULL, hash BLOB NOT NULL, id INTEGER, place INTEGER, size INTEGER NOT NULL,
      sum INTEGER NOT NULL, refs INTEGER NOT NULL, staged INTEGER NOT NULL,
      PRIMARY KEY (database, hash)) WITHOUT ROWID;
    CREATE INDEX chunks_unreferenced ON chunks(staged) WHERE refs = 0;
    CREATE TABLE chunk_bytes(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    -- Accounts with a quota of their own; NULL: no limit. What an account uses is the sum of its zones and databases.
    CREATE TABLE quotas(account TEXT PRIMARY KEY, records INTEGER, bytes INTEGER) WITHOUT ROWID;
    CREATE TABLE leases(
      name TEXT PRIMARY KEY, holder TEXT NOT NULL, token INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX leases_by_end ON leases(expires);
    CREATE TABLE cursors(
      consumer TEXT NOT NULL, partition INTEGER NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY (consumer, partition)) WITHOUT ROWID;
    -- Commits in parts, by writer << 40 | op number. `held` parts are still stored: those of a group that has ended go
    -- in steps, and the group itself once its time is over.
    CREATE TABLE groups(
      key INTEGER PRIMARY KEY, database INTEGER NOT NULL, zone TEXT NOT NULL, stage INTEGER NOT NULL,
      parts INTEGER NOT NULL, records INTEGER NOT NULL, bytes INTEGER NOT NULL, chunks INTEGER NOT NULL,
      held INTEGER NOT NULL, until INTEGER NOT NULL);
    CREATE INDEX groups_by_database ON groups(database, stage);
    CREATE INDEX groups_to_clear ON groups(key) WHERE stage > 0 AND held > 0;
    CREATE INDEX groups_by_end ON groups(until);
    CREATE TABLE group_parts(
      id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, number INTEGER NOT NULL, chunks BLOB, body BLOB NOT NULL,
      UNIQUE (owner, number));
    -- Records whose objects go to the object store, or are there: stage 0 waiting, 1 done, 2 refused, 3 restored. `op`
    -- is the key of the group that wrote them last; `paths` says where the objects lie there.
    CREATE TABLE objects(
      zone INTEGER NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL, op INTEGER, stage INTEGER NOT NULL,
      attempts INTEGER NOT NULL, due INTEGER NOT NULL, paths TEXT NOT NULL, problem TEXT NOT NULL,
      PRIMARY KEY (zone, name)) WITHOUT ROWID;
    CREATE INDEX objects_due ON objects(due, attempts) WHERE stage = 0;
    CREATE INDEX objects_refused ON objects(zone) WHERE stage = 2;
    CREATE INDEX objects_by_op ON objects(op) WHERE op IS NOT NULL;
    """

  /// Makes the tables of a new file, or brings those of an older one to this layout (`FileMigrations`).
  /// - Parameters:
  ///   - names: whose devices are, for a file that does not say; asked where an older file names them without a user.
  /// - Returns: the file's life: drawn when it is made and part of every incarnation, so that tokens of a lost file
  ///   never fit its successor.
  static func prepare(
    _ db: Connection, number: Int, files: Int, host: Host, names: (Connection) throws(CaravanError) -> EnrolledNames
  ) throws(CaravanError) -> UInt64 {
    let found = try db.userVersion
    switch found {
    case version: break
    case 0:
      try db.transaction { () throws(CaravanError) in
        try db.execute(tables)
        try db.run(
          "INSERT INTO meta(id, life, number, files) VALUES (0, ?, ?, ?)", Int64(1 + host.random.below(1 << 32)),
          number, files)
        try db.setUserVersion(version)
      }
    case FileMigrations.oldest..<version:
      host.log.info("file \(number) of the store goes from layout \(found) to \(version)")
      if let complaint = try FileMigrations.run(db, from: found, names: names) { host.log.warning(complaint) }
    default: throw refusal("file \(number)", of: found)
    }
    guard
      let meta = try db.first(
        "SELECT life, number, files FROM meta", read: { ($0.unsigned(0), $0.integer(1), $0.integer(2)) })
    else { throw CaravanError(.internalError, "file \(number) has no meta row: restore it") }
    guard meta.1 == number, meta.2 == files else {
      throw CaravanError(
        .invalidData, "this is file \(meta.1) of \(meta.2), wanted \(number) of \(files): start with --files \(meta.2)")
    }
    return meta.0
  }

  /// What to say of a file that this release does not open.
  static func refusal(_ file: String, of layout: Int) -> CaravanError {
    guard layout > version else {
      return CaravanError(
        .invalidData,
        "\(file) has layout \(layout): this release opens \(FileMigrations.oldest) to \(version); start the release "
          + "between them on it first")
    }
    return CaravanError(
      .invalidData,
      "\(file) has layout \(layout), of a newer release: this one knows \(version); go on with the newer one, or "
        + "restore a backup from before")
  }
}

/// `zones.state`.
enum ZoneStage {
  static let alive: Int64 = 0
  /// Out of sight; entries are being removed.
  static let purging: Int64 = 1
  static let purged: Int64 = 2
  /// Of the store that a backup was made of; what it had is in its successor.
  static let restored: Int64 = 3
  /// In another store, as far as this one knows: the log refers to it, and it is no life of the zone here.
  static let elsewhere: Int64 = 5
  /// The same; entries are being removed.
  static let emptying: Int64 = 4
}

/// owner << 40 | counter.
enum Key {
  static func make(_ owner: Int64, _ counter: UInt64) -> Int64 {
    precondition(
      (0...FileLimits.highestOwner).contains(owner) && counter <= StoreLimits.highestNumber,
      "a key does not fit its bits")
    return owner << 40 | Int64(counter)
  }

  static func owner(_ key: Int64) -> Int64 { key >> 40 }

  static func counter(_ key: Int64) -> UInt64 { UInt64(key) & StoreLimits.highestNumber }
}

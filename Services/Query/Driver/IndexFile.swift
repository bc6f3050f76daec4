package import CaravanModel
package import CaravanQueryCore
package import CaravanRuntime
package import CaravanSQLite
import Glibc

/// The file that holds an index: derived data, so what is damaged or of another release is thrown away.
package struct IndexFile: IndexPlace {
  package var engine: IndexEngine { .sqlite }
  /// Of the tables below; another one means: begin anew.
  private static let version = 10
  let path: String
  let durability: ConnectionOptions.Durability

  /// - Parameter durability: what a power cut may take; an index can be built again.
  package init(path: String, durability: ConnectionOptions.Durability) {
    (self.path, self.durability) = (path, durability)
  }

  private static let slots = 1...QueryLimits.keysPerTable
  private static let keys = slots.map { "\(TableIndexes.column($0)) BLOB" }.joined(separator: ", ")
  /// With the tie-breakers, so that an index has the order of the answers. A key that a table does not use costs it
  /// nothing.
  private static let keyIndexes = slots.map { slot in
    let column = TableIndexes.column(slot)
    return "CREATE INDEX records_by_\(column) ON records(in_table, \(column), zone, name) WHERE \(column) IS NOT NULL;"
  }.joined(separator: "\n")

  private static let schema = """
    -- Databases that were asked about: of no others is anything kept.
    CREATE TABLE wanted(
      container TEXT NOT NULL, environment TEXT NOT NULL, owner TEXT NOT NULL, partition INTEGER NOT NULL,
      asked INTEGER NOT NULL, PRIMARY KEY(container, environment, owner)) WITHOUT ROWID;
    CREATE INDEX wanted_of_partition ON wanted(partition);
    CREATE TABLE cursors(partition INTEGER PRIMARY KEY, position INTEGER NOT NULL);
    -- Under which token of the partition's lease the index was current last.
    CREATE TABLE tokens(partition INTEGER PRIMARY KEY, token INTEGER NOT NULL);
    CREATE TABLE zones(
      id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, container TEXT NOT NULL, environment TEXT NOT NULL,
      owner TEXT NOT NULL, name TEXT NOT NULL, incarnation INTEGER NOT NULL, seq INTEGER NOT NULL,
      UNIQUE(container, environment, owner, name));
    CREATE INDEX zones_of_partition ON zones(partition);
    -- The records of one type (all versions of its definition) in one database.
    CREATE TABLE tables(
      id INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, owner TEXT NOT NULL, definition INTEGER NOT NULL, generation INTEGER NOT NULL,
      UNIQUE(container, environment, owner, definition));
    CREATE INDEX tables_of_partition ON tables(partition);
    CREATE TABLE uses(zone INTEGER NOT NULL, in_table INTEGER NOT NULL, PRIMARY KEY(zone, in_table)) WITHOUT ROWID;
    -- A table's indexes. One that is being built has the records up to an id, and those that were written since it was
    -- begun; one that is partial lacks the words or members of some records, which have more than an index takes.
    CREATE TABLE indexes(
      in_table INTEGER NOT NULL, field INTEGER NOT NULL, use INTEGER NOT NULL, kind TEXT NOT NULL,
      slot INTEGER NOT NULL, ready INTEGER NOT NULL, built INTEGER NOT NULL, partial INTEGER NOT NULL,
      used INTEGER NOT NULL,
      PRIMARY KEY(in_table, field, use)) WITHOUT ROWID;
    -- Bodies come last: to read a column behind a large one costs its whole length.
    CREATE TABLE records(
      id INTEGER PRIMARY KEY, in_table INTEGER NOT NULL, zone TEXT NOT NULL, name TEXT NOT NULL,
      version INTEGER NOT NULL, created INTEGER NOT NULL, type INTEGER NOT NULL, writer TEXT NOT NULL,
      modified INTEGER NOT NULL, made INTEGER NOT NULL, maker TEXT NOT NULL, \(keys), body BLOB NOT NULL);
    CREATE UNIQUE INDEX records_by_name ON records(in_table, zone, name);
    -- In the order of their ids, in which they lie: an index is built by going through the file once.
    CREATE INDEX records_of_table ON records(in_table);
    \(keyIndexes)
    CREATE TABLE members(
      in_table INTEGER NOT NULL, field INTEGER NOT NULL, value BLOB NOT NULL, record INTEGER NOT NULL,
      PRIMARY KEY(in_table, field, value, record)) WITHOUT ROWID;
    CREATE INDEX members_of_record ON members(record);
    -- Words come cut and folded, and are parted by spaces.
    CREATE VIRTUAL TABLE words USING fts5(text, tokenize = "ascii tokenchars '_'");
    -- Subscriptions to databases, found by what their queries compare with, or looked at with each record. in_table is
    -- 0 where they are about zones, or find nothing.
    CREATE TABLE standing(
      id INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, owner TEXT NOT NULL, subscriber TEXT NOT NULL, name TEXT NOT NULL,
      in_table INTEGER NOT NULL, is_scanned INTEGER NOT NULL, is_zones INTEGER NOT NULL, query BLOB NOT NULL,
      viewer TEXT, UNIQUE(container, environment, owner, subscriber, name));
    CREATE INDEX standing_of_partition ON standing(partition);
    CREATE INDEX standing_of_table ON standing(in_table) WHERE in_table > 0;
    CREATE INDEX standing_scanned ON standing(in_table) WHERE is_scanned <> 0;
    CREATE TABLE standing_types(in_table INTEGER PRIMARY KEY, type_name TEXT NOT NULL, type BLOB NOT NULL);
    -- By what a record's values are looked up (Anchor.Probe), and how many anchors of each kind there are.
    CREATE TABLE anchors(
      in_table INTEGER NOT NULL, field INTEGER NOT NULL, probe INTEGER NOT NULL, value BLOB NOT NULL,
      standing INTEGER NOT NULL, PRIMARY KEY(in_table, field, probe, value, standing)) WITHOUT ROWID;
    CREATE INDEX anchors_of_standing ON anchors(standing);
    CREATE TABLE anchored(
      in_table INTEGER NOT NULL, field INTEGER NOT NULL, probe INTEGER NOT NULL, kind TEXT NOT NULL,
      anchors INTEGER NOT NULL, PRIMARY KEY(in_table, field, probe)) WITHOUT ROWID;
    -- Notifications that their logs do not have yet.
    CREATE TABLE outbox(
      id INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, owner TEXT NOT NULL, subscriber TEXT NOT NULL, name TEXT NOT NULL,
      type TEXT NOT NULL, viewer TEXT, reason TEXT NOT NULL, zone TEXT NOT NULL, record TEXT NOT NULL,
      version INTEGER NOT NULL,
      writer TEXT NOT NULL, maker TEXT NOT NULL, at INTEGER NOT NULL, shown BLOB NOT NULL);
    CREATE INDEX outbox_of_log ON outbox(partition, subscriber, container, environment, id);
    """

  package func openForWriting(_ host: Host) throws(CaravanError) -> any IndexConnection {
    SQLiteIndexConnection(try openForWriting())
  }

  /// Makes the file where there is none of this version.
  private func openForWriting() throws(CaravanError) -> Connection {
    do throws(CaravanError) {
      let connection = try Connection(.file(path), options(isReadOnly: false))
      if try connection.userVersion == Self.version { return connection }
      connection.close()
    } catch {
      guard error.code == .internalError else { throw error }
    }
    for suffix in ["", "-wal", "-shm"] { unsafe unlink(path + suffix) }
    let connection = try Connection(.file(path), options(isReadOnly: false))
    try connection.transaction { () throws(CaravanError) in
      try connection.execute(Self.schema)
      try connection.setUserVersion(Self.version)
    }
    return connection
  }

  package func openForReading(_ host: Host) throws(CaravanError) -> any IndexConnection {
    SQLiteIndexConnection(try Connection(.file(path), options(isReadOnly: true)))
  }

  private func options(isReadOnly: Bool) -> ConnectionOptions {
    var options = ConnectionOptions()
    options.isReadOnly = isReadOnly
    options.durability = durability
    options.cacheBytes = QueryLimits.cacheBytes
    options.checkpointPages = QueryLimits.checkpointPages
    return options
  }
}

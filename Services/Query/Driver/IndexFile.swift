import CaravanModel
import CaravanSQLite
import Glibc

/// The file that holds an index: derived data, so what is damaged or of another release is thrown away.
struct IndexFile: Sendable {
  /// Of the tables below; another one means: begin anew.
  private static let version = 4
  let path: String
  let durability: ConnectionOptions.Durability

  private static let schema = """
    -- Databases that were asked about: of no others is anything kept.
    CREATE TABLE wanted(
      container TEXT NOT NULL, environment TEXT NOT NULL, owner TEXT NOT NULL, partition INTEGER NOT NULL,
      asked INTEGER NOT NULL, PRIMARY KEY(container, environment, owner)) WITHOUT ROWID;
    CREATE INDEX wanted_of_partition ON wanted(partition);
    CREATE TABLE cursors(partition INTEGER PRIMARY KEY, position INTEGER NOT NULL);
    CREATE TABLE zones(
      id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, container TEXT NOT NULL, environment TEXT NOT NULL,
      owner TEXT NOT NULL, name TEXT NOT NULL, incarnation INTEGER NOT NULL, seq INTEGER NOT NULL,
      UNIQUE(container, environment, owner, name));
    CREATE INDEX zones_of_partition ON zones(partition);
    CREATE TABLE tables(
      id INTEGER PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL, owner TEXT NOT NULL,
      definition INTEGER NOT NULL, UNIQUE(container, environment, owner, definition));
    CREATE TABLE uses(zone INTEGER NOT NULL, in_table INTEGER NOT NULL, PRIMARY KEY(zone, in_table)) WITHOUT ROWID;
    """

  /// The connection that writes. Makes the file where there is none of this version.
  func openForWriting() throws(CaravanError) -> Connection {
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

  func openForReading() throws(CaravanError) -> Connection { try Connection(.file(path), options(isReadOnly: true)) }

  private func options(isReadOnly: Bool) -> ConnectionOptions {
    var options = ConnectionOptions()
    options.isReadOnly = isReadOnly
    options.durability = durability
    return options
  }
}

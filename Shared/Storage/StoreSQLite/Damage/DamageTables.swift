internal import CaravanModel
internal import CaravanSQLite

/// Tables beside those of the layout. They say nothing that the chunks themselves do not show when they are read, so a
/// file without them is whole.
enum DamageTables {
  /// `damage`: chunks whose bytes were read and are not as they were. `scrubbing`: the chunk that was read last.
  /// `damaged_entries` and `scrubbing_entries` are the same for rows of `entries`, by their keys; what is no longer in
  /// `entries` was written anew.
  private static let tables = """
    CREATE TABLE IF NOT EXISTS damage(
      database INTEGER NOT NULL, hash BLOB NOT NULL, found INTEGER NOT NULL,
      PRIMARY KEY (database, hash)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS scrubbing(
      id INTEGER PRIMARY KEY CHECK (id = 0), database INTEGER NOT NULL, hash BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS damaged_entries(key INTEGER PRIMARY KEY, found INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS scrubbing_entries(id INTEGER PRIMARY KEY CHECK (id = 0), key INTEGER NOT NULL);
    """

  static func prepare(_ db: Connection) throws(CaravanError) { try db.execute(tables) }
}

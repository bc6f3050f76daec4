import CaravanModel
import CaravanQueryCore
import CaravanSQLite

/// The tables of records in an index file, on its writing connection. Tables and columns come as they are needed; an
/// index on a field comes with the first query that could use it.
struct IndexTables {
  struct Table {
    let id: Int64
    var fields: Set<UInt32>
    var indexes: Set<UInt32>

    var name: String { IndexTables.name(id) }
  }

  private let connection: Connection
  private var known: [TableKey: Table] = [:]
  /// More are forgotten and looked up again.
  private static let knownLimit = 4_096

  init(_ connection: Connection) { self.connection = connection }

  static func name(_ id: Int64) -> String { "r\(id)" }

  /// After a transaction was rolled back, what it made does not exist.
  mutating func forget() { known = [:] }

  mutating func find(_ key: TableKey) throws(CaravanError) -> Table? {
    if let table = known[key] { return table }
    let database = key.database
    let id = try connection.first(
      "SELECT id FROM tables WHERE container = ? AND environment = ? AND owner = ? AND definition = ?",
      database.container.text, database.environment.rawValue, database.ownerText, key.definition
    ) { row in row.integer(0) }
    guard let id else { return nil }
    let columns = try connection.all("SELECT name FROM pragma_table_info(?)", Self.name(id)) { row in row.text(0) }
    let indexes = try connection.all("SELECT name FROM pragma_index_list(?)", Self.name(id)) { row in row.text(0) }
    let table = Table(
      id: id, fields: Set(columns.compactMap { Self.number($0, after: "f") }),
      indexes: Set(indexes.compactMap { Self.number($0, after: "i\(id)_") }))
    remember(table, as: key)
    return table
  }

  private static func number(_ name: String, after prefix: String) -> UInt32? {
    name.hasPrefix(prefix) ? UInt32(name.dropFirst(prefix.count)) : nil
  }

  private mutating func remember(_ table: Table, as key: TableKey) {
    if known.count >= Self.knownLimit { known = [:] }
    known[key] = table
  }

  /// The table with a column for each of `fields`, made where it lacks.
  mutating func make(_ key: TableKey, fields: [UInt32]) throws(CaravanError) -> Table {
    var table = if let known = try find(key) { known } else { try create(key) }
    let new = fields.filter { !table.fields.contains($0) }
    guard !new.isEmpty else { return table }
    for field in new {
      // No type: SQLite then keeps every value as it came.
      try connection.execute("ALTER TABLE \(table.name) ADD COLUMN f\(field)")
      table.fields.insert(field)
    }
    remember(table, as: key)
    return table
  }

  private mutating func create(_ key: TableKey) throws(CaravanError) -> Table {
    let database = key.database
    try connection.run(
      "INSERT INTO tables(container, environment, owner, definition) VALUES(?, ?, ?, ?)", database.container.text,
      database.environment.rawValue, database.ownerText, key.definition)
    let table = Table(id: connection.lastInsertedRow, fields: [], indexes: [])
    try connection.execute(
      """
      CREATE TABLE \(table.name)(
        zone TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, created INTEGER NOT NULL,
        type INTEGER NOT NULL, writer TEXT NOT NULL, body BLOB NOT NULL, modified INTEGER NOT NULL,
        made INTEGER NOT NULL, maker TEXT NOT NULL, PRIMARY KEY(zone, name))
      """)
    remember(table, as: key)
    return table
  }

  mutating func drop(_ database: DatabaseID) throws(CaravanError) {
    let place = (database.container.text, database.environment.rawValue, database.ownerText)
    let ids = try connection.all(
      "DELETE FROM tables WHERE container = ? AND environment = ? AND owner = ? RETURNING id", place.0, place.1, place.2
    ) { row in row.integer(0) }
    for id in ids { try connection.execute("DROP TABLE \(Self.name(id))") }
    known = known.filter { $0.key.database != database }
  }

  /// Whether queries of these fields need `addIndexes` first.
  mutating func lacksIndexes(_ key: TableKey, fields: [UInt32]) throws(CaravanError) -> Bool {
    guard let table = try find(key) else { return false }
    return table.indexes.count < QueryLimits.indexesPerTable && fields.contains { !table.indexes.contains($0) }
  }

  mutating func addIndexes(_ key: TableKey, fields: [UInt32]) throws(CaravanError) {
    guard var table = try find(key) else { return }
    for field in fields where !table.indexes.contains(field) && table.indexes.count < QueryLimits.indexesPerTable {
      // With the tie-breakers, so that the index has the order of the answers.
      try connection.execute("CREATE INDEX i\(table.id)_\(field) ON \(table.name)(f\(field), zone, name)")
      table.indexes.insert(field)
    }
    remember(table, as: key)
  }
}

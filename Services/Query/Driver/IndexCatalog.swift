import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanSQLite

/// Which tables and indexes an index file has, on its writing connection. They come as they are needed: a table with
/// its first record, an index with the first query that could use it.
struct IndexCatalog {
  struct Index: Sendable {
    let need: IndexNeed
    /// The column, where it has keys.
    let slot: Int
    /// How far it is built; nil: it has every record.
    var building: Place?
  }

  /// A record, in the order in which indexes are built.
  struct Place: Sendable, Hashable {
    let zone: String
    let name: String

    static let beginning = Place(zone: "", name: "")
    fileprivate var bytes: ([UInt8], [UInt8]) { (Array(zone.utf8), Array(name.utf8)) }

    fileprivate func precedes(_ other: Place) -> Bool {
      let (a, b) = (bytes, other.bytes)
      return a.0 == b.0 ? a.1.lexicographicallyPrecedes(b.1) : a.0.lexicographicallyPrecedes(b.0)
    }
  }

  struct Table: Sendable {
    let id: Int64
    var indexes: [Index] = []

    var isReady: Bool { indexes.allSatisfy { $0.building == nil } }

    /// What queries can use.
    var ready: TableIndexes {
      var ready = TableIndexes(table: id)
      for index in indexes where index.building == nil {
        let field = index.need.field
        switch index.need.use {
        case .key: ready.slots[field] = index.slot
        case .members: ready.members.insert(field)
        case .words: ready.words.insert(field)
        }
      }
      return ready
    }

    /// Those to be built further: the ones that have got farthest, which begin at one record.
    var front: (from: Place, indexes: [Index])? {
      guard let place = indexes.compactMap(\.building).max(by: { $0.precedes($1) }) else { return nil }
      return (place, indexes.filter { $0.building == place })
    }

    func indexes(for use: IndexNeed.Use) -> [Index] { indexes.filter { $0.need.use == use } }

    /// Those of `needs` that it lacks and has room for.
    func lacking(_ needs: [IndexNeed]) -> [IndexNeed] {
      let new = needs.filter { need in !indexes.contains { $0.need == need } }
      let keys = QueryLimits.keysPerTable - indexes(for: .key).count
      let others = QueryLimits.lookupsPerTable - indexes.count { $0.need.use != .key }
      return Array(new.filter { $0.use == .key }.prefix(keys)) + new.filter { $0.use != .key }.prefix(others)
    }
  }

  private let connection: Connection
  private var known: [TableKey: Table] = [:]
  /// More are forgotten and looked up again.
  private static let knownLimit = 4_096

  init(_ connection: Connection) { self.connection = connection }

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
    let table = Table(id: id, indexes: try indexes(of: id))
    remember(table, as: key)
    return table
  }

  private func indexes(of table: Int64) throws(CaravanError) -> [Index] {
    try connection.all(
      "SELECT field, kind, use, slot, ready, zone, name FROM indexes WHERE in_table = ? ORDER BY field, use", table
    ) { row -> Index? in
      guard let kind = FieldKind(rawValue: row.text(1)),
        let use = IndexNeed.Use(rawValue: UInt8(clamping: row.integer(2)))
      else { return nil }
      return Index(
        need: IndexNeed(UInt32(clamping: row.integer(0)), kind, use), slot: Int(row.integer(3)),
        building: row.flag(4) ? nil : Place(zone: row.text(5), name: row.text(6)))
    }.compactMap(\.self)
  }

  private mutating func remember(_ table: Table, as key: TableKey) {
    if known.count >= Self.knownLimit { known = [:] }
    known[key] = table
  }

  /// The table, made where there is none.
  mutating func make(_ key: TableKey) throws(CaravanError) -> Table {
    if let table = try find(key) { return table }
    let database = key.database
    try connection.run(
      "INSERT INTO tables(container, environment, owner, definition) VALUES(?, ?, ?, ?)", database.container.text,
      database.environment.rawValue, database.ownerText, key.definition)
    let table = Table(id: connection.lastInsertedRow)
    remember(table, as: key)
    return table
  }

  /// Begins what the table lacks.
  mutating func begin(_ needs: [IndexNeed], of key: TableKey) throws(CaravanError) {
    guard var table = try find(key) else { return }
    for need in table.lacking(needs) {
      let taken = Set(table.indexes(for: .key).map(\.slot))
      let slot = need.use == .key ? (1...QueryLimits.keysPerTable).first { !taken.contains($0) } ?? 0 : 0
      precondition(need.use != .key || slot > 0, "a table has no column left for a key")
      try connection.run(
        "INSERT INTO indexes(in_table, field, use, kind, slot, ready, zone, name) VALUES(?, ?, ?, ?, ?, 0, '', '')",
        table.id, need.field, Int64(need.use.rawValue), need.kind.rawValue, slot)
      table.indexes.append(Index(need: need, slot: slot, building: .beginning))
    }
    remember(table, as: key)
  }

  /// The indexes at `start` have all records up to `end` now; nil: all there are.
  mutating func moved(_ key: TableKey, from start: Place, to end: Place?) throws(CaravanError) {
    guard var table = try find(key) else { return }
    for position in table.indexes.indices where table.indexes[position].building == start {
      table.indexes[position].building = end
      let need = table.indexes[position].need
      try connection.run(
        "UPDATE indexes SET ready = ?, zone = ?, name = ? WHERE in_table = ? AND field = ? AND use = ?", end == nil,
        end?.zone ?? "", end?.name ?? "", table.id, need.field, Int64(need.use.rawValue))
    }
    remember(table, as: key)
  }

  /// Tables with indexes that are not ready.
  func unfinished() throws(CaravanError) -> [TableKey] {
    try connection.all(
      """
      SELECT container, environment, owner, definition FROM tables
      WHERE id IN (SELECT in_table FROM indexes WHERE NOT ready)
      """
    ) { row throws(CaravanError) -> TableKey? in
      guard let environment = Environment(rawValue: row.text(1)) else { return nil }
      let database = try DatabaseID(
        container: ContainerID(row.text(0)), environment: environment, ownerText: row.text(2))
      return TableKey(database: database, definition: UInt32(clamping: row.integer(3)))
    }.compactMap(\.self)
  }

  mutating func drop(_ database: DatabaseID) throws(CaravanError) {
    let ids = try connection.all(
      "DELETE FROM tables WHERE container = ? AND environment = ? AND owner = ? RETURNING id", database.container.text,
      database.environment.rawValue, database.ownerText
    ) { row in row.integer(0) }
    for id in ids { try connection.run("DELETE FROM indexes WHERE in_table = ?", id) }
    known = known.filter { $0.key.database != database }
  }
}

import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime

/// Which tables and indexes an index has, on its writing connection. They come as they are needed: a table with
/// its first record, an index with the first query that could use it.
struct IndexCatalog {
  struct Index: Sendable {
    let need: IndexNeed
    /// The column, where it has keys.
    let slot: Int
    /// The id of the last record that it was built for, in whose order records lie; nil: it has every record.
    var building: Int64?
    /// It lacks the words or members of some records, which have more than it takes.
    var isPartial = false
    /// When a query used it last, to an hour.
    var used: WallTime
  }

  struct Table: Sendable {
    let id: Int64
    var generation: Int64 = 0
    var indexes: [Index] = []

    var isReady: Bool { indexes.allSatisfy { $0.building == nil } }

    /// What queries can use.
    var ready: TableIndexes {
      var ready = TableIndexes(table: id, generation: generation)
      for index in indexes where index.building == nil {
        let field = index.need.field
        switch index.need.use {
        case .key: ready.slots[field] = index.slot
        case .members: ready.members[field] = !index.isPartial
        case .words: ready.words[field] = !index.isPartial
        }
      }
      return ready
    }

    /// Whether all of `needs` that it has are ready.
    func isReady(for needs: [IndexNeed]) -> Bool {
      !indexes.contains { $0.building != nil && needs.contains($0.need) }
    }

    /// Those to be built further: the ones that have got farthest, which begin at one record.
    var front: (from: Int64, indexes: [Index])? {
      guard let place = indexes.compactMap(\.building).max() else { return nil }
      return (place, indexes.filter { $0.building == place })
    }

    func indexes(for use: IndexNeed.Use) -> [Index] { indexes.filter { $0.need.use == use } }

    /// Those of `needs` that it lacks and has room for, be it in place of one that nobody uses any more.
    func lacking(_ needs: [IndexNeed], at now: WallTime) -> [(need: IndexNeed, replaced: IndexNeed?)] {
      var (found, gone): ([(need: IndexNeed, replaced: IndexNeed?)], [IndexNeed]) = ([], [])
      for need in needs where !indexes.contains(where: { $0.need == need }) {
        let isKey = need.use == .key
        let taken = indexes.filter { ($0.need.use == .key) == isKey && !gone.contains($0.need) }
        let most = isKey ? QueryLimits.keysPerTable : QueryLimits.lookupsPerTable
        if taken.count + found.count(where: { ($0.need.use == .key) == isKey }) < most {
          found.append((need, nil))
          continue
        }
        let unused = taken.filter {
          !needs.contains($0.need) && now.milliseconds - $0.used.milliseconds >= QueryLimits.unusedMilliseconds
        }
        guard let oldest = unused.min(by: { $0.used < $1.used }) else { continue }
        gone.append(oldest.need)
        found.append((need, oldest.need))
      }
      return found
    }

    /// Those of `needs` whose use is to be written down.
    func unmarked(_ needs: [IndexNeed], at now: WallTime) -> [IndexNeed] {
      indexes.filter {
        needs.contains($0.need) && now.milliseconds - $0.used.milliseconds >= QueryLimits.usedMilliseconds
      }.map(\.need)
    }
  }

  private let connection: any IndexConnection
  private var known: [TableKey: Table] = [:]
  /// More are forgotten and looked up again.
  private static let knownLimit = 4_096

  init(_ connection: any IndexConnection) { self.connection = connection }

  /// After a transaction was rolled back, what it made does not exist.
  mutating func forget() { known = [:] }

  mutating func find(_ key: TableKey) throws(CaravanError) -> Table? {
    if let table = known[key] { return table }
    let database = key.database
    let row = try connection.first(
      "SELECT id, generation FROM tables WHERE container = ? AND environment = ? AND owner = ? AND definition = ?",
      database.container.text, database.environment.rawValue, database.ownerText, key.definition
    ) { row in (id: row.integer(0), generation: row.integer(1)) }
    guard let row else { return nil }
    let table = Table(id: row.id, generation: row.generation, indexes: try indexes(of: row.id))
    remember(table, as: key)
    return table
  }

  private func indexes(of table: Int64) throws(CaravanError) -> [Index] {
    try connection.all(
      """
      SELECT field, kind, use, slot, ready, built, partial, used FROM indexes WHERE in_table = ?
      ORDER BY field, use
      """, table
    ) { row -> Index? in
      guard let kind = FieldKind(rawValue: row.text(1)),
        let use = IndexNeed.Use(rawValue: UInt8(clamping: row.integer(2)))
      else { return nil }
      return Index(
        need: IndexNeed(UInt32(clamping: row.integer(0)), kind, use), slot: Int(row.integer(3)),
        building: row.isTrue(4) ? nil : row.integer(5), isPartial: row.isTrue(6),
        used: WallTime(milliseconds: row.integer(7)))
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
    let id = try connection.id(
      """
      INSERT INTO tables(partition, container, environment, owner, definition, generation) VALUES(?, ?, ?, ?, ?, 0)
      RETURNING id
      """, Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText,
      key.definition)
    let table = Table(id: id)
    remember(table, as: key)
    return table
  }

  /// Begins what the table lacks, and notes what is used.
  mutating func begin(_ needs: [IndexNeed], of key: TableKey, at now: WallTime) throws(CaravanError) {
    guard var table = try find(key) else { return }
    for (need, replaced) in table.lacking(needs, at: now) {
      if let replaced { try remove(replaced, from: &table) }
      let taken = Set(table.indexes(for: .key).map(\.slot))
      let slot = need.use == .key ? (1...QueryLimits.keysPerTable).first { !taken.contains($0) } ?? 0 : 0
      precondition(need.use != .key || slot > 0, "a table has no column left for a key")
      try connection.run(
        """
        INSERT INTO indexes(in_table, field, use, kind, slot, ready, built, partial, used)
        VALUES(?, ?, ?, ?, ?, 0, 0, 0, ?)
        """, table.id, need.field, Int64(need.use.rawValue), need.kind.rawValue, slot, now.milliseconds)
      table.indexes.append(Index(need: need, slot: slot, building: 0, used: now))
    }
    for need in table.unmarked(needs, at: now) {
      for position in table.indexes.indices where table.indexes[position].need == need {
        table.indexes[position].used = now
      }
      try connection.run(
        "UPDATE indexes SET used = ? WHERE in_table = ? AND field = ? AND use = ?", now.milliseconds, table.id,
        need.field, Int64(need.use.rawValue))
    }
    remember(table, as: key)
  }

  /// What another index will write anew stays in the records until then.
  private func remove(_ need: IndexNeed, from table: inout Table) throws(CaravanError) {
    table.indexes.removeAll { $0.need == need }
    try connection.run(
      "DELETE FROM indexes WHERE in_table = ? AND field = ? AND use = ?", table.id, need.field,
      Int64(need.use.rawValue))
    try renew(&table)
  }

  /// Whoever still knows the table as it was asks again.
  private func renew(_ table: inout Table) throws(CaravanError) {
    table.generation += 1
    try connection.run("UPDATE tables SET generation = ? WHERE id = ?", table.generation, table.id)
  }

  /// Some record has more than these indexes take.
  mutating func setPartial(_ needs: [IndexNeed], of key: TableKey) throws(CaravanError) {
    guard var table = try find(key) else { return }
    for position in table.indexes.indices where needs.contains(table.indexes[position].need) {
      guard !table.indexes[position].isPartial else { continue }
      table.indexes[position].isPartial = true
      let need = table.indexes[position].need
      try connection.run(
        "UPDATE indexes SET partial = 1 WHERE in_table = ? AND field = ? AND use = ?", table.id, need.field,
        Int64(need.use.rawValue))
      try renew(&table)
    }
    remember(table, as: key)
  }

  /// The indexes at `start` have all records up to `end` now; nil: all there are.
  mutating func moved(_ key: TableKey, from start: Int64, to end: Int64?) throws(CaravanError) {
    guard var table = try find(key) else { return }
    for position in table.indexes.indices where table.indexes[position].building == start {
      table.indexes[position].building = end
      let need = table.indexes[position].need
      try connection.run(
        "UPDATE indexes SET ready = ?, built = ? WHERE in_table = ? AND field = ? AND use = ?", end == nil, end ?? 0,
        table.id, need.field, Int64(need.use.rawValue))
    }
    remember(table, as: key)
  }

  /// Tables of a partition with indexes that are not ready.
  func unfinished(in partition: Partition) throws(CaravanError) -> [TableKey] {
    try connection.all(
      """
      SELECT container, environment, owner, definition FROM tables
      WHERE partition = ? AND id IN (SELECT in_table FROM indexes WHERE ready = 0)
      """, partition.number
    ) { row throws(CaravanError) -> TableKey? in
      try row.database().map { TableKey(database: $0, definition: UInt32(clamping: row.integer(3))) }
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

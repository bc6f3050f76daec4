import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanSQLite

/// The records in an index file and what its indexes have of them, on its writing connection.
struct IndexedRecords {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private static let slots = 1...QueryLimits.keysPerTable
  private static let ownColumns = [
    "in_table", "zone", "name", "version", "created", "type", "writer", "body", "modified", "made", "maker",
  ]
  private static let write: String = {
    let columns = ownColumns + slots.map(TableIndexes.column)
    let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    let changed = columns.dropFirst(3).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return """
      INSERT INTO records(\(columns.joined(separator: ", "))) VALUES(\(places))
      ON CONFLICT(in_table, zone, name) DO UPDATE SET \(changed) RETURNING id
      """
  }()

  /// In place of what the table has under this name.
  /// - Returns: indexes that the record has too much for.
  func write(_ row: IndexRow, _ zone: ZoneID, to table: IndexCatalog.Table) throws(CaravanError) -> [IndexNeed] {
    let (entry, authorship) = (row.entry, row.entry.authorship)
    var values: [any Bindable] = [
      table.id, zone.name, row.name, entry.version, entry.created, entry.type, entry.writer, entry.body,
      authorship.modified, authorship.created, authorship.creator,
    ]
    var keys = [SQLValue](repeating: .null, count: QueryLimits.keysPerTable)
    for index in table.indexes(for: .key) {
      keys[index.slot - 1] = .blob(row.cells.key(index.need.field, index.need.kind).bytes)
    }
    values += keys
    let statement = try connection.statement(text: Self.write)
    for (index, value) in values.enumerated() { try value.bind(to: statement, at: Int32(index) + 1) }
    guard let id = try statement.next()?.integer(0) else {
      statement.reset()
      throw CaravanError(.internalError, "the index has not taken record '\(row.name)'")
    }
    // A statement that gives rows is done once it has given the last.
    while try statement.next() != nil {}
    statement.reset()
    return try fill(members: table.indexes(for: .members), of: row.cells, id, in: table)
      + (table.indexes(for: .words).isEmpty ? [] : fill(wordsOf: row.cells, id, in: table))
  }

  /// What a record is now; nil: the table has none of this name.
  func cells(of name: String, _ zone: ZoneID, in table: Int64) throws(CaravanError) -> RecordCells? {
    try connection.first(
      "SELECT modified, made, maker, body FROM records WHERE in_table = ? AND zone = ? AND name = ?", table, zone.name,
      name
    ) { row throws(CaravanError) in
      RecordCells(
        name: name,
        authorship: Authorship(modified: row.integer(0), created: row.integer(1), creator: row.text(2)),
        fields: try BodyCells(row.bytes(3)))
    }
  }

  /// Gives some indexes the next records.
  /// - Returns: the last of them, or nil: there are no more; and indexes that some of them have too much for.
  func fill(
    _ indexes: [IndexCatalog.Index], of table: IndexCatalog.Table, after place: IndexCatalog.Place, atMost count: Int
  ) throws(CaravanError) -> (end: IndexCatalog.Place?, partial: [IndexNeed]) {
    var rows: [(id: Int64, zone: String, cells: RecordCells)] = []
    var (bytes, hasMore) = (0, false)
    let statement = try connection.statement(
      """
      SELECT id, zone, name, modified, made, maker, body FROM records
      WHERE in_table = ? AND (zone, name) > (?, ?) ORDER BY zone, name
      """)
    try statement.visit(table.id, place.zone, place.name) { row throws(CaravanError) in
      hasMore = rows.count == count || bytes >= QueryLimits.bytesPerBuildStep
      guard !hasMore else { return false }
      let body = row.bytes(6)
      bytes += body.count
      let authorship = Authorship(modified: row.integer(3), created: row.integer(4), creator: row.text(5))
      let cells = RecordCells(name: row.text(2), authorship: authorship, fields: try BodyCells(body))
      rows.append((row.integer(0), row.text(1), cells))
      return true
    }
    let members = indexes.filter { $0.need.use == .members }
    let hasWords = indexes.contains { $0.need.use == .words }
    var partial: [IndexNeed] = []
    for row in rows {
      for index in indexes where index.need.use == .key {
        try connection.statement(text: "UPDATE records SET \(TableIndexes.column(index.slot)) = ? WHERE id = ?")
          .run(row.cells.key(index.need.field, index.need.kind).bytes, row.id)
      }
      partial += try fill(members: members, of: row.cells, row.id, in: table)
      if hasWords { partial += try fill(wordsOf: row.cells, row.id, in: table) }
    }
    guard hasMore, let last = rows.last else { return (nil, partial) }
    return (IndexCatalog.Place(zone: last.zone, name: last.cells.name), partial)
  }

  private func fill(
    members indexes: [IndexCatalog.Index], of cells: RecordCells, _ id: Int64, in table: IndexCatalog.Table
  ) throws(CaravanError) -> [IndexNeed] {
    var partial: [IndexNeed] = []
    for index in indexes {
      let field = index.need.field
      try connection.run("DELETE FROM members WHERE record = ? AND field = ?", id, field)
      let keys = cells.members(field, index.need.kind)
      if keys == nil { partial.append(index.need) }
      for key in keys ?? [TableIndexes.more] {
        try connection.run(
          "INSERT INTO members(in_table, field, value, record) VALUES(?, ?, ?, ?)", table.id, field, key.bytes, id)
      }
    }
    return partial
  }

  /// One row of the index of words has those of all fields.
  private func fill(
    wordsOf cells: RecordCells, _ id: Int64, in table: IndexCatalog.Table
  ) throws(CaravanError) -> [IndexNeed] {
    var (words, partial): ([String], [IndexNeed]) = ([], [])
    for index in table.indexes(for: .words) {
      let field = index.need.field
      if let found = cells.words(field, table: table.id) {
        words += found
      } else {
        words.append(TableIndexes.token("", table: table.id, field: field))
        partial.append(index.need)
      }
    }
    if words.isEmpty {
      try connection.run("DELETE FROM words WHERE rowid = ?", id)
    } else {
      try connection.run(
        "INSERT OR REPLACE INTO words(rowid, text) VALUES(?, ?)", id, words.joined(separator: " "))
    }
    return partial
  }

  /// Deletes some of a zone's records in a table: as many as one step may.
  /// - Returns: whether it has more.
  func deleteSome(of zone: ZoneID, in table: Int64) throws(CaravanError) -> Bool {
    var ids: [Int64] = []
    var (bytes, hasMore) = (0, false)
    let statement = try connection.statement("SELECT id, length(body) FROM records WHERE in_table = ? AND zone = ?")
    try statement.visit(table, zone.name) { row in
      hasMore = ids.count == QueryLimits.recordsPerBuildStep || bytes >= QueryLimits.bytesPerBuildStep
      guard !hasMore else { return false }
      ids.append(row.integer(0))
      bytes += Int(row.integer(1))
      return true
    }
    for id in ids { try connection.run("DELETE FROM records WHERE id = ?", id) }
    return hasMore
  }
}

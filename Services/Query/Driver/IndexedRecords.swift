import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanSQLite

/// The records in an index file and what its indexes have of them, on its writing connection.
struct IndexedRecords {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private static let slots = 1...QueryLimits.keysPerTable
  private static let write: String = {
    let columns = CompiledQuery.selected + slots.map(TableIndexes.column)
    let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    let changed = columns.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return """
      INSERT INTO records(in_table, \(columns.joined(separator: ", "))) VALUES(?, \(places))
      ON CONFLICT(in_table, zone, name) DO UPDATE SET \(changed) RETURNING id
      """
  }()

  /// In place of what the table has under this name.
  func write(_ row: IndexRow, _ zone: ZoneID, to table: IndexCatalog.Table) throws(CaravanError) {
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
    try fill(members: table.indexes(for: .members), of: row.cells, id, in: table)
    if !table.indexes(for: .words).isEmpty { try fill(wordsOf: row.cells, id, in: table) }
  }

  /// Gives some indexes the next records.
  /// - Returns: the last of them; nil: there are no more.
  func fill(
    _ indexes: [IndexCatalog.Index], of table: IndexCatalog.Table, after place: IndexCatalog.Place, atMost count: Int
  ) throws(CaravanError) -> IndexCatalog.Place? {
    var rows: [(id: Int64, zone: String, cells: RecordCells)] = []
    var (bytes, hasMore) = (0, false)
    let statement = try connection.statement(
      """
      SELECT id, zone, name, modified, made, maker, body FROM records
      WHERE in_table = ? AND (zone, name) > (?, ?) ORDER BY zone, name
      """)
    try statement.visit(table.id, place.zone, place.name) { row throws(CaravanError) in
      hasMore = rows.count == count || bytes >= QueryLimits.bytesPerStep
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
    for row in rows {
      for index in indexes where index.need.use == .key {
        try connection.statement(text: "UPDATE records SET \(TableIndexes.column(index.slot)) = ? WHERE id = ?")
          .run(row.cells.key(index.need.field, index.need.kind).bytes, row.id)
      }
      try fill(members: members, of: row.cells, row.id, in: table)
      if hasWords { try fill(wordsOf: row.cells, row.id, in: table) }
    }
    guard hasMore, let last = rows.last else { return nil }
    return IndexCatalog.Place(zone: last.zone, name: last.cells.name)
  }

  private func fill(
    members indexes: [IndexCatalog.Index], of cells: RecordCells, _ id: Int64, in table: IndexCatalog.Table
  ) throws(CaravanError) {
    for index in indexes {
      let field = index.need.field
      try connection.run("DELETE FROM members WHERE record = ? AND field = ?", id, field)
      for key in cells.members(field, index.need.kind) {
        try connection.run(
          "INSERT INTO members(in_table, field, value, record) VALUES(?, ?, ?, ?)", table.id, field, key.bytes, id)
      }
    }
  }

  /// One row of the index of words has those of all fields.
  private func fill(
    wordsOf cells: RecordCells, _ id: Int64, in table: IndexCatalog.Table
  ) throws(CaravanError) {
    let words = table.indexes(for: .words).flatMap { cells.words($0.need.field, table: table.id) }
    guard !words.isEmpty else { return try connection.run("DELETE FROM words WHERE rowid = ?", id) }
    try connection.run(
      "INSERT OR REPLACE INTO words(rowid, text) VALUES(?, ?)", id, words.joined(separator: " "))
  }
}

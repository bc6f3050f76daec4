import CaravanModel
import CaravanQuery
import CaravanQueryCore

/// The records of an index and what its indexes have of them, on its writing connection.
struct IndexedRecords {
  private let connection: any IndexConnection
  private let engine: IndexEngine

  init(_ connection: any IndexConnection, _ engine: IndexEngine) {
    (self.connection, self.engine) = (connection, engine)
  }

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
      ON CONFLICT(in_table, zone, name) DO UPDATE SET \(changed)
      """
  }()
  private static let writeGivingId = write + " RETURNING id"

  /// In place of what the table has under this name.
  /// - Returns: indexes that the record has too much for.
  func write(_ row: IndexRow, _ zone: ZoneID, to table: IndexCatalog.Table) throws(CaravanError) -> [IndexNeed] {
    let (entry, authorship) = (row.entry, row.entry.authorship)
    var keys = [IndexValue](repeating: .null, count: QueryLimits.keysPerTable)
    for index in table.indexes(for: .key) {
      keys[index.slot - 1] = .bytes(row.cells.key(index.need.field, index.need.kind).bytes)
    }
    let values: [any IndexValueConvertible] = [
      table.id, zone.name, row.name, entry.version, entry.created, entry.type, entry.writer, entry.body,
      authorship.modified, authorship.created, authorship.creator,
    ]
    let all = values.map(\.indexValue) + keys
    let (members, hasWords) = (table.indexes(for: .members), !table.indexes(for: .words).isEmpty)
    guard hasWords || !members.isEmpty else {
      try connection.run(.text(Self.write, isKept: true), all)
      return []
    }
    var id: Int64?
    try connection.visit(.text(Self.writeGivingId, isKept: true), all) { row in
      id = row.integer(0)
      return true
    }
    guard let id else { throw CaravanError(.internalError, "the index has not taken record '\(row.name)'") }
    return try fill(members: members, of: row.cells, id, in: table)
      + (hasWords ? fill(wordsOf: row.cells, id, in: table) : [])
  }

  /// What a record is now; nil: the table has none of this name.
  func cells(of name: String, _ zone: ZoneID, in table: Int64) throws(CaravanError) -> RecordCells? {
    try connection.first(
      "SELECT name, modified, made, maker, body FROM records WHERE in_table = ? AND zone = ? AND name = ?", table,
      zone.name, name
    ) { row throws(CaravanError) in try RecordCells(row, name: 0, authorship: 1, body: 4) }
  }

  func delete(_ name: String, _ zone: ZoneID, from table: Int64) throws(CaravanError) {
    let ids = try connection.all(
      "DELETE FROM records WHERE in_table = ? AND zone = ? AND name = ? RETURNING id", table, zone.name, name
    ) { row in row.integer(0) }
    for id in ids { try forget(id) }
  }

  /// What indexes have of a record that is gone.
  private func forget(_ id: Int64) throws(CaravanError) {
    try connection.run("DELETE FROM members WHERE record = ?", id)
    try connection.run(.text(engine.removeWords, isKept: true), [.integer(id)])
  }

  /// Gives some indexes the next records.
  /// - Returns: the last of them, or nil: there are no more; and indexes that some of them have too much for.
  func fill(
    _ indexes: [IndexCatalog.Index], of table: IndexCatalog.Table, after last: Int64, atMost count: Int
  ) throws(CaravanError) -> (end: Int64?, partial: [IndexNeed]) {
    var rows: [(id: Int64, cells: RecordCells)] = []
    var (bytes, hasMore) = (0, false)
    let values: [IndexValue] = [.integer(table.id), .integer(last), .integer(Int64(count) + 1)]
    try connection.stream(
      .literal(
        """
        SELECT id, name, modified, made, maker, body FROM records WHERE in_table = ? AND id > ? ORDER BY id LIMIT ?
        """), values, wanted: count, inOrder: true
    ) { row throws(CaravanError) in
      hasMore = rows.count == count || bytes >= QueryLimits.bytesPerBuildStep
      guard !hasMore else { return false }
      bytes += row.byteCount(5)
      rows.append((row.integer(0), try RecordCells(row, name: 1, authorship: 2, body: 5)))
      return true
    }
    let members = indexes.filter { $0.need.use == .members }
    let hasWords = indexes.contains { $0.need.use == .words }
    var partial: [IndexNeed] = []
    for row in rows {
      for index in indexes where index.need.use == .key {
        try connection.run(
          .text("UPDATE records SET \(TableIndexes.column(index.slot)) = ? WHERE id = ?", isKept: true),
          [.bytes(row.cells.key(index.need.field, index.need.kind).bytes), .integer(row.id)])
      }
      partial += try fill(members: members, of: row.cells, row.id, in: table)
      if hasWords { partial += try fill(wordsOf: row.cells, row.id, in: table) }
    }
    return (hasMore ? rows.last?.id : nil, partial)
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
    var (words, bytes, partial) = ([String](), 0, [IndexNeed]())
    for index in table.indexes(for: .words) {
      let field = index.need.field
      let found = cells.words(field, table: table.id)
      let length = found.map { $0.reduce(0) { $0 + $1.utf8.count } } ?? 0
      if let found, bytes + length <= QueryLimits.wordBytesPerRecord {
        words += found
        bytes += length
      } else {
        words.append(TableIndexes.token("", table: table.id, field: field))
        partial.append(index.need)
      }
    }
    if words.isEmpty {
      try connection.run(.text(engine.removeWords, isKept: true), [.integer(id)])
    } else {
      try connection.run(.text(engine.keepWords, isKept: true), [.integer(id), .text(engine.kept(words))])
    }
    return partial
  }

  /// Deletes some of a zone's records in a table: as many as one step may.
  /// - Returns: whether it has more.
  func deleteSome(of zone: ZoneID, in table: Int64) throws(CaravanError) -> Bool {
    var ids: [Int64] = []
    var (bytes, hasMore) = (0, false)
    try connection.visit(
      .literal("SELECT id, length(body) FROM records WHERE in_table = ? AND zone = ? LIMIT ?"),
      [.integer(table), .text(zone.name), .integer(Int64(QueryLimits.recordsPerBuildStep) + 1)]
    ) { row in
      hasMore = ids.count == QueryLimits.recordsPerBuildStep || bytes >= QueryLimits.bytesPerBuildStep
      guard !hasMore else { return false }
      ids.append(row.integer(0))
      bytes += Int(row.integer(1))
      return true
    }
    for id in ids {
      try connection.run("DELETE FROM records WHERE id = ?", id)
      try forget(id)
    }
    return hasMore
  }
}

import CaravanModel
import CaravanQuery
import CaravanQueryCore

let alice = UserID(unchecked: "alice")
let album = DatabaseID(container: ContainerID(unchecked: "album"), environment: .development, owner: alice)

let photos = RecordType(
  id: 4, definition: 2, name: "photos",
  fields: [
    FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "date", kind: .integer),
    FieldDefinition(id: 3, name: "location", kind: .real), FieldDefinition(id: 4, name: "photo", kind: .object),
    FieldDefinition(id: 5, name: "hash", kind: .data), FieldDefinition(id: 6, name: "taken", kind: .date),
    FieldDefinition(id: 7, name: "album", kind: .reference),
    FieldDefinition(id: 8, name: "tags", kind: .text, isList: true),
    FieldDefinition(id: 9, name: "secret", kind: .text, isEncrypted: true),
    FieldDefinition(id: 10, name: "place", kind: .location),
    FieldDefinition(id: 11, name: "numbers", kind: .integer, isList: true),
  ])

func zone(_ name: String, in database: DatabaseID = album) throws -> ZoneID { try ZoneID(database, name) }

func query(
  _ terms: [Predicate.Term] = [], sort: [SortKey] = [], limit: Int = 10, cursor: [UInt8] = []
) -> Query {
  Query(database: album, type: "photos", predicate: Predicate(terms), sort: sort, limit: limit, cursor: cursor)
}

func compiled(_ query: Query) throws(CaravanError) -> CompiledQuery {
  try CompiledQuery(query, type: photos)
}

let indexes = TableIndexes(table: 1, slots: [1: 1, 2: 2, 3: 3, 5: 5], members: [8: true], words: [1: true])

/// What the statement asks of records of the table.
func filter(_ query: Query, _ engine: IndexEngine = .sqlite) throws -> String {
  let sql = try compiled(query).candidates(in: indexes, engine).fragment.sql
  let whole = "WHERE in_table = ? "
  guard let end = sql.range(of: " ORDER BY ") else { return sql }
  guard let start = sql.range(of: "WHERE (in_table = ? AND ") else { return sql.range(of: whole) == nil ? sql : "" }
  return String(sql[start.upperBound..<sql.index(before: end.lowerBound)])
}

extension String {
  /// The first place of `text`.
  func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}

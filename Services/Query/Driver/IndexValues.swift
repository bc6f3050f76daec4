import CaravanModel
import CaravanQueryCore
import CaravanSQLite

/// The records of one database and one record type (all versions of its definition) are one table of the index.
struct TableKey: Sendable, Hashable {
  let database: DatabaseID
  let definition: UInt32
}

/// A record as the index keeps it.
struct IndexRow: Sendable {
  let name: String
  let version: Seq
  let created: Seq
  let type: UInt32
  let writer: String
  let body: [UInt8]
  let authorship: Authorship
  let definition: UInt32
  /// Of every queryable field of its type.
  let values: [(field: UInt32, value: SQLValue)]
}

/// What happens to one zone in the index, in order.
enum IndexUpdate: Sendable {
  /// Records written, and names of those that are gone or cannot be indexed.
  case write(ZoneID, rows: [IndexRow], removed: [String], ZoneProgress)
  /// The zone, or this life of it, is over.
  case forget(ZoneID)
}

extension SQLValue {
  /// What is not indexed, and what is no number, is null to a query.
  init(_ value: Value) {
    switch value {
    case .null, .asset, .assetList, .location, .list: self = .null
    case .reference(let reference): self = .text(reference.target)
    case .text(let text): self = .text(text)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = number.isNaN ? .null : .real(number)
    case .data(let bytes): self = .blob(bytes)
    }
  }

  var model: Value {
    switch self {
    case .null: .null
    case .text(let text): .text(text)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .blob(let bytes): .data(bytes)
    }
  }
}

extension IndexRow {
  /// A record under its type. Fields of another kind than the type says are null to a query, as are absent ones.
  init(_ entry: Entry, _ record: RecordFields, type: RecordType) {
    name = entry.name
    version = entry.version
    created = entry.created
    self.type = entry.type
    writer = entry.writer
    body = entry.body
    authorship = entry.authorship
    definition = type.definition
    values = type.fields.filter(\.isQueryable).map { field in
      var value = record[field.id]
      // As conditions see it.
      if field.kind == .real, case .integer(let number) = value { value = .real(Double(number)) }
      return (field.id, (try? field.check(value)) == nil ? .null : SQLValue(value))
    }
  }
}

package import CaravanModel
package import CaravanQuery

/// What the evaluator and the indexes see of a record: its fields, and what the store keeps of every one.
package struct RecordCells: Sendable {
  package let name: String
  package let authorship: Authorship
  package let fields: BodyCells

  package init(name: String, authorship: Authorship, fields: BodyCells) {
    self.name = name
    self.authorship = authorship
    self.fields = fields
  }

  /// What is of another kind than the field is null.
  package func cell(_ field: UInt32, _ kind: FieldKind, isList: Bool = false) -> Cell {
    guard let system = SystemField(id: field) else { return fields[field, kind, isList: isList] }
    return system.cell(name: name, authorship)
  }

  /// The key for an index on a field.
  package func key(_ field: UInt32, _ kind: FieldKind) -> IndexKey { IndexKey(cell(field, kind)) ?? .null }

  /// What standing queries may be found by: the key of a field, members of its list, words of its text.
  package func tokens(_ need: IndexNeed) -> [[UInt8]] {
    switch need.use {
    case .key: return [key(need.field, need.kind).bytes]
    case .members:
      guard case .list(let items) = cell(need.field, need.kind, isList: true) else { return [] }
      return Array(Set(items.compactMap { IndexKey($0)?.bytes }))
    case .words:
      guard case .bytes(let text) = cell(need.field, .text) else { return [] }
      return Array(Set(Words(String(decoding: text, as: UTF8.self)).lazy.map(Anchor.word)))
    }
  }

  /// The keys of a list's members, each once.
  /// - Returns: nil: they are more than an index takes.
  package func members(_ field: UInt32, _ kind: FieldKind) -> Set<IndexKey>? {
    guard case .list(let items) = cell(field, kind, isList: true) else { return [] }
    let keys = Set(items.lazy.compactMap { IndexKey($0) }.filter { $0 != .null })
    return keys.count <= QueryLimits.membersPerRecord ? keys : nil
  }

  /// What the index of words has for a text.
  /// - Returns: nil: it is more than an index takes.
  package func words(_ field: UInt32, table: Int64) -> [String]? {
    guard case .bytes(let text) = cell(field, .text) else { return [] }
    var tokens: [String] = []
    for word in Words(String(decoding: text, as: UTF8.self)) {
      guard tokens.count < QueryLimits.wordsPerRecord, word.utf8.count <= QueryLimits.wordBytes else { return nil }
      tokens.append(TableIndexes.token(word, table: table, field: field))
    }
    return tokens
  }
}

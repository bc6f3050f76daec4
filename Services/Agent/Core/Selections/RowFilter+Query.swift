public import CaravanModel
internal import CaravanQuery

// A query table's query, as far as the cloud can tell of a row that it does not hold (UNI-15).
extension RowFilter {
  /// What holds of every row of which the query holds, where the cloud compares as SQLite does. What else the text says
  /// is left out; nil: then nothing remains.
  /// - Parameter type: as agreed: its ids are those of the fields in bodies.
  public init?(_ query: RowQuery, columns: [SchemaText.Column], type: RecordType) {
    guard let text = PartialText(query.template) else { return nil }
    let named = Dictionary(columns.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    self.init(weakening: text, parameters: query.parameters) { name in
      guard let column = named[name.lowercased()], let field = type.field(named: column.name), field.id > 0,
        field.kind == column.kind, !column.isList, !field.isList, !field.isEncrypted
      else { return nil }
      return field
    }
  }
}

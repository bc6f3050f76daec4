// What apps put into columns, checked before anything is written (CK-07).

extension Value {
  /// Whether a column of some kind could hold it: what a client can tell without knowing the table.
  /// - Throws: `schemaViolation` or `limitExceeded` naming the column, and saying what to give instead.
  public func checkCell(of column: String) throws(CaravanError) {
    switch self {
    case .text(let text):
      // Text ends at a NUL on the wire: what follows would be lost in silence.
      guard !text.utf8.contains(0) else {
        throw CaravanError(.schemaViolation, "column '\(column)' got a text with a NUL character: use a BLOB column")
      }
    case .real(let number):
      guard !number.isNaN else { throw CaravanError(.schemaViolation, "column '\(column)' got a NaN: leave it null") }
    case .reference(let reference):
      do throws(CaravanError) { try RecordName.check(reference.target) } catch {
        throw CaravanError(.schemaViolation, "column '\(column)' refers to no row: \(error.message)")
      }
    case .list(let items): try Self.check(items, of: column)
    case .null, .integer, .data, .asset, .assetList, .location: break
    }
  }

  private static func check(_ items: [Value], of column: String) throws(CaravanError) {
    guard items.count <= Limits.listItems else {
      throw CaravanError(
        .limitExceeded,
        "column '\(column)' got a list of \(items.count) values: the limit is \(Limits.listItems), use a table for them"
      )
    }
    for item in items {
      switch item {
      case .null, .list, .asset, .assetList:
        throw CaravanError(
          .schemaViolation,
          "column '\(column)' got a list with \(item.kindName) in it: a list holds values of one kind, leave it out")
      case .text, .integer, .real, .data, .location, .reference:
        guard item.kindName == items[0].kindName else {
          throw CaravanError(
            .schemaViolation,
            "column '\(column)' got a list of \(items[0].kindName) with \(item.kindName) in it: give it values of one "
              + "kind")
        }
        try item.checkCell(of: column)
      }
    }
  }
}

extension SchemaText.Column {
  /// The value as the column holds it: whole numbers are numbers of a FLOAT.
  /// - Throws: as `Value.checkCell(of:)`; `schemaViolation` for a value of another kind, saying which it takes.
  public func taking(_ value: Value) throws(CaravanError) -> Value {
    try value.checkCell(of: name)
    guard kind.accepts(value, isList: isList) else {
      throw CaravanError(
        .schemaViolation, "column '\(name)' is \(typeText), not \(value.kindName): give it \(wanted)")
    }
    guard kind == .real else { return value }
    if case .list(let items) = value { return .list(items.map(\.asReal)) }
    return value.asReal
  }

  private var wanted: String {
    switch kind {
    case _ where isList: "a list of \(kind.rawValue)"
    case .date: "a date, an integer of Unix milliseconds"
    case .integer, .object: "an \(kind.rawValue)"
    case .text, .real, .data, .location, .reference: "a \(kind.rawValue)"
    }
  }
}

extension Value {
  fileprivate var asReal: Value { if case .integer(let number) = self { .real(Double(number)) } else { self } }
}

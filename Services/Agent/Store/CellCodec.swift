internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

/// One cell in its three forms: as SQLite keeps it, as a field of a record's body, and as its app gives and takes it.
///
/// SQLite keeps a date as an integer, Unix milliseconds; a location and a list as the bytes of their messages
/// (`model.proto`); a reference as a text, a letter for its kind and the name of its target, of which SQL sees the name
/// alone (`RowTable.declarations(of:)`); an object as the bytes of its `Asset`.
enum CellCodec {
  // MARK: To the cloud

  /// - Throws: `invalidData` when the cell is none of its column's.
  static func field(
    _ cell: SQLValue, of column: SchemaText.Column
  ) throws(CaravanError) -> CaravanWire.Field.Value? {
    switch cell {
    case .null: return nil
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .text(let text): return column.isReference ? .reference(Reference(try reference(text, column))) : .text(text)
    case .blob(let bytes):
      if column.isList { return .list(try ListValue.decode(bytes)) }
      switch column.kind {
      case .object: return .asset(try Asset.decode(bytes))
      case .location: return .location(try CaravanWire.Location.decode(bytes))
      case .text, .integer, .real, .data, .date, .reference: return .data(bytes)
      }
    }
  }

  // MARK: From the cloud

  /// Nil: the value is of another kind than the column, or none that an app could take.
  static func cell(_ value: CaravanWire.Field.Value, of column: SchemaText.Column) -> SQLValue? {
    guard !column.isList else { return list(value, of: column) }
    return switch (column.kind, value) {
    case (.text, .text(let text)): .text(text)
    case (.integer, .integer(let number)), (.date, .integer(let number)): .integer(number)
    case (.real, .real(let number)): .real(number)
    case (.real, .integer(let number)): .real(Double(number))
    case (.data, .data(let bytes)): .blob(bytes)
    case (.object, .asset(let asset)): .blob(asset.encoded())
    case (.location, .location(let place)): (try? place.model()) == nil ? nil : .blob(place.encoded())
    case (.reference, .reference(let reference)): (try? reference.model()).map(text)
    case (.text, _), (.integer, _), (.real, _), (.data, _), (.object, _), (.date, _), (.location, _), (.reference, _):
      nil
    }
  }

  private static func list(_ value: CaravanWire.Field.Value, of column: SchemaText.Column) -> SQLValue? {
    guard case .list(let list) = value, let items = try? list.model(), column.kind.accepts(.list(items), isList: true)
    else { return nil }
    return .blob(list.encoded())
  }

  // MARK: Values of apps

  /// - Throws: `schemaViolation` or `limitExceeded` naming the column, what it takes and what came.
  static func cell(_ value: CaravanModel.Value, of column: SchemaText.Column) throws(CaravanError) -> SQLValue {
    if value == .null { return .null }
    guard column.kind != .object else {
      throw CaravanError(
        .schemaViolation,
        "column '\(column.name)' is an OBJECT and takes no value: open it for writing, or set it to null")
    }
    switch try column.taking(value) {
    case .null, .asset, .assetList: return .null
    case .text(let text): return .text(text)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .data(let bytes): return .blob(bytes)
    case .location(let place): return .blob(CaravanWire.Location(place).encoded())
    case .reference(let reference): return text(reference)
    case .list(let items): return .blob(ListValue(items).encoded())
    }
  }

  /// What an app sees of a cell; nil for objects.
  /// - Throws: `invalidData` when the cell is none of its column's.
  static func value(
    _ cell: SQLValue, of column: SchemaText.Column
  ) throws(CaravanError) -> CaravanModel.Value? {
    guard column.kind != .object else { return nil }
    switch cell {
    case .null: return .null
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .text(let text): return column.isReference ? .reference(try reference(text, column)) : .text(text)
    case .blob(let bytes):
      if column.isList { return .list(try ListValue.decode(bytes).model()) }
      return column.kind == .location ? .location(try CaravanWire.Location.decode(bytes).model()) : .data(bytes)
    }
  }

  // MARK: References

  private static func text(_ reference: CaravanModel.Reference) -> SQLValue {
    switch reference.kind {
    case .plain: .text("p\(reference.target)")
    case .owning: .text("o\(reference.target)")
    case .validating: .text("v\(reference.target)")
    }
  }

  private static func reference(
    _ text: String, _ column: SchemaText.Column
  ) throws(CaravanError) -> CaravanModel.Reference {
    // By bytes: a name may begin with a mark that would join the letter.
    let target = String(decoding: text.utf8.dropFirst(), as: UTF8.self)
    switch text.utf8.first {
    case UInt8(ascii: "p"): return CaravanModel.Reference(to: target)
    case UInt8(ascii: "o"): return CaravanModel.Reference(to: target, .owning)
    case UInt8(ascii: "v"): return CaravanModel.Reference(to: target, .validating)
    default: throw CaravanError(.invalidData, "column '\(column.name)' has a cell that is no reference")
    }
  }
}

extension SchemaText.Column {
  /// Its cells are references, one each.
  var isReference: Bool { kind == .reference && !isList }

  /// One of its cells comes before another.
  var hasOrder: Bool {
    switch kind {
    case .text, .integer, .real, .data, .date, .reference: !isList
    case .object, .location: false
    }
  }
}

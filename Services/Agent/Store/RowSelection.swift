internal import CaravanModel
internal import CaravanQuery
internal import CaravanSQLite

/// Which rows of a table an app means: a condition for SQLite, which has SQL's own expressions. What SQL has no words
/// for, words, lists and places, the evaluator answers row by row, and the whole text with it.
struct RowSelection {
  let condition: String
  let parameters: [any Bindable]
  /// Beside those that an app may call.
  let functions: Set<String>

  /// - Parameter subject: what errors call the text.
  /// - Throws: `invalidData` with the position, and for another number of arguments; `schemaViolation` naming the
  ///   column, for a test that it does not have; `limitExceeded`.
  init(
    _ text: String, _ arguments: [CaravanModel.Value], columns: [SchemaText.Column], subject: String = "selection"
  ) throws(CaravanError) {
    if let asked = try? ExpressionText(text, subject: subject), asked.expression.leaves.contains(where: \.isEvaluated) {
      try Self.check(asked.arguments, arguments, subject)
      let type = RecordType(
        id: 1, definition: 1, name: "TABLE", fields: SchemaText(columns: columns).fields { UInt32($0 + 1) })
      self.init(try asked.bound(to: type) { number, _ in arguments[number] }, columns)
      return
    }
    let plain = try SelectionText(text, columns: Set(columns.map(\.name)))
    try Self.check(plain.arguments, arguments, subject)
    var parameters: [any Bindable] = []
    for (index, argument) in arguments.enumerated() { parameters.append(try Self.cell(argument, number: index + 1)) }
    self.init(condition: plain.text, parameters: parameters, functions: [])
  }

  private init(condition: String, parameters: [any Bindable], functions: Set<String>) {
    self.condition = condition
    self.parameters = parameters
    self.functions = functions
  }

  private init(_ expression: CaravanQuery.Expression<Condition>, _ columns: [SchemaText.Column]) {
    var used: [UInt32] = []
    for condition in expression.leaves where !used.contains(condition.field) { used.append(condition.field) }
    let names = used.map { RowTable.quoted(columns[Int($0) - 1].name) }
    condition = "\(RowFunction.name)(?, \(names.joined(separator: ", ")))"
    parameters = [
      RowFunction { row in
        let truth = expression.truth { condition in
          guard let place = used.firstIndex(of: condition.field) else { return .unknown }
          return condition.truth(of: Cell(row.value(place), of: columns[Int(condition.field) - 1]))
        }
        return .integer(truth == .yes ? 1 : 0)
      }
    ]
    functions = [RowFunction.name]
  }

  private static func check(_ places: Int, _ arguments: [CaravanModel.Value], _ subject: String) throws(CaravanError) {
    guard places == arguments.count else {
      throw CaravanError(
        .invalidData,
        "the \(subject) has \(places) '?' and \(arguments.count) arguments came: give one for each")
    }
  }

  private static func cell(_ argument: CaravanModel.Value, number: Int) throws(CaravanError) -> SQLValue {
    switch argument {
    case .null: return .null
    case .text(let text): return .text(text)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .data(let bytes): return .blob(bytes)
    // As the column shows it to SQL.
    case .reference(let reference): return .text(reference.target)
    case .asset, .assetList, .location, .list:
      throw CaravanError(
        .invalidData,
        "argument \(number) is \(argument.kindName): only texts, numbers, bytes and references can be compared")
    }
  }

  /// - Parameter first: the number of the first parameter.
  func bind(to statement: Statement, from first: Int32 = 1) throws(CaravanError) {
    for (index, parameter) in parameters.enumerated() {
      try parameter.bind(to: statement, at: first + Int32(index))
    }
  }
}

extension Phrase {
  /// SQL has no words for it.
  fileprivate var isEvaluated: Bool {
    switch test {
    case .match, .contains, .containsLike, .inside: true
    case .compare, .among, .prefix, .like: false
    }
  }
}

extension Cell {
  /// - Parameter value: as SQL sees the column.
  fileprivate init(_ value: SQLValue, of column: SchemaText.Column) {
    if case .text(let name) = value, column.isReference {
      self = .bytes(Array(name.utf8)[...])
    } else {
      let value = (try? CellCodec.value(value, of: column)) ?? (value == .null ? .null : nil)
      // What an object is, nobody asks; that it is there, they may.
      self = value.map { Cell($0, as: column.kind, isList: column.isList) } ?? .present
    }
  }
}

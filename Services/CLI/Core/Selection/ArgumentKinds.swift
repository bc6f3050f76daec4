public import CaravanModel

/// Which kind of value each `?` of an app's WHERE text stands for: that of the column mentioned last before it. The
/// agent understands all of SQL's expressions; here it is enough to see what is compared with what.
public struct ArgumentKinds: Sendable, Equatable {
  /// One a `?`: the column; nil: none was mentioned.
  public let columns: [SchemaText.Column?]

  public var count: Int { columns.count }

  /// - Parameter schema: of the table; nil: not known.
  /// - Throws: `invalidData` when a text has no end.
  public init(_ text: String, schema: SchemaText?) throws(CaravanError) {
    var columns: [SchemaText.Column?] = []
    var latest: SchemaText.Column?
    for token in try Lexer.tokens(of: text) {
      switch token.kind {
      case .name(let name):
        if let column = schema?.columns.first(where: { $0.name.lowercased() == name.lowercased() }) { latest = column }
      case .placeholder: columns.append(latest)
      case .text, .number, .comparison, .open, .close, .comma, .other, .end: break
      }
    }
    self.columns = columns
  }

  /// - Throws: `schemaViolation` when an argument is none of its column's kind.
  public func values(_ arguments: some Sequence<String>) throws(CaravanError) -> [Value] {
    var values: [Value] = []
    for (argument, column) in zip(arguments, columns) {
      guard let column else {
        values.append(TypedText.guess(argument))
        continue
      }
      values.append(try TypedText.value(argument, column.name, column.kind))
    }
    return values
  }
}

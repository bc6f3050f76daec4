public import CaravanModel
internal import CaravanQuery

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
    for token in try Lexer.tokens(of: text, subject: "--where") {
      switch token.kind {
      case .word(let name), .name(let name):
        if let column = schema?.columns.first(where: { $0.name.lowercased() == name.lowercased() }) { latest = column }
      case .argument: columns.append(latest)
      case .text, .data, .integer, .real, .relation, .open, .close, .comma, .minus, .foreign, .stray, .end: break
      }
    }
    self.columns = columns
  }

  /// - Throws: `schemaViolation` when an argument is none of its column's kind.
  public func values(_ arguments: some Sequence<String>) throws(CaravanError) -> [Value] {
    var values: [Value] = []
    precondition(arguments.underestimatedCount <= columns.count, "an argument would be lost for want of a '?'")
    for (argument, column) in zip(arguments, columns) {
      guard let column else {
        values.append(TypedText.guess(argument))
        continue
      }
      values.append(try TypedText.value(argument, column.name, column.kind))
    }
    precondition(values.count == columns.count, "\(values.count) values for \(columns.count) '?'")
    return values
  }
}

public import CaravanModel
internal import CaravanQuery

/// What a query asks of records, as people type it (`ExpressionText` has the grammar). The arguments for its `?` are
/// typed too.
public struct WhereText: Sendable, Equatable {
  private let text: ExpressionText
  private let written: String

  /// `?` in the text.
  public var arguments: Int { text.arguments }

  /// - Throws: `invalidData` with the position, what was found there and what is expected.
  public init(_ text: String) throws(CaravanError) {
    self.text = try ExpressionText(text, subject: "--where")
    written = text
  }

  /// What is asked of records of `type`, with these arguments.
  /// - Throws: as `values`.
  public func query(of type: RecordType, _ given: [String]) throws(CaravanError) -> Query.Text {
    Query.Text(written, arguments: try values(of: type, given))
  }

  /// What the arguments are.
  /// - Throws: `invalidData` for another number of arguments; `schemaViolation` naming the field, what it takes and
  ///   what was given.
  public func values(of type: RecordType, _ given: [String]) throws(CaravanError) -> [Value] {
    var values = [Value](repeating: .null, count: given.count)
    _ = try bound(to: type, given) { number, value in values[number] = value }
    return values
  }

  private func bound(
    to type: RecordType, _ given: [String], _ take: (Int, Value) -> Void
  ) throws(CaravanError) -> Expression<Condition> {
    guard given.count == arguments else {
      throw CaravanError(.invalidData, "--where has \(arguments) '?' and \(given.count) arguments: give one for each")
    }
    return try text.bound(to: type) { number, role throws(CaravanError) in
      precondition(given.indices.contains(number), "there is no argument \(number) of \(given.count)")
      let value: Value =
        switch role {
        case .value(let field): try TypedText.value(given[number], field.name, field.kind)
        case .text: .text(given[number])
        case .number: try TypedText.value(given[number], "?", .real)
        }
      take(number, value)
      return value
    }
  }
}

public import CaravanModel
internal import CaravanQuery

/// What a query asks of records, as people type it (`ExpressionText` has the grammar). The arguments for its `?` are
/// typed too.
public struct WhereText: Sendable, Equatable {
  private let text: ExpressionText

  /// `?` in the text.
  public var arguments: Int { text.arguments }

  /// - Throws: `invalidData` with the position, what was found there and what is expected.
  public init(_ text: String) throws(CaravanError) { self.text = try ExpressionText(text, subject: "--where") }

  /// The predicate over records of `type` with these arguments.
  /// - Throws: `invalidData` for another number of arguments; `schemaViolation` naming the field, what it takes and
  ///   what was given.
  public func predicate(of type: RecordType, _ given: [String]) throws(CaravanError) -> Predicate {
    guard given.count == arguments else {
      throw CaravanError(.invalidData, "--where has \(arguments) '?' and \(given.count) arguments: give one for each")
    }
    let expression = try text.bound(to: type) { number, role throws(CaravanError) in
      precondition(given.indices.contains(number), "there is no argument \(number) of \(given.count)")
      return switch role {
      case .value(let field): try TypedText.value(given[number], field.name, field.kind)
      case .text: .text(given[number])
      case .number: try TypedText.value(given[number], "?", .real)
      }
    }
    return try Predicate(expression, of: type)
  }
}

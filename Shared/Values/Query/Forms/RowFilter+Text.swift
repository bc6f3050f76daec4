public import CaravanModel

// A query table's query, as far as the cloud can tell of a row that it does not hold (UNI-15).
extension RowFilter {
  /// What holds of every row of which the text holds on the device: where the cloud compares as SQLite does, which is a
  /// field with a value of its own kind. What else the text says is left out; nil: then nothing remains.
  /// - Parameters:
  ///   - field: of a column, as the cloud's bodies have it; nil: there is none that would compare as the column does.
  ///   - parameters: for the `?` of the text.
  public init?(weakening text: PartialText, parameters: [Value], field: (String) -> FieldDefinition?) {
    let terms = withoutActuallyEscaping(field) { field in
      Weakening(parameters: parameters, field: field).terms(text.expression.withoutNot)
    }
    guard let terms, let filter = try? RowFilter(terms) else { return nil }
    self = filter
  }
}

private struct Weakening {
  let parameters: [Value]
  let field: (String) -> FieldDefinition?

  private static let longestValue = 256

  /// nil: any row may be among those that the expression finds.
  func terms(_ expression: Expression<Phrase?>) -> [RowFilter.Term]? {
    switch expression {
    case .leaf(let phrase): return phrase.flatMap(terms)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts):
      let known = parts.compactMap(terms)
      return known.isEmpty ? nil : Self.joined(known, RowFilter.Term.all)
    case .any(let parts):
      let known = parts.compactMap(terms)
      return known.count == parts.count ? Self.joined(known, RowFilter.Term.any) : nil
    }
  }

  private static func joined(
    _ parts: [[RowFilter.Term]], _ combine: (UInt32) -> RowFilter.Term
  ) -> [RowFilter.Term] {
    parts.count == 1 ? parts[0] : parts.flatMap(\.self) + [combine(UInt32(parts.count))]
  }

  private func terms(_ phrase: Phrase) -> [RowFilter.Term]? {
    guard let field = field(phrase.name) else { return nil }
    switch phrase.test {
    case .compare(let relation, let operand): return terms(field, relation, operand)
    case .among(let operands, let isNegated):
      let tests = operands.map { terms(field, isNegated ? .notEqual : .equal, $0) }
      let known = tests.compactMap(\.self)
      guard known.count == tests.count else { return nil }
      return Self.joined(known, isNegated ? RowFilter.Term.all : RowFilter.Term.any)
    // LIKE of SQLite does not tell cases apart; MATCH is an app's own function; the rest it does not have.
    case .like, .prefix, .match, .contains, .containsLike, .inside: return nil
    }
  }

  private func terms(
    _ field: FieldDefinition, _ relation: Relation, _ operand: Phrase.Operand
  ) -> [RowFilter.Term]? {
    let value: Value
    // SQLite may read the digits of a real as a number beside it.
    var isApproximate = false
    switch operand {
    case .argument(let index):
      guard parameters.indices.contains(index) else { return nil }
      value = parameters[index]
    case .literal(let literal):
      value = literal
      if case .real = literal { isApproximate = true }
    }
    if value == .null {
      switch relation {
      case .same: return [test(field, .equal, .null)]
      case .distinct: return [test(field, .notEqual, .null)]
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return nil
      }
    }
    guard let value = Self.comparable(value, field.kind) else { return nil }
    if isApproximate, case .real(let number) = value { return near(field, relation, number) }
    return exact(field, relation, value)
  }

  private func exact(_ field: FieldDefinition, _ relation: Relation, _ value: Value) -> [RowFilter.Term]? {
    switch relation {
    case .equal, .same: [test(field, .equal, value)]
    case .notEqual: [test(field, .notEqual, value), test(field, .notEqual, .null), .all(2)]
    case .distinct: [test(field, .notEqual, value)]
    case .less: [test(field, .less, value)]
    case .lessOrEqual: [test(field, .lessOrEqual, value)]
    case .greater: [test(field, .greater, value)]
    case .greaterOrEqual: [test(field, .greaterOrEqual, value)]
    }
  }

  private func near(_ field: FieldDefinition, _ relation: Relation, _ number: Double) -> [RowFilter.Term]? {
    let margin = max(number.magnitude * 1e-12, .leastNormalMagnitude)
    let low = test(field, .greaterOrEqual, .real(number - margin))
    let high = test(field, .lessOrEqual, .real(number + margin))
    switch relation {
    case .less, .lessOrEqual: return [high]
    case .greater, .greaterOrEqual: return [low]
    case .equal, .same: return [low, high, .all(2)]
    case .notEqual: return [test(field, .notEqual, .null)]
    case .distinct: return nil
    }
  }

  private func test(_ field: FieldDefinition, _ comparison: Comparison, _ value: Value) -> RowFilter.Term {
    .test(RowFilter.Test(field.id, field.kind, comparison, value))
  }

  /// The value as it is of the field's kind; nil: it is of another, which SQLite has rules of its own for.
  private static func comparable(_ value: Value, _ kind: FieldKind) -> Value? {
    switch (kind, value) {
    case (.text, .text(let text)): text.utf8.count <= longestValue && !text.utf8.contains(0) ? value : nil
    case (.data, .data(let bytes)): bytes.count <= longestValue ? value : nil
    case (.integer, .integer), (.date, .integer): value
    // Integers up to here are reals.
    case (.real, .integer(let number)): number.magnitude <= 1 << 53 ? .real(Double(number)) : nil
    case (.real, .real(let number)): number.isNaN ? nil : value
    case (_, _): nil
    }
  }
}

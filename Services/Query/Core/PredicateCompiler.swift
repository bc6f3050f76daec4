package import CaravanModel

/// Turns postfix terms into one SQL condition. Nothing of what a caller sends becomes SQL text: fields become the
/// column of their number, values become parameters.
package struct PredicateCompiler {
  private let type: RecordType
  private var stack: [Fragment] = []
  /// Fields whose index would help, in order of first use.
  package private(set) var fields: [FieldDefinition] = []

  package init(_ type: RecordType) { self.type = type }

  /// - Throws: `invalidData` or `schemaViolation`, naming the term or the field; `limitExceeded` for too many terms.
  package mutating func compile(_ predicate: Predicate) throws(CaravanError) -> Fragment? {
    guard predicate.terms.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded, "a predicate has \(predicate.terms.count) terms: the limit is \(Limits.predicateTerms)")
    }
    guard !predicate.terms.isEmpty else { return nil }
    for term in predicate.terms {
      switch term {
      case .compare(let field, let comparison, let value): stack.append(try compare(field, comparison, value))
      case .all(let count): try combine(count, "AND", named: "all")
      case .any(let count): try combine(count, "OR", named: "any")
      }
    }
    guard stack.count == 1 else {
      throw CaravanError(
        .invalidData, "the predicate leaves \(stack.count) results: combine them to one with 'all' or 'any'")
    }
    return stack.removeLast()
  }

  private mutating func combine(_ count: UInt32, _ word: String, named name: String) throws(CaravanError) {
    guard count > 0, count <= stack.count else {
      throw CaravanError(
        .invalidData, "'\(name) \(count)' stands where \(stack.count) results do: it takes 1 to that many")
    }
    let parts = Array(stack.suffix(Int(count)))
    stack.removeLast(parts.count)
    stack.append(.joined(parts, by: word))
  }

  private mutating func compare(
    _ name: String, _ comparison: Comparison, _ value: Value
  ) throws(CaravanError) -> Fragment {
    let field = try type.queryable(name)
    try field.check(comparison, value)
    if !fields.contains(field) { fields.append(field) }
    let column = field.column
    switch comparison {
    case .equal: return Fragment(value == .null ? "\(column) IS NULL" : "\(column) = ?", value.parameters)
    case .notEqual: return Fragment(value == .null ? "\(column) IS NOT NULL" : "\(column) IS NOT ?", value.parameters)
    case .less: return Fragment("\(column) < ?", [value])
    case .lessOrEqual: return Fragment("\(column) <= ?", [value])
    case .greater: return Fragment("\(column) > ?", [value])
    case .greaterOrEqual: return Fragment("\(column) >= ?", [value])
    case .prefix: return prefix(column, value)
    }
  }

  private func prefix(_ column: String, _ value: Value) -> Fragment {
    let bound: Value? =
      switch value {
      case .text(let text): PrefixRange.upperBound(text).map { .text($0) }
      case .data(let bytes): PrefixRange.upperBound(bytes).map { .data($0) }
      case .null, .integer, .real, .asset, .assetList, .location, .reference, .list: nil
      }
    guard let bound else { return Fragment("\(column) >= ?", [value]) }
    return Fragment("(\(column) >= ? AND \(column) < ?)", [value, bound])
  }
}

extension Value {
  /// Null is written into the condition itself: it is no parameter.
  fileprivate var parameters: [Value] { self == .null ? [] : [self] }
}

extension FieldDefinition {
  /// The column of this field in its table.
  package var column: String { "f\(id)" }

  /// Objects, lists, places and what only devices can read are not indexed. A reference is by its target's name.
  package var isQueryable: Bool {
    guard !isList, !isEncrypted else { return false }
    switch kind {
    case .text, .integer, .real, .data, .date, .reference: return true
    case .object, .location: return false
    }
  }

  /// - Throws: `schemaViolation` when `value` cannot be compared with this field in that way.
  func check(_ comparison: Comparison, _ value: Value) throws(CaravanError) {
    switch (kind, value) {
    case (.text, .text), (.data, .data), (.reference, .reference), (.reference, .text): return
    case (.integer, .integer), (.real, .integer), (.real, .real), (.integer, .real), (.date, .integer):
      try checkNumber(comparison, value)
    case (.text, .null), (.integer, .null), (.real, .null), (.data, .null), (.date, .null), (.reference, .null):
      guard comparison == .equal || comparison == .notEqual else {
        throw CaravanError(
          .schemaViolation,
          "field '\(name)' is compared (\(comparison.rawValue)) with null: only equal and notEqual can be")
      }
    case (.text, _), (.integer, _), (.real, _), (.data, _), (.object, _), (.date, _), (.location, _), (.reference, _):
      throw CaravanError(
        .schemaViolation,
        "field '\(name)' is \(kind.rawValue), not \(value.kindName): compare it with a \(kind.rawValue)")
    }
  }

  private func checkNumber(_ comparison: Comparison, _ value: Value) throws(CaravanError) {
    guard comparison != .prefix else {
      throw CaravanError(.schemaViolation, "field '\(name)' is \(kind.rawValue): only text and data have prefixes")
    }
    if case .real(let number) = value, number.isNaN {
      throw CaravanError(.schemaViolation, "field '\(name)' is compared with a value that is not a number")
    }
  }
}

extension RecordType {
  /// - Throws: `schemaViolation` when there is no such field, or no index of it.
  func queryable(_ name: String) throws(CaravanError) -> FieldDefinition {
    guard let field = field(named: name) else {
      throw CaravanError(.schemaViolation, "record type '\(self.name)' has no field '\(name.prefix(80))'")
    }
    guard field.isQueryable else {
      throw CaravanError(.schemaViolation, "field '\(name)' is \(field.shape): it cannot be queried or sorted by")
    }
    return field
  }
}

internal import CaravanModel

/// An expression as a condition of SQL that is true of the same rows: where the expression is false or unknown, the
/// condition is not true. Engines are given keys to compare (`IndexKey`), so one text serves them all; what no index
/// answers is for the evaluator, row by row.
public struct SQLCompiler {
  private let column: (UInt32) -> String?
  private let lookup: (Condition) -> SQLFragment?
  private let test: (Expression<Condition>) -> SQLFragment

  /// - Parameters:
  ///   - column: the column that has a field's keys; nil: there is none.
  ///   - lookup: a condition that says exactly what the leaf says, of an index of words or members; nil: there is none.
  ///   - test: a condition that calls the evaluator with each row.
  public init(
    column: @escaping (UInt32) -> String?, lookup: @escaping (Condition) -> SQLFragment? = { _ in nil },
    test: @escaping (Expression<Condition>) -> SQLFragment
  ) {
    self.column = column
    self.lookup = lookup
    self.test = test
  }

  public func compile(_ expression: Expression<Condition>) -> SQLFragment {
    let plain = expression.withoutNot
    return indexed(plain) ?? test(plain)
  }

  /// - Returns: nil: an index is of no use to it.
  private func indexed(_ expression: Expression<Condition>) -> SQLFragment? {
    switch expression {
    case .leaf(let condition): return indexed(condition)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts):
      var (found, rest): ([SQLFragment], [Expression<Condition>]) = ([], [])
      for part in parts {
        if let fragment = indexed(part) { found.append(fragment) } else { rest.append(part) }
      }
      if parts.isEmpty { return Self.always }
      guard !found.isEmpty else { return nil }
      // The evaluator is asked once, about all that is left.
      if !rest.isEmpty { found.append(test(.joined(rest, by: Expression.all))) }
      return .joined(found, by: "AND")
    case .any(let parts):
      if parts.isEmpty { return Self.never }
      let found = parts.map(indexed)
      guard found.allSatisfy({ $0 != nil }) else { return nil }
      return .joined(found.compactMap(\.self), by: "OR")
    }
  }

  private func indexed(_ condition: Condition) -> SQLFragment? {
    if let fragment = lookup(condition) { return fragment }
    guard let column = column(condition.field) else { return nil }
    guard let keys = KeyRange.of(condition) else { return nil }
    let ranges = keys.ranges.map { $0.fragment(column) }
    let found = ranges.isEmpty ? Self.never : SQLFragment.joined(ranges, by: "OR")
    return keys.isExact ? found : .joined([found, test(.leaf(condition))], by: "AND")
  }

  private static let never = SQLFragment("(1 = 0)")
  private static let always = SQLFragment("(1 = 1)")
}

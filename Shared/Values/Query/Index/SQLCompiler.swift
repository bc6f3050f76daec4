internal import CaravanModel

/// An expression as a condition of SQL that is true of the same rows: where the expression is false or unknown, the
/// condition is not true. Engines are given keys to compare (`IndexKey`), so one text serves them all; what no index
/// answers is for the evaluator, row by row.
public struct SQLCompiler {
  private let column: (UInt32) -> String?
  private let found: (SQLFragment) -> SQLFragment
  private let lookup: (Condition) -> [SQLFragment]
  private let test: (Expression<Condition>) -> SQLFragment

  /// - Parameters:
  ///   - column: the column that has a field's keys; nil: there is none.
  ///   - found: a statement that gives the ids of the rows whose keys a condition is true of.
  ///   - lookup: statements that give ids by an index of words or members: the leaf is true of what all of them give;
  ///     none: there is no such index.
  ///   - test: a condition that calls the evaluator with each row.
  public init(
    column: @escaping (UInt32) -> String?, found: @escaping (SQLFragment) -> SQLFragment,
    lookup: @escaping (Condition) -> [SQLFragment] = { _ in [] },
    test: @escaping (Expression<Condition>) -> SQLFragment
  ) {
    self.column = column
    self.found = found
    self.lookup = lookup
    self.test = test
  }

  // MARK: The condition

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
    let ids = lookup(condition)
    guard ids.isEmpty else {
      return .joined(ids.map { SQLFragment("id IN (\($0.sql))", $0.parameters) }, by: "AND")
    }
    guard let column = column(condition.field), let keys = KeyRange.of(condition) else { return nil }
    let ranges = keys.ranges.map { $0.fragment(column) }
    let found = ranges.isEmpty ? Self.never : SQLFragment.joined(ranges, by: "OR")
    return keys.isExact ? found : .joined([found, test(.leaf(condition))], by: "AND")
  }

  private static let never = SQLFragment("(1 = 0)")
  private static let always = SQLFragment("(1 = 1)")

  // MARK: Where rows can be found

  /// Of each of which the engine may begin with: it has all rows that the expression is true of, and others.
  public func sources(_ expression: Expression<Condition>) -> [SQLSource] { sources(of: expression.withoutNot) }

  private func sources(of expression: Expression<Condition>) -> [SQLSource] {
    switch expression {
    case .leaf(let condition): return sources(of: condition)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts): return parts.flatMap { sources(of: $0) }
    case .any(let parts):
      let first = parts.compactMap { sources(of: $0).first }
      guard !parts.isEmpty, first.count == parts.count else { return [] }
      return [SQLSource(ids: .united(first.map(\.ids), by: "UNION"))]
    }
  }

  private func sources(of condition: Condition) -> [SQLSource] {
    let ids = lookup(condition)
    guard ids.isEmpty else { return ids.map { SQLSource(ids: $0) } }
    guard let column = column(condition.field), let keys = KeyRange.of(condition) else { return [] }
    // No two of its ranges have a key in common.
    let ranges = keys.ranges.isEmpty ? [Self.never] : keys.ranges.map { $0.fragment(column) }
    return [
      SQLSource(ids: .united(ranges.map(found), by: "UNION ALL"), column: ranges.count == 1 ? column : nil)
    ]
  }
}

/// Rows that an index finds.
public struct SQLSource: Sendable, Hashable {
  /// A statement that gives their ids.
  public let ids: SQLFragment
  /// They are one range of this column's keys; nil: they are not.
  public let column: String?

  init(ids: SQLFragment, column: String? = nil) {
    self.ids = ids
    self.column = column
  }
}

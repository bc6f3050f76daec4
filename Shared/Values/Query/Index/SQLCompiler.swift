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

  /// - Parameter source: what the rows that are asked come from; what it says already is not asked again.
  public func compile(_ expression: Expression<Condition>, from source: SQLSource? = nil) -> SQLFragment {
    let parts = Self.conjuncts(of: expression.withoutNot)
    guard let known = source?.condition else { return compile(parts) }
    var rest = parts.filter { $0 != .leaf(known.condition) }
    if !known.isExact { rest.append(.leaf(known.condition)) }
    guard !rest.isEmpty else { return Self.always }
    return known.isExact ? compile(rest) : compile(Array(rest.dropLast()), testing: [.leaf(known.condition)])
  }

  private static func conjuncts(of expression: Expression<Condition>) -> [Expression<Condition>] {
    if case .all(let parts) = expression { parts.flatMap(conjuncts) } else { [expression] }
  }

  /// - Parameter tested: what the evaluator is asked in any case.
  private func compile(
    _ parts: [Expression<Condition>], testing tested: [Expression<Condition>] = []
  ) -> SQLFragment {
    var (found, rest): ([SQLFragment], [Expression<Condition>]) = ([], tested)
    for part in parts {
      if let fragment = indexed(part) { found.append(fragment) } else { rest.append(part) }
    }
    // The evaluator is asked once, about all that is left.
    if !rest.isEmpty { found.append(test(.joined(rest, by: Expression.all))) }
    return found.isEmpty ? Self.always : .joined(found, by: "AND")
  }

  /// - Returns: nil: an index is of no use to it.
  private func indexed(_ expression: Expression<Condition>) -> SQLFragment? {
    switch expression {
    case .leaf(let condition): return indexed(condition)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts):
      guard parts.isEmpty || parts.contains(where: { indexed($0) != nil }) else { return nil }
      return compile(parts)
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
    case .all: return sources(ofAll: Self.conjuncts(of: expression))
    case .any(let parts):
      let first = parts.compactMap { sources(of: $0).first }
      guard !parts.isEmpty, first.count == parts.count else { return [] }
      return [SQLSource(ids: .united(first.map(\.ids), by: "UNION"))]
    }
  }

  /// Several ranges of one column's keys are one range.
  private func sources(ofAll parts: [Expression<Condition>]) -> [SQLSource] {
    var sources: [SQLSource] = []
    var ranges: [(column: String, fragments: [SQLFragment])] = []
    for part in parts {
      guard case .leaf(let condition) = part, lookup(condition).isEmpty, let column = column(condition.field),
        let keys = KeyRange.of(condition), keys.ranges.count == 1
      else {
        sources += self.sources(of: part)
        continue
      }
      let fragment = keys.ranges[0].fragment(column)
      if let place = ranges.firstIndex(where: { $0.column == column }) {
        ranges[place].fragments.append(fragment)
      } else {
        ranges.append((column, [fragment]))
      }
    }
    return ranges.map { SQLSource(ids: found(.joined($0.fragments, by: "AND")), column: $0.column) } + sources
  }

  private func sources(of condition: Condition) -> [SQLSource] {
    let ids = lookup(condition)
    guard ids.isEmpty else {
      let known = SQLSource.Known(condition: condition, isExact: true)
      return ids.map { SQLSource(ids: $0, condition: ids.count == 1 ? known : nil) }
    }
    guard let column = column(condition.field), let keys = KeyRange.of(condition) else { return [] }
    if keys.ranges.count == 1 { return [SQLSource(ids: found(keys.ranges[0].fragment(column)), column: column)] }
    // No two of its ranges have a key in common.
    let ranges = keys.ranges.isEmpty ? [Self.never] : keys.ranges.map { $0.fragment(column) }
    return [
      SQLSource(
        ids: .united(ranges.map(found), by: "UNION ALL"),
        condition: SQLSource.Known(condition: condition, isExact: keys.isExact))
    ]
  }
}

/// Rows that an index finds.
public struct SQLSource: Sendable, Hashable {
  /// What its rows are known for.
  struct Known: Sendable, Hashable {
    let condition: Condition
    /// It is true of all of them; else it may be.
    let isExact: Bool
  }

  /// A statement that gives their ids, each once.
  public let ids: SQLFragment
  /// They are one range of this column's keys; nil: they are not.
  public let column: String?
  let condition: Known?

  init(ids: SQLFragment, column: String? = nil, condition: Known? = nil) {
    self.ids = ids
    self.column = column
    self.condition = condition
  }
}

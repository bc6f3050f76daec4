internal import CaravanModel

/// An expression as a condition of SQL that is true of the same rows: where the expression is false or unknown, the
/// condition is not true. Engines are given keys to compare (`IndexKey`), so one text serves them all; what no index
/// answers is for the evaluator, row by row.
public struct SQLCompiler {
  /// Ranges of keys that one statement compares, so that to prepare it takes little time; what has more is for the
  /// evaluator.
  private static let mostRanges = 400
  /// Parentheses within each other: SQLite's parser has room for some 25 (https://sqlite.org/limits.html).
  private static let mostNesting = 12

  private let column: (UInt32) -> String?
  private let found: (SQLFragment) -> SQLFragment
  private let lookup: (Condition) -> SQLLookup?
  private let test: (Expression<Condition>) -> SQLFragment

  /// - Parameters:
  ///   - column: the column that has a field's keys; nil: there is none.
  ///   - found: a statement that gives the ids of the rows whose keys a condition is true of.
  ///   - lookup: what an index of words or members gives; nil: there is no such index.
  ///   - test: a condition in the place of what no index answers: it is true where the expression is, and may be true
  ///     elsewhere where the evaluator is asked about the rows that are found.
  public init(
    column: @escaping (UInt32) -> String?, found: @escaping (SQLFragment) -> SQLFragment,
    lookup: @escaping (Condition) -> SQLLookup? = { _ in nil },
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
    let parts = expression.withoutNot.conjuncts
    guard let known = source?.known else { return Budget(self).compile(parts) }
    precondition(parts.indices.contains(known.place), "a source is of another expression")
    var others = parts
    let first = others.remove(at: known.place)
    if known.isExact, others.isEmpty { return Self.always }
    return Budget(self).compile(others, testing: known.isExact ? [] : [first])
  }

  private static let never = SQLFragment("(1 = 0)")
  private static let always = SQLFragment("(1 = 1)")

  /// What one statement may still have.
  private final class Budget {
    private let compiler: SQLCompiler
    private var ranges = SQLCompiler.mostRanges

    init(_ compiler: SQLCompiler) { self.compiler = compiler }

    /// - Parameter tested: what the evaluator is asked in any case.
    func compile(
      _ parts: [Expression<Condition>], testing tested: [Expression<Condition>] = []
    ) -> SQLFragment {
      joined(parts, parts.map { indexed($0, depth: 0) }, testing: tested)
    }

    /// - Parameter found: what indexes say of each of the parts; nil: nothing.
    private func joined(
      _ parts: [Expression<Condition>], _ found: [SQLFragment?], testing tested: [Expression<Condition>] = []
    ) -> SQLFragment {
      // The evaluator is asked once, about all that is left.
      let rest = tested + zip(parts, found).compactMap { $1 == nil ? $0 : nil }
      let test = rest.isEmpty ? [] : [compiler.test(.joined(rest, by: Expression.all))]
      let conditions = found.compactMap(\.self) + test
      return conditions.isEmpty ? SQLCompiler.always : .joined(conditions, by: "AND")
    }

    /// - Returns: nil: an index is of no use to it.
    private func indexed(_ expression: Expression<Condition>, depth: Int) -> SQLFragment? {
      guard depth < SQLCompiler.mostNesting else { return nil }
      switch expression {
      case .leaf(let condition): return indexed(condition)
      case .not: preconditionFailure("an expression without not has one")
      case .all(let parts):
        let found = parts.map { indexed($0, depth: depth + 1) }
        return parts.isEmpty || found.contains { $0 != nil } ? joined(parts, found) : nil
      case .any(let parts):
        if parts.isEmpty { return SQLCompiler.never }
        var found: [SQLFragment] = []
        for part in parts {
          guard let fragment = indexed(part, depth: depth + 1) else { return nil }
          found.append(fragment)
        }
        return .joined(found, by: "OR")
      }
    }

    private func indexed(_ condition: Condition) -> SQLFragment? {
      if let lookup = compiler.lookup(condition) {
        let ids = SQLFragment.joined(
          lookup.statements.map { SQLFragment("id IN (\($0.sql))", $0.parameters) }, by: "AND")
        return lookup.isExact ? ids : .joined([ids, compiler.test(.leaf(condition))], by: "AND")
      }
      guard let column = compiler.column(condition.field), let keys = KeySet(condition) else { return nil }
      let fragments = keys.fragments(column)
      guard fragments.count <= ranges else { return nil }
      ranges -= fragments.count
      let found = fragments.isEmpty ? SQLCompiler.never : SQLFragment.joined(fragments, by: "OR")
      return keys.isExact ? found : .joined([found, compiler.test(.leaf(condition))], by: "AND")
    }
  }

  // MARK: Where rows can be found

  /// Of each of which the engine may begin with: it has all rows that the expression is true of, and others.
  public func sources(_ expression: Expression<Condition>) -> [SQLSource] {
    let parts = expression.withoutNot.conjuncts
    var sources: [SQLSource] = []
    // Several ranges of one column's keys are one range.
    var ranges: [(column: String, fragments: [SQLFragment])] = []
    for (place, part) in parts.enumerated() {
      guard let (column, fragment) = range(of: part) else {
        sources += self.sources(of: part, at: place)
        continue
      }
      if let place = ranges.firstIndex(where: { $0.column == column }) {
        ranges[place].fragments.append(fragment)
      } else {
        ranges.append((column, [fragment]))
      }
    }
    let merged = ranges.map { range in
      SQLSource(
        [found(.joined(range.fragments, by: "AND"))], column: range.column,
        isOneKey: range.fragments.contains { KeyRange.isPoint($0, of: range.column) })
    }
    return (merged + sources).filter { $0.statements.count <= SQLSource.mostStatements }
  }

  /// What is one range of one column's keys.
  private func range(of part: Expression<Condition>) -> (column: String, fragment: SQLFragment)? {
    guard case .leaf(let condition) = part, lookup(condition) == nil, let column = column(condition.field),
      let fragments = KeySet(condition)?.fragments(column), fragments.count == 1
    else { return nil }
    return (column, fragments[0])
  }

  /// - Parameter place: of the part among those that all hold; nil: it is a part of one of them.
  private func sources(of part: Expression<Condition>, at place: Int?) -> [SQLSource] {
    switch part {
    case .leaf(let condition): return sources(of: condition, at: place)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts):
      // One is enough for a part of something greater.
      for part in parts { if let source = sources(of: part, at: nil).first { return [source] } }
      return []
    case .any(let parts):
      var statements: [SQLFragment] = []
      for part in parts {
        guard let source = sources(of: part, at: nil).first else { return [] }
        statements += source.statements
        guard statements.count <= SQLSource.mostStatements else { return [] }
      }
      return parts.isEmpty ? [] : [SQLSource(statements)]
    }
  }

  private func sources(of condition: Condition, at place: Int?) -> [SQLSource] {
    func known(isExact: Bool) -> SQLSource.Known? { place.map { SQLSource.Known(place: $0, isExact: isExact) } }
    if let lookup = lookup(condition) {
      // Rows that one of several statements gives are not yet those that all of them give.
      let isAll = lookup.statements.count == 1
      return lookup.statements.map { SQLSource([$0], known: isAll ? known(isExact: lookup.isExact) : nil) }
    }
    guard let column = column(condition.field), let keys = KeySet(condition) else { return [] }
    let fragments = keys.fragments(column)
    if fragments.count == 1 { return [SQLSource([found(fragments[0])], column: column)] }
    let statements = fragments.isEmpty ? [found(Self.never)] : fragments.map(found)
    return [SQLSource(statements, isDisjoint: true, known: known(isExact: keys.isExact))]
  }
}

/// What an index of words or members gives for a condition.
public struct SQLLookup: Sendable, Hashable {
  /// Of ids, each of them once; the condition is true of what all of these give.
  public let statements: [SQLFragment]
  /// Else it may be true of them.
  public let isExact: Bool

  public init(_ statements: [SQLFragment], isExact: Bool = true) {
    precondition(!statements.isEmpty, "an index that gives nothing is none")
    self.statements = statements
    self.isExact = isExact
  }
}

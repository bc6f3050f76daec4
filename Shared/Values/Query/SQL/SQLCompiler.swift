internal import CaravanModel

/// An expression as a condition of SQL that says the same. Nothing of what a caller sends becomes SQL text: fields
/// become the columns that they are kept in, values become parameters.
public struct SQLCompiler {
  public enum Engine: Sendable, Hashable, CaseIterable {
    /// Columns have no type; texts are texts, data are blobs.
    case sqlite
    /// Texts and data are `bytea`, whose order is that of their bytes whatever the collation; integers are `int8`,
    /// reals `float8`.
    case postgreSQL
  }

  private let engine: Engine
  private let column: (UInt32) -> String

  /// - Parameter column: the name of a field's column, which is written as it is.
  public init(_ engine: Engine, column: @escaping (UInt32) -> String) {
    self.engine = engine
    self.column = column
  }

  /// - Precondition: every condition `isSQL`.
  public func compile(_ expression: Expression<Condition>) -> SQLFragment {
    switch expression {
    case .leaf(let condition): return compile(condition)
    case .not(let part): return negated(compile(part), true)
    case .all(let parts): return parts.isEmpty ? truth(true) : .joined(parts.map(compile), by: "AND")
    case .any(let parts): return parts.isEmpty ? truth(false) : .joined(parts.map(compile), by: "OR")
    }
  }

  // MARK: Parts

  private func truth(_ isTrue: Bool) -> SQLFragment { SQLFragment(isTrue ? "(1 = 1)" : "(1 = 0)") }

  private func negated(_ fragment: SQLFragment, _ isNegated: Bool) -> SQLFragment {
    isNegated ? SQLFragment("NOT (\(fragment.sql))", fragment.values) : fragment
  }

  private var unknown: String {
    switch engine {
    case .sqlite: "NULL"
    case .postgreSQL: "NULL::boolean"
    }
  }

  /// A parameter for values of this kind.
  private func place(_ kind: FieldKind) -> String {
    guard engine == .postgreSQL else { return "?" }
    switch kind {
    case .text, .data, .reference: return "?::bytea"
    case .integer, .date: return "?::int8"
    case .real: return "?::float8"
    case .object, .location: preconditionFailure("a \(kind.rawValue) is compared with a value")
    }
  }

  private func compile(_ condition: Condition) -> SQLFragment {
    let (name, kind) = (column(condition.field), condition.kind)
    switch condition.test {
    case .compare(let relation, let value): return compare(name, kind, relation, value)
    case .among(let values, let isNegated):
      guard !values.isEmpty else { return truth(isNegated) }
      let places = values.map { $0 == .null ? "NULL" : place(kind) }.joined(separator: ", ")
      return SQLFragment("\(name) \(isNegated ? "NOT " : "")IN (\(places))", values.filter { $0 != .null })
    case .prefix(let value, let isNegated): return negated(prefix(name, kind, value), isNegated)
    case .like(let value, let isNegated):
      guard case .text(let text) = value else { return SQLFragment(unknown) }
      return negated(like(name, Pattern(text)), isNegated)
    case .match, .contains, .containsLike, .inside:
      preconditionFailure("no engine evaluates a condition like \(condition.test)")
    }
  }

  private func compare(_ name: String, _ kind: FieldKind, _ relation: Relation, _ value: Value) -> SQLFragment {
    guard value != .null else {
      switch relation {
      case .same: return SQLFragment("\(name) IS NULL")
      case .distinct: return SQLFragment("\(name) IS NOT NULL")
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return SQLFragment(unknown)
      }
    }
    let sign =
      switch (relation, engine) {
      case (.same, .postgreSQL): "IS NOT DISTINCT FROM"
      case (.distinct, .postgreSQL): "IS DISTINCT FROM"
      case (_, _): relation.sign
      }
    return SQLFragment("\(name) \(sign) \(place(kind))", [value])
  }

  /// A range of the order that an index has.
  private func prefix(_ name: String, _ kind: FieldKind, _ value: Value) -> SQLFragment {
    let low = SQLFragment("\(name) >= \(place(kind))", [value])
    guard let bound = PrefixRange.upperBound(value) else { return low }
    return .joined([low, SQLFragment("\(name) < \(place(kind))", [bound])], by: "AND")
  }

  private func like(_ name: String, _ pattern: Pattern) -> SQLFragment {
    switch engine {
    case .sqlite:
      SQLFragment("(\(name) GLOB ? AND instr(\(name), char(0)) = 0)", [.text(pattern.glob)])
    case .postgreSQL:
      SQLFragment(
        """
        CASE WHEN position('\\x00'::bytea IN \(name)) > 0 THEN false \
        ELSE convert_from(\(name), 'UTF8') LIKE convert_from(?::bytea, 'UTF8') END
        """, [.text(pattern.quoted)])
    }
  }
}

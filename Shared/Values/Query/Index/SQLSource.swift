/// Rows that an index finds, for a statement to begin with.
public struct SQLSource: Sendable, Hashable {
  /// What its rows are known for.
  struct Known: Sendable, Hashable {
    /// Which of the parts that all have to hold.
    let place: Int
    /// It is true of all of them; else it may be.
    let isExact: Bool
  }

  /// Statements that one source unites: SQLite takes 500 (https://sqlite.org/limits.html).
  static let mostStatements = 200

  /// They give the ids of the rows.
  let statements: [SQLFragment]
  /// No two of them give the same row.
  private let isDisjoint: Bool
  /// They are one range of this column's keys; nil: they are not.
  public let column: String?
  /// The range is one key: its rows lie in the order of what comes after the key in the index.
  public let isOneKey: Bool
  let known: Known?

  init(
    _ statements: [SQLFragment], isDisjoint: Bool = false, column: String? = nil, isOneKey: Bool = false,
    known: Known? = nil
  ) {
    precondition(!statements.isEmpty, "a source has a statement")
    precondition(!isOneKey || column != nil, "one key of no column")
    self.statements = statements
    self.isDisjoint = isDisjoint
    self.column = column
    self.isOneKey = isOneKey
    self.known = known
  }

  /// A statement that gives their ids, each once.
  public var ids: SQLFragment { united(statements) }

  /// A statement that counts them, and looks at no more than `most` of what each part finds.
  public func count(upTo most: Int) -> SQLFragment {
    let few = united(statements.map { SQLFragment("SELECT * FROM (\($0.sql) LIMIT \(most)) AS part", $0.parameters) })
    return SQLFragment(
      "SELECT count(*) FROM (SELECT * FROM (\(few.sql)) AS found LIMIT \(most)) AS few", few.parameters)
  }

  private func united(_ statements: [SQLFragment]) -> SQLFragment {
    SQLFragment(
      statements.map(\.sql).joined(separator: isDisjoint ? " UNION ALL " : " UNION "),
      statements.flatMap(\.parameters))
  }
}

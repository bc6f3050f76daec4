import CaravanQuery

/// Where an index lies, and what its engine calls differently.
package enum IndexEngine: Sendable, Hashable, CaseIterable {
  /// In a file of one instance's own. Words are rows of FTS5 (https://sqlite.org/fts5.html).
  case sqlite
  /// In tables that all instances share. Words are lexemes of a `tsvector` under GIN, without their places
  /// (https://www.postgresql.org/docs/15/datatype-textsearch.html).
  case postgres

  // MARK: Where records are read

  /// SQLite's planner is told, as it knows nothing of how many records each index has; PostgreSQL's by settings of the
  /// session.
  /// - Parameter column: of keys, in whose order they are wanted.
  func place(_ source: SQLSource?, orderedBy column: String?) -> SQLFragment {
    let isSQLite = self == .sqlite
    guard let source else {
      return SQLFragment("records" + (isSQLite ? " INDEXED BY records_by_\(column ?? "name")" : ""))
    }
    if let column = source.column {
      return SQLFragment("records" + (isSQLite ? " INDEXED BY records_by_\(column)" : ""))
    }
    return SQLFragment(
      "(SELECT id AS candidate FROM (\(source.ids.sql)) AS found) AS candidates "
        + (isSQLite ? "CROSS JOIN records NOT INDEXED ON id = candidate" : "JOIN records ON id = candidate"),
      source.ids.parameters)
  }

  /// It had better put records in order itself than give all of them to be put in order.
  var sorts: Bool { self == .postgres }

  // MARK: Words

  /// A statement that gives the ids of records by their words.
  var wordsLookup: String {
    switch self {
    case .sqlite: "SELECT rowid AS id FROM words WHERE words MATCH ?"
    case .postgres: "SELECT record AS id FROM words WHERE text @@ convert_from(?, 'UTF8')::tsquery"
    }
  }

  /// What it is asked. Tokens have letters and numbers, of which none has a meaning of its own.
  /// - Returns: also whether it finds nothing else.
  func words(_ asked: WordQuery, token: (String) -> String) -> (text: String, isExact: Bool) {
    let phrases = asked.phrases.map { phrase in
      let tokens = phrase.words.map(token)
      switch self {
      case .sqlite: return "\"\(tokens.joined(separator: " "))\"\(phrase.isPrefix ? " *" : "")"
      case .postgres:
        let quoted = tokens.map { "'\($0)'" }.joined(separator: " & ")
        return "(\(quoted)\(phrase.isPrefix ? ":*" : ""))"
      }
    }
    let isAll = asked.quantity == .all
    switch self {
    case .sqlite: return (phrases.joined(separator: isAll ? " AND " : " OR "), true)
    case .postgres:
      return (phrases.joined(separator: isAll ? " & " : " | "), asked.phrases.allSatisfy { $0.words.count == 1 })
    }
  }

  /// Or records that have a token.
  func words(_ text: String, orToken token: String) -> String {
    switch self {
    case .sqlite: "(\(text)) OR \"\(token)\""
    case .postgres: "(\(text)) | '\(token)'"
    }
  }

  /// A statement that gives a record other words: its id, then what `kept` says.
  package var keepWords: String {
    switch self {
    case .sqlite: "INSERT OR REPLACE INTO words(rowid, text) VALUES(?, ?)"
    case .postgres:
      """
      INSERT INTO words(record, text) VALUES(?, convert_from(?, 'UTF8')::tsvector)
      ON CONFLICT(record) DO UPDATE SET text = excluded.text
      """
    }
  }

  package var removeWords: String {
    switch self {
    case .sqlite: "DELETE FROM words WHERE rowid = ?"
    case .postgres: "DELETE FROM words WHERE record = ?"
    }
  }

  /// The words of a record as the engine takes them.
  package func kept(_ tokens: [String]) -> String {
    switch self {
    case .sqlite: tokens.joined(separator: " ")
    case .postgres: tokens.map { "'\($0)'" }.joined(separator: " ")
    }
  }
}

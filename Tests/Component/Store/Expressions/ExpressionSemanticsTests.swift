import CaravanModel
import CaravanPostgreSQL
import CaravanQuery
import CaravanSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: a query means the same wherever it runs. Method: random texts, over rows of which each value meets others, are
/// answered by the evaluator, by SQLite and PostgreSQL as they are compiled for those, and by SQLite as they are
/// written, where it has the same words for it. All answers of all rows are compared, unknown ones too.
///
/// `EXPRESSIONS=100000` tries so many; `EXPRESSION_SEED` begins elsewhere.
@Suite("Semantics of expressions", .timeLimit(.minutes(10))) struct ExpressionSemanticsTests {
  private static func number(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
  }

  static let type = RecordType(
    id: 1, definition: 1, name: "rows",
    fields: [
      FieldDefinition(id: 1, name: "t", kind: .text), FieldDefinition(id: 2, name: "n", kind: .integer),
      FieldDefinition(id: 3, name: "r", kind: .real), FieldDefinition(id: 4, name: "b", kind: .data),
      FieldDefinition(id: 5, name: "a", kind: .reference),
    ])

  private static let batch = 200

  @Test("CK-80: evaluator, SQLite and PostgreSQL answer alike")
  func engines() throws {
    let count = Self.number("EXPRESSIONS", default: 5_000)
    var random = ExpressionGenerator(seed: UInt64(Self.number("EXPRESSION_SEED", default: 1)))
    let rows = [RecordFields()] + (0..<30).map { _ in random.row() }
    let lite = try LiteEngine(rows)
    let postgres = try PostgresEngine(PostgresServer.shared.get(), rows)
    var answers: [Character: Int] = [:]
    var (asWritten, tried) = (0, 0)
    while tried < count {
      let samples = try (0..<min(Self.batch, count - tried)).map { _ in try random.sample() }
      let expected = samples.map { sample in
        String(rows.map { sample.expression.truth(of: $0).letter })
      }
      let found = try postgres.answers(samples.map(\.expression))
      for (index, sample) in samples.enumerated() {
        for letter in expected[index] { answers[letter, default: 0] += 1 }
        #expect(found[index] == expected[index], "PostgreSQL: \(sample)")
        #expect(try lite.answers(sample.expression) == expected[index], "SQLite: \(sample)")
        guard sample.isPlain else { continue }
        asWritten += 1
        #expect(try lite.answers(sample.text, sample.arguments) == expected[index], "as written: \(sample)")
      }
      tried += samples.count
    }
    #expect(tried == count && asWritten > count / 4, "\(asWritten) of \(tried)")
    for letter in "ynu" { #expect(answers[letter, default: 0] > count, "\(answers)") }
  }
}

extension Truth {
  fileprivate var letter: Character {
    switch self {
    case .yes: "y"
    case .no: "n"
    case .unknown: "u"
    }
  }
}

extension CaravanModel.Value {
  fileprivate var cell: SQLValue {
    switch self {
    case .text(let text): .text(text)
    case .reference(let reference): .text(reference.target)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .data(let bytes): .blob(bytes)
    case .null, .asset, .assetList, .location, .list: .null
    }
  }

  /// As PostgreSQL reads it, where a type is written behind it.
  fileprivate var literal: String {
    func hex(_ bytes: some Sequence<UInt8>) -> String {
      "'\\x" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
    }
    return switch self {
    case .text(let text): hex(text.utf8)
    case .reference(let reference): hex(reference.target.utf8)
    case .integer(let number): "'\(number)'"
    case .real(let number): "'\(number)'"
    case .data(let bytes): hex(bytes)
    case .null, .asset, .assetList, .location, .list: "NULL"
    }
  }
}

/// Rows in a file of SQLite's: in columns without a type, as the query service has them, and with one, as devices do.
private struct LiteEngine {
  private let connection: CaravanSQLite.Connection
  private let compiler = SQLCompiler(.sqlite) { "f\($0)" }

  init(_ rows: [RecordFields]) throws {
    connection = try CaravanSQLite.Connection(.memory)
    try connection.execute("CREATE TABLE indexed(id INTEGER PRIMARY KEY, f1, f2, f3, f4, f5)")
    try connection.execute("CREATE TABLE written(id INTEGER PRIMARY KEY, t TEXT, n INTEGER, r REAL, b BLOB, a TEXT)")
    for (id, row) in rows.enumerated() {
      let cells = (1...5).map { row[UInt32($0)].cell }
      for table in ["indexed", "written"] {
        let statement = try connection.prepare("INSERT INTO \(table) VALUES(?, ?, ?, ?, ?, ?)")
        try statement.run(id, cells[0], cells[1], cells[2], cells[3], cells[4])
      }
    }
  }

  func answers(_ expression: CaravanQuery.Expression<Condition>) throws -> String {
    let condition = compiler.compile(expression)
    return try answers("indexed", condition.sql, condition.values)
  }

  func answers(_ text: String, _ arguments: [CaravanModel.Value]) throws -> String {
    try answers("written", text, arguments)
  }

  private func answers(_ table: String, _ condition: String, _ values: [CaravanModel.Value]) throws -> String {
    let statement = try connection.prepare("SELECT (\(condition)) FROM \(table) ORDER BY id")
    for (index, value) in values.enumerated() { try value.cell.bind(to: statement, at: Int32(index) + 1) }
    defer { statement.reset() }
    var letters = ""
    while let row = try statement.next() { letters += row.isNull(0) ? "u" : row.flag(0) ? "y" : "n" }
    return letters
  }
}

/// The same rows in tables of PostgreSQL's, asked by a function that runs one condition after another.
private struct PostgresEngine {
  private let connection: CaravanPostgreSQL.Connection
  private let compiler = SQLCompiler(.postgreSQL) { "f\($0)" }

  init(_ server: PostgresServer, _ rows: [RecordFields]) throws {
    connection = try server.connect()
    try connection.execute(
      "CREATE TEMP TABLE expression_rows(id int8, f1 bytea, f2 int8, f3 float8, f4 bytea, f5 bytea)")
    for (id, row) in rows.enumerated() {
      let values = (1...5).map { row[UInt32($0)].literal }.joined(separator: ", ")
      try connection.execute("INSERT INTO expression_rows VALUES(\(id), \(values))")
    }
    try connection.execute(
      """
      CREATE FUNCTION pg_temp.expression_answers(conditions bytea[]) RETURNS SETOF bytea LANGUAGE plpgsql AS $$
      DECLARE
        condition bytea;
        answer bytea;
      BEGIN
        FOREACH condition IN ARRAY conditions LOOP
          EXECUTE 'SELECT string_agg(CASE WHEN x THEN ''y''::bytea WHEN NOT x THEN ''n'' ELSE ''u'' END, '''''
            || ' ORDER BY id) FROM (SELECT id, (' || convert_from(condition, 'UTF8') || ') AS x FROM expression_rows) q'
            INTO answer;
          RETURN NEXT answer;
        END LOOP;
      END $$
      """)
  }

  func answers(_ expressions: [CaravanQuery.Expression<Condition>]) throws -> [String] {
    let texts = expressions.map { expression in
      let condition = compiler.compile(expression)
      let parts = condition.sql.split(separator: "?", omittingEmptySubsequences: false)
      precondition(parts.count == condition.values.count + 1, "a value has no place in \(condition.sql)")
      return zip(parts, condition.values.map(\.literal) + [""]).map { $0 + $1 }.joined()
    }
    return try connection.run(
      "SELECT pg_temp.expression_answers($1)", texts.map { CaravanPostgreSQL.Bytes(Array($0.utf8)) }
    ).map { $0.text(0) }
  }
}

import CaravanModel
import CaravanPostgreSQL
import CaravanQuery
import CaravanSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: a query means the same wherever it runs. Method: random texts, over rows of which each value meets others, are
/// answered by the evaluator, by SQLite and PostgreSQL over their keys, and by SQLite as they are written, where it has
/// the same words for it. All answers of all rows are compared; of keys, which rows are found.
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
        let isFound = String(expected[index].map { $0 == "y" ? "y" : "n" })
        #expect(found[index] == isFound, "PostgreSQL: \(sample)")
        #expect(try lite.answers(sample.expression) == isFound, "SQLite: \(sample)")
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
}

extension RecordFields {
  fileprivate func key(_ field: FieldDefinition) -> [UInt8] {
    IndexKey(Cell(self[field.id], as: field.kind))?.bytes ?? []
  }
}

extension SQLCompiler {
  /// A pattern of LIKE is for the evaluator, whose answers for all rows are known here.
  fileprivate init(_ rows: [RecordFields]) {
    let found = { (condition: SQLFragment) in
      SQLFragment("SELECT id FROM indexed WHERE \(condition.sql)", condition.parameters)
    }
    self.init(column: { "f\($0)" }, found: found) { expression in
      let found = rows.indices.filter { expression.truth(of: rows[$0]) == .yes }.map(String.init)
      return SQLFragment("id IN (\(found.isEmpty ? "-1" : found.joined(separator: ", ")))")
    }
  }
}

extension SQLFragment.Parameter {
  fileprivate var bytes: [UInt8] {
    guard case .key(let key) = self else { preconditionFailure("a key is compared with \(self)") }
    return key.bytes
  }
}

/// Rows in a file of SQLite's: as keys, which the query service has, and as they are, which devices have.
private struct LiteEngine {
  private let connection: CaravanSQLite.Connection
  private let compiler: SQLCompiler

  init(_ rows: [RecordFields]) throws {
    compiler = SQLCompiler(rows)
    connection = try CaravanSQLite.Connection(.memory)
    try connection.execute("CREATE TABLE indexed(id INTEGER PRIMARY KEY, f1, f2, f3, f4, f5)")
    try connection.execute("CREATE TABLE written(id INTEGER PRIMARY KEY, t TEXT, n INTEGER, r REAL, b BLOB, a TEXT)")
    for (id, row) in rows.enumerated() {
      let keys = ExpressionSemanticsTests.type.fields.map { SQLValue.blob(row.key($0)) }
      for (table, cells) in [("indexed", keys), ("written", (1...5).map { row[UInt32($0)].cell })] {
        let statement = try connection.prepare("INSERT INTO \(table) VALUES(?, ?, ?, ?, ?, ?)")
        try statement.run(id, cells[0], cells[1], cells[2], cells[3], cells[4])
      }
    }
  }

  func answers(_ expression: CaravanQuery.Expression<Condition>) throws -> String {
    let condition = compiler.compile(expression)
    return try answers("indexed", condition.sql, condition.parameters.map { .blob($0.bytes) })
  }

  func answers(_ text: String, _ arguments: [CaravanModel.Value]) throws -> String {
    try answers("written", text, arguments.map(\.cell))
  }

  private func answers(_ table: String, _ condition: String, _ values: [SQLValue]) throws -> String {
    let statement = try connection.prepare("SELECT (\(condition)) FROM \(table) ORDER BY id")
    for (index, value) in values.enumerated() { try value.bind(to: statement, at: Int32(index) + 1) }
    defer { statement.reset() }
    var letters = ""
    while let row = try statement.next() { letters += row.isNull(0) ? "u" : row.flag(0) ? "y" : "n" }
    return letters
  }
}

/// The same rows in tables of PostgreSQL's, asked by a function that runs one condition after another.
private struct PostgresEngine {
  private let connection: CaravanPostgreSQL.Connection
  private let compiler: SQLCompiler

  init(_ server: PostgresServer, _ rows: [RecordFields]) throws {
    compiler = SQLCompiler(rows)
    connection = try server.connect()
    try connection.execute(
      "CREATE TEMP TABLE expression_rows(id int8, f1 bytea, f2 bytea, f3 bytea, f4 bytea, f5 bytea)")
    for (id, row) in rows.enumerated() {
      let values = ExpressionSemanticsTests.type.fields.map { Self.literal(row.key($0)) }.joined(separator: ", ")
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

  private static func literal(_ bytes: [UInt8]) -> String {
    "'\\x" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
  }

  func answers(_ expressions: [CaravanQuery.Expression<Condition>]) throws -> [String] {
    let texts = expressions.map { expression in
      let condition = compiler.compile(expression)
      let parts = condition.sql.split(separator: "?", omittingEmptySubsequences: false)
      precondition(parts.count == condition.parameters.count + 1, "a value has no place in \(condition.sql)")
      return zip(parts, condition.parameters.map { Self.literal($0.bytes) } + [""]).map { $0 + $1 }.joined()
    }
    return try connection.run(
      "SELECT pg_temp.expression_answers($1)", texts.map { CaravanPostgreSQL.Bytes(Array($0.utf8)) }
    ).map { $0.text(0) }
  }
}

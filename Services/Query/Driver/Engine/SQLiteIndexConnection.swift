package import CaravanModel
import CaravanQueryCore
package import CaravanSQLite

/// An index in a file of this instance's own.
package final class SQLiteIndexConnection: IndexConnection {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  package func run(_ statement: IndexStatement, _ values: [IndexValue]) throws(CaravanError) {
    try visit(statement, values) { _ in true }
  }

  package func visit(
    _ statement: IndexStatement, _ values: [IndexValue],
    each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    let prepared = try prepared(statement)
    for (index, value) in values.enumerated() { try value.bind(to: prepared, at: Int32(index) + 1) }
    defer { prepared.reset() }
    while let row = try prepared.next(), try body(row) {}
  }

  package func stream(
    _ statement: IndexStatement, _ values: [IndexValue], wanted count: Int, inOrder: Bool,
    each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    try visit(statement, values, each: body)
  }

  private func prepared(_ statement: IndexStatement) throws(CaravanError) -> Statement {
    switch statement {
    case .literal(let sql): try connection.statement(sql)
    case .text(let sql, isKept: true): try connection.statement(text: sql)
    case .text(let sql, isKept: false): try connection.prepare(sql)
    }
  }

  /// The file is this instance's own.
  package func take(_ partition: Partition, under token: UInt64) throws(CaravanError) {}
  package func holds(_ partition: Partition) -> Bool { true }

  package func writing(
    to partition: Partition, _ body: () throws(CaravanError) -> Void
  ) throws(CaravanError) {
    try connection.transaction { () throws(CaravanError) in try body() }
  }

  package func reading<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    try connection.transaction(.read, body)
  }

  package func watch(_ mayGoOn: (() -> Bool)?) {
    guard let mayGoOn else {
      connection.setProgressHandler(everySteps: 0, nil)
      return
    }
    connection.setProgressHandler(everySteps: Int32(QueryLimits.stepsPerLook)) { mayGoOn() ? .goOn : .stop }
  }

  package func close() { connection.close() }
}

extension CaravanSQLite.Row: IndexColumns {}

extension IndexValue: Bindable {
  package func bind(to statement: Statement, at index: Int32) throws(CaravanError) {
    switch self {
    case .null: try statement.bindNull(at: index)
    case .integer(let number): try statement.bind(number, at: index)
    case .text(let text): try statement.bind(text, at: index)
    case .bytes(let bytes): try statement.bind(bytes, at: index)
    }
  }
}

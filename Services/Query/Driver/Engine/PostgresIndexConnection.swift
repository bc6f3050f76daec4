import CaravanModel
import CaravanPostgreSQL
import CaravanQueryCore
import CaravanRuntime

/// An index in tables that all instances share. Statements that only write are sent together, before the next that
/// reads. A connection that is lost is opened again by the next call.
final class PostgresIndexConnection: IndexConnection {
  private let options: ConnectionOptions
  private let host: Host
  private var connection: CaravanPostgreSQL.Connection?
  /// Not before then is another attempt to connect made.
  private var notBefore: Instant?
  /// Written in this transaction, and not sent yet.
  private var pending = Pipeline()
  private var isInTransaction = false
  /// Under which token of its lease this instance holds each partition.
  private var held: [UInt32: UInt64] = [:]
  private var mayGoOn: (() -> Bool)?
  /// Statements of the program, as PostgreSQL writes them, by their address.
  private var literals: [UInt: String] = [:]
  /// The tables are there.
  private var hasLayout = false

  private static let pendingLimit = (statements: 1_000, bytes: 1 << 20)
  private static let pause: Duration = .milliseconds(500)
  /// Two instances that make the same table at once: one of them is refused.
  private static let layoutAttempts = 5

  init(_ options: ConnectionOptions, host: Host) {
    self.options = options
    self.host = host
  }

  func close() {
    connection?.close()
    connection = nil
  }

  // MARK: Statements

  func run(_ statement: IndexStatement, _ values: [IndexValue]) throws(CaravanError) {
    precondition(isInTransaction, "an index is written to outside of a transaction")
    add(statement, values)
    if pending.count >= Self.pendingLimit.statements || pending.byteCount >= Self.pendingLimit.bytes { _ = try send() }
  }

  func visit(
    _ statement: IndexStatement, _ values: [IndexValue],
    each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    add(statement, values)
    guard let rows = try send().last else { return }
    for row in rows { guard try body(row) else { return } }
  }

  /// Through a cursor, as the statement may find more than there is room for, in steps that grow.
  func stream(
    _ statement: IndexStatement, _ values: [IndexValue], wanted count: Int, inOrder: Bool,
    each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    precondition(isInTransaction, "a cursor lives in a transaction")
    // The planner takes sorting all for cheap: it does not know how few are wanted.
    pending.add(text: "SET LOCAL enable_sort = \(inOrder ? "off" : "on")", isKept: true)
    pending.add(text: "SET LOCAL enable_bitmapscan = \(inOrder ? "off" : "on")", isKept: true)
    pending.add(text: "DECLARE found NO SCROLL CURSOR FOR \(text(of: statement))", values.map(\.parameter))
    var size = max(1, min(count, QueryLimits.firstFetched))
    while true {
      pending.add(text: "FETCH \(size) FROM found", isKept: true)
      guard let rows = try send().last else { break }
      for row in rows { guard try body(row) else { return pending.close() } }
      guard rows.count == size else { break }
      guard mayGoOn?() ?? true else { throw CaravanError(.cancelled, "the query has cost more than it may") }
      // As many as have room here: all of a step are in memory at once.
      let room = QueryLimits.fetchedBytes / max(1, rows.reduce(0) { $0 + $1.byteCount } / rows.count)
      size = max(1, min(2 * size, QueryLimits.mostFetched, room))
    }
    pending.close()
  }

  func watch(_ mayGoOn: (() -> Bool)?) { self.mayGoOn = mayGoOn }

  private func add(_ statement: IndexStatement, _ values: [IndexValue]) {
    let isKept = if case .text(_, isKept: false) = statement { false } else { true }
    pending.add(text: text(of: statement), isKept: isKept && mayGoOn == nil, values.map(\.parameter))
  }

  private func text(of statement: IndexStatement) -> String {
    switch statement {
    case .text(let sql, _): return Self.numbered(sql)
    case .literal(let sql):
      let key = unsafe UInt(bitPattern: sql.utf8Start)
      if let known = literals[key] { return known }
      let text = Self.numbered(sql.description)
      literals[key] = text
      return text
    }
  }

  /// PostgreSQL calls the values `$1`, `$2` and so on.
  private static func numbered(_ sql: String) -> String {
    var (text, number) = ("", 0)
    for part in sql.split(separator: "?", omittingEmptySubsequences: false) {
      if number > 0 { text += "$\(number)" }
      text += part
      number += 1
    }
    return text
  }

  // MARK: Transactions

  func take(_ partition: Partition, under token: UInt64) throws(CaravanError) {
    held[partition.number] = nil
    try transaction("BEGIN") { () throws(CaravanError) in
      try run(
        .literal(
          """
          INSERT INTO holders(partition, token) VALUES(?, ?)
          ON CONFLICT(partition) DO UPDATE SET token = excluded.token
          """
        ), [.integer(Int64(partition.number)), token.indexValue])
    }
    held[partition.number] = token
  }

  func holds(_ partition: Partition) -> Bool { held[partition.number] != nil }

  func writing(to partition: Partition, _ body: () throws(CaravanError) -> Void) throws(CaravanError) {
    guard let token = held[partition.number] else { throw Self.lost(partition) }
    try transaction("BEGIN") { () throws(CaravanError) in
      var isHeld = false
      try visit(
        .literal("SELECT token FROM holders WHERE partition = ? FOR UPDATE"), [.integer(Int64(partition.number))]
      ) { row in
        isHeld = row.unsigned(0) == token
        return false
      }
      guard isHeld else {
        held[partition.number] = nil
        throw Self.lost(partition)
      }
      try body()
    }
  }

  func reading<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    try transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body)
  }

  private static func lost(_ partition: Partition) -> CaravanError {
    CaravanError(
      .unavailable, "another instance has partition \(partition) of the index by now, or it is to be taken anew: retry")
  }

  private func transaction<Result>(
    _ begin: String, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    precondition(!isInTransaction, "a transaction of the index within another one")
    isInTransaction = true
    defer { isInTransaction = false }
    pending.add(text: begin, isKept: true)
    do throws(CaravanError) {
      let result = try body()
      pending.add(text: "COMMIT", isKept: true)
      _ = try send()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  private func rollBack() {
    pending = Pipeline()
    guard let open = connection else { return }
    do throws(PostgresError) { try open.rollBack() } catch { drop(error) }
  }

  /// - Returns: one answer a statement.
  private func send() throws(CaravanError) -> [CaravanPostgreSQL.Rows] {
    let pipeline = pending
    pending = Pipeline()
    let open = try session()
    do throws(PostgresError) { return try open.run(pipeline) } catch {
      if error.kind == .noSuchTable { hasLayout = false }
      if [.lost, .noSuchTable].contains(error.kind) { drop(error) }
      throw Self.answer(error)
    }
  }

  // MARK: The connection

  private func session() throws(CaravanError) -> CaravanPostgreSQL.Connection {
    if let connection { return connection }
    if let notBefore, host.clock.now < notBefore { throw Self.unreachable }
    do throws(PostgresError) {
      let opened = try CaravanPostgreSQL.Connection(options)
      try makeTables(opened)
      connection = opened
      notBefore = nil
      return opened
    } catch {
      notBefore = host.clock.now + Self.pause
      host.log.warning("the index in PostgreSQL cannot be opened", [.error: error.description])
      throw Self.answer(error)
    }
  }

  private func makeTables(_ opened: CaravanPostgreSQL.Connection) throws(PostgresError) {
    guard !hasLayout else { return }
    var attempt = 0
    while true {
      attempt += 1
      do throws(PostgresError) {
        for statement in PostgresIndex.layout { try opened.execute(statement) }
        hasLayout = true
        return
      } catch {
        guard [.duplicate, .conflict, .other].contains(error.kind), attempt < Self.layoutAttempts else { throw error }
      }
    }
  }

  /// A server that crashed may have lost the latest transactions: what is there now is to be seen.
  private func drop(_ error: PostgresError) {
    host.log.warning("a connection to PostgreSQL is lost", [.error: error.description])
    held = [:]
    close()
  }

  private static let unreachable = CaravanError(
    .unavailable, "the index's PostgreSQL cannot be reached: try again later (the log of caravan-query says more)")

  /// For whoever asked, who may be anybody.
  private static func answer(_ error: PostgresError) -> CaravanError {
    switch error.kind {
    case .lost, .refused: unreachable
    // A statement that ran for too long is one that finds too much.
    case .busy where error.state == "57014": CaravanError(.cancelled, "the query has run for longer than it may")
    case .conflict, .duplicate, .constraint, .noSuchTable, .notPermitted, .diskRefused, .busy, .other:
      error.caravanError
    }
  }
}

extension CaravanPostgreSQL.Row: IndexColumns {}

extension Pipeline {
  /// Before the next statement, or the end of the transaction.
  fileprivate mutating func close() { add(text: "CLOSE found", isKept: true) }
}

extension IndexValue {
  fileprivate var parameter: any Parameter {
    switch self {
    case .null: Bytes?.none
    case .integer(let number): number
    case .text(let text): text
    case .bytes(let bytes): Bytes(bytes)
    }
  }
}

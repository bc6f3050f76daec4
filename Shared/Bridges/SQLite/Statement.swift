internal import CCaravanSQLite
public import CaravanModel

/// A compiled statement of one connection. Parameters count from 1. Between runs it is reset: an open read statement
/// would hold its snapshot, and with it the write-ahead log.
public final class Statement {
  private var handle: OpaquePointer?
  private unowned let connection: Connection

  init(_ connection: Connection, _ sql: String) throws(CaravanError) {
    self.connection = connection
    // "PERSISTENT: a hint that the prepared statement will be retained for a long time and probably reused many times"
    // (https://sqlite.org/c3ref/c_prepare_normalize.html).
    try connection.check(
      sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil))
    guard handle != nil else {
      throw SQLiteError(code: SQLITE_ERROR, message: "there is no statement in '\(sql.prefix(80))'").caravanError
    }
  }

  deinit { finalise() }

  func finalise() {
    sqlite3_finalize(handle)
    handle = nil
  }

  // MARK: Runs

  /// Runs to the end; rows, if any, are passed over.
  public func run<each Value: Bindable>(_ values: repeat each Value) throws(CaravanError) {
    try bindAll(repeat each values)
    defer { reset() }
    while try step() {}
  }

  /// Like `run`, with one more last parameter that is not copied on its way in.
  public func run<each Value: Bindable>(
    _ values: repeat each Value, borrowing blob: borrowing [UInt8]
  ) throws(CaravanError) {
    let last = try bindAll(repeat each values) + 1
    try runBound(borrowing: blob, at: last)
  }

  // MARK: Runs for every row

  // What these have beside the others is speed: to bind a few values of any types takes as long as SQLite takes to
  // insert them.

  public func run(binding bind: (Parameters) throws(CaravanError) -> Void) throws(CaravanError) {
    try bind(parameters)
    defer { reset() }
    while try step() {}
  }

  /// - Parameter blob: the parameter at `index`, which `bind` leaves out; it is not copied on its way in.
  public func run(
    borrowing blob: borrowing [UInt8], at index: Int32, binding bind: (Parameters) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    try bind(parameters)
    try runBound(borrowing: blob, at: index)
  }

  public func first<Result>(
    binding bind: (Parameters) throws(CaravanError) -> Void, read: (Row) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? {
    try bind(parameters)
    return try firstBound(read)
  }

  // MARK: Runs that read

  public func first<each Value: Bindable, Result>(
    _ values: repeat each Value, read: (Row) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? {
    try bindAll(repeat each values)
    return try firstBound(read)
  }

  public func all<each Value: Bindable, Result>(
    _ values: repeat each Value, read: (Row) throws(CaravanError) -> Result
  ) throws(CaravanError) -> [Result] {
    var results: [Result] = []
    try bindAll(repeat each values)
    defer { reset() }
    while try step() { if let handle { results.append(try read(Row(handle: handle))) } }
    return results
  }

  /// Calls `body` with each row until it answers false or there are no more.
  public func visit<each Value: Bindable>(
    _ values: repeat each Value, each body: (Row) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    try bindAll(repeat each values)
    defer { reset() }
    while try step() { if let handle, try !body(Row(handle: handle)) { return } }
  }

  // MARK: By hand, for parameters known only at run time

  /// The next row; nil at the end. Call `reset` when done.
  public func next() throws(CaravanError) -> Row? {
    guard try step(), let handle else { return nil }
    return Row(handle: handle)
  }

  /// Ends the run. Bound values stay until they are bound anew.
  public func reset() { sqlite3_reset(handle) }

  public var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
  public var columnCount: Int { Int(sqlite3_column_count(handle)) }
  /// Whether running it leaves the database as it is (https://sqlite.org/c3ref/stmt_readonly.html).
  public var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  public func columnName(_ column: Int) -> String {
    sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  public func bind(_ value: Int64, at index: Int32) throws(CaravanError) { try parameters.bind(value, at: index) }
  public func bind(_ value: Double, at index: Int32) throws(CaravanError) { try parameters.bind(value, at: index) }
  public func bind(_ value: String, at index: Int32) throws(CaravanError) { try parameters.bind(value, at: index) }
  public func bind(_ value: [UInt8], at index: Int32) throws(CaravanError) { try parameters.bind(value, at: index) }
  func bind(_ function: RowFunction, at index: Int32) throws(CaravanError) {
    try parameters.bind(function, at: index)
  }
  public func bindNull(at index: Int32) throws(CaravanError) { try parameters.bindNull(at: index) }

  // MARK: Parts

  private var parameters: Parameters { Parameters(handle: handle, connection: connection) }

  /// - Returns: how many were bound.
  @discardableResult
  private func bindAll<each Value: Bindable>(_ values: repeat each Value) throws(CaravanError) -> Int32 {
    var index: Int32 = 0
    for value in repeat each values {
      index += 1
      try value.bind(to: self, at: index)
    }
    return index
  }

  private func firstBound<Result>(_ read: (Row) throws(CaravanError) -> Result) throws(CaravanError) -> Result? {
    defer { reset() }
    guard try step(), let handle else { return nil }
    return try read(Row(handle: handle))
  }

  private func runBound(borrowing blob: borrowing [UInt8], at index: Int32) throws(CaravanError) {
    defer { reset() }
    if let tap = connection.statementTap { try connection.ask(tap, about: handle) }
    let failure: CaravanError? = blob.withUnsafeBufferPointer { bytes in
      // An empty array may have no address, and no address binds NULL.
      let bound =
        bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : CSQLite_bind_blob_borrowed(handle, index, bytes.baseAddress, UInt64(bytes.count))
      guard bound == SQLITE_OK else { return connection.failure(bound) }
      var code = sqlite3_step(handle)
      while code == SQLITE_ROW { code = sqlite3_step(handle) }
      let failure = code == SQLITE_DONE ? nil : connection.failure(code)
      sqlite3_reset(handle)
      sqlite3_bind_null(handle, index)
      return failure
    }
    if let failure { throw failure }
  }

  private func step() throws(CaravanError) -> Bool {
    if let tap = connection.statementTap { try connection.ask(tap, about: handle) }
    return switch sqlite3_step(handle) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    case let code: throw connection.failure(code)
    }
  }
}

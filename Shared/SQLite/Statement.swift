internal import CSQLite
public import Model

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
    defer { reset() }
    if let tap = connection.statementTap { try connection.ask(tap, about: handle) }
    let failure: CaravanError? = blob.withUnsafeBufferPointer { bytes in
      // An empty array may have no address, and no address binds NULL.
      let bound =
        bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, last, 0)
        : CSQLite_bind_blob_borrowed(handle, last, bytes.baseAddress, UInt64(bytes.count))
      guard bound == SQLITE_OK else { return connection.failure(bound) }
      var code = sqlite3_step(handle)
      while code == SQLITE_ROW { code = sqlite3_step(handle) }
      let failure = code == SQLITE_DONE ? nil : connection.failure(code)
      sqlite3_reset(handle)
      sqlite3_bind_null(handle, last)
      return failure
    }
    if let failure { throw failure }
  }

  public func first<each Value: Bindable, Result>(
    _ values: repeat each Value, read: (Row) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? {
    try bindAll(repeat each values)
    defer { reset() }
    guard try step(), let handle else { return nil }
    return try read(Row(handle: handle))
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

  public func bind(_ value: Int64, at index: Int32) throws(CaravanError) {
    try connection.check(sqlite3_bind_int64(handle, index, value))
  }

  public func bind(_ value: Double, at index: Int32) throws(CaravanError) {
    try connection.check(sqlite3_bind_double(handle, index, value))
  }

  public func bind(_ value: String, at index: Int32) throws(CaravanError) {
    var value = value
    let code = value.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        // An empty buffer may have no address, and no address binds NULL.
        CSQLite_bind_text_copy(handle, index, $0.baseAddress ?? Self.emptyText, UInt64($0.count))
      }
    }
    try connection.check(code)
  }

  public func bind(_ value: [UInt8], at index: Int32) throws(CaravanError) {
    let code = value.withUnsafeBufferPointer {
      $0.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : CSQLite_bind_blob_copy(handle, index, $0.baseAddress, UInt64($0.count))
    }
    try connection.check(code)
  }

  public func bindNull(at index: Int32) throws(CaravanError) {
    try connection.check(sqlite3_bind_null(handle, index))
  }

  // MARK: Parts

  /// One NUL byte, for ever. Safe because nobody writes to it.
  private nonisolated(unsafe) static let emptyText: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    return UnsafePointer(text)
  }()

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

  private func step() throws(CaravanError) -> Bool {
    if let tap = connection.statementTap { try connection.ask(tap, about: handle) }
    return switch sqlite3_step(handle) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    case let code: throw connection.failure(code)
    }
  }
}

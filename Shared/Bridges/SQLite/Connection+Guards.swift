internal import CCaravanSQLite
public import CaravanModel
internal import CaravanRuntime

/// What a statement wants to do, asked once for each part while it compiles
/// (https://sqlite.org/c3ref/c_alter_table.html).
public enum AuthorizerRequest: Sendable, Hashable {
  case select
  /// `column` is empty when a table is used but none of its columns.
  case read(table: String, column: String)
  case function(name: String)
  case recursive
  case insert(table: String)
  case update(table: String, column: String)
  case delete(table: String)
  case transaction
  case pragma(name: String)
  case attach
  /// Anything else, mostly changes of the schema: SQLite's action code.
  case other(Int32)
}

public enum AuthorizerAnswer: Sendable, Hashable {
  case allow
  /// The statement does not compile: `invalidData`.
  case deny
}

public enum ProgressAnswer: Sendable, Hashable {
  case goOn
  /// The statement ends with `cancelled`.
  case stop
}

extension Connection {
  /// Asks `decide` about every statement compiled from now on; nil: everything is allowed.
  ///
  /// Statements prepared before stay usable: "the authorizer callback is invoked only during sqlite3_prepare() or its
  /// variants" (https://sqlite.org/c3ref/set_authorizer.html), so prepare the trusted ones first.
  public func setAuthorizer(_ decide: ((AuthorizerRequest) -> AuthorizerAnswer)?) throws(CaravanError) {
    authorizer = decide
    // The context is this connection, unretained: callbacks come only from calls on it, while it lives.
    let context = Unmanaged.passUnretained(self).toOpaque()
    guard decide != nil else { return try check(sqlite3_set_authorizer(handle, nil, nil)) }
    try check(
      sqlite3_set_authorizer(
        handle,
        { context, action, first, second, _, _ in
          guard let context else { return SQLITE_DENY }
          let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
          let request = AuthorizerRequest(action, first, second)
          return connection.authorizer?(request) == .allow ? SQLITE_OK : SQLITE_DENY
        }, context))
  }

  /// Compiles under an authorizer that is gone afterwards.
  public func prepare(
    _ sql: String, authorizer decide: @escaping (AuthorizerRequest) -> AuthorizerAnswer
  ) throws(CaravanError) -> Statement {
    let before = authorizer
    try setAuthorizer(decide)
    defer { try? setAuthorizer(before) }
    return try prepare(sql)
  }

  /// Calls `ask` about every `steps` instructions of a running statement; nil: never. It must not use the connection.
  public func setProgressHandler(everySteps steps: Int32, _ ask: (() -> ProgressAnswer)?) {
    progress = ask
    guard ask != nil else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, steps,
      { context in
        guard let context else { return 1 }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        return connection.progress?() == .goOn ? 0 : 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}

extension Connection {
  /// Calls `tell` with the table and the key of every row that a statement of this connection inserts, updates or
  /// deletes one by one, also where that is rolled back later; nil: never. It must not use the connection
  /// (https://sqlite.org/c3ref/update_hook.html).
  public func whenRowChanges(_ tell: ((String, Int64) -> Void)?) {
    rowChange = tell
    guard tell != nil else {
      _ = sqlite3_update_hook(handle, nil, nil)
      return
    }
    // The context is this connection, as for the authorizer.
    _ = sqlite3_update_hook(
      handle,
      { context, _, _, table, key in
        guard let context, let table else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        connection.rowChange?(String(cString: table), key)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Longer patterns of LIKE and GLOB end their statement with `invalidData`. One comparison takes up to as many steps
  /// as its text has bytes times those of the pattern, and nothing interrupts it (https://sqlite.org/limits.html §7).
  public func limitPatterns(to bytes: Int32) {
    _ = sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, bytes)
  }
}

extension AuthorizerRequest {
  init(_ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?) {
    let one = first.map { String(cString: $0) } ?? ""
    let two = second.map { String(cString: $0) } ?? ""
    self =
      switch action {
      case SQLITE_SELECT: .select
      case SQLITE_READ: .read(table: one, column: two)
      case SQLITE_FUNCTION: .function(name: two)
      case SQLITE_RECURSIVE: .recursive
      case SQLITE_INSERT: .insert(table: one)
      case SQLITE_UPDATE: .update(table: one, column: two)
      case SQLITE_DELETE: .delete(table: one)
      case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: .transaction
      case SQLITE_PRAGMA: .pragma(name: one)
      case SQLITE_ATTACH, SQLITE_DETACH: .attach
      default: .other(action)
      }
  }
}

/// Stops what a connection is doing, from any thread: the statement ends with `cancelled`.
///
/// `@unchecked Sendable` is safe because "it is safe to call this routine from a thread different from the thread that
/// is currently running the database operation"; and since "it is not safe to call this routine with a database
/// connection that is closed or might close before sqlite3_interrupt() returns"
/// (https://sqlite.org/c3ref/interrupt.html), closing disarms it first, under the same lock.
public final class Interrupter: @unchecked Sendable {
  private let isArmed = Mutex(true)
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  public func interrupt() { isArmed.withLock { if $0 { sqlite3_interrupt(handle) } } }

  func disarm() { isArmed.withLock { $0 = false } }
}

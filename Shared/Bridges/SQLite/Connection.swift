internal import CCaravanSQLite
public import CaravanModel

/// One connection to one database file, owned by one isolation domain: not Sendable, and every call may block, so it
/// belongs in an actor with a serial executor of its own (style rule 11).
///
/// Opened with `SQLITE_OPEN_NOMUTEX`: "separate threads are allowed to use SQLite at the same time, as long as each
/// thread is using a different database connection" (https://sqlite.org/c3ref/open.html).
public final class Connection {
  public enum Location: Sendable, Hashable {
    case file(String)
    /// Private to this connection and gone with it.
    case memory
  }

  let handle: OpaquePointer
  /// Of the file, for people.
  private let path: String
  private var statements: [UInt: Statement] = [:]
  private var texts: [String: Statement] = [:]
  /// The newest failure of this connection, with SQLite's own code.
  public internal(set) var lastFailure: SQLiteError?
  /// Called when SQLite finds the file damaged; must return at once.
  public var whenDamaged: (() -> Void)?
  var authorizer: ((AuthorizerRequest) -> AuthorizerAnswer)?
  var progress: (() -> ProgressAnswer)?
  var rowChange: ((String, Int64) -> Void)?
  /// Only once the connection is open.
  private(set) var statementTap: (any StatementTap)?
  private let interruption: Interrupter
  let durability: ConnectionOptions.Durability
  private var isOpen = true

  /// Statements of run-time text kept prepared; one more empties the cache.
  static let preparedTextLimit = 256

  /// - Throws: `storageFull` when the file cannot be opened or made, `internalError` when it is no database.
  public init(_ location: Location, _ options: ConnectionOptions = ConnectionOptions()) throws(CaravanError) {
    Self.configureLibrary
    var opened: OpaquePointer?
    switch location {
    case .file(let file): path = file
    case .memory: path = ":memory:"
    }
    let access = options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, OwnFiles.vfsName(options, path))
    guard code == SQLITE_OK, let opened else {
      // "Whether or not an error occurs when it is opened, resources associated with the database connection handle
      // should be released by passing it to sqlite3_close()" (https://sqlite.org/c3ref/open.html).
      sqlite3_close_v2(opened)
      throw SQLiteError(code: code, message: "\(path): \(String(cString: sqlite3_errstr(code)))").caravanError
    }
    handle = opened
    interruption = Interrupter(opened)
    durability = options.durability
    do { try options.apply(to: self) } catch {
      close()
      throw error
    }
    statementTap = options.statements
  }

  /// Once a process, before the first connection. Statistics cost every allocation a global lock.
  private static let configureLibrary: Void = { _ = CSQLite_config_memory_statistics(0) }()

  deinit { close() }

  /// Finalises what was prepared and closes. Nothing may be called afterwards.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    for statement in statements.values { statement.finalise() }
    for statement in texts.values { statement.finalise() }
    statements = [:]
    texts = [:]
    interruption.disarm()
    // v2: a statement somebody still holds keeps the handle alive as a zombie instead of failing the close.
    sqlite3_close_v2(handle)
  }

  // MARK: Statements

  /// The prepared statement of this literal. It is prepared once and kept for the connection's life.
  public func statement(_ sql: StaticString) throws(CaravanError) -> Statement {
    let key = UInt(bitPattern: sql.utf8Start)
    if let known = statements[key] { return known }
    let statement = try Statement(self, sql.description)
    statements[key] = statement
    return statement
  }

  /// The prepared statement of a text made at run time, kept while there is room.
  public func statement(text sql: String) throws(CaravanError) -> Statement {
    if let known = texts[sql] { return known }
    let statement = try Statement(self, sql)
    if texts.count >= Self.preparedTextLimit { texts = [:] }
    texts[sql] = statement
    return statement
  }

  /// Forgets the prepared statements of run-time texts, for instance because their tables are gone.
  public func forgetTexts() { texts = [:] }

  /// Compiles a statement without keeping it. The authorizer is asked while this compiles.
  public func prepare(_ sql: String) throws(CaravanError) -> Statement { try Statement(self, sql) }

  /// Runs one or more statements that give no rows.
  public func execute(_ sql: String) throws(CaravanError) {
    try check(sqlite3_exec(handle, sql, nil, nil, nil))
  }

  public func run<each Value: Bindable>(
    _ sql: StaticString, _ values: repeat each Value
  ) throws(CaravanError) {
    try statement(sql).run(repeat each values)
  }

  /// The first row, read by `read`; nil when there is none.
  public func first<each Value: Bindable, Result>(
    _ sql: StaticString, _ values: repeat each Value, read: (Row) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? {
    try statement(sql).first(repeat each values, read: read)
  }

  /// Every row, read by `read`.
  public func all<each Value: Bindable, Result>(
    _ sql: StaticString, _ values: repeat each Value, read: (Row) throws(CaravanError) -> Result
  ) throws(CaravanError) -> [Result] {
    try statement(sql).all(repeat each values, read: read)
  }

  // MARK: State

  /// Rows that the newest INSERT, UPDATE or DELETE touched.
  public var changedRows: Int { Int(sqlite3_changes64(handle)) }
  /// Changes with every commit that has written something; one that has not, waits for no disk either. "The number of
  /// dirty cache entries that have been written to disk" (https://sqlite.org/c3ref/c_dbstatus_options.html).
  public var pagesWritten: Int32 {
    var (pages, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0)
    return pages
  }
  public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
  /// False once a failure (full disk, for one) has rolled the whole transaction back by itself.
  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Stops statements of this connection from any thread.
  public var interrupter: Interrupter { interruption }

  // MARK: Failures

  func check(_ code: Int32) throws(CaravanError) {
    guard code == SQLITE_OK else { throw failure(code) }
  }

  func failure(_ code: Int32) -> CaravanError {
    let error = SQLiteError(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
    lastFailure =
      error.code == SQLITE_OK ? SQLiteError(code: code, message: String(cString: sqlite3_errstr(code))) : error
    guard let failure = lastFailure, failure.kind == .corrupt else { return (lastFailure ?? error).caravanError }
    whenDamaged?()
    return CaravanError(
      .internalError, "\(SQLiteError.file) '\(path)' is damaged (\(failure)): look at the disk, and restore the file")
  }
}

internal import CCaravanSQLite
public import CaravanModel

extension Connection {
  /// https://sqlite.org/c3ref/wal_checkpoint_v2.html
  public enum Checkpoint: Sendable {
    /// As many pages as readers and writers allow, without waiting for them.
    case passive
    /// Waits for readers, then empties the log file.
    case truncate
  }

  /// Copies pages from the write-ahead log into the database file.
  /// - Returns: pages in the log, and how many of them are in the database file now.
  @discardableResult
  public func checkpoint(_ kind: Checkpoint) throws(CaravanError) -> (logged: Int, written: Int) {
    var logged: Int32 = 0
    var written: Int32 = 0
    let mode =
      switch kind {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    try check(sqlite3_wal_checkpoint_v2(handle, nil, mode, &logged, &written))
    return (Int(max(0, logged)), Int(max(0, written)))
  }

  /// What the database file has on the disk, without its write-ahead log. Read through SQLite's own descriptor: a
  /// process that closes any other one on the file loses all locks that it holds there, SQLite's too
  /// (https://sqlite.org/howtocorrupt.html §2.2).
  /// - Throws: when the file ends before.
  public func fileBytes(at offset: Int, count: Int) throws(CaravanError) -> [UInt8] {
    var file: UnsafeMutablePointer<sqlite3_file>?
    try check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file))
    guard let file, let methods = file.pointee.pMethods else {
      throw CaravanError(.internalError, "the database has no file on the disk")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    try check(methods.pointee.xRead(file, &bytes, Int32(count), sqlite3_int64(offset)))
    return bytes
  }

  /// Looks for damage; takes time in proportion to the file.
  /// - Returns: what is wrong, at most 100 lines; empty when nothing is.
  public func integrityProblems() throws(CaravanError) -> [String] {
    let lines = try prepare("PRAGMA integrity_check(100)").all { row in row.text(0) }
    return lines == ["ok"] ? [] : lines
  }

  /// Makes the connection safe to run statements that strangers wrote: no writes past the SQL layer, and no functions
  /// with side effects from the schema (https://sqlite.org/security.html).
  public func defend() throws(CaravanError) {
    try check(CSQLite_db_config_defensive(handle, 1))
    try check(CSQLite_db_config_trusted_schema(handle, 0))
  }

  /// The file's own version number, for the schema of whoever owns it.
  public var userVersion: Int {
    get throws(CaravanError) { try Int(first("PRAGMA user_version") { row in row.integer(0) } ?? 0) }
  }

  public func setUserVersion(_ version: Int) throws(CaravanError) { try execute("PRAGMA user_version=\(version)") }
}

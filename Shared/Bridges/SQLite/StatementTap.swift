internal import CCaravanSQLite
internal import CaravanModel

/// What becomes of a step of a statement.
public enum StatementFate: Sendable, Hashable {
  case runs
  /// As a read that fails does: the statement ends, the transaction stays open.
  case fails
  /// As a full disk does: SQLite ends the transaction too (https://sqlite.org/lang_transaction.html).
  case failsAndRollsBack
}

/// Asked before every step of a statement, so that tests find out what each failure leaves behind. Without a tap
/// nothing is asked.
public protocol StatementTap: Sendable {
  func fate(of sql: String) -> StatementFate
}

extension Connection {
  /// - Throws: `storageFull`, as a disk that refuses.
  func ask(_ tap: any StatementTap, about statement: OpaquePointer?) throws(CaravanError) {
    switch tap.fate(of: sqlite3_sql(statement).map { String(cString: $0) } ?? "") {
    case .runs: return
    case .fails: break
    case .failsAndRollsBack: if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }
    let failure = SQLiteError(code: SQLITE_IOERR, message: "the tap lets it fail")
    lastFailure = failure
    throw failure.caravanError
  }
}

internal import CCaravanSQLite
public import CaravanModel

/// What SQLite answered. The bridge throws it as the `CaravanError` it amounts to; whoever needs the code itself finds
/// the newest one in `Connection.lastFailure`.
public struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What the result code means for the caller (https://sqlite.org/rescode.html).
  public enum Kind: Sendable, Hashable {
    /// No room, or the disk refuses: `SQLITE_FULL`, `SQLITE_IOERR`, `SQLITE_READONLY`, `SQLITE_CANTOPEN`.
    case diskRefused
    /// Another connection holds the lock longer than the busy timeout.
    case busy
    /// The file is damaged, or no database.
    case corrupt
    /// A uniqueness or check constraint; the statement had no effect.
    case constraint
    /// `Interrupter` or the progress handler stopped it.
    case interrupted
    /// The authorizer refused part of the statement.
    case denied
    case tooBig
    /// The SQL does not compile against this schema, or was bound wrongly.
    case badStatement
    case other
  }

  /// Extended result code.
  public let code: Int32
  public let message: String

  public var kind: Kind {
    switch code & 0xff {
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN: .diskRefused
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_INTERRUPT: .interrupted
    case SQLITE_AUTH: .denied
    case SQLITE_TOOBIG: .tooBig
    case SQLITE_ERROR, SQLITE_RANGE, SQLITE_MISMATCH: .badStatement
    default: .other
    }
  }

  /// How it is said that a file is damaged; that may go on with its path.
  static let file = "the database file"

  public var description: String { "SQLite \(code): \(message)" }

  public var caravanError: CaravanError {
    switch kind {
    case .diskRefused where code & 0xff == SQLITE_CANTOPEN:
      CaravanError(.storageFull, "a database cannot be opened (\(self)): see that it is there, and who may use it")
    case .diskRefused: CaravanError(.storageFull, "the disk refuses to write (\(self)): free some space and retry")
    case .busy: CaravanError(.serverBusy, "the database is locked (\(self)): retry", retryAfterMilliseconds: 20)
    case .corrupt: CaravanError(.internalError, "\(Self.file) is damaged (\(self)): restore it")
    case .constraint: CaravanError(.objectExists, message)
    case .interrupted: CaravanError(.cancelled, "the statement was stopped (\(self))")
    case .denied, .badStatement: CaravanError(.invalidData, message)
    case .tooBig: CaravanError(.limitExceeded, message)
    case .other: CaravanError(.internalError, "\(self)")
    }
  }
}

extension CaravanError {
  /// Whether SQLite has found a file to be none of its own, or damaged.
  public var isDamagedDatabase: Bool { code == .internalError && message.hasPrefix(SQLiteError.file) }
}

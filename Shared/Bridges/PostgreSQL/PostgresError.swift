internal import CCaravanPostgres
public import CaravanModel

/// What PostgreSQL answered, or libpq said when there was no answer.
public struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What it means for whoever asked (https://www.postgresql.org/docs/15/errcodes-appendix.html).
  public enum Kind: Sendable, Hashable {
    /// There is no connection (any more), or not to a server that may write. Whatever was under way may have happened.
    case lost
    /// The server does not let this client in, and waiting will not change that.
    case refused
    /// The transaction met another one and was undone: the same again may succeed.
    case conflict
    /// A row with this key exists; the transaction was undone.
    case duplicate
    /// A check of the table's refused the row; the transaction was undone.
    case constraint
    case noSuchTable
    case notPermitted
    /// The server's disk is full, or refuses.
    case diskRefused
    /// Too slow, or too much at once: the transaction was undone.
    case busy
    case other
  }

  /// SQLSTATE; empty where libpq speaks for itself.
  public let state: String
  /// One line.
  public let message: String
  public let kind: Kind

  public init(state: String, message: String, kind: Kind? = nil) {
    self.state = state
    self.message = Self.oneLine(message)
    self.kind = kind ?? Self.kind(of: state)
  }

  public var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }

  private static func kind(of state: String) -> Kind {
    switch state {
    // No answer; a server that stops, starts or only reads; a session that was ended; a result Cockroach is unsure of;
    // a prepared statement that is another session's.
    case "", "57P01", "57P02", "57P03", "57P05", "25P03", "25006", "40003", "26000": .lost
    case "40001", "40P01": .conflict
    case "23505": .duplicate
    case "23514": .constraint
    case "42P01": .noSuchTable
    case "42501": .notPermitted
    case "53100", "58030": .diskRefused
    case "55P03", "57014": .busy
    case _ where state.hasPrefix("08"): .lost
    case _ where state.hasPrefix("28") || state == "3D000": .refused
    case _ where state.hasPrefix("53"): .busy
    default: .other
    }
  }

  public var caravanError: CaravanError {
    switch kind {
    case .lost: CaravanError(.unavailable, "PostgreSQL cannot be reached: \(self)")
    case .refused: CaravanError(.unavailable, "PostgreSQL refuses the connection: \(self)")
    case .conflict, .duplicate:
      CaravanError(.serverBusy, "too many write to the same place at once: retry", retryAfterMilliseconds: 50)
    case .busy: CaravanError(.serverBusy, "PostgreSQL is too busy (\(self)): retry", retryAfterMilliseconds: 100)
    case .diskRefused:
      CaravanError(.storageFull, "PostgreSQL's disk refuses to write (\(self)): free some space and retry")
    case .notPermitted:
      CaravanError(.internalError, "PostgreSQL forbids it (\(self)): grant the role what it needs")
    case .constraint, .noSuchTable, .other: CaravanError(.internalError, "PostgreSQL: \(self)")
    }
  }

  static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      .joined(separator: "; ")
  }
}

extension PostgresError {
  /// Of a result that is an error.
  init(_ result: OpaquePointer?) {
    func field(_ code: Int32) -> String { PQresultErrorField(result, code).map { String(cString: $0) } ?? "" }
    // The codes are characters: 'C' is SQLSTATE, 'M' the primary message (libpq-fe.h, postgres_ext.h).
    let message = field(Int32(UInt8(ascii: "M")))
    self.init(
      state: field(Int32(UInt8(ascii: "C"))),
      message: message.isEmpty ? String(cString: PQresultErrorMessage(result)) : message)
  }
}

internal import CCaravanPostgres
public import CaravanModel

/// Where a database is: `postgres://user@host:5432/name?sslmode=require`, or `host=… dbname=…`, as libpq understands
/// it (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING). What it does not say, libpq takes from
/// `PGHOST`, `PGPASSWORD`, `~/.pgpass` and so on.
public struct ConnectionString: Sendable, Hashable, CustomStringConvertible {
  /// As given; may hold a password, so it is never shown.
  let text: String
  /// Where it leads, without secrets.
  public let description: String

  /// - Throws: `invalidData` when libpq does not understand it.
  public init(_ text: String) throws(CaravanError) {
    var problem: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(text, &problem) else {
      let reason = problem.map { String(cString: $0) } ?? "no memory"
      PQfreemem(problem)
      throw CaravanError(
        .invalidData,
        "the address of PostgreSQL is neither postgres://USER@HOST:PORT/DATABASE nor 'host=… dbname=…': "
          + Self.safe(reason))
    }
    defer { PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      values[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
      option += 1
    }
    guard !text.isEmpty, !values.isEmpty else {
      throw CaravanError(.invalidData, "the address of PostgreSQL is empty: give postgres://USER@HOST:PORT/DATABASE")
    }
    self.text = text
    description = Self.place(values)
  }

  private static func place(_ values: [String: String]) -> String {
    let host = values["host"] ?? values["hostaddr"] ?? "the local server"
    let port = values["port"].map { ":\($0)" } ?? ""
    let name = values["dbname"].map { ", database \($0)" } ?? ""
    let user = values["user"].map { ", as \($0)" } ?? ""
    return "\(host)\(port)\(name)\(user)"
  }

  /// libpq quotes what it does not understand, which may be part of a password; but the name of an option is none.
  private static func safe(_ reason: String) -> String {
    let reason = PostgresError.oneLine(reason)
    if reason.hasPrefix("invalid connection option") || reason.hasPrefix("invalid URI query parameter") {
      return reason
    }
    let parts = reason.split(separator: "\"", omittingEmptySubsequences: false)
    return parts.enumerated().map { $0.offset.isMultiple(of: 2) ? String($0.element) : "…" }.joined(separator: "\"")
  }
}

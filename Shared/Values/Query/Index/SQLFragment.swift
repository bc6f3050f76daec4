/// A piece of SQL with the values of its `?`, in order. Nothing of what a caller sends is in its text.
public struct SQLFragment: Sendable, Hashable {
  /// The value of a `?`.
  public enum Parameter: Sendable, Hashable {
    case integer(Int64)
    case text(String)
    case key(IndexKey)
  }

  public var sql: String
  public var parameters: [Parameter]

  public init(_ sql: String, _ parameters: [Parameter] = []) {
    self.sql = sql
    self.parameters = parameters
  }

  public static func joined(_ parts: [SQLFragment], by word: String) -> SQLFragment {
    guard parts.count != 1 else { return parts[0] }
    return SQLFragment("(" + parts.map(\.sql).joined(separator: " \(word) ") + ")", parts.flatMap(\.parameters))
  }
}

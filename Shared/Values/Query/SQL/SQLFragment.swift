public import CaravanModel

/// A piece of SQL with the values of its `?`, in order.
public struct SQLFragment: Sendable, Hashable {
  public var sql: String
  public var values: [Value]

  public init(_ sql: String, _ values: [Value] = []) {
    self.sql = sql
    self.values = values
  }

  public static func joined(_ parts: [SQLFragment], by word: String) -> SQLFragment {
    guard parts.count != 1 else { return parts[0] }
    return SQLFragment("(" + parts.map(\.sql).joined(separator: " \(word) ") + ")", parts.flatMap(\.values))
  }

  /// With `$1`, `$2` and so on in place of each `?`, as PostgreSQL takes its parameters.
  public var numbered: String {
    var out = ""
    var number = 0
    for character in sql {
      if character == "?" {
        number += 1
        out += "$\(number)"
      } else {
        out.append(character)
      }
    }
    return out
  }
}

package import CaravanModel

/// A piece of SQL with the values of its `?`, in order.
package struct Fragment: Sendable, Equatable {
  package var sql: String
  package var values: [Value]

  package init(_ sql: String, _ values: [Value] = []) {
    self.sql = sql
    self.values = values
  }

  static func joined(_ parts: [Fragment], by word: String) -> Fragment {
    guard parts.count != 1 else { return parts[0] }
    return Fragment("(" + parts.map(\.sql).joined(separator: " \(word) ") + ")", parts.flatMap(\.values))
  }
}

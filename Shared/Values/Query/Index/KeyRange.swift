internal import CaravanModel

/// Keys from a first one up to a last one.
struct KeyRange: Sendable, Hashable {
  /// Where a range ends.
  enum Bound: Sendable, Hashable {
    case including(IndexKey)
    case excluding(IndexKey)
  }

  /// nil: null belongs to it.
  let low: Bound?
  /// nil: it has no end.
  let high: Bound?

  static func at(_ key: IndexKey) -> KeyRange { KeyRange(low: .including(key), high: .including(key)) }
  static let everything = KeyRange(low: nil, high: nil)
  /// All but null.
  static let present = KeyRange(low: .excluding(.null), high: nil)

  private static func point(_ column: String) -> String { "\(column) = ?" }

  /// Whether a condition asks for one key.
  static func isPoint(_ fragment: SQLFragment, of column: String) -> Bool { fragment.sql == point(column) }

  func fragment(_ column: String) -> SQLFragment {
    switch (low, high) {
    case (.including(let low)?, .including(let high)?) where low == high:
      return SQLFragment(Self.point(column), [.key(low)])
    case (nil, nil): return SQLFragment("\(column) >= ?", [.key(.null)])
    case (_, _):
      let low = low.map { bound in
        switch bound {
        case .including(let key): SQLFragment("\(column) >= ?", [.key(key)])
        case .excluding(let key): SQLFragment("\(column) > ?", [.key(key)])
        }
      }
      let high = high.map { bound in
        switch bound {
        case .including(let key): SQLFragment("\(column) <= ?", [.key(key)])
        case .excluding(let key): SQLFragment("\(column) < ?", [.key(key)])
        }
      }
      return .joined([low, high].compactMap(\.self), by: "AND")
    }
  }
}

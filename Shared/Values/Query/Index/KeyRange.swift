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

  func fragment(_ column: String) -> SQLFragment {
    switch (low, high) {
    case (.including(let low)?, .including(let high)?) where low == high:
      return SQLFragment("\(column) = ?", [.key(low)])
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

  /// The keys of which a condition may hold.
  struct Set {
    let ranges: [KeyRange]
    /// It holds of each of them.
    let isExact: Bool
  }

  /// - Returns: nil: they are no few ranges.
  static func of(_ condition: Condition) -> Set? {
    func key(_ value: Value) -> IndexKey? { IndexKey(Cell(value, as: condition.kind)) }
    guard !condition.isList else { return nil }
    switch condition.test {
    case .compare(let relation, let value): return key(value).map { Set(ranges: of(relation, $0), isExact: true) }
    case .among(let values, let isNegated):
      let keys = values.compactMap(key)
      guard keys.count == values.count else { return nil }
      return Set(ranges: isNegated ? notAmong(keys) : Self.among(keys), isExact: true)
    case .prefix(let value, let isNegated): return key(value).map { Set(ranges: prefix($0, isNegated), isExact: true) }
    case .like(.text(let text), isNegated: false):
      let head = Pattern(text).head
      guard !head.isEmpty, let low = IndexKey(.bytes(Array(head.utf8)[...])) else { return nil }
      return Set(ranges: prefix(low, false), isExact: false)
    case .inside(let region, let numbers, isNegated: false):
      let codes = region.keys(numbers.compactMap(\.realValue))
      return Set(
        ranges: codes.map {
          KeyRange(low: .including(IndexKey($0.lowerBound)), high: .including(IndexKey($0.upperBound)))
        }, isExact: false)
    case .like, .match, .contains, .containsLike, .inside: return nil
    }
  }

  private static func of(_ relation: Relation, _ key: IndexKey) -> [KeyRange] {
    let below = KeyRange(low: .excluding(.null), high: .excluding(key))
    let above = KeyRange(low: .excluding(key), high: nil)
    guard key != .null else {
      switch relation {
      case .same: return [at(.null)]
      case .distinct: return [present]
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return []
      }
    }
    switch relation {
    case .equal, .same: return [at(key)]
    case .notEqual: return [below, above]
    case .distinct: return [KeyRange(low: nil, high: .excluding(key)), above]
    case .less: return [below]
    case .lessOrEqual: return [KeyRange(low: .excluding(.null), high: .including(key))]
    case .greater: return [above]
    case .greaterOrEqual: return [KeyRange(low: .including(key), high: nil)]
    }
  }

  private static func among(_ keys: [IndexKey]) -> [KeyRange] {
    ordered(keys).filter { $0 != .null }.map(at)
  }

  private static func notAmong(_ keys: [IndexKey]) -> [KeyRange] {
    if keys.isEmpty { return [everything] }
    guard !keys.contains(.null) else { return [] }
    var ranges: [KeyRange] = []
    var low = Bound.excluding(.null)
    for key in ordered(keys) {
      ranges.append(KeyRange(low: low, high: .excluding(key)))
      low = .excluding(key)
    }
    return ranges + [KeyRange(low: low, high: nil)]
  }

  private static func ordered(_ keys: [IndexKey]) -> [IndexKey] {
    var list: [IndexKey] = []
    for key in keys.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) where list.last != key {
      list.append(key)
    }
    return list
  }

  private static func prefix(_ key: IndexKey, _ isNegated: Bool) -> [KeyRange] {
    guard key != .null else { return [] }
    let end = key.endOfPrefix
    guard isNegated else { return [KeyRange(low: .including(key), high: end.map { .excluding($0) })] }
    let below = KeyRange(low: .excluding(.null), high: .excluding(key))
    return [below] + (end.map { [KeyRange(low: .including($0), high: nil)] } ?? [])
  }
}

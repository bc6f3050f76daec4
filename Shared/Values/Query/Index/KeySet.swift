internal import CaravanModel

/// The keys of which a condition may hold.
struct KeySet {
  private enum Shape {
    /// No two of them have a key in common.
    case ranges([KeyRange])
    case among([IndexKey])
    /// All but these and null.
    case notAmong([IndexKey])
  }

  private let shape: Shape
  /// The condition holds of each of them.
  let isExact: Bool

  private init(_ shape: Shape, isExact: Bool = true) {
    self.shape = shape
    self.isExact = isExact
  }

  /// - Returns: nil: they are no few ranges.
  init?(_ condition: Condition) {
    func key(_ value: Value) -> IndexKey? { IndexKey(Cell(value, as: condition.kind)) }
    guard !condition.isList else { return nil }
    switch condition.test {
    case .compare(let relation, let value):
      guard let key = key(value) else { return nil }
      self.init(.ranges(key.isWhole ? Self.of(relation, key) : Self.around(key, relation)), isExact: key.isWhole)
    case .among(let values, let isNegated):
      let keys = values.compactMap(key)
      guard keys.count == values.count else { return nil }
      self = isNegated ? .notAmong(keys) : .among(keys)
    case .prefix(let value, let isNegated):
      guard let key = key(value) else { return nil }
      guard key.isWhole else {
        self.init(.ranges([isNegated ? .present : .at(key)]), isExact: false)
        return
      }
      self.init(.ranges(Self.prefix(key, isNegated)))
    case .like(.text(let text), isNegated: false):
      let head = Pattern(text).head
      guard !head.isEmpty, let low = IndexKey(.bytes(Array(head.utf8)[...])), low.isWhole else { return nil }
      self.init(.ranges(Self.prefix(low, false)), isExact: false)
    case .inside(let region, let numbers, isNegated: false):
      let codes = region.keys(numbers.compactMap(\.realValue))
      let ranges = codes.map {
        KeyRange(low: .including(IndexKey($0.lowerBound)), high: .including(IndexKey($0.upperBound)))
      }
      self.init(.ranges(ranges), isExact: false)
    case .like, .match, .contains, .containsLike, .inside: return nil
    }
  }

  /// Conditions on a column of keys, of which at most one is true of a row.
  func fragments(_ column: String) -> [SQLFragment] {
    switch shape {
    case .ranges(let ranges): return ranges.map { $0.fragment(column) }
    case .among(let keys):
      guard let first = keys.first else { return [] }
      return [keys.count == 1 ? KeyRange.at(first).fragment(column) : Self.list("\(column) IN", keys)]
    case .notAmong(let keys):
      return [.joined([KeyRange.present.fragment(column), Self.list("\(column) NOT IN", keys)], by: "AND")]
    }
  }

  private static func list(_ head: String, _ keys: [IndexKey]) -> SQLFragment {
    let places = Array(repeating: "?", count: keys.count).joined(separator: ", ")
    return SQLFragment("\(head) (\(places))", keys.map { .key($0) })
  }

  private static func of(_ relation: Relation, _ key: IndexKey) -> [KeyRange] {
    let below = KeyRange(low: .excluding(.null), high: .excluding(key))
    let above = KeyRange(low: .excluding(key), high: nil)
    guard key != .null else {
      switch relation {
      case .same: return [.at(.null)]
      case .distinct: return [.present]
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return []
      }
    }
    switch relation {
    case .equal, .same: return [.at(key)]
    case .notEqual: return [below, above]
    case .distinct: return [KeyRange(low: nil, high: .excluding(key)), above]
    case .less: return [below]
    case .lessOrEqual: return [KeyRange(low: .excluding(.null), high: .including(key))]
    case .greater: return [above]
    case .greaterOrEqual: return [KeyRange(low: .including(key), high: nil)]
    }
  }

  /// Where a key has no more than the beginning of its value, other values with that beginning may belong to it or not.
  private static func around(_ key: IndexKey, _ relation: Relation) -> [KeyRange] {
    switch relation {
    case .equal, .same: [.at(key)]
    case .notEqual: [.present]
    case .distinct: [.everything]
    case .less, .lessOrEqual: [KeyRange(low: .excluding(.null), high: .including(key))]
    case .greater, .greaterOrEqual: [KeyRange(low: .including(key), high: nil)]
    }
  }

  /// Null is among nothing.
  private static func among(_ keys: [IndexKey]) -> KeySet {
    let present = ordered(keys).filter { $0 != .null }
    return KeySet(.among(present), isExact: present.allSatisfy(\.isWhole))
  }

  private static func notAmong(_ keys: [IndexKey]) -> KeySet {
    if keys.isEmpty { return KeySet(.ranges([.everything])) }
    guard !keys.contains(.null) else { return KeySet(.ranges([])) }
    let whole = ordered(keys).filter(\.isWhole)
    let isExact = keys.allSatisfy(\.isWhole)
    return KeySet(whole.isEmpty ? .ranges([.present]) : .notAmong(whole), isExact: isExact)
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

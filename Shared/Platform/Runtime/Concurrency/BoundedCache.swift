/// Keeps at least the last `capacity` values that were used, and never more than twice as many.
///
/// Two generations instead of a list in order of use: what is used moves to the young one, and when that is full the
/// old one goes. Every call is one or two look-ups.
public struct BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  public let capacity: Int
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]

  public init(capacity: Int) {
    precondition(capacity > 0, "a cache of capacity \(capacity) keeps nothing")
    self.capacity = capacity
  }

  public var count: Int { young.count + old.count }

  public mutating func value(for key: Key) -> Value? {
    if let value = young[key] { return value }
    guard let value = old.removeValue(forKey: key) else { return nil }
    insert(value, for: key)
    return value
  }

  public mutating func insert(_ value: Value, for key: Key) {
    old[key] = nil
    young[key] = value
    guard young.count >= capacity else { return }
    old = young
    young = [:]
  }

  public mutating func remove(_ key: Key) {
    young[key] = nil
    old[key] = nil
  }
}

/// Chunks whose bytes this process has written, or read, a short while ago, and that no record has named since. Every
/// other chunk is read before something is acknowledged that depends on it: a device that holds the bytes must hear
/// that the store's own are damaged while it can still send them. Bounded: when it is full it forgets all, and they are
/// read.
public struct CheckedChunks<Key: Hashable & Sendable>: Sendable {
  private let capacity: Int
  private let freshness: Int64
  /// When each was checked, in Unix milliseconds.
  private var times: [Key: Int64] = [:]

  public init(capacity: Int = 16_384, freshness: Duration = .seconds(600)) {
    precondition(capacity > 0, "a set without room remembers nothing")
    self.capacity = capacity
    self.freshness = freshness.components.seconds * 1_000
  }

  public mutating func note(_ key: Key, at now: Int64) {
    if times.count >= capacity, times[key] == nil { times = [:] }
    times[key] = now
  }

  public func contains(_ key: Key, at now: Int64) -> Bool {
    guard let time = times[key] else { return false }
    return (time...time + freshness).contains(now)
  }

  /// Something was acknowledged that depends on it: the next time its bytes are read again.
  public mutating func use(_ key: Key) { times[key] = nil }

  public mutating func forget() { times = [:] }
}

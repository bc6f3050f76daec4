/// Which tables are being synced: one session a table and direction at a time (UNI-12), and what follows it.
public struct SessionTable: Sendable {
  public typealias Key = Coalescer.Key

  private var running: Set<Key> = []
  /// Due again when what runs has ended.
  private var again: Set<Key> = []
  private var backoffs: [Key: Backoff] = [:]

  public init() {}

  public var count: Int { running.count }
  public func isRunning(_ key: Key) -> Bool { running.contains(key) }

  public var tables: Set<TableID> { Set(running.map(\.table)) }

  /// - Returns: false when a session of this key runs already; `end` then says that another one is due.
  public mutating func begin(_ key: Key) -> Bool {
    if running.insert(key).inserted { return true }
    again.insert(key)
    return false
  }

  /// - Returns: whether the key became due while it ran.
  public mutating func end(_ key: Key) -> Bool {
    precondition(running.remove(key) != nil, "a session of \(key.table) ended that had not begun")
    return again.remove(key) != nil
  }

  public mutating func succeeded(_ key: Key) { backoffs[key] = nil }

  /// - Returns: nanoseconds to wait, and how often it has failed in a row by now.
  public mutating func failed(
    _ key: Key, random: UInt64, retryAfterMilliseconds: UInt32?
  ) -> (wait: UInt64, failures: UInt32) {
    var backoff = backoffs[key] ?? Backoff()
    let wait = backoff.failed(random: random, retryAfterMilliseconds: retryAfterMilliseconds)
    backoffs[key] = backoff
    return (wait, backoff.failures)
  }

  /// The connection is back: what failed before says nothing about now.
  public mutating func forgetFailures() { backoffs = [:] }
}

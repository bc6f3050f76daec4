public import CaravanModel

/// What the end of a session came to, for apps that listen (REC-28). Progress, not state: nobody keeps it.
public struct SessionReport: Sendable, Hashable {
  public let table: TableID
  public let direction: Direction
  public let counters: SessionCounters
  /// It took up what one that was cut off had left.
  public let isResumed: Bool
  /// It came to its end.
  public let isWhole: Bool

  public init(table: TableID, direction: Direction, counters: SessionCounters, isResumed: Bool, isWhole: Bool) {
    self.table = table
    self.direction = direction
    self.counters = counters
    self.isResumed = isResumed
    self.isWhole = isWhole
  }

  /// Nothing has come of it, and it is tried again.
  public var isEmpty: Bool { !isWhole && counters == SessionCounters() }
}

/// Rows that a session carried.
public struct SessionCounters: Sendable, Hashable {
  /// Taken by the cloud, deletions apart.
  public var sent = 0
  public var deleted = 0
  /// Of which something changed here.
  public var received = 0

  public init(sent: Int = 0, deleted: Int = 0, received: Int = 0) {
    self.sent = sent
    self.deleted = deleted
    self.received = received
  }

  public init(_ mutations: [Mutation], _ outcomes: [Outcome]) {
    for (mutation, outcome) in zip(mutations, outcomes) {
      switch (outcome, mutation.change) {
      case (.accepted, .delete), (.merged, .delete): deleted += 1
      case (.accepted, .save), (.merged, .save): sent += 1
      case (.accepted, .read), (.merged, .read), (.conflict, _), (.aborted, _), (.read, _), (.refused, _): break
      }
    }
  }

  public init(_ summary: PullSummary) { received = summary.applied + summary.removed }

  public static func += (sum: inout SessionCounters, part: SessionCounters) {
    sum.sent += part.sent
    sum.deleted += part.deleted
    sum.received += part.received
  }
}

/// Sessions that were cut off and have not been taken up again (REC-28): known from the store after a restart.
public struct CutSessions: Sendable {
  public typealias Key = Coalescer.Key
  private var keys: Set<Key> = []

  public init() {}

  public mutating func note(_ key: Key) { keys.insert(key) }

  public mutating func forget(_ table: TableID) { keys.subtract(Direction.allCases.map { Key(table, $0) }) }

  /// A session of `key` has ended.
  /// - Parameter isCutOff: and will be taken up.
  /// - Returns: whether it had taken up one itself.
  public mutating func ended(_ key: Key, isWhole: Bool, isCutOff: Bool) -> Bool {
    let isResumed = keys.contains(key)
    if isWhole { keys.remove(key) } else if isCutOff { keys.insert(key) }
    return isResumed
  }
}

public import CaravanModel

/// What follows when the session of a table and direction has ended.
public struct SessionEnd: Sendable, Hashable {
  /// What was known when it ended.
  public struct Facts: Sendable, Hashable {
    public let direction: Direction
    /// More was written than the session had seen.
    public let hasMore: Bool
    /// It became due again while it ran.
    public let isDueAgain: Bool
    /// A plan of the table is still to be settled.
    public let hasPlan: Bool

    public init(_ direction: Direction, hasMore: Bool, isDueAgain: Bool, hasPlan: Bool) {
      precondition(!hasMore || direction == .write, "a pull has more to send")
      (self.direction, self.hasMore, self.isDueAgain, self.hasPlan) = (direction, hasMore, isDueAgain, hasPlan)
    }
  }

  /// When the table goes again in this direction, beside what made it due while the session ran.
  public enum Next: Sendable, Hashable {
    case nothing
    /// As soon as the coalescer says so.
    case more
    /// Not before so many nanoseconds have passed. With `yields`, anything else goes first.
    case after(UInt64, yields: Bool)
    /// What the cloud has refused goes when its rest is over.
    case rested
  }

  public let next: Next
  /// Whoever waits for the session waits for the next one instead.
  public let keepsWaiters: Bool
  /// The rows of the table that were refused rest.
  public let beginsRest: Bool
  /// Trying again has not helped for long: somebody has to look (REC-27).
  public let givesUp: Bool

  private init(_ next: Next, keepsWaiters: Bool = false, beginsRest: Bool = false, givesUp: Bool = false) {
    (self.next, self.keepsWaiters, self.beginsRest, self.givesUp) = (next, keepsWaiters, beginsRest, givesUp)
  }

  public static func done(_ facts: Facts) -> SessionEnd {
    if facts.hasMore { return SessionEnd(.more) }
    return SessionEnd(facts.isDueAgain || facts.direction == .read ? .nothing : .rested)
  }

  /// The cloud has said when to come again: that is no failure.
  public static func deferred(_ failure: CaravanError) -> SessionEnd {
    precondition(failure.isDeferral, "a failure is taken for a deferral: \(failure.code)")
    return SessionEnd(
      .after(UInt64(failure.retryAfterMilliseconds ?? 0) * 1_000_000, yields: false), keepsWaiters: true)
  }

  /// - Parameters:
  ///   - failures: in a row, this one among them.
  ///   - wait: in nanoseconds, before the next try.
  ///   - canSpeak: there is a connection, and it may be used.
  public static func failed(
    _ failure: CaravanError, _ facts: Facts, failures: UInt32, wait: UInt64, canSpeak: Bool
  ) -> SessionEnd {
    precondition(failures > 0, "a session has failed no time")
    let givesUp = failure.code == .internalError && failures == EngineLimits.attemptsBeforeFault
    if failure.isWorthRetrying || facts.hasPlan && facts.direction == .write {
      let isSoon = failures < EngineLimits.attemptsBeforeAnswer && !failure.isForTomorrow
      // What came meanwhile does not wait for tomorrow.
      let waits = !failure.isForTomorrow || !facts.isDueAgain
      return SessionEnd(
        waits ? .after(wait, yields: failure.isForTomorrow) : .nothing, keepsWaiters: isSoon && canSpeak,
        givesUp: givesUp)
    }
    guard facts.direction == .write else { return SessionEnd(.nothing, givesUp: givesUp) }
    let next: Next = facts.hasMore ? .after(wait, yields: false) : facts.isDueAgain ? .nothing : .rested
    return SessionEnd(next, beginsRest: true, givesUp: givesUp)
  }
}

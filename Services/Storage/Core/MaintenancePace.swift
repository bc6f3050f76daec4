/// When maintenance takes its next step (CK-32): at once where little else is to be done. Else requests go first for a
/// while, and then it takes a part of the time and no more, so that it gets done under any load.
package struct MaintenancePace: Sendable {
  /// When the round's work was put off for the first time, in nanoseconds of a monotonic clock.
  private var putOffSince: UInt64?
  private var restsUntil: UInt64 = 0

  package init() {}

  /// - Parameter requests: in flight in this process, with those that wait for others.
  /// - Returns: nanoseconds until it is worth asking again; nil: the next step may be taken.
  package mutating func wait(requests: Int, at now: UInt64) -> UInt64? {
    precondition(requests >= 0, "more requests ended than began")
    guard requests >= StorageLimits.busyRequests else { return nil }
    let since = putOffSince ?? now
    precondition(since <= now, "the monotonic clock went back from \(since) to \(now)")
    putOffSince = since
    let due = max(since + StorageLimits.longestUpkeepDelayNanoseconds, restsUntil)
    return now >= due ? nil : min(due - now, StorageLimits.maintenanceLookNanoseconds)
  }

  /// - Parameter hasMore: of what is to be done in this round.
  package mutating func stepped(from begin: UInt64, to end: UInt64, hasMore: Bool) {
    precondition(begin <= end, "a step ended before it began")
    restsUntil = end + (end - begin) * StorageLimits.maintenanceRests
    if !hasMore { putOffSince = nil }
  }
}

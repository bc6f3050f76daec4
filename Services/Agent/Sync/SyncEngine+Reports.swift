public import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// What sessions that run have carried so far.
final class SessionTotals: Sendable {
  private let tallies = Mutex<[Coalescer.Key: SessionCounters]>([:])

  func add(_ tally: SessionCounters, to key: Coalescer.Key) {
    tallies.withLock { $0[key, default: SessionCounters()] += tally }
  }

  func take(_ key: Coalescer.Key) -> SessionCounters {
    tallies.withLock { $0.removeValue(forKey: key) } ?? SessionCounters()
  }
}

// What sessions came to, for whoever wants to know (REC-28).
extension SyncEngine {
  public func whenSessionsEnd(_ tell: @escaping @Sendable (SessionReport) -> Void) { sessionEnded = tell }

  /// The session of `key` is over.
  func report(_ key: Key, _ failure: CaravanError?) {
    let tally = dependencies.tallies.take(key)
    let isCutOff = failure.map { $0.isWorthRetrying && !$0.isDeferral } ?? false
    let isResumed = cutSessions.ended(key, isWhole: failure == nil, isCutOff: isCutOff)
    let report = SessionReport(
      table: key.table, direction: key.direction, tally: tally, isResumed: isResumed, isWhole: failure == nil)
    if !report.isEmpty { sessionEnded?(report) }
  }
}

public import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// What sessions that run have carried so far.
final class SessionTotals: Sendable {
  private let totals = Mutex<[Coalescer.Key: SessionCounters]>([:])

  func add(_ counters: SessionCounters, to key: Coalescer.Key) {
    totals.withLock { $0[key, default: SessionCounters()] += counters }
  }

  func take(_ key: Coalescer.Key) -> SessionCounters {
    totals.withLock { $0.removeValue(forKey: key) } ?? SessionCounters()
  }
}

// What sessions came to, for whoever wants to know (REC-28).
extension SyncEngine {
  public func whenSessionsEnd(_ tell: @escaping @Sendable (SessionReport) -> Void) { sessionEnded = tell }
  public func whenConnected(_ tell: @escaping @Sendable () -> Void) { connectionMade = tell }

  /// The session of `key` is over.
  func report(_ key: Key, _ failure: CaravanError?, isResumed: Bool) {
    let report = SessionReport(
      table: key.table, direction: key.direction, counters: dependencies.totals.take(key), isResumed: isResumed,
      isWhole: failure == nil)
    if !report.isEmpty { sessionEnded?(report) }
  }
}

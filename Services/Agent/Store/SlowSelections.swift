internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Whose turn it is: every app has one slow selection at a time, so that one with many is no worse for the others than
/// one with one.
private struct SelectionTurns {
  private let all = Limiter(permits: StoreLimits.selectionThreads, waiters: StoreLimits.waitingSelections)
  private var apps: [ContainerID: Limiter] = [:]
  private var idle: [SelectionThread] = []
  private var running: [UInt64: Stopper] = [:]

  mutating func limiters(of app: ContainerID) -> (Limiter, Limiter) {
    let mine = apps[app] ?? Limiter(permits: 1, waiters: StoreLimits.waitingSelections)
    apps[app] = mine
    return (mine, all)
  }

  mutating func begin(_ handle: UInt64, _ pace: SelectionPace, _ host: Host) -> SelectionThread {
    running[handle] = pace.stopper
    return idle.popLast() ?? SelectionThread(host.executors.makeSerial("selections"))
  }

  mutating func end(_ handle: UInt64, _ thread: SelectionThread) {
    running[handle] = nil
    if idle.count < StoreLimits.idleReaders { idle.append(thread) }
  }

  func stopAll() { for stopper in running.values { stopper.stop() } }
  var count: Int { running.count }
}

/// Selections that take long, each on a thread of its own. Other calls of the store are answered until then.
final class SlowSelections: StorePart {
  let context: StoreContext
  private var turns = SelectionTurns()

  init(_ context: StoreContext) { self.context = context }

  func stopAll() { turns.stopAll() }
  /// Selections that run now.
  var count: Int { turns.count }

  /// Runs `work` with a statement that nobody else uses meanwhile, when it is the app's turn.
  /// - Throws: `limitExceeded` when it takes too long.
  nonisolated(nonsending) func run<Result: Sendable>(
    _ statement: Statement, of reader: Reader, for app: ContainerID,
    _ work: @Sendable (LentStatement) throws(CaravanError) -> Result
  ) async throws(CaravanError) -> Result {
    let (mine, all) = turns.limiters(of: app)
    let handle = context.newHandle()
    try await mine.acquire()
    defer { mine.release() }
    try await all.acquire()
    defer { all.release() }
    _ = try database
    let pace = reader.pace
    let thread = turns.begin(handle, pace, host)
    defer { turns.end(handle, thread) }
    return try await thread.run(LentStatement(statement, of: reader.connection)) { (lent) throws(CaravanError) in
      try pace.bounded(on: lent.connection) { () throws(CaravanError) in try work(lent) }
    }
  }
}

public import CaravanRuntime

/// Time that passes when the test says so.
public final class ManualClock: Clock {
  private struct State {
    var now = Instant(nanoseconds: 0)
    var epoch: WallTime
    var timers = TimerHeap<Sleeper>()
    var nextID: TimerID = 0
    /// Who waits for how many sleepers.
    var watchers: [(count: Int, continuation: TaskContinuation<Void, Never>)] = []

    mutating func takeContentWatchers() -> [TaskContinuation<Void, Never>] {
      let content = watchers.filter { $0.count <= timers.count }.map(\.continuation)
      watchers.removeAll { $0.count <= timers.count }
      return content
    }
  }

  private let state: Mutex<State>

  /// - Parameter epoch: the wall time at which the clock begins.
  public init(epoch: WallTime = WallTime(milliseconds: 1_700_000_000_000)) {
    state = Mutex(State(epoch: epoch))
  }

  public var now: Instant { state.withLock { $0.now } }

  public var wallTime: WallTime {
    state.withLock { WallTime(milliseconds: $0.epoch.milliseconds + Int64($0.now.nanoseconds / 1_000_000)) }
  }

  /// Tasks that sleep now, and calls that wait for their time.
  public var sleepers: Int { state.withLock { $0.timers.count } }

  /// Moves time on and wakes those whose time has come: tasks run on their own executors, after this returned.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "time does not go back")
    let due = state.withLock { state in
      state.now = state.now + duration
      return state.timers.popDue(state.now)
    }
    for sleeper in due { sleeper.wake() }
  }

  /// Moves the wall clock alone, as an operator or NTP does.
  public func adjustWallTime(by duration: Duration) {
    state.withLock { $0.epoch.milliseconds += duration.wholeMilliseconds }
  }

  /// Returns once at least `count` tasks sleep: only then is advancing sure to wake them.
  public func untilSleepers(_ count: Int = 1) async {
    await withTaskContinuation { continuation in
      let isContent = state.withLock { state in
        if state.timers.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isContent { continuation.resume() }
    }
  }

  public func sleep(until instant: Instant) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withThrowingTaskContinuation { begin(.task($0), id, until: instant) }
    } onCancel: {
      state.withLock { $0.timers.remove(id) }?.cancel()
    }
  }

  private enum Begin {
    case sleep([TaskContinuation<Void, Never>])
    case due
    case cancelled
  }

  public func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    begin(.call(body), id, until: instant)
  }

  private func begin(_ sleeper: Sleeper, _ id: TimerID, until instant: Instant) {
    let begin: Begin = state.withLock { state in
      if case .task = sleeper, Task.isCancelled { return .cancelled }
      if instant <= state.now { return .due }
      state.timers.add(sleeper, id: id, due: instant)
      return .sleep(state.takeContentWatchers())
    }
    switch begin {
    case .sleep(let watchers): for watcher in watchers { watcher.resume() }
    case .due: sleeper.wake()
    case .cancelled: sleeper.cancel()
    }
  }
}

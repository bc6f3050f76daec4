import CaravanRuntime

/// What the latest move of a user has come to.
final class MoveCounters: Sendable {
  struct Counts: Sendable {
    var records = 0
    var chunks = 0
    var bytes = 0
    /// How long writes waited.
    var held: Duration = .zero
    var attempts = 0
    var problem = ""
  }

  private let state = Mutex(Counts())

  var counts: Counts { state.withLock { $0 } }

  func add(records: Int = 0, chunks: Int = 0, bytes: Int) {
    state.withLock { counts in
      counts.records += records
      counts.chunks += chunks
      counts.bytes += bytes
    }
  }

  func begin() {
    state.withLock { counts in
      counts = Counts(attempts: counts.attempts + 1, problem: counts.problem)
    }
  }

  func failed(_ problem: String) { state.withLock { $0.problem = problem } }

  func succeeded(held: Duration) {
    state.withLock { counts in
      counts.held = held
      counts.problem = ""
    }
  }
}

import CaravanRuntime
import CaravanSQLite

/// Lets one step of all fail, once, or its statement the next time, too: a store may try again without being asked.
final class FaultySteps: StatementTap {
  private struct State {
    var left: Int?
    var fate = StatementFate.fails
    var failed: String?
    var isTwice = false
    var steps = 0
  }

  private let state = Mutex(State())

  /// The next step but so many fails.
  func arm(_ steps: Int, _ fate: StatementFate, twice: Bool = false) {
    state.withLock { $0 = State(left: steps, fate: fate, isTwice: twice) }
  }

  /// - Returns: the statement that failed, if one did.
  func disarm() -> String? {
    state.withLock { state in
      defer { state = State() }
      return state.failed
    }
  }

  func fate(of sql: String) -> StatementFate {
    state.withLock { state in
      guard let left = state.left else {
        guard state.isTwice, sql == state.failed else { return .runs }
        state.isTwice = false
        return state.fate
      }
      state.left = left == 0 ? nil : left - 1
      guard left == 0 else { return .runs }
      state.failed = sql
      return state.fate
    }
  }
}

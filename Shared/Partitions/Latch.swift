import Runtime

/// Opens once and stays open; whoever waits goes on.
package final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var isOpen: Bool { state.withLock { $0.isOpen } }

  package func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters.sorted { $0.key < $1.key }
    }
    for waiter in waiters { waiter.value.resume() }
  }

  /// Returns when it is open, or the task is cancelled.
  package func wait() async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if state.isOpen || Task.isCancelled { return true }
          state.waiters[id] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}

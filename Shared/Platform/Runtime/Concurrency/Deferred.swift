internal import Dispatch

/// Does work beside the thread that asks for it, first in, first out.
public protocol Helper: Sendable {
  func run(_ work: @escaping @Sendable () -> Void)
}

/// Does the work at once, where it is asked for.
public struct NoHelper: Helper {
  public init() {}
  public func run(_ work: @escaping @Sendable () -> Void) { work() }
}

/// What comes of work that a helper does, or whoever wants it if the helper has not begun.
public final class Deferred<Value: Sendable>: Sendable {
  private struct State {
    /// Nil once somebody has begun.
    var work: (@Sendable () -> Value)?
    var value: Value?
    var waiting: DispatchSemaphore?
  }

  private let state: Mutex<State>

  public init(by helper: any Helper, _ work: @escaping @Sendable () -> Value) {
    state = Mutex(State(work: work))
    helper.run { self.doUnlessBegun() }
  }

  public var isReady: Bool { state.withLock { $0.value != nil } }

  /// Does the work here unless somebody has begun with it.
  public func doUnlessBegun() {
    guard let work = state.withLock({ $0.work.take() }) else { return }
    let value = work()
    let waiting = state.withLock { state in
      state.value = value
      return state.waiting.take()
    }
    waiting?.signal()
  }

  /// Blocks the calling thread until the work is done. For one caller.
  public func wait() -> Value {
    doUnlessBegun()
    while true {
      let (value, semaphore) = state.withLock { state -> (Value?, DispatchSemaphore?) in
        if state.value == nil, state.waiting == nil { state.waiting = DispatchSemaphore(value: 0) }
        return (state.value, state.waiting)
      }
      if let value { return value }
      semaphore?.wait()
    }
  }
}

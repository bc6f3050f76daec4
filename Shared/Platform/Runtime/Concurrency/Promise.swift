public import CaravanModel

/// A value that comes once, from anywhere, for any number of tasks that wait for it. Also the bridge from a C
/// library's one-shot completion.
public final class Promise<Value: Sendable>: Sendable {
  private enum State {
    case waiting(Waiters<Value?>)
    case fulfilled(Value)

    /// - Returns: whether the wait is over already, and with what.
    mutating func wait(
      _ ticket: Waiters<Value?>.Ticket, _ continuation: Waiters<Value?>.Continuation
    ) -> (done: Bool, Value?) {
      switch self {
      case .fulfilled(let value): return (true, value)
      case .waiting(var waiters):
        if Task.isCancelled { return (true, nil) }
        waiters.append(ticket, continuation)
        self = .waiting(waiters)
        return (false, nil)
      }
    }

    mutating func cancel(_ ticket: Waiters<Value?>.Ticket) -> Waiters<Value?>.Continuation? {
      guard case .waiting(var waiters) = self else { return nil }
      defer { self = .waiting(waiters) }
      return waiters.remove(ticket)
    }
  }

  private let state = Mutex(State.waiting(Waiters()))

  public init() {}

  /// The value, if it has come.
  public var value: Value? {
    state.withLock { state in
      if case .fulfilled(let value) = state { value } else { nil }
    }
  }

  /// - Returns: false when a value had come before; it stays.
  @discardableResult
  public func fulfil(_ value: Value) -> Bool {
    let waiters: [Waiters<Value?>.Continuation]? = state.withLock { state in
      guard case .waiting(var waiters) = state else { return nil }
      state = .fulfilled(value)
      return waiters.popAll()
    }
    for waiter in waiters ?? [] { waiter.resume(returning: value) }
    return waiters != nil
  }

  /// - Throws: `cancelled` when the task is cancelled before the value comes.
  public func wait() async throws(CaravanError) -> Value {
    let ticket = Waiters<Value?>.Ticket()
    let value = await withTaskCancellationHandler {
      await withTaskContinuation { continuation in
        let (done, value) = state.withLock { $0.wait(ticket, continuation) }
        if done { continuation.resume(returning: value) }
      }
    } onCancel: {
      state.withLock { $0.cancel(ticket) }?.resume(returning: nil)
    }
    guard let value else { throw CaravanError(.cancelled, "the task was cancelled while it waited") }
    return value
  }
}

/// Opens once, for good: how `Service.shutDown` reaches `Service.run`.
public final class Latch: Sendable {
  private let promise = Promise<Void>()

  public init() {}

  public var isOpen: Bool { promise.value != nil }
  public func open() { promise.fulfil(()) }
  /// Returns when the latch is open or the task is cancelled.
  public func wait() async { try? await promise.wait() }
}

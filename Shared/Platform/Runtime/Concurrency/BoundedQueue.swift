/// Carries elements from anywhere (C callbacks, synchronous code) to tasks that pull them. Never blocks and never
/// grows beyond its capacity: the one who pushes decides what `full` means (refuse, drop and mark a gap, …).
public final class BoundedQueue<Element: Sendable>: Sendable {
  public enum Push: Sendable, Hashable {
    case accepted
    case full
    /// `finish` was called; nothing is taken any more.
    case finished
  }

  private enum Pull {
    case element(Element?)
    case wait
  }

  private struct State {
    var elements = Ring<Element>()
    /// Only while `elements` is empty.
    var waiters = Waiters<Element?>()
    var isFinished = false

    mutating func pull() -> Pull {
      if let element = elements.popFirst() { return .element(element) }
      return isFinished || Task.isCancelled ? .element(nil) : .wait
    }
  }

  public let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: elements that may wait here; positive.
  public init(capacity: Int) {
    precondition(capacity > 0, "a queue of capacity \(capacity) can carry nothing")
    self.capacity = capacity
  }

  /// Elements that wait.
  public var count: Int { state.withLock { $0.elements.count } }

  @discardableResult
  public func push(_ element: Element) -> Push {
    let (result, waiter): (Push, Waiters<Element?>.Continuation?) = state.withLock { state in
      if state.isFinished { return (.finished, nil) }
      if let waiter = state.waiters.popFirst() { return (.accepted, waiter) }
      if state.elements.count == capacity { return (.full, nil) }
      state.elements.append(element)
      return (.accepted, nil)
    }
    waiter?.resume(returning: element)
    return result
  }

  /// The oldest element if there is one now.
  public func tryNext() -> Element? { state.withLock { $0.elements.popFirst() } }

  /// The oldest element, as soon as there is one; nil when the queue is finished and empty, or when nothing waits and
  /// the calling task is cancelled. Of several callers the longest waiting is served first.
  public func next() async -> Element? {
    if case .element(let element) = state.withLock({ $0.pull() }) { return element }
    let ticket = Waiters<Element?>.Ticket()
    return await withTaskCancellationHandler {
      await withTaskContinuation { continuation in
        // Looks again, also for cancellation: from here on `onCancel` finds the waiter.
        let pull = state.withLock { state in
          let pull = state.pull()
          if case .wait = pull { state.waiters.append(ticket, continuation) }
          return pull
        }
        if case .element(let element) = pull { continuation.resume(returning: element) }
      }
    } onCancel: {
      state.withLock { $0.waiters.remove(ticket) }?.resume(returning: nil)
    }
  }

  /// Takes no more; what waits is still handed out.
  public func finish() {
    let waiters = state.withLock { state in
      state.isFinished = true
      return state.waiters.popAll()
    }
    for waiter in waiters { waiter.resume(returning: nil) }
  }
}

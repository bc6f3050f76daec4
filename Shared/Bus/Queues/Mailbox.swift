internal import Synchronization

/// Where elements wait for one consumer. `push` never waits, so any thread may call it; beyond the capacity something
/// is dropped, and the consumer hears of it.
package final class Mailbox<Element: Sendable>: Sendable {
  package enum Item: Sendable {
    case element(Element)
    /// This many elements were dropped since the last item.
    case dropped(UInt64)
  }

  package enum Overflow: Sendable {
    case dropNewest
    case dropOldest
  }

  private struct State {
    var ring: Ring<Element>
    var dropped: UInt64 = 0
    var isFinished = false
    var waiter: CheckedContinuation<Item?, Never>?

    mutating func takeItem() -> Item? {
      if dropped > 0 {
        defer { dropped = 0 }
        return .dropped(dropped)
      }
      return ring.popFirst().map { .element($0) }
    }
  }

  private let overflow: Overflow
  private let state: Mutex<State>

  package init(capacity: Int, overflow: Overflow = .dropNewest) {
    self.overflow = overflow
    state = Mutex(State(ring: Ring(capacity: capacity)))
  }

  /// False when the element or an older one was dropped for want of room; a finished mailbox takes nothing.
  @discardableResult
  package func push(_ element: Element) -> Bool {
    let (waiter, fits) = state.withLock { state -> (CheckedContinuation<Item?, Never>?, Bool) in
      if state.isFinished { return (nil, false) }
      if let waiter = state.waiter.take() { return (waiter, true) }
      guard state.ring.isFull else {
        state.ring.append(element)
        return (nil, true)
      }
      state.dropped += 1
      if overflow == .dropOldest {
        _ = state.ring.popFirst()
        state.ring.append(element)
      }
      return (nil, false)
    }
    waiter?.resume(returning: .element(element))
    return fits
  }

  /// Counts elements that were lost before they came here.
  package func noteDropped(_ count: UInt64) {
    let waiter = state.withLock { state -> CheckedContinuation<Item?, Never>? in
      guard count > 0, !state.isFinished else { return nil }
      if let waiter = state.waiter.take() { return waiter }
      state.dropped += count
      return nil
    }
    waiter?.resume(returning: .dropped(count))
  }

  /// Nothing more comes in; what waits is still handed out.
  package func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return state.waiter.take()
    }
    waiter?.resume(returning: nil)
  }

  package var isFinished: Bool { state.withLock { $0.isFinished } }

  /// The next item; nil at the end, or when the task is cancelled. One caller at a time.
  package func next() async -> Item? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isReady, item) = state.withLock { state -> (Bool, Item?) in
          precondition(state.waiter == nil, "two tasks wait for one mailbox")
          if Task.isCancelled { return (true, nil) }
          if let item = state.takeItem() { return (true, item) }
          if state.isFinished { return (true, nil) }
          state.waiter = continuation
          return (false, nil)
        }
        if isReady { continuation.resume(returning: item) }
      }
    } onCancel: {
      state.withLock { $0.waiter.take() }?.resume(returning: nil)
    }
  }
}

internal import CaravanRuntime

/// Where elements wait for one consumer. `push` never waits, so any thread may call it; beyond the bounds something is
/// dropped, and the consumer hears of it.
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

  package enum Push: Sendable {
    case accepted
    /// The first since the consumer was last told.
    case droppedFirst
    case dropped
    /// Nobody reads any more.
    case finished
  }

  private struct State {
    var ring = Ring<Element>()
    /// Of what is in the ring.
    var weight = 0
    var shares: (elements: SenderShares, weight: SenderShares)
    var dropped: UInt64 = 0
    var isFinished = false
    var waiter: TaskContinuation<Item?, Never>?
  }

  private let capacity: Int
  private let overflow: Overflow
  private let heaviest: Int
  private let weigh: @Sendable (Element) -> Int
  private let origin: @Sendable (Element) -> Subject.Origin?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - capacity: elements that may wait.
  ///   - heaviest: what they may weigh together; one element always fits.
  ///   - origin: who shares that room with others (`SenderShares`).
  package init(
    capacity: Int, overflow: Overflow = .dropNewest, heaviest: Int = .max,
    weigh: @escaping @Sendable (Element) -> Int = { _ in 0 },
    origin: (@Sendable (Element) -> Subject.Origin?)? = nil
  ) {
    precondition(capacity > 0, "a mailbox of capacity \(capacity) can hold nothing")
    precondition(overflow == .dropNewest || origin == nil, "who comes late would push out what others have a share for")
    self.capacity = capacity
    self.overflow = overflow
    self.heaviest = heaviest
    self.weigh = weigh
    self.origin = origin ?? { _ in nil }
    state = Mutex(State(shares: (SenderShares(of: capacity), SenderShares(of: heaviest))))
  }

  @discardableResult
  package func push(_ element: Element) -> Push {
    let weight = weigh(element)
    let (waiter, result) = state.withLock { state -> (TaskContinuation<Item?, Never>?, Push) in
      if state.isFinished { return (nil, .finished) }
      if let waiter = state.waiter.take() { return (waiter, .accepted) }
      let fits = state.ring.isEmpty || state.ring.count < capacity && state.weight <= heaviest - weight
      if !fits || !takeShare(of: element, weight, &state) {
        state.dropped += 1
        let result: Push = state.dropped == 1 ? .droppedFirst : .dropped
        guard overflow == .dropOldest, let oldest = state.ring.popFirst() else { return (nil, result) }
        state.weight += weight - weigh(oldest)
        state.ring.append(element)
        return (nil, result)
      }
      state.weight += weight
      state.ring.append(element)
      return (nil, .accepted)
    }
    waiter?.resume(returning: .element(element))
    return result
  }

  /// Counts elements that were lost before they came here.
  package func noteDropped(_ count: UInt64) {
    let waiter = state.withLock { state -> TaskContinuation<Item?, Never>? in
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

  /// The next item; nil at the end, or when the task is cancelled. One caller at a time.
  package func next() async -> Item? {
    await withTaskCancellationHandler {
      await withTaskContinuation { continuation in
        let (isReady, item) = state.withLock { state -> (Bool, Item?) in
          precondition(state.waiter == nil, "two tasks wait for one mailbox")
          if Task.isCancelled { return (true, nil) }
          if let item = take(&state) { return (true, item) }
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

  private func take(_ state: inout State) -> Item? {
    if state.dropped > 0 {
      defer { state.dropped = 0 }
      return .dropped(state.dropped)
    }
    guard let element = state.ring.popFirst() else { return nil }
    let (weight, sender) = (weigh(element), origin(element))
    state.weight -= weight
    state.shares.elements.giveBack(1, of: sender)
    state.shares.weight.giveBack(weight, of: sender)
    return .element(element)
  }

  private func takeShare(of element: Element, _ weight: Int, _ state: inout State) -> Bool {
    let sender = origin(element)
    guard state.shares.elements.take(1, for: sender) else { return false }
    if state.shares.weight.take(weight, for: sender) { return true }
    state.shares.elements.giveBack(1, of: sender)
    return false
  }
}

extension Mailbox<Incoming> {
  /// For a subscription: bounded by messages and by bytes, of which each sender has its share.
  package static func forMessages(capacity: Int) -> Mailbox<Incoming> {
    Mailbox(
      capacity: capacity, heaviest: BusLimits.subscriptionBytes, weigh: { $0.message.payload.count },
      origin: { $0.subject.origin })
  }
}

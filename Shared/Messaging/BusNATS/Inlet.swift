internal import CCaravanNats
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime

/// One subscription at the library. Its messages are taken on the event loop, right after they were read.
final class Inlet: Sendable {
  private enum Stage {
    case open
    /// Nothing new is wanted; what is on its way still comes.
    case leaving(until: Instant)
    case ended
  }

  private let subscription: Handle
  private let accept: @Sendable (OpaquePointer) -> Void
  private let end: @Sendable () -> Void
  private let stage = Mutex(Stage.open)

  /// - Parameters:
  ///   - accept: called for every message, which is the callee's then, on the loop's thread.
  ///   - end: called once, after the last.
  init(
    _ subscription: Handle, accept: @escaping @Sendable (OpaquePointer) -> Void, end: @escaping @Sendable () -> Void
  ) {
    self.subscription = subscription
    self.accept = accept
    self.end = end
  }

  deinit { natsSubscription_Destroy(subscription.pointer) }

  /// Hands over what has arrived. For the loop's thread.
  /// - Returns: how many messages that were.
  @discardableResult
  func take() -> Int {
    var waiting: UInt64 = 0
    // Asking for the count is cheap; asking for a message that is not there writes an error text.
    guard natsSubscription_QueuedMsgs(subscription.pointer, &waiting) == NATS_OK else { return 0 }
    var taken = 0
    while taken < waiting {
      var message: OpaquePointer?
      switch natsSubscription_NextMsg(&message, subscription.pointer, 0) {
      case NATS_OK:
        if let message { accept(message) }
        taken += 1
      case NATS_NO_RESPONDERS: taken += 1
      // Says once that messages were lost here, and gives none.
      case NATS_SLOW_CONSUMER: continue
      default: return taken
      }
    }
    return taken
  }

  /// Asks the broker to send no more.
  /// - Returns: false when it was asked before.
  func leave(before deadline: Instant) -> Bool {
    let isFirst = stage.withLock { stage in
      guard case .open = stage else { return false }
      stage = .leaving(until: deadline)
      return true
    }
    if isFirst { natsSubscription_DrainTimeout(subscription.pointer, NATSLimits.drainTimeout.milliseconds) }
    return isFirst
  }

  var isLeaving: Bool {
    if case .leaving = stage.withLock({ $0 }) { true } else { false }
  }

  /// Whether the broker has confirmed that, and everything it sent before has been taken. For the loop's thread.
  func hasLeft(now: Instant) -> Bool {
    guard case .leaving(let deadline) = stage.withLock({ $0 }) else { return false }
    let isDrained = natsSubscription_DrainCompletionStatus(subscription.pointer) != NATS_ILLEGAL_STATE
    return isDrained || now >= deadline
  }

  /// Takes what is left, and says that it was all.
  func finish() {
    take()
    let isFirst = stage.withLock { stage in
      if case .ended = stage { return false }
      stage = .ended
      return true
    }
    if isFirst { end() }
  }
}

/// The subscriptions of one connection.
final class Inlets: Sendable {
  private struct State {
    /// Those first that had something of late.
    var inlets: [Inlet] = []
    /// Resumed when there are none.
    var waiters: [TaskContinuation<Void, Never>] = []

    mutating func favour(_ inlet: Inlet, at place: Int) {
      guard place < inlets.count, inlets[place] === inlet else { return }
      inlets.insert(inlets.remove(at: place), at: 0)
    }

    mutating func takeWaiters() -> [TaskContinuation<Void, Never>] {
      guard inlets.isEmpty else { return [] }
      defer { waiters = [] }
      return waiters
    }
  }

  private let loop: EventLoop
  private let clock: any Clock
  private let state = Mutex(State())

  init(loop: EventLoop, clock: any Clock) {
    self.loop = loop
    self.clock = clock
  }

  func add(_ inlet: Inlet) { state.withLock { $0.inlets.append(inlet) } }

  /// For the loop's thread.
  /// - Parameter count: how many messages have arrived, at most; most often one, and the rest has not to be looked at.
  func take(_ count: Int) {
    var left = count
    for (place, inlet) in state.withLock({ $0.inlets }).enumerated() {
      if left <= 0 { return }
      let taken = inlet.take()
      left -= taken
      if taken > 0, place > 0 { state.withLock { $0.favour(inlet, at: place) } }
    }
  }

  func leave(_ inlet: Inlet) { leave(inlet, before: clock.now + NATSLimits.drainTimeout) }

  private func leave(_ inlet: Inlet, before deadline: Instant) {
    if inlet.leave(before: deadline) { loop.call { self.finishThoseWhoLeft() } }
  }

  /// Returns when everything on its way has been taken, or at the deadline.
  func leaveAll(before deadline: Instant) async {
    for inlet in state.withLock({ $0.inlets }) { leave(inlet, before: deadline) }
    await withTaskContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.inlets.isEmpty { state.waiters.append(continuation) }
        return state.inlets.isEmpty
      }
      if isOver { continuation.resume() }
    }
  }

  /// The connection is closed.
  func finishAll() {
    loop.call { self.finish(self.state.withLock { $0.inlets }) }
  }

  /// The library says nothing when a drain is over, so it is asked, as long as there are any.
  private func finishThoseWhoLeft() {
    let now = clock.now
    finish(state.withLock { $0.inlets.filter { $0.hasLeft(now: now) } })
    if state.withLock({ $0.inlets.contains(where: \.isLeaving) }) {
      loop.call(after: NATSLimits.drainCheck) { self.finishThoseWhoLeft() }
    }
  }

  private func finish(_ gone: [Inlet]) {
    for inlet in gone { inlet.finish() }
    let waiters = state.withLock { state in
      state.inlets.removeAll { inlet in gone.contains { $0 === inlet } }
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }
}

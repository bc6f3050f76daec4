internal import Runtime

/// An endpoint that a host serves or is about to.
final class Registration: Sendable {
  private struct State {
    /// nil while the broker is being told.
    var subscription: (any BusSubscription)?
    var isStopped = false
    var inFlight = 0
  }

  let endpoint: Endpoint
  let counter: EndpointCounter
  private let state = Mutex(State())

  init(_ endpoint: Endpoint, _ counter: EndpointCounter) {
    self.endpoint = endpoint
    self.counter = counter
  }

  var isServing: Bool { state.withLock { $0.subscription != nil && !$0.isStopped } }

  func start(with subscription: any BusSubscription) {
    let isTooLate = state.withLock { state in
      state.subscription = subscription
      return state.isStopped
    }
    if isTooLate { subscription.cancel() }
  }

  /// Nothing new is taken; what waits is still handed out.
  func stop() {
    let subscription = state.withLock { state in
      state.isStopped = true
      return state.subscription
    }
    subscription?.cancel()
  }

  func next() async -> Delivery? { await state.withLock(\.subscription)?.next() }

  /// False when as many as allowed are in flight.
  func enter() -> Bool {
    state.withLock { state in
      guard state.inFlight < endpoint.maxInFlight else { return false }
      state.inFlight += 1
      return true
    }
  }

  var inFlight: Int { state.withLock(\.inFlight) }

  func leave() { state.withLock { $0.inFlight -= 1 } }
}

internal import CaravanRuntime

/// An endpoint that a host serves or is about to.
final class Registration: Sendable {
  private struct State {
    /// nil while the broker is being told.
    var subscription: (any BusSubscription)?
    var isStopped = false
    var inFlight = 0
    var shares: SenderShares
  }

  enum Entry {
    case entered
    /// As many as allowed are in flight.
    case full
    /// The device, or its user, has its share of them.
    case beyondShare
  }

  let endpoint: Endpoint
  let counter: EndpointCounter
  private let state: Mutex<State>

  init(_ endpoint: Endpoint, _ counter: EndpointCounter) {
    self.endpoint = endpoint
    self.counter = counter
    state = Mutex(State(shares: SenderShares(of: endpoint.maxInFlight)))
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

  /// A request is taken, unless too many are.
  func enter(_ subject: Subject) -> Entry {
    state.withLock { state in
      guard state.inFlight < endpoint.maxInFlight else { return .full }
      guard state.shares.take(1, for: subject.origin) else { return .beyondShare }
      state.inFlight += 1
      return .entered
    }
  }

  var inFlight: Int { state.withLock(\.inFlight) }

  /// It has been answered.
  func leave(_ subject: Subject) {
    state.withLock { state in
      state.inFlight -= 1
      state.shares.giveBack(1, of: subject.origin)
    }
  }
}

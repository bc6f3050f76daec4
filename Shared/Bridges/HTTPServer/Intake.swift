import CCaravanMicroHTTPD
import CaravanRuntime

/// Where MHD's thread, the handlers and `HTTPServer.run` meet: who is in flight, and how far shutting down has come.
///
/// MHD is told to suspend or resume a connection under the lock, so that a connection is suspended exactly while it is
/// in `inFlight`. Neither call waits or calls back: both take MHD's own short lock and write to an event descriptor.
final class Intake: Sendable {
  /// What `run` has to do next.
  enum Work {
    case serve(Exchange)
    /// Stop listening and give those in flight the drain timeout.
    case stopAccepting
    /// Cancel the handlers: their clients have been answered. Give the answers the flush timeout.
    case cancelHandlers
    /// Nothing is open any more, or no longer worth waiting for.
    case stop
  }

  enum Admission { case admitted, crowded, full, late }

  private enum Phase: Int {
    /// Can transition to: drainRequested.
    case serving
    /// Shut down, and `run` does not know yet. Can transition to: draining.
    case drainRequested
    /// Can transition to: expired; is over when nothing is open.
    case draining
    /// The drain timeout has passed, and `run` does not know yet. Can transition to: flushing.
    case expired
    /// Can transition to: finished; is over when nothing is open.
    case flushing
    case finished
  }

  private struct State {
    var phase = Phase.serving
    /// Admitted, not yet taken by `run`; never more than `inFlight`.
    var queue: [Exchange] = []
    /// Admitted and not answered: their connections are suspended.
    var inFlight: [ObjectIdentifier: Exchange] = [:]
    /// How many of those are each client's.
    var clients: [NetworkAddress: Int] = [:]
    /// Begun and not completed: refused ones and those whose answer is being sent included.
    var open = 0
    var waiter: TaskContinuation<Work, Never>?
  }

  let limits: HTTPLimits
  let links: Links
  private let state = Mutex(State())

  init(limits: HTTPLimits, links: Links) {
    self.limits = limits
    self.links = links
  }

  // MARK: MHD's thread

  /// A request begins; true if it is too late for it.
  func begin() -> Bool {
    state.withLock {
      $0.open += 1
      return $0.phase != .serving
    }
  }

  /// A request is complete: suspends its connection and queues it for a handler, if there is room.
  func admit(_ exchange: Exchange) -> Admission {
    change { state in
      guard state.phase.rawValue < Phase.expired.rawValue else { return .late }
      guard state.inFlight.count < limits.inFlight else { return .full }
      let client = exchange.request?.client?.block
      if let client {
        guard state.clients[client, default: 0] < limits.connectionsPerAddress else { return .crowded }
        state.clients[client, default: 0] += 1
      }
      // "The only safe way to call this function is to call it from the MHD_AccessHandlerCallback" — where we are.
      MHD_suspend_connection(exchange.connection)
      exchange.stage = .handling
      state.inFlight[ObjectIdentifier(exchange)] = exchange
      state.queue.append(exchange)
      return .admitted
    }
  }

  /// The last byte of an answer was sent, or the connection is gone.
  func complete() { change { $0.open -= 1 } }

  // MARK: Handlers and run

  /// The handler's answer; without effect if the client was answered meanwhile.
  func answer(_ exchange: Exchange, _ response: HTTPResponse) {
    state.withLock { state in
      guard state.inFlight.removeValue(forKey: ObjectIdentifier(exchange)) != nil else { return }
      if let client = exchange.request?.client?.block {
        let left = state.clients[client, default: 1] - 1
        state.clients[client] = left > 0 ? left : nil
      }
      resume(exchange, response)
    }
  }

  func drain() { change { if $0.phase == .serving { $0.phase = .drainRequested } } }

  /// Answers everybody still waiting for a handler.
  func expire(_ response: HTTPResponse) {
    change { state in
      guard state.phase == .draining else { return }
      state.phase = .expired
      for exchange in state.inFlight.values { resume(exchange, response) }
      state.inFlight = [:]
      state.clients = [:]
      state.queue = []
    }
  }

  func finish() { change { if $0.phase == .flushing { $0.phase = .finished } } }

  func next() async -> Work {
    await withTaskContinuation { continuation in
      change { state in
        precondition(state.waiter == nil, "an HTTP server was run twice")
        state.waiter = continuation
      }
    }
  }

  /// "It is safe to resume a suspended connection at any time. Calling this function on a connection that was not
  /// previously suspended will result in undefined behavior." A connection in `inFlight` is suspended.
  private func resume(_ exchange: Exchange, _ response: HTTPResponse) {
    exchange.response = response
    MHD_resume_connection(exchange.connection)
  }

  /// Changes the state, then hands the work there is, if any, to a waiting `run`.
  private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
    let (result, waiter, work) = state.withLock { state in
      let result = body(&state)
      guard state.waiter != nil, let work = Self.takeWork(&state) else {
        return (result, TaskContinuation<Work, Never>?.none, Work?.none)
      }
      return (result, state.waiter.take(), work)
    }
    if let waiter, let work { waiter.resume(returning: work) }
    return result
  }

  private static func takeWork(_ state: inout State) -> Work? {
    switch state.phase {
    case .drainRequested:
      state.phase = .draining
      return .stopAccepting
    case .expired:
      state.phase = .flushing
      return .cancelHandlers
    case .finished: return .stop
    case .serving, .draining, .flushing:
      if !state.queue.isEmpty { return .serve(state.queue.removeFirst()) }
      return state.phase != .serving && state.open == 0 ? .stop : nil
    }
  }
}

public import CaravanModel
public import CaravanRuntime

/// Runs the endpoints of one service on a bus, and answers discovery (ADR-32) for them.
///
/// Endpoints may come and go while it runs. `shutDown` stops taking requests; `run` returns when those that were taken
/// have been answered.
public final class ServiceHost: Service {
  private struct State {
    var registrations: [SubjectPattern: Registration] = [:]
    var counters: [String: EndpointCounter] = [:]
    /// In the order they came.
    var names: [String] = []
    var isStopping = false
  }

  let identity: ServiceIdentity
  let bus: any MessageBus
  let host: Host
  let companions: Companions?
  private let initial: [Endpoint]
  private let asked: @Sendable () -> String?
  private let state = Mutex(State())
  private let arrivals = Mailbox<Registration>(capacity: BusLimits.endpointsPerHost)

  /// - Parameters:
  ///   - name: 1–64 of `A-Z a-z 0-9 _ -`, as tools show it.
  ///   - version: semantic, "1.2.3".
  ///   - companions: who may serve beside it; nil: whoever has the name.
  ///   - trouble: of those it answers for, as `Service.trouble`; asked whenever somebody asks.
  public init(
    name: String, version: String, bus: any MessageBus, host: Host, companions: Companions? = nil,
    endpoints: [Endpoint] = [], trouble: @escaping @Sendable () -> String? = { nil }
  ) {
    precondition(Subject.isName(name), "a service's name is 1 to 64 of A-Z a-z 0-9 _ -")
    identity = ServiceIdentity(name: name, version: version, host: host)
    self.bus = bus
    self.host = host
    self.companions = companions
    initial = endpoints
    asked = trouble
  }

  /// Tells this process from others of the same service.
  public var instance: String { identity.instance }

  public var trouble: String? { asked() }

  /// Serves one more. Returns when the broker has been told.
  /// - Throws: `objectExists` when the pattern is served already; `limitExceeded`; what the bus says.
  public func add(_ endpoint: Endpoint) async throws(CaravanError) {
    let registration = try reserve(endpoint)
    do {
      let subscription = try await bus.subscribe(
        endpoint.pattern, group: endpoint.group, capacity: BusLimits.endpointBacklog)
      registration.start(with: subscription)
    } catch {
      forget(registration)
      throw error
    }
    arrivals.push(registration)
  }

  /// Takes no more requests for the pattern; those that wait or are in flight are still answered.
  public func remove(_ pattern: SubjectPattern) {
    state.withLock { $0.registrations[pattern] }?.stop()
  }

  /// Whether requests for the pattern are taken now.
  public func isServing(_ pattern: SubjectPattern) -> Bool {
    state.withLock { $0.registrations[pattern] }?.isServing ?? false
  }

  /// Also while it is about to be served, or being finished.
  package func knows(_ pattern: SubjectPattern) -> Bool { state.withLock { $0.registrations[pattern] != nil } }

  /// Pings are answered from the beginning, all else about it when it serves.
  /// - Throws: `unavailable` when another serves there that may not beside it; what the bus says.
  public func run() async throws {
    let discovery = try await DiscoveryResponder(self)
    defer { discovery.stop() }
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await discovery.answer([.ping]) }
      try await begin()
      host.log.info("ready", [.service: identity.name, .instance: identity.instance, .version: identity.version])
      group.addTask { await discovery.answer([.info, .stats]) }
      await withDiscardingTaskGroup { serving in
        while case .element(let registration)? = await arrivals.next() {
          serving.addTask { await self.serve(registration) }
        }
        shutDown()
      }
      group.cancelAll()
    }
    host.log.info("stopped", [.service: identity.name, .instance: identity.instance])
  }

  /// Ends well also where it is shut down meanwhile.
  private func begin() async throws(CaravanError) {
    do throws(CaravanError) {
      try await companions?.check(self)
      for endpoint in initial { try await add(endpoint) }
    } catch {
      shutDown()
      guard error.code == .cancelled else { throw error }
    }
  }

  public func shutDown() {
    let registrations = state.withLock { state in
      state.isStopping = true
      return state.registrations.values.map(\.self)
    }
    arrivals.finish()
    for registration in registrations { registration.stop() }
  }

  // MARK: Bookkeeping

  /// Requests that have been taken and not been answered, of all endpoints.
  package var inFlight: Int {
    state.withLock { $0.registrations.values.map(\.self) }.reduce(0) { $0 + $1.inFlight }
  }

  private func reserve(_ endpoint: Endpoint) throws(CaravanError) -> Registration {
    let registration = try state.withLock { state -> Result<Registration, CaravanError> in
      if state.isStopping { return .failure(CaravanError(.cancelled, "\(identity.name) is shutting down")) }
      if state.registrations[endpoint.pattern] != nil {
        return .failure(CaravanError(.objectExists, "\(endpoint.pattern.text) is served already"))
      }
      guard state.registrations.count < BusLimits.endpointsPerHost else {
        return .failure(CaravanError(.limitExceeded, "more than \(BusLimits.endpointsPerHost) endpoints"))
      }
      let counter = state.counters[endpoint.name] ?? EndpointCounter(endpoint)
      if state.counters.updateValue(counter, forKey: endpoint.name) == nil { state.names.append(endpoint.name) }
      let registration = Registration(endpoint, counter)
      state.registrations[endpoint.pattern] = registration
      return .success(registration)
    }.get()
    registration.counter.change { $0.subjects += 1 }
    return registration
  }

  private func forget(_ registration: Registration) {
    state.withLock { $0.registrations[registration.endpoint.pattern] = nil }
    registration.counter.change { $0.subjects -= 1 }
  }

  /// In the order the names came.
  var statistics: [EndpointStatistics] {
    state.withLock { state in state.names.compactMap { state.counters[$0] } }.map(\.now)
  }
}

// MARK: One endpoint, one request

extension ServiceHost {
  private func serve(_ registration: Registration) async {
    let endpoint = registration.endpoint
    await withDiscardingTaskGroup { group in
      while let delivery = await registration.next() {
        switch delivery {
        case .gap(let dropped):
          registration.counter.change { $0.dropped += dropped }
          host.log.warning("requests dropped", [.endpoint: endpoint.name, .dropped: dropped])
        case .message(let incoming):
          if !incoming.answersSender {
            registration.counter.change { $0.dropped += 1 }
            host.log.warning("a device asks for answers to others: dropped", [.subject: incoming.subject.text])
            continue
          }
          let entry = registration.enter(incoming.subject)
          guard case .entered = entry else {
            await refuse(incoming, registration, entry)
            continue
          }
          group.addTask {
            await self.handle(incoming, registration)
            registration.leave(incoming.subject)
          }
        }
      }
    }
    forget(registration)
  }

  private func handle(_ incoming: Incoming, _ registration: Registration) async {
    let context = RequestContext(continuing: incoming.message.headers, random: host.random)
    await RequestContext.$current.withValue(context) {
      let start = host.clock.now
      registration.counter.change { $0.inFlight += 1 }
      let failure = await answer(incoming, registration.endpoint)
      let took = host.clock.now - start
      registration.counter.change { $0.finish(took, failure) }
      let log = host.log
      if let failure {
        log.write(failure, of: registration.endpoint, incoming.subject, took)
      } else {
        log.debug("answered", [.endpoint: registration.endpoint.name, .duration: took])
      }
    }
  }

  /// What went wrong, if anything did.
  private func answer(_ incoming: Incoming, _ endpoint: Endpoint) async -> CaravanError? {
    do {
      let payload = try await endpoint.handler(incoming)
      if let address = incoming.reply { try await bus.reply(Message(payload), to: address) }
      return nil
    } catch {
      var failure = error
      if Task.isCancelled, failure.code == .cancelled {
        failure = CaravanError(.timedOut, "the service stopped before it could answer: ask again")
      }
      await send(failure, to: incoming)
      return failure
    }
  }

  /// Before a byte of it is decoded.
  private func refuse(_ incoming: Incoming, _ registration: Registration, _ entry: Registration.Entry) async {
    let endpoint = registration.endpoint
    registration.counter.change { $0.busy += 1 }
    let reason =
      if case .beyondShare = entry {
        "this device or its user has its share of the requests that \(endpoint.name) has in flight: send fewer at once"
      } else {
        "\(endpoint.name) has \(endpoint.maxInFlight) requests in flight: retry later"
      }
    await send(
      CaravanError(.serverBusy, reason, retryAfterMilliseconds: BusLimits.busyRetryMilliseconds), to: incoming)
  }

  private func send(_ failure: CaravanError, to incoming: Incoming) async {
    guard let address = incoming.reply else { return }
    do { try await bus.reply(Message(failure), to: address) } catch {
      host.log.debug("an answer could not be sent", [.error: error])
    }
  }
}

internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// Who a service is, on the bus.
struct ServiceIdentity: Sendable {
  let name: String
  let version: String
  let instance: String
  let started: WallTime

  init(name: String, version: String, host: Host) {
    self.name = name
    self.version = version
    instance = Base32.encode(host.random.bytes(15)).lowercased()
    started = host.clock.wallTime
  }
}

/// Answers `$SRV.PING|INFO|STATS` to everybody, to the service's name, and to this instance (ADR-32).
struct DiscoveryResponder: Sendable {
  private let service: ServiceHost
  private let subscriptions: [(verb: DiscoveryVerb, subscription: any BusSubscription)]

  /// Discovery requests that may wait.
  private static let backlog = 64

  init(_ service: ServiceHost) async throws(CaravanError) {
    self.service = service
    let identity = service.identity
    var subscriptions: [(DiscoveryVerb, any BusSubscription)] = []
    for verb in DiscoveryVerb.allCases {
      let subjects: [Subject] = [
        .discovery(verb), .discovery(verb, service: identity.name),
        .discovery(verb, service: identity.name, instance: identity.instance),
      ]
      for subject in subjects {
        let subscription = try await service.bus.subscribe(.exact(subject), group: nil, capacity: Self.backlog)
        subscriptions.append((verb, subscription))
      }
    }
    self.subscriptions = subscriptions
  }

  /// Until the task is cancelled.
  func answer(_ verbs: Set<DiscoveryVerb>) async {
    await withDiscardingTaskGroup { group in
      for (verb, subscription) in subscriptions where verbs.contains(verb) {
        group.addTask { await answer(verb, on: subscription) }
      }
    }
  }

  func stop() {
    for (_, subscription) in subscriptions { subscription.cancel() }
  }

  private func answer(_ verb: DiscoveryVerb, on subscription: any BusSubscription) async {
    while let delivery = await subscription.next() {
      guard case .message(let incoming) = delivery, let address = incoming.reply else { continue }
      do { try await service.bus.reply(Message(service.describe(verb).encodedBytes()), to: address) } catch {
        service.host.log.debug("a discovery answer could not be sent", [.error: error])
      }
    }
  }
}

extension ServiceHost {
  func describe(_ verb: DiscoveryVerb) -> JSON {
    var object: JSON.Object = [
      "type": .string("io.nats.micro.v1.\(verb.rawValue.lowercased())_response"), "name": .string(identity.name),
      "id": .string(identity.instance), "version": .string(identity.version),
      "metadata": .object(companions?.metadata(self) ?? [:]),
    ]
    switch verb {
    case .ping: break
    case .info:
      object["description"] = .string("Caravan's \(identity.name)")
      object["endpoints"] = .array(statistics.map { .object($0.address) })
    case .stats:
      object["started"] = .string(identity.started.description)
      object["endpoints"] = .array(statistics.map { .object($0.counts) })
      object["data"] = .object(processData)
    }
    return .object(object)
  }

  /// What the process says of itself: `metrics` is what `MetricsSnapshot(json:)` reads; `trouble`, where there is any,
  /// what keeps it from its work.
  private var processData: JSON.Object {
    var data: JSON.Object = [
      "host": .string(host.process.hostName), "process": .int(Int64(host.process.identifier)),
      "metrics": host.snapshotMetrics().json,
    ]
    data["trouble"] = trouble.map(JSON.string)
    data["resident_bytes"] = host.process.residentBytes.map { .int(Int64($0)) }
    return data
  }
}

extension EndpointStatistics {
  /// As `INFO` lists it.
  fileprivate var address: JSON.Object {
    ["name": .string(name), "subject": .string(subject), "queue_group": .string(group ?? ""), "metadata": [:]]
  }

  /// As `STATS` lists it; times are nanoseconds.
  fileprivate var counts: JSON.Object {
    [
      "name": .string(name), "subject": .string(subject), "queue_group": .string(group ?? ""),
      "num_requests": .int(Int64(clamping: requests)), "num_errors": .int(Int64(clamping: errors)),
      "last_error": .string(lastError), "processing_time": .int(Int64(clamping: processingNanoseconds)),
      "average_processing_time": .int(Int64(clamping: averageNanoseconds)),
      "data": [
        "subjects": .int(Int64(subjects)), "in_flight": .int(Int64(inFlight)), "busy": .int(Int64(clamping: busy)),
        "dropped": .int(Int64(clamping: dropped)),
      ],
    ]
  }
}

extension Log {
  func write(_ failure: CaravanError, of endpoint: Endpoint, _ subject: Subject, _ took: Duration) {
    let fields: LogFields = [
      .endpoint: endpoint.name, .subject: subject.text, .code: failure.code.rawValue, .error: failure.message,
      .duration: took,
    ]
    if failure.code == .internalError { error("request failed", fields) } else { debug("request refused", fields) }
  }
}

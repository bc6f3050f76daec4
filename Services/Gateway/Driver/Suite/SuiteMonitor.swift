internal import CaravanBus
internal import CaravanEncoding
internal import CaravanGatewayCore
internal import CaravanModel
internal import CaravanRuntime

/// Asks the whole suite how it is, at most once a second whoever asks.
actor SuiteMonitor {
  private let bus: any MessageBus
  private let host: Host
  private var latest: SuiteReport?
  private var earlier: SuiteReport?

  init(bus: any MessageBus, host: Host) {
    self.bus = bus
    self.host = host
  }

  /// As `SuiteReport.obstacles`. Whoever waits for the last of them to go is not kept waiting by an old report.
  func obstacles(to required: [String]) async throws(CaravanError) -> [String] {
    let known = try await report().latest.obstacles(to: required)
    if known.isEmpty { return [] }
    return try await report(youngerThan: GatewayLimits.incompleteReportAge).latest.obstacles(to: required)
  }

  /// The latest report, and the one before it.
  func report(
    youngerThan age: Duration = GatewayLimits.reportAge
  ) async throws(CaravanError) -> (latest: SuiteReport, earlier: SuiteReport?) {
    let now = host.clock.now
    if let latest, now - Instant(nanoseconds: latest.takenAt) < age { return (latest, earlier) }
    let answers = try await bus.gather(
      Message(), to: .discovery(.stats), within: GatewayLimits.discoveryWindow, limit: GatewayLimits.instances)
    let taken = SuiteReport(takenAt: host.clock.now.nanoseconds, instances: answers.compactMap(instance))
    // Somebody else's question may have been answered meanwhile.
    if let latest, latest.takenAt >= now.nanoseconds { return (latest, earlier) }
    earlier = latest
    latest = taken
    return (taken, earlier)
  }

  private nonisolated func instance(_ answer: Message) -> InstanceReport? {
    do { return try InstanceReport(JSON.parse(answer.payload)) } catch {
      host.log.warning("a STATS answer could not be read", [.error: "\(error)"])
      return nil
    }
  }

  /// Every instance's metrics in one, each with its service and instance.
  func metrics() async throws(CaravanError) -> MetricsSnapshot {
    var all = MetricsSnapshot()
    for instance in try await report().latest.instances {
      do {
        all.merge(
          try MetricsSnapshot(json: instance.metrics),
          adding: [.service: instance.service, .instance: instance.instance])
      } catch {
        host.log.warning("metrics of an instance could not be read", [.service: instance.service, .error: error])
      }
    }
    return all
  }
}

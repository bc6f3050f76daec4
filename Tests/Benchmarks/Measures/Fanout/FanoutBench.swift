internal import CaravanBus
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// One device saves a row; how long until every other device of the user has been told. Beside it, the same number of
/// messages of the same size published to the same connections, by nobody but the broker.
struct FanoutBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let devices: Int
  let rounds: Int

  private static let user = "fan"
  /// Between two rounds, so that the acknowledgements of one do not meet the notifications of the next.
  private static let pause: Duration = .milliseconds(100)

  func run() async throws {
    let writer = try await suite.edgeDevice("fan-writer", user: Self.user)
    let type = try await writer.makeType("row", in: "bench")
    let credentials = try (0..<devices).map { try suite.credentials("fan-\($0)", user: Self.user) }
    let fleet = try EdgeFleet(
      credentials, user: UserID(Self.user), port: suite.brokerPort, host: suite.host)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await fleet.run() }
      let before = try suite.usage(of: "notify")
      let list = Subscribe(
        generation: 1, subscriptions: [ZoneSubscription(container: "bench", zone: "row", periodMilliseconds: 0)])
      try await fleet.ask(.subscribe(list))
      let subscribed = try suite.usage(of: "notify")
      let (told, example) = try await measure(fleet, writer, type)
      let after = try suite.usage(of: "notify")
      let floor = try await measureBaseline(fleet, payload: example)
      let notifications = Double(devices * rounds)
      report.line(
        "notified",
        [
          "devices": Double(devices), "p50_ms": told.all.p50, "p99_ms": told.all.p99, "first_p50_ms": told.first.p50,
          "saved_p50_ms": told.saved.p50,
          "notify_us_per_device": (after.seconds - subscribed.seconds) / notifications * 1e6,
          "notify_bytes_per_device": Double(subscribed.residentBytes - before.residentBytes) / Double(devices),
        ], floor: ["nats_p50_ms": floor.p50, "nats_p99_ms": floor.p99])
      group.cancelAll()
    }
  }

  private struct Told {
    var all = Samples()
    var first = Samples()
    /// Until the writer knew that the row is safe.
    var saved = Samples()
  }

  private func measure(
    _ fleet: EdgeFleet, _ writer: EdgeDevice, _ type: UInt32
  ) async throws(CaravanError) -> (Told, example: [UInt8]) {
    let rows = SampleRows(host: suite.host, bytes: 100)
    let clock = suite.host.clock
    var told = Told()
    var example: [UInt8] = []
    for round in 1...UInt64(rounds) {
      try? await clock.sleep(for: Self.pause)
      let start = clock.now
      let saved = Mutex(start)
      let heard = try await fleet.hearAll { () throws(CaravanError) in
        try await writer.save(
          [rows.body()], names: [rows.name(round)], type: type, op: round, to: "row", in: "bench")
        saved.withLock { $0 = clock.now }
      }
      example = heard.payload
      if let first = heard.times.first, let last = heard.times.last {
        told.first.add(first - start)
        told.all.add(last - start)
      }
      told.saved.add(saved.withLock { $0 } - start)
    }
    return (told, example)
  }

  private func measureBaseline(_ fleet: EdgeFleet, payload: [UInt8]) async throws(CaravanError) -> Samples {
    let line = try BrokerLine(port: suite.brokerPort, suite.serviceCredentials("notify"))
    let publisher = BlockingLine(line, executors: suite.host.executors)
    let messages = fleet.inboxes.reduce(into: [UInt8]()) { $0 += BrokerLine.publish(payload, to: $1) }
    var samples = Samples()
    for _ in 0..<rounds {
      try? await suite.host.clock.sleep(for: Self.pause)
      let start = suite.host.clock.now
      let heard = try await fleet.hearAll(isAcknowledging: false) { () throws(CaravanError) in
        try await publisher.send(messages)
      }
      if let last = heard.times.last { samples.add(last - start) }
    }
    return samples
  }
}

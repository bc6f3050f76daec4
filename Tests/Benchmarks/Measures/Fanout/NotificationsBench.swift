internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-24: from a save until all devices of a user are told, by what they have subscribed to: a zone, the zones of
/// their database, a query; what each costs the cloud; and the mix of a large service, of which zones are 86 %,
/// databases 13 % and queries less than 1 %. With one device, the time of a query is that of a hit. BEN-12: the bytes
/// of a notification of many tables, beside a list of their names.
struct NotificationsBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let devices: Int
  let rounds: Int

  private static let user = "told"
  private static let container = "bench"
  private static let zone = "row"
  /// Nobody hears of it but by a query.
  private static let asked = "asked"
  private static let pause: Duration = .milliseconds(20)
  private static let services = ["storage", "query", "notify"]

  private enum Kind: String, CaseIterable {
    case zone, database, query

    /// Of all notifications.
    var share: Double {
      switch self {
      case .zone: 0.86
      case .database: 0.13
      case .query: 0.01
      }
    }
  }

  func run() async throws {
    let writer = try await suite.edgeDevice("told-writer", user: Self.user)
    let type = try await writer.makeType("row", in: Self.container)
    let credentials = try (0..<devices).map { try suite.credentials("told-\($0)", user: Self.user) }
    let fleet = try EdgeFleet(credentials, user: UserID(Self.user), port: suite.brokerPort, host: suite.host)
    let trip = try await suite.roundTripBaseline(Baselines(host: suite.host, directory: suite.directory), rounds: 300)
    // A zone that is new is told of as one that was made.
    try await save(to: Self.zone, number: 1, writer, type)
    try await save(to: Self.asked, number: 2, writer, type)
    for query in Self.subscriptions { try await subscribe(query, writer) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await fleet.run() }
      let zones = [Self.zone, NotificationLog.name].map {
        ZoneSubscription(container: Self.container, zone: $0, periodMilliseconds: 0)
      }
      try await fleet.ask(.subscribe(Subscribe(generation: 1, subscriptions: zones)))
      var costs = 0.0
      for kind in Kind.allCases { costs += kind.share * (try await measure(kind, fleet, writer, type, trip)) }
      report.line("mix", ["devices": Double(devices), "cpu_us_per_device": costs])
      group.cancelAll()
    }
    for tables in [1, 10, 100, 1_000] { sizes(tables) }
    await writer.bus.drain(deadline: .seconds(1))
  }

  private static var subscriptions: [CaravanModel.StandingQuery] {
    [
      CaravanModel.StandingQuery(id: "zones", .zones),
      CaravanModel.StandingQuery(
        id: "rows",
        .records(
          type: "row", text: .init("___recordID >= ?", arguments: [.text("0")]), zone: Self.asked, .enters)),
    ]
  }

  private func subscribe(_ query: CaravanModel.StandingQuery, _ device: EdgeDevice) async throws {
    let request = SubscriptionsRequest(save: CaravanWire.StandingQuery(query))
    let question = AskSubscriptions(container: Self.container, request: request.encoded())
    guard case .subscriptions = try await device.ask(.subscriptions(question)) else {
      throw CaravanError(.internalError, "a subscription was answered with something else")
    }
  }

  private func save(to zone: String, number: UInt64, _ writer: EdgeDevice, _ type: UInt32) async throws(CaravanError) {
    let rows = SampleRows(host: suite.host, bytes: 100)
    try await writer.save(
      [rows.body()], names: [rows.name(number)], type: type, op: number, to: zone, in: Self.container)
  }

  // MARK: By kind

  /// - Returns: what one costs for each device, in µs of processor time.
  private func measure(
    _ kind: Kind, _ fleet: EdgeFleet, _ writer: EdgeDevice, _ type: UInt32, _ trip: Samples
  ) async throws -> Double {
    let clock = suite.host.clock
    var (all, first) = (Samples(), Samples())
    var before: [Double] = []
    let firstNumber = UInt64((Kind.allCases.firstIndex(of: kind) ?? 0) + 1) << 20
    for round in 0..<UInt64(rounds + 3) {
      // The first rounds fill caches.
      if round == 3 { before = try used() }
      try await clock.sleep(for: Self.pause)
      let number = firstNumber + round + 10
      let start = clock.now
      let heard = try await fleet.hearAll { () throws(CaravanError) in
        let zone =
          switch kind {
          case .zone: Self.zone
          case .database: "made-\(number)"
          case .query: Self.asked
          }
        try await self.save(to: zone, number: number, writer, type)
      }
      guard round >= 3, let earliest = heard.times.first, let latest = heard.times.last else { continue }
      first.add(earliest - start)
      all.add(latest - start)
    }
    let costs = try zip(used(), before).map { ($0 - $1) / Double(rounds * devices) * 1e6 }
    report.line(
      kind.rawValue,
      [
        ("devices", Double(devices)), ("p50_ms", all.p50), ("p99_ms", all.p99), ("first_p50_ms", first.p50),
      ] + zip(Self.services, costs).map { ("\($0)_cpu_us_per_device", $1) },
      floor: [("nats_round_trip_p50_ms", trip.p50)])
    return costs.reduce(0, +)
  }

  private func used() throws -> [Double] { try Self.services.map { try suite.usage(of: $0).seconds } }

  // MARK: Bytes

  private func sizes(_ tables: Int) {
    var notification = CaravanWire.Notification()
    (notification.number, notification.generation) = (1_000, UInt64(suite.host.clock.wallTime.milliseconds))
    let numbersOnly = notification.encoded().count
    notification.bitmap = Array(repeating: 0xff, count: (tables + 7) / 8)
    let names = (0..<tables).reduce(0) { $0 + "table\($1)".utf8.count + 2 }
    // As a protobuf list of numbers: a byte each below 128, and two above.
    let ids = (0..<tables).reduce(0) { $0 + ($1 < 128 ? 1 : 2) }
    report.line(
      "bytes_of_\(tables)_tables", ["bitmap": Double(notification.encoded().count)],
      floor: ["names": Double(numbersOnly + names), "ids": Double(numbersOnly + ids)])
  }
}

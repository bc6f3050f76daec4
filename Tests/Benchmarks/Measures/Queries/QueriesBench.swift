internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-30: a page of a query by each kind of index, beside SQLite asked by hand and a message's way to the service and
/// back; how long the index takes to be built; how long a save takes until a query finds it.
struct QueriesBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int
  let rounds: Int

  private static let hits = 50
  private static let user = "queries"
  private static let container = "bench"

  func run() async throws {
    let device = try await suite.edgeDevice("queries-a", user: Self.user)
    let sample = QuerySample(rows: rows)
    guard
      case .type(let type) = try await device.ask(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(sample.type))))
    else { throw CaravanError(.internalError, "a proposal was answered with something else") }
    let bus = try await suite.connect(as: "cli")
    _ = try await ask(bus, Predicate(), sample)
    let floor = try QueryBaseline(directory: suite.directory, sample: sample)
    for first in stride(from: 0, to: rows, by: Limits.recordsPerCommit) {
      let batch = (first..<min(rows, first + Limits.recordsPerCommit)).map { sample.row($0, suite.host.random) }
      try await device.save(
        batch.map(\.fields.body), names: batch.map(\.name), type: type.id, op: UInt64(first + 1), to: "rows",
        in: Self.container)
      try floor.add(batch)
    }
    try floor.finish()
    try await settle(bus, sample)
    let trip = try await suite.roundTripBaseline(Baselines(host: suite.host, directory: suite.directory), rounds: 300)
    for kind in QuerySample.Kind.allCases { try await measure(kind, sample, floor, trip, bus) }
    try await lag(device, type.id, sample, bus)
    for bus in [device.bus, bus] { await bus.drain(deadline: .seconds(1)) }
  }

  private func measure(
    _ kind: QuerySample.Kind, _ sample: QuerySample, _ floor: QueryBaseline, _ trip: Samples, _ bus: NATSBus
  ) async throws {
    // The first question builds the index.
    let start = suite.host.clock.now
    let found = try await patiently { try await ask(bus, sample.predicate(kind, at: 0), sample) }
    let built = suite.host.clock.now - start
    var (ours, byHand) = (Samples(), Samples())
    for round in 1...rounds {
      let predicate = try sample.predicate(kind, at: round)
      var start = suite.host.clock.now
      let reply = try await ask(bus, predicate, sample)
      ours.add(suite.host.clock.now - start)
      start = suite.host.clock.now
      let count = try floor.find(kind, at: round)
      byHand.add(suite.host.clock.now - start)
      guard reply.hits.count == count else {
        throw CaravanError(.internalError, "a query by \(kind) found \(reply.hits.count) records, by hand \(count)")
      }
    }
    report.line(
      "query_\(kind)",
      [
        "p50_ms": ours.p50, "p99_ms": ours.p99, "hits": Double(found.hits.count),
        "build_ms": Double(built.wholeMilliseconds),
      ],
      floor: ["by_hand_p50_ms": byHand.p50, "nats_round_trip_p50_ms": trip.p50])
  }

  private func ask(_ bus: NATSBus, _ predicate: Predicate, _ sample: QuerySample) async throws -> QueryReply {
    let query = CaravanModel.Query(
      database: DatabaseID(
        container: try ContainerID(Self.container), environment: .development, owner: try UserID(Self.user)),
      type: sample.type.name, predicate: predicate, limit: Self.hits)
    return try await bus.call(
      QueryRequest(query), to: .partitioned(.query, Partition(of: query.database), method: "find"),
      deadline: .seconds(20))
  }

  /// Until an index is there that is being built.
  private func patiently<Result>(_ work: () async throws -> Result) async throws -> Result {
    while true {
      do { return try await work() } catch let error as CaravanError {
        guard error.code == .unavailable else { throw error }
        try await suite.host.clock.sleep(for: .milliseconds(10))
      }
    }
  }

  private func settle(_ bus: NATSBus, _ sample: QuerySample) async throws {
    let last = try Predicate([.compare(field: "___recordID", .equal, .text(sample.name(rows - 1)))])
    while try await patiently({ try await ask(bus, last, sample) }).hits.isEmpty {
      try await suite.host.clock.sleep(for: .milliseconds(100))
    }
  }

  /// A save, and the same device's question for it.
  private func lag(_ device: EdgeDevice, _ type: UInt32, _ sample: QuerySample, _ bus: NATSBus) async throws {
    var samples = Samples()
    for round in 0..<rounds {
      let row = sample.row(rows + round, suite.host.random)
      try await device.save(
        [row.fields.body], names: [row.name], type: type, op: UInt64(rows + round + 1), to: "rows",
        in: Self.container)
      let saved = suite.host.clock.now
      let wanted = try Predicate([.compare(field: "___recordID", .equal, .text(row.name))])
      while try await ask(bus, wanted, sample).hits.isEmpty {}
      samples.add(suite.host.clock.now - saved)
    }
    report.line("save_until_found", ["p50_ms": samples.p50, "p99_ms": samples.p99])
  }
}

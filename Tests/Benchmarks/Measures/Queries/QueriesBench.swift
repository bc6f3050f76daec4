internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-30: a page of a query by each kind of index, beside SQLite asked by hand and a message's way to the service and
/// back; how long the index takes to be built; how long a save takes until a query finds it; how long a service that
/// was killed takes to answer again.
struct QueriesBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int
  let rounds: Int

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
    let questions = QueryQuestions(bus: bus, container: Self.container, user: Self.user, type: sample.type.name)
    _ = try await questions.ask(Predicate())
    let floor = try QueryBaseline(directory: suite.directory, sample: sample)
    for first in stride(from: 0, to: rows, by: Limits.recordsPerCommit) {
      let batch = (first..<min(rows, first + Limits.recordsPerCommit)).map { sample.row($0, suite.host.random) }
      try await device.save(
        batch.map(\.fields.body), names: batch.map(\.name), type: type.id, op: UInt64(first + 1), to: "rows",
        in: Self.container)
      try floor.add(batch)
    }
    try floor.finish()
    try await questions.waitForRow(sample.name(rows - 1), clock: suite.host.clock)
    let trip = try await suite.roundTripBaseline(Baselines(host: suite.host, directory: suite.directory), rounds: 300)
    for kind in QuerySample.Kind.allCases { try await measure(kind, sample, floor, trip, questions) }
    try await lag(device, type.id, sample, questions)
    try await recovery(sample, questions)
    for bus in [device.bus, bus] { await bus.drain(deadline: .seconds(1)) }
  }

  private func measure(
    _ kind: QuerySample.Kind, _ sample: QuerySample, _ floor: QueryBaseline, _ trip: Samples,
    _ questions: QueryQuestions
  ) async throws {
    // The first question builds the index.
    let start = suite.host.clock.now
    let found = try await questions.patiently(sample.predicate(kind, at: 0), clock: suite.host.clock)
    let built = suite.host.clock.now - start
    var (ours, byHand) = (Samples(), Samples())
    var handSeconds = 0.0
    let before = try suite.usage(of: "query").seconds
    for round in 1...rounds {
      let predicate = try sample.predicate(kind, at: round)
      var start = suite.host.clock.now
      let reply = try await questions.ask(predicate)
      ours.add(suite.host.clock.now - start)
      start = suite.host.clock.now
      let (count, seconds) = try floor.find(kind, at: round)
      byHand.add(suite.host.clock.now - start)
      handSeconds += seconds
      guard reply.hits.count == count else {
        throw CaravanError(.internalError, "a query by \(kind) found \(reply.hits.count) records, by hand \(count)")
      }
    }
    let seconds = try suite.usage(of: "query").seconds - before
    report.line(
      "query_\(kind)",
      [
        "p50_ms": ours.p50, "p99_ms": ours.p99, "hits": Double(found.hits.count),
        "build_ms": Double(built.wholeMilliseconds), "query_cpu_us": seconds / Double(rounds) * 1e6,
        "times_floor": ours.p50 / (byHand.p50 + trip.p50), "times_by_hand": ours.p50 / byHand.p50,
      ],
      floor: [
        "by_hand_p50_ms": byHand.p50, "by_hand_cpu_us": handSeconds / Double(rounds) * 1e6,
        "nats_round_trip_p50_ms": trip.p50,
      ])
  }

  /// A save, and the same device's question for it.
  private func lag(
    _ device: EdgeDevice, _ type: UInt32, _ sample: QuerySample, _ questions: QueryQuestions
  ) async throws {
    var samples = Samples()
    for round in 0..<rounds {
      let row = sample.row(rows + round, suite.host.random)
      try await device.save(
        [row.fields.body], names: [row.name], type: type, op: UInt64(rows + round + 1), to: "rows",
        in: Self.container)
      let saved = suite.host.clock.now
      while try await !questions.hasRow(row.name) {}
      samples.add(suite.host.clock.now - saved)
    }
    report.line("save_until_found", ["p50_ms": samples.p50, "p99_ms": samples.p99])
  }

  /// The process is killed and started again by the suite, with the index that it had.
  private func recovery(_ sample: QuerySample, _ questions: QueryQuestions) async throws {
    let wanted = try sample.predicate(.number, at: 1)
    _ = try await questions.ask(wanted)
    try suite.kill("query")
    let start = suite.host.clock.now
    while true {
      do {
        _ = try await questions.ask(wanted, within: .milliseconds(250))
        break
      } catch let error as CaravanError {
        guard error.isTransient, suite.host.clock.now - start < .seconds(60) else { throw error }
        try await suite.host.clock.sleep(for: .milliseconds(10))
      }
    }
    report.line("killed_until_answered", ["ms": Double((suite.host.clock.now - start).wholeMilliseconds)])
  }
}

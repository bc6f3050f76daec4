internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire

/// BEN-30: beside saves that are offered at a steady rate: how long a save takes until a query finds it, what it costs
/// saves that an index over all records is built, and how long that takes, beside an index that SQLite makes at once of
/// as many rows under the same load.
struct IndexBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int
  let savesPerSecond: Int
  let seconds: Double

  private static let user = "indexes"
  private static let container = "bench"
  private static let zone = "rows"
  private static let devices = 32
  private static let probePause: Duration = .milliseconds(10)

  func run() async throws {
    let devices = try await suite.edgeDevices(Self.devices, prefix: "index", user: Self.user)
    let sample = QuerySample(rows: rows)
    guard
      case .type(let type) = try await devices[0].ask(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(sample.type))))
    else { throw CaravanError(.internalError, "a proposal was answered with something else") }
    let bus = try await suite.connect(as: "cli")
    let questions = QueryQuestions(bus: bus, container: Self.container, user: Self.user, type: sample.type.name)
    _ = try await questions.ask(Predicate())
    let bulk = try BulkIndex(directory: suite.directory, executors: suite.host.executors)
    for first in stride(from: 0, to: rows, by: Limits.recordsPerCommit) {
      let batch = (first..<min(rows, first + Limits.recordsPerCommit)).map { sample.row($0, suite.host.random) }
      // Each is let in as often as it may be.
      let device = devices[first / Limits.recordsPerCommit % devices.count]
      try await suite.patiently {
        try await device.save(
          batch.map(\.fields.body), names: batch.map(\.name), type: type.id, op: UInt64(first + 1), to: Self.zone,
          in: Self.container)
      }
      try await bulk.add(batch)
    }
    try await questions.waitForRow(sample.name(rows - 1), clock: suite.host.clock)
    // The indexes that there are, as a table in use has some.
    for kind in [QuerySample.Kind.number, .words, .members] {
      _ = try await questions.patiently(sample.predicate(kind, at: 0), clock: suite.host.clock)
    }
    let saves = OfferedSaves(
      devices, sample, type: type.id, zone: Self.zone, container: Self.container, perSecond: savesPerSecond,
      first: rows, host: suite.host)
    try await measure(saves, sample, questions, bulk)
    for bus in devices.map(\.bus) + [bus] { await bus.drain(deadline: .seconds(1)) }
  }

  private func measure(
    _ saves: OfferedSaves, _ sample: QuerySample, _ questions: QueryQuestions, _ bulk: BulkIndex
  ) async throws {
    // The first saves make connections and caches.
    _ = try await saves.run(seconds: 1)
    let before = try suite.usage(of: "query").seconds
    var alone = try await saves.run(seconds: seconds)
    let cost = try suite.usage(of: "query").seconds - before
    report.line(
      "saves_alone",
      [
        "offered_per_s": Double(savesPerSecond), "saves_per_s": Double(alone.nanoseconds.count) / seconds,
        "p50_ms": alone.p50, "p99_ms": alone.p99, "query_cpu_us": cost / Double(alone.nanoseconds.count) * 1e6,
      ])
    try await lag(saves, sample, questions)
    let unbuilt = try suite.usage(of: "query").seconds
    let (beside, built) = try await during(saves) {
      _ = try await questions.patiently(sample.predicate(.date, at: 0), clock: suite.host.clock)
    }
    // Saves that come meanwhile are indexed as well.
    let buildCost = try suite.usage(of: "query").seconds - unbuilt
    let (besideBulk, bulkBuilt) = try await during(saves) { try await bulk.build() }
    alone.add(try await saves.run(seconds: seconds))
    report.line(
      "saves_beside_building",
      [
        "rows": Double(rows), "p50_ms": beside.p50, "p99_ms": beside.p99, "p50_ratio": beside.p50 / alone.p50,
        "p99_ratio": beside.p99 / alone.p99, "build_ms": Double(built.wholeMilliseconds),
        "build_ratio": built.seconds / bulkBuilt.seconds, "query_cpu_us_per_row": buildCost / Double(rows) * 1e6,
      ],
      floor: [
        "alone_p50_ms": alone.p50, "alone_p99_ms": alone.p99, "bulk_build_ms": Double(bulkBuilt.wholeMilliseconds),
        "beside_bulk_p50_ms": besideBulk.p50, "beside_bulk_p99_ms": besideBulk.p99,
      ])
  }

  /// Saves go on for as long as something else takes.
  private func during(
    _ saves: OfferedSaves, _ work: @Sendable () async throws -> Void
  ) async throws -> (Samples, took: Duration) {
    let isDone = Mutex(false)
    async let samples = saves.run { isDone.withLock { $0 } }
    let start = suite.host.clock.now
    do { try await work() } catch {
      isDone.withLock { $0 = true }
      throw error
    }
    let took = suite.host.clock.now - start
    isDone.withLock { $0 = true }
    return (try await samples, took)
  }

  /// A hundred times a second the record that was saved last is looked for; what counts is from its acknowledgement
  /// until it is found.
  private func lag(_ saves: OfferedSaves, _ sample: QuerySample, _ questions: QueryQuestions) async throws {
    let clock = suite.host.clock
    let probe = try await suite.edgeDevice("index-probe", user: Self.user)
    var samples = Samples()
    let end = clock.now + .seconds(seconds)
    async let load = saves.run(seconds: seconds)
    var number = Self.firstProbe
    let type = try await proposed(sample, by: probe)
    while clock.now < end {
      let row = sample.row(number, suite.host.random)
      try await probe.save(
        [row.fields.body], names: [row.name], type: type, op: UInt64(number), to: Self.zone, in: Self.container)
      let saved = clock.now
      while try await !questions.hasRow(row.name) {}
      samples.add(clock.now - saved)
      number += 1
      try await clock.sleep(for: Self.probePause)
    }
    let offered = try await load
    report.line(
      "save_until_found",
      [
        "saves_per_s": Double(offered.nanoseconds.count) / seconds, "probes": Double(samples.nanoseconds.count),
        "p50_ms": samples.p50, "p99_ms": samples.p99,
      ])
    await probe.bus.drain(deadline: .seconds(1))
  }

  /// No other row has such a number.
  private static let firstProbe = 500_000_000

  private func proposed(_ sample: QuerySample, by device: EdgeDevice) async throws -> UInt32 {
    guard
      case .type(let type) = try await device.ask(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(sample.type))))
    else { throw CaravanError(.internalError, "a proposal was answered with something else") }
    return type.id
  }
}

/// What is asked of one record type, in pages of 50.
struct QueryQuestions: Sendable {
  let bus: NATSBus
  let container: String
  let user: String
  let type: String

  private static let hits = 50

  func ask(_ predicate: Predicate, within deadline: Duration = .seconds(20)) async throws -> QueryReply {
    let query = CaravanModel.Query(
      database: DatabaseID(
        container: try ContainerID(container), environment: .development, owner: try UserID(user)),
      type: type, predicate: predicate, limit: Self.hits)
    return try await bus.call(
      QueryRequest(query), to: .partitioned(.query, Partition(of: query.database), method: "find"),
      deadline: deadline)
  }

  /// Until an index is there that is being built.
  func patiently(_ predicate: Predicate, clock: any Clock) async throws -> QueryReply {
    while true {
      do { return try await ask(predicate) } catch let error as CaravanError {
        guard error.code == .unavailable else { throw error }
        try await clock.sleep(for: .milliseconds(10))
      }
    }
  }

  func hasRow(_ name: String) async throws -> Bool {
    try await !ask(Predicate([.compare(field: "___recordID", .equal, .text(name))])).hits.isEmpty
  }

  func waitForRow(_ name: String, clock: any Clock) async throws {
    let wanted = Predicate([.compare(field: "___recordID", .equal, .text(name))])
    while try await patiently(wanted, clock: clock).hits.isEmpty { try await clock.sleep(for: .milliseconds(100)) }
  }
}

/// The rows in a file of SQLite's, of which it makes one index at once. On a thread of its own, as it blocks.
actor BulkIndex {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let connection: Connection

  init(directory: String, executors: any ExecutorSource) throws(CaravanError) {
    executor = executors.makeSerial("bulk-index")
    connection = try Connection(.file("\(directory)/bulk.db"))
    try connection.execute("CREATE TABLE samples(id INTEGER PRIMARY KEY, name TEXT, taken INTEGER, body BLOB)")
  }

  func add(_ rows: [QuerySample.Row]) throws(CaravanError) {
    try connection.transaction { () throws(CaravanError) in
      for row in rows {
        try connection.run(
          "INSERT INTO samples(name, taken, body) VALUES(?, ?, ?)", row.name, row.fields[8].integerValue ?? 0,
          row.fields.body)
      }
    }
  }

  func build() throws(CaravanError) { try connection.execute("CREATE INDEX samples_by_taken ON samples(taken, name)") }
}

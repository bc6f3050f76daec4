internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-20: what the cloud's answers to one client take: a record, a page of changes, a query.
struct ReadsBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rounds: Int

  private static let rows = 20_000
  private static let pageBytes: UInt32 = 64 << 10
  private static let hits = 50

  func run() async throws {
    let device = try await suite.edgeDevice("reads-a", user: "reads")
    let reader = ZoneReader(device: try await suite.edgeDevice("reads-b", user: "reads"), zone: "reads")
    let writer = ZoneWriter(
      device: device, type: try await device.makeType("row", in: ZoneWriter.container), zone: "reads",
      rows: SampleRows(host: suite.host, bytes: 250))
    for op in 0..<Self.rows / Limits.recordsPerCommit {
      let first = op * Limits.recordsPerCommit
      try await writer.save((first..<first + Limits.recordsPerCommit).map { "row-\($0)" }, op: UInt64(op + 1))
    }
    try await suite.engine.count()
    let floors = Baselines(host: suite.host, directory: suite.directory)
    let trip = try await suite.roundTripBaseline(floors, rounds: 300)
    func say(_ figure: String, _ samples: Samples) {
      report.line(
        figure, ["p50_ms": samples.p50, "p95_ms": samples.percentile(0.95), "p99_ms": samples.p99],
        floor: ["nats_round_trip_p50_ms": trip.p50])
    }
    say(
      "record_read",
      try await measure {
        let name = "row-\(suite.host.random.below(UInt64(Self.rows)))"
        let read = ReadRecords(container: ZoneWriter.container, zone: "reads", names: [name])
        guard case .records(let found) = try await reader.device.ask(.read(read)), found.entries.count == 1 else {
          throw CaravanError(.internalError, "a record of the benchmark was not found")
        }
      })
    var token: [UInt8] = []
    say(
      "sync_page_64KiB",
      try await measure {
        let page = try await reader.pull(after: token, maxBytes: Self.pageBytes)
        token = page.more ? page.token : []
      })
    say("query_\(Self.hits)_hits", try await queries())
    for bus in [device.bus, reader.device.bus] { await bus.drain(deadline: .seconds(1)) }
  }

  private func queries() async throws -> Samples {
    let bus = try await suite.connect(as: "cli")
    var query = CaravanModel.Query(
      database: DatabaseID(
        container: try ContainerID(ZoneWriter.container), environment: .development, owner: try UserID("reads")),
      type: "row")
    query.limit = Self.hits
    let subject = Subject.partitioned(.query, Partition(of: query.database), method: "find")
    let samples = try await measure {
      let reply: QueryReply = try await bus.call(QueryRequest(query), to: subject, deadline: .seconds(10))
      guard reply.hits.count == Self.hits else {
        throw CaravanError(.internalError, "a query of the benchmark found \(reply.hits.count) records")
      }
    }
    await bus.drain(deadline: .seconds(1))
    return samples
  }

  /// The first rounds fill caches.
  private func measure(_ work: () async throws -> Void) async throws -> Samples {
    var samples = Samples()
    for round in 0..<rounds + 10 {
      let start = suite.host.clock.now
      try await work()
      if round >= 10 { samples.add(suite.host.clock.now - start) }
    }
    return samples
  }
}

internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime

/// From the call that saves a row on device A until it is durable on device B and the app there has been told, and
/// until that app has read it: period 0, two agents (BEN-02).
struct LatencyBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rounds: Int

  func run() async throws {
    let floors = Baselines(host: suite.host, directory: suite.directory)
    let sync = try floors.appendAndSync(bytes: 4 << 10, rounds: 200)
    let big = try floors.appendAndSync(bytes: 1 << 20, rounds: 30)
    let trip = try await suite.roundTripBaseline(floors, rounds: 500)
    let sockets = (
      a: try await suite.agent("latency-a", user: "latency"), b: try await suite.agent("latency-b", user: "latency")
    )
    try await CaravanClient.withConnection(to: sockets.a, app: "bench") { a in
      try await CaravanClient.withConnection(to: sockets.b, app: "bench") { b in
        let tables = (try await makeTable(a), try await makeTable(b))
        try await tables.1.watch()
        for (figure, bytes, syncs) in [
          ("row_100B", 0, sync), ("row_1KiB_object", 1 << 10, sync), ("row_1MiB_object", 1 << 20, big),
        ] {
          let (told, read) = try await measure(
            tables.0, tables.1, b, objectBytes: bytes, rounds: bytes > 65_536 ? rounds / 4 : rounds)
          report.line(
            figure,
            ["durable_p50_ms": told.p50, "durable_p99_ms": told.p99, "read_p50_ms": read.p50, "read_p99_ms": read.p99],
            floor: [
              "fdatasync_p50_ms": syncs.p50, "nats_round_trip_p50_ms": trip.p50,
              "three_syncs_six_hops_ms": 3 * syncs.p50 + 3 * trip.p50,
            ])
        }
      }
    }
  }

  private func makeTable(_ client: CaravanClient) async throws -> Table {
    let table = try await client.createTable("latency", "name VARCHAR, text VARCHAR, thing OBJECT")
    try await table.registerWriteSync(period: .zero, delayTolerance: .zero, link: .roaming)
    try await table.registerReadSync(period: .zero, delayTolerance: .zero, link: .roaming)
    return table
  }

  private func measure(
    _ a: Table, _ b: Table, _ reader: CaravanClient, objectBytes: Int, rounds: Int
  ) async throws -> (told: Samples, read: Samples) {
    var samples = (told: Samples(), read: Samples())
    let clock = suite.host.clock
    for round in 0..<(rounds + 5) {
      let name = "\(objectBytes)-\(round)"
      let object = suite.host.random.bytes(objectBytes)
      let text = String(repeating: "x", count: 60)
      let start = clock.now
      let row = try await a.write(
        ["name": .text(name), "text": .text(text)], objects: objectBytes > 0 ? ["thing"] : []
      ) {
        if objectBytes > 0 { try await $0.write(object, to: "thing", at: 0) }
      }
      var told = start
      repeat {
        _ = try await reader.nextUpcall()
        told = clock.now
      } while try await !arrived(row, b)
      // The first rounds make types, zones and caches.
      guard round >= 5 else { continue }
      samples.told.add(told - start)
      samples.read.add(clock.now - start)
    }
    return samples
  }

  private func arrived(_ row: String, _ table: Table) async throws -> Bool {
    try await !table.rows(.init("_id=?", [.text(row)]), columns: ["name"]).all().isEmpty
  }
}

internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime

/// BEN-27: durable saves a second: 1, 8 and 64 devices of as many users, rows of 250 bytes, singly and in batches
/// of 100, beside what as many clients of the engine insert, and beside as many requests with as many bytes that
/// nobody but an echo answers.
struct ThroughputBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let seconds: Double

  private static let rowBytes = 250
  private static let container = "bench"

  func run() async throws {
    for batch in [1, 100] {
      for clients in [1, 8, 64] {
        let floor = try await suite.engine.rowsPerSecond(
          bytes: Self.rowBytes, batch: batch, clients: clients, seconds: 1)
        let echoes = try await suite.echoBaseline(clients: clients, bytes: batch * Self.rowBytes, seconds: 1)
        let (rows, samples) = try await measure(clients: clients, batch: batch)
        report.line(
          batch == 1 ? "single" : "batch_\(batch)",
          [
            "clients": Double(clients), "rows_per_s": rows, "p50_ms": samples.p50, "p99_ms": samples.p99,
            "ratio": rows / floor,
          ], floor: ["\(suite.engine.name)_rows_per_s": floor, "nats_echoes_per_s": echoes])
      }
    }
  }

  private func measure(clients: Int, batch: Int) async throws -> (rowsPerSecond: Double, Samples) {
    let devices = try await suite.edgeDevices(clients, prefix: "t\(batch)-\(clients)")
    var types: [UInt32] = []
    for device in devices { types.append(try await device.makeType("row", in: Self.container)) }
    let start = suite.host.clock.now
    let samples = try await withThrowingTaskGroup(of: Samples.self) { group in
      for (device, type) in zip(devices, types) {
        group.addTask { try await save(with: device, type: type, batch: batch, until: start + .seconds(seconds)) }
      }
      var all = Samples()
      for try await samples in group { all.add(samples) }
      return all
    }
    let took = (suite.host.clock.now - start).seconds
    for device in devices { await device.bus.drain(deadline: .seconds(1)) }
    return (Double(samples.nanoseconds.count * batch) / took, samples)
  }

  private func save(with device: EdgeDevice, type: UInt32, batch: Int, until end: Instant) async throws -> Samples {
    let rows = SampleRows(host: suite.host, bytes: Self.rowBytes)
    let bodies = (0..<batch).map { _ in rows.body() }
    var samples = Samples()
    var op: UInt64 = 0
    while suite.host.clock.now < end {
      op += 1
      let names = (0..<batch).map { rows.name(op * UInt64(batch) + UInt64($0)) }
      let start = suite.host.clock.now
      try await device.save(bodies, names: names, type: type, op: op, to: "row", in: Self.container)
      samples.add(suite.host.clock.now - start)
    }
    return samples
  }
}

internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime

/// BEN-21: how long a save takes by how many records it has, beside the engine inserting as many bytes in one
/// transaction.
struct SizesBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rounds: Int

  private static let sizes = [1, 4, 16, 64, 100, 200, 400]
  private static let rowBytes = 250

  func run() async throws {
    let device = try await suite.edgeDevice("sizes", user: "sizes")
    let writer = ZoneWriter(
      device: device, type: try await device.makeType("row", in: "bench"), zone: "sizes",
      rows: SampleRows(host: suite.host, bytes: Self.rowBytes))
    // The first saves make zone and caches.
    for op in 1...UInt64(20) { try await writer.save([writer.rows.name(op)], op: op) }
    var op: UInt64 = 20
    var one = Double.nan
    for size in Self.sizes {
      let floor = try await suite.engine.rowsPerSecond(bytes: Self.rowBytes, batch: size, seconds: 0.3)
      var samples = Samples()
      for _ in 0..<rounds {
        op += 1
        let names = (0..<UInt64(size)).map { writer.rows.name(op << 16 + $0) }
        samples.add(try await writer.save(names, op: op))
      }
      if size == 1 { one = samples.p50 }
      report.line(
        "save",
        [
          "records": Double(size), "p50_ms": samples.p50, "p99_ms": samples.p99, "times_one": samples.p50 / one,
          "of_linear": samples.p50 / (one * Double(size)),
        ], floor: ["\(suite.engine.name)_ms": Double(size) / floor * 1e3])
    }
    await device.bus.drain(deadline: .seconds(1))
  }
}

/// Saves rows of one type to one zone, and says how long that took.
struct ZoneWriter: Sendable {
  let device: EdgeDevice
  let type: UInt32
  let zone: String
  let rows: SampleRows
  static let container = "bench"

  @discardableResult
  func save(_ names: [String], op: UInt64, isNew: Bool = true) async throws -> Duration {
    let bodies = names.map { _ in rows.body() }
    let start = rows.host.clock.now
    try await device.save(bodies, names: names, type: type, op: op, to: zone, in: Self.container, isNew: isNew)
    return rows.host.clock.now - start
  }
}

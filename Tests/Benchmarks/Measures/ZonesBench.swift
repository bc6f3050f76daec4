internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-32: what a zone's order costs. Durable single saves a second of 64 devices, to one custom zone, to a zone of its
/// own each, and to the public database's default zone, which is spread over shards.
struct ZonesBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let seconds: Double

  private static let clients = 64
  private static let rowBytes = 250

  private enum Place: String, CaseIterable {
    /// All devices are one user's, and write to one zone.
    case oneZone = "one_zone"
    /// Every device is another user's.
    case zoneEach = "zone_each"
    case defaultZone = "default_zone"
  }

  func run() async throws {
    for place in Place.allCases {
      let user = place == .oneZone ? "hot" : nil
      let devices = try await suite.edgeDevices(Self.clients, prefix: "z-\(place.rawValue.prefix(3))", user: user)
      var types: [UInt32] = []
      for device in devices { types.append(try await device.makeType("row", in: "bench")) }
      let start = suite.host.clock.now
      let samples = try await withThrowingTaskGroup(of: Samples.self) { group in
        for (number, (device, type)) in zip(devices, types).enumerated() {
          group.addTask { try await save(with: device, number, type, to: place, until: start + .seconds(seconds)) }
        }
        var all = Samples()
        for try await samples in group { all.add(samples) }
        return all
      }
      let took = (suite.host.clock.now - start).seconds
      for device in devices { await device.bus.drain(deadline: .seconds(1)) }
      report.line(
        place.rawValue,
        [
          "clients": Double(Self.clients), "rows_per_s": Double(samples.nanoseconds.count) / took,
          "p50_ms": samples.p50, "p99_ms": samples.p99,
        ])
    }
  }

  private func save(
    with device: EdgeDevice, _ number: Int, _ type: UInt32, to place: Place, until end: Instant
  ) async throws -> Samples {
    let rows = SampleRows(host: suite.host, bytes: Self.rowBytes)
    var samples = Samples()
    var op: UInt64 = 0
    while suite.host.clock.now < end {
      op += 1
      let (name, body) = ("\(rows.name(op))-\(number)", rows.body())
      let start = suite.host.clock.now
      try await device.save(
        [body], names: [name], type: type, op: op, to: place == .defaultZone ? DefaultZone.name : "row", in: "bench",
        place == .defaultZone ? .public : .private)
      samples.add(suite.host.clock.now - start)
    }
    return samples
  }
}

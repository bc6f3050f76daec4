internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What a save, an update and a pull of what is new cost in zones of a thousand records up to `rows`: they should not
/// know the difference.
struct FlatBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int
  let rounds: Int

  private static let batch = Limits.recordsPerCommit

  private struct Figures {
    var save = Samples()
    var update = Samples()
    var pull = Samples()
  }

  func run() async throws {
    let device = try await suite.edgeDevice("flat-a", user: "flat")
    let reader = ZoneReader(device: try await suite.edgeDevice("flat-b", user: "flat"), zone: "flat")
    let writer = ZoneWriter(
      device: device, type: try await device.makeType("row", in: ZoneWriter.container), zone: "flat",
      rows: SampleRows(host: suite.host, bytes: 250))
    let floors = Baselines(host: suite.host, directory: suite.directory)
    var (count, op): (Int, UInt64) = (0, 0)
    var token: [UInt8] = []
    var least: Figures?
    for size in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] where size <= max(rows, 1_000) {
      while count < size {
        op += 1
        let some = min(Self.batch, size - count)
        try await writer.save((count..<count + some).map(Self.name), op: op)
        count += some
      }
      token = try await reader.pullAll(after: token)
      var figures = Figures()
      for _ in 0..<rounds {
        figures.save.add(try await writer.save([Self.name(count)], op: op + 1))
        let known = Self.name(Int(suite.host.random.below(UInt64(count))))
        figures.update.add(try await writer.save([known], op: op + 2, isNew: false))
        (count, op) = (count + 1, op + 2)
        let start = suite.host.clock.now
        token = try await reader.pullAll(after: token)
        figures.pull.add(suite.host.clock.now - start)
      }
      let first = least ?? figures
      least = first
      let sync = try floors.appendAndSync(bytes: 4 << 10, rounds: 100)
      report.line(
        "zone",
        [
          "records": Double(size), "save_p50_ms": figures.save.p50, "update_p50_ms": figures.update.p50,
          "pull_p50_ms": figures.pull.p50, "save_ratio": figures.save.p50 / first.save.p50,
          "update_ratio": figures.update.p50 / first.update.p50, "pull_ratio": figures.pull.p50 / first.pull.p50,
        ], floor: ["fdatasync_p50_ms": sync.p50])
    }
    for bus in [device.bus, reader.device.bus] { await bus.drain(deadline: .seconds(1)) }
  }

  /// In no order, as ids of many devices are.
  private static func name(_ number: Int) -> String {
    let mixed = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
    return "row-" + String(mixed, radix: 36)
  }
}

/// Pulls a zone without keeping it.
struct ZoneReader: Sendable {
  let device: EdgeDevice
  let zone: String

  /// - Returns: the token that ends the page, and whether there is more.
  func pull(after token: [UInt8], maxBytes: UInt32 = UInt32(Limits.pageBytes)) async throws(CaravanError) -> PullResult
  {
    let pull = Pull(container: ZoneWriter.container, zone: zone, token: token, maxBytes: maxBytes)
    guard case .pull(let result) = try await device.ask(.pull(pull)), !result.resetRequired else {
      throw CaravanError(.internalError, "a pull of the benchmark was not answered with a page")
    }
    return result
  }

  func pullAll(after token: [UInt8]) async throws(CaravanError) -> [UInt8] {
    var token = token
    while true {
      let result = try await pull(after: token)
      token = result.token
      if !result.more { return token }
    }
  }
}

internal import CaravanBusNATS
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// What one hostile device costs others (TRU-02): how long saves of ten honest devices take, each at a fixed rate,
/// beside an eleventh honest one, and beside a device that sends 200 hostile frames a second at nice 19.
struct HostileBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let seconds: Double

  private static let honest = 10
  private static let savesPerSecond = 20
  private static let framesPerSecond = 200
  private static let rowBytes = 250
  private static let container = "bench"

  func run() async throws {
    let devices = try await suite.edgeDevices(Self.honest + 1, prefix: "honest")
    var types: [UInt32] = []
    for device in devices { types.append(try await device.makeType("row", in: Self.container)) }
    // The first rows make zones and caches.
    _ = try await measure(devices, types, pass: 0, seconds: 1)
    let before = try suite.usage(of: "sync")
    let beside = try await measure(devices, types, pass: 1, seconds: seconds)
    line("honest", beside, nil, before)
    for (number, kind) in HostileKind.allCases.enumerated() {
      let before = try suite.usage(of: "sync")
      let flood = try await suite.flood(kind, perSecond: Self.framesPerSecond, seconds: seconds + 3)
      try await suite.host.clock.sleep(for: .seconds(1))
      let samples = try await measure(
        Array(devices.dropLast()), types, pass: UInt64(number) + 2, seconds: seconds)
      await flood.stop(clock: suite.host.clock)
      line(kind.rawValue, samples, beside, before)
      try await suite.host.clock.sleep(for: .seconds(3))
    }
    for device in devices { await device.bus.drain(deadline: .seconds(1)) }
  }

  private func line(_ figure: String, _ samples: Samples, _ beside: Samples?, _ before: BenchSuite.Usage) {
    var values: [(key: String, value: Double)] = [
      ("saves", Double(samples.nanoseconds.count)), ("p50_ms", samples.p50), ("p99_ms", samples.p99),
      ("p999_ms", samples.percentile(0.999)),
    ]
    if let beside { values.append(("p99_ratio", samples.p99 / beside.p99)) }
    if let after = try? suite.usage(of: "sync") {
      values.append(("sync_cpu_s", after.seconds - before.seconds))
      values.append(("sync_mib", Double(after.residentBytes) / Double(1 << 20)))
    }
    report.line(figure, values)
  }

  /// Ten of them, or as many as there are: the first ten count.
  /// - Parameter pass: Counts up: rows and ops of each measurement are new.
  private func measure(
    _ devices: [EdgeDevice], _ types: [UInt32], pass: UInt64, seconds: Double
  ) async throws -> Samples {
    let start = suite.host.clock.now
    return try await withThrowingTaskGroup(of: (Int, Samples).self) { group in
      for (number, (device, type)) in zip(devices, types).enumerated() {
        group.addTask { (number, try await save(with: device, type, number, pass, from: start, seconds: seconds)) }
      }
      var all = Samples()
      for try await (number, samples) in group where number < Self.honest { all.add(samples) }
      return all
    }
  }

  /// Each save counts from the time at which it was due: who is held up is not forgiven what it could not ask.
  private func save(
    with device: EdgeDevice, _ type: UInt32, _ number: Int, _ pass: UInt64, from start: Instant, seconds: Double
  ) async throws -> Samples {
    let rows = SampleRows(host: suite.host, bytes: Self.rowBytes)
    let pause = Duration.seconds(1.0 / Double(Self.savesPerSecond))
    var samples = Samples()
    for turn in 0..<Int(Double(Self.savesPerSecond) * seconds) {
      let due = start + pause * turn + pause * number / (Self.honest + 1)
      try await suite.host.clock.sleep(until: due)
      let op = pass << 20 | UInt64(turn)
      try await device.save(
        [rows.body()], names: ["\(rows.name(op))-\(number)"], type: type, op: op, to: "row", in: Self.container)
      samples.add(suite.host.clock.now - due)
    }
    return samples
  }
}

extension BenchSuite {
  /// A process that plays the hostile device, and gives way to all others.
  nonisolated func flood(_ kind: HostileKind, perSecond: Int, seconds: Double) async throws -> ChildProcess {
    let file = "\(directory)/hostile-\(kind.rawValue).creds"
    try TextFile.writeSecret(
      try credentials("hostile-\(kind.rawValue)", user: "hostile").rendered, to: file)
    return try await ChildProcess.start(
      ChildCommand(
        "nice",
        [
          "-n", "19", "\(programs)/caravan", "bench", "flood", "--creds", file, "--nats", urls.joined(separator: ","),
          "--kind", kind.rawValue, "--rate",
          "\(perSecond)", "--seconds", "\(Int(seconds))",
        ], output: .file("\(directory)/hostile.log")), host: host)
  }
}

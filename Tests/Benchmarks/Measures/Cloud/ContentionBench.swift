internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-22: how often saves are aborted by how many write to one zone at once: each to records of its own, and all to
/// the same few, each on the version it has last seen. Who is told of a conflict takes the server's copy and tries
/// again, so often.
struct ContentionBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let seconds: Double

  private static let shared: UInt64 = 100
  private static let attempts = 4

  private struct Figures: Sendable {
    var saves = 0
    var tries = 0
    var conflicts = 0
    /// Conflicts after all attempts.
    var aborted = 0

    static func + (a: Figures, b: Figures) -> Figures {
      Figures(
        saves: a.saves + b.saves, tries: a.tries + b.tries, conflicts: a.conflicts + b.conflicts,
        aborted: a.aborted + b.aborted)
    }
  }

  func run() async throws {
    for isShared in [false, true] {
      for writers in [1, 4, 16, 64] {
        let floor = try await suite.engine.rowsPerSecond(
          bytes: 250, batch: 1, clients: writers, among: Int(Self.shared), seconds: 0.5)
        let start = suite.host.clock.now
        let figures = try await measure(writers, isShared: isShared)
        let took = (suite.host.clock.now - start).seconds
        report.line(
          isShared ? "same_records" : "own_records",
          [
            "writers": Double(writers), "saves_per_s": Double(figures.saves - figures.aborted) / took,
            "abort_percent": 100 * Double(figures.conflicts) / Double(max(1, figures.tries)),
            "abort_percent_with_retry": 100 * Double(figures.aborted) / Double(max(1, figures.saves)),
          ], floor: ["\(suite.engine.name)_rows_per_s": floor])
      }
    }
  }

  private func measure(_ writers: Int, isShared: Bool) async throws -> Figures {
    let prefix = "c\(isShared ? 1 : 0)-\(writers)"
    let devices = try await suite.edgeDevices(writers, prefix: prefix, user: prefix)
    let type = try await devices[0].makeType("row", in: ZoneWriter.container)
    let end = suite.host.clock.now + .seconds(seconds)
    let figures = try await withThrowingTaskGroup(of: Figures.self) { group in
      for (number, device) in devices.enumerated() {
        group.addTask { try await write(device, type, prefix: isShared ? "" : "\(number)-", until: end) }
      }
      return try await group.reduce(Figures(), +)
    }
    for device in devices { await device.bus.drain(deadline: .seconds(1)) }
    return figures
  }

  private func write(_ device: EdgeDevice, _ type: UInt32, prefix: String, until end: Instant) async throws -> Figures {
    let rows = SampleRows(host: suite.host, bytes: 250)
    var figures = Figures()
    var known: [String: UInt64] = [:]
    var op: UInt64 = 0
    while suite.host.clock.now < end {
      let name = prefix + "record-\(suite.host.random.below(Self.shared))"
      figures.saves += 1
      for attempt in 1...Self.attempts {
        op += 1
        figures.tries += 1
        let mutation = Mutation(name: name, kind: .save, basedOn: known[name] ?? 0, type: type, body: rows.body())
        let reply = try await device.push([mutation], op: op, to: "contended", in: ZoneWriter.container)
        guard let outcome = reply.outcomes.first else {
          throw CaravanError(.internalError, "a push of the benchmark has no outcome")
        }
        if outcome.verdict == .accepted {
          known[name] = outcome.version
          break
        }
        figures.conflicts += 1
        known[name] = outcome.server?.version
        if attempt == Self.attempts { figures.aborted += 1 }
      }
    }
    return figures
  }
}

import CaravanRuntime
import CaravanSimulation
import Foundation

/// Plays the weeks of a fleet in this process, and says what came of them in JSON.
struct Weeks {
  let agents: Int
  let days: Int
  let seed: UInt64
  let shows: Bool

  private static let violationsShown = 20

  func play() -> Int32 {
    let started = Date()
    do {
      let scratch = try ScratchDirectory()
      defer { scratch.remove() }
      let listener: @Sendable (String) -> Void = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
      let report = try FleetRun.run(
        seed, agents: agents, days: days, directory: scratch.path, listener: shows ? listener : nil)
      say(try line(report, seconds: Date().timeIntervalSince(started)))
      return report.violations.isEmpty ? ExitCode.success : ExitCode.failure
    } catch {
      FileHandle.standardError.write(Data("the fleet cannot be played: \(error)\n".utf8))
      return ExitCode.failure
    }
  }

  private func line(_ report: FleetReport, seconds: Double) throws -> String {
    let lost = report.violations.count { $0.invariant.hasPrefix("I1 ") }
    let divergences = report.violations.count { $0.invariant.hasPrefix("I4 ") || $0.invariant.hasPrefix("I16 ") }
    let values: [String: Any] = [
      "bench": "fleet", "agents": report.agents, "users": report.users, "days": report.days, "seed": seed,
      "sessions": Dictionary(report.sessions.map { ($0.day, $0.count) }) { first, _ in first },
      "troubles": report.troubles, "writes": report.writes, "acknowledged": report.acknowledged,
      "versions": report.versions, "conflicts": report.conflicts, "tombstones_purged": report.tombstonesPurged,
      "lost": lost, "divergences": divergences,
      "violations": report.violations.prefix(Self.violationsShown).map(\.description),
      "converged": report.violations.isEmpty, "steps": report.steps, "hash": String(report.traceHash, radix: 16),
      "seconds": (seconds * 10).rounded() / 10,
    ]
    return String(
      decoding: try JSONSerialization.data(withJSONObject: values, options: [.sortedKeys, .withoutEscapingSlashes]),
      as: UTF8.self)
  }
}

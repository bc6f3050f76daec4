import CaravanRuntime
import CaravanSimulation
import CaravanTestKit
import Foundation

/// Plays seeds in this process, and says on standard output what came of each:
///
///     begin SEED
///     ! SEED INVARIANT: EXPLANATION          a violation
///     | LINE                                 the trace of a seed that failed
///     + NUMBER…                              states and transitions, where they are asked for
///     end SEED HASH WRITES VERSIONS DECISIONS STEPS VIRTUAL-MS
struct Worker {
  let breakage: Breakage?
  /// Each with other contents of one user once more.
  let isTwice: Bool
  var variation = Variation()
  var isSurveyed = false

  private static let traceLines = 80
  private static let logLines = 20

  func play(_ range: String) -> Int32 {
    let numbers = range.split(separator: ",").compactMap { Int($0) }
    guard numbers.count == 3 else { return ExitCode.usage }
    do {
      let scratch = try ScratchDirectory()
      defer { scratch.remove() }
      for seed in stride(from: numbers[0], through: numbers[1], by: numbers[2]) { try play(UInt64(seed), scratch.path) }
      return ExitCode.success
    } catch {
      say("! 0 the simulation runs: \(error)")
      return ExitCode.failure
    }
  }

  private func play(_ seed: UInt64, _ directory: String) throws {
    say("begin \(seed)")
    var options = SeedRun.Options(directory: directory, breakage: breakage)
    (options.variation, options.isSurveyed) = (variation, isSurveyed)
    if ProcessInfo.processInfo.environment["SIM_TRACE"] == "1" {
      options.listener = { line in say("| \(line)") }
      options.logLevel = .debug
    }
    let report = try isTwice ? SeedRun.runTwice(seed, options) : SeedRun.run(seed, options)
    for violation in report.violations { say("! \(seed) \(violation)") }
    if options.listener != nil {
      for line in report.log { say("| \(line)") }
    } else if !report.violations.isEmpty {
      for line in report.trace.suffix(Self.traceLines) + report.log.suffix(Self.logLines) { say("| \(line)") }
    }
    if isSurveyed { say("+ \(report.features.map(String.init).joined(separator: " "))") }
    let hash = String(report.traceHash, radix: 16)
    say(
      "end \(seed) \(hash) \(report.writes) \(report.versions) \(report.conflicts) \(report.steps) "
        + "\(report.time.wholeMilliseconds)")
  }
}

func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// In memory where there is such a place: simulated disks are not to be waited for.
struct ScratchDirectory {
  let path: String

  init() throws {
    let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    path = "\(parent)/caravan-simulation-\(getpid())"
    TemporaryDirectory.removeTree(path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func remove() { TemporaryDirectory.removeTree(path) }
}

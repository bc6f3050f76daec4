import CaravanModel
import CaravanRuntime
import CaravanSimulation
import Foundation

/// Plays clusters that a campaign chooses, each in a process of its own, and keeps what came of it after each.
struct Campaigns: Sendable {
  let directory: String
  let breakage: String?
  let jobs: Int

  /// Failures of one kind that are made small: the next would be the same again.
  private static let shrunkOfAKind = 3
  private static let secondsBetweenLines: Double = 60

  private struct State {
    var campaign: Campaign
    var savedAt = Date()
    var toldAt = Date()
  }

  private struct Outcome {
    var features: [Int] = []
    var failures: [String] = []
    var trace: [String] = []
  }

  func play(hours: Double) -> Int32 {
    let file = CampaignFile(directory: directory)
    do {
      try FileManager.default.createDirectory(atPath: "\(directory)/failures", withIntermediateDirectories: true)
      let kept = try file.read()
      if let complaint = kept.complaint { print(complaint) }
      let state = Mutex(State(campaign: kept.campaign ?? Campaign()))
      let end = Date().addingTimeInterval(hours * 3_600)
      print(state.withLock { $0.campaign.line })
      DispatchQueue.concurrentPerform(iterations: jobs) { _ in
        while Date() < end { playNext(state, file) }
      }
      print(state.withLock { $0.campaign.line })
      return state.withLock { $0.campaign.failures.isEmpty } ? ExitCode.success : ExitCode.failure
    } catch {
      FileHandle.standardError.write(Data("caravan-simulation: no campaign in \(directory): \(error)\n".utf8))
      return ExitCode.failure
    }
  }

  private func playNext(_ state: borrowing Mutex<State>, _ file: CampaignFile) {
    let play = state.withLock { $0.campaign.next() }
    let outcome = outcome(of: play)
    let failure = outcome.failures.first.map { Campaign.Failure(play, $0) }
    let alike = state.withLock { state in
      let alike = state.campaign.failures.count { $0.kind == failure?.kind }
      let novelty = state.campaign.take(play, features: outcome.features, failures: outcome.failures)
      save(&state, file)
      let now = Date()
      if now.timeIntervalSince(state.toldAt) >= Self.secondsBetweenLines {
        state.toldAt = now
        print("\(state.campaign.line); the last showed \(novelty) new")
      }
      return alike
    }
    guard let failure else { return }
    print("\(failure.play.command): \(failure.what)")
    if alike < Self.shrunkOfAKind { shrink(failure, outcome) }
  }

  private func save(_ state: inout State, _ file: CampaignFile) {
    let now = Date()
    state.campaign.seconds += now.timeIntervalSince(state.savedAt)
    state.savedAt = now
    do { try file.write(state.campaign) } catch { print("the campaign cannot be kept: \(error)") }
  }

  // MARK: One cluster

  private func outcome(of play: Play) -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments =
      ["--worker", "\(play.seed),\(play.seed),1", "--survey"] + (breakage.map { ["--break", $0] } ?? [])
      + (play.variation.text.isEmpty ? [] : ["--vary", play.variation.text])
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
    for name in ["SIM_SEED", "SIM_TRACE"] { environment[name] = nil }
    process.environment = environment
    let pipe = Pipe()
    process.standardOutput = pipe
    var outcome = Outcome()
    do { try process.run() } catch {
      outcome.failures = ["a worker cannot be started: \(error)"]
      return outcome
    }
    var hasEnded = false
    var reader = LineReader(pipe.fileHandleForReading)
    while let line = reader.next() {
      let words = line.split(separator: " ", maxSplits: 2)
      switch words.first {
      case "+": outcome.features += line.split(separator: " ").compactMap { Int($0) }
      case "!": outcome.failures.append(words.count > 2 ? String(words[2]) : line)
      case "|": outcome.trace.append(String(line.dropFirst(2)))
      case "end": hasEnded = true
      default: break
      }
    }
    process.waitUntilExit()
    if !hasEnded, outcome.failures.isEmpty {
      outcome.failures = ["the process died: \(process.terminationStatus)"]
    }
    return outcome
  }

  // MARK: Failures

  /// Writes a script of the smallest cluster that fails in the same way.
  private func shrink(_ failure: Campaign.Failure, _ whole: Outcome) {
    var shrinking = Shrinking(failure.play)
    var smallest = whole
    while let play = shrinking.next() {
      let outcome = outcome(of: play)
      let hasFailed = outcome.failures.contains { Campaign.Failure(play, $0).kind == failure.kind }
      if hasFailed { smallest = outcome }
      shrinking.took(hasFailed: hasFailed)
    }
    let breaks = breakage.map { " --break \($0)" } ?? ""
    let lines =
      ["# \(failure.play.command)\(breaks) fails; this is the smallest cluster of it, of \(shrinking.plays):"]
      + ["\(shrinking.smallest.command)\(breaks)", ""] + smallest.failures.map { "# \($0)" } + [""]
      + smallest.trace.map { "# \($0)" }
    let path = "\(directory)/failures/\(failure.play.seed)-\(failure.play.variation.fileName)"
    do {
      try CampaignFile.replace(path, with: lines.joined(separator: "\n") + "\n")
      print("\(path): \(shrinking.smallest.command)\(breaks)")
    } catch { print("\(path) cannot be written: \(error)") }
  }
}

extension Variation {
  fileprivate var fileName: String { text.isEmpty ? "itself" : text }
}

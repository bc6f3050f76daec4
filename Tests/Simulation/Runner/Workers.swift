import CaravanRuntime
import Foundation

/// Plays seeds in processes of their own, so that many run at once and one that dies takes no other with it.
struct Workers: Sendable {
  let breakage: String?
  var isTwice = false
  let shows: Bool
  let stops: Bool
  /// Says nothing of what it finds.
  var isQuiet = false
  /// As `--vary` has it.
  var variation = ""

  struct Sum {
    var seeds = 0
    var writes = 0
    var versions = 0
    var decisions = 0
    var steps = 0
    var virtualMilliseconds = 0
    var failed: Set<Int> = []
    /// The first violation that was heard of.
    var first: (seed: Int, what: String)?
    var isOver = false
  }

  func play(first: Int, count: Int, jobs: Int) -> Int32 {
    let started = Date()
    let result = sum(first: first, count: count, jobs: jobs)
    let seconds = Date().timeIntervalSince(started)
    let failed = result.failed.sorted()
    print(
      "\(result.seeds) seeds, \(failed.count) failed\(failed.isEmpty ? "" : " \(failed)"), \(result.writes) writes, "
        + "\(result.versions) versions, \(result.decisions) conflicts, \(result.steps) steps, "
        + "\(result.virtualMilliseconds / 3_600_000) virtual hours in \(String(format: "%.1f", seconds)) s, "
        + "\(String(format: "%.1f", Double(result.seeds) / max(0.001, seconds))) seeds/s")
    return failed.isEmpty && result.seeds == count ? ExitCode.success : ExitCode.failure
  }

  /// What came of the seeds.
  func sum(first: Int, count: Int, jobs: Int) -> Sum {
    let sum = Mutex(Sum())
    let last = first + count - 1
    let lanes = min(jobs, count)
    DispatchQueue.concurrentPerform(iterations: lanes) { lane in
      var next = first + lane
      // A worker that died is followed by another, from the seed after the one it died of.
      while next <= last, !sum.withLock({ $0.isOver }) { next = work(from: next, through: last, by: lanes, sum) }
    }
    return sum.withLock { $0 }
  }

  /// - Returns: the seed to go on with.
  private func work(from first: Int, through last: Int, by step: Int, _ sum: borrowing Mutex<Sum>) -> Int {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments =
      ["--worker", "\(first),\(last),\(step)"] + (isTwice ? ["--twice"] : [])
      + (breakage.map { ["--break", $0] } ?? []) + (variation.isEmpty ? [] : ["--vary", variation])
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
    environment["SIM_SEED"] = nil
    environment["SIM_TRACE"] = shows ? "1" : nil
    process.environment = environment
    let pipe = Pipe()
    process.standardOutput = pipe
    do { try process.run() } catch {
      print("a worker cannot be started: \(error)")
      sum.withLock { _ = $0.failed.insert(first) }
      return last + 1
    }
    var playing: Int?
    var reader = LineReader(pipe.fileHandleForReading)
    while let line = reader.next() {
      take(line, &playing, sum)
      if stops, playing == nil, sum.withLock({ !$0.failed.isEmpty }) { sum.withLock { $0.isOver = true } }
      if sum.withLock({ $0.isOver }) {
        kill(process.processIdentifier, SIGKILL)
        break
      }
    }
    process.waitUntilExit()
    guard let seed = playing, !sum.withLock({ $0.isOver }) else { return last + 1 }
    let what = "the process died (\(process.terminationStatus))"
    tell("seed \(seed): \(what)")
    sum.withLock { sum in
      sum.failed.insert(seed)
      if sum.first == nil { sum.first = (seed, what) }
      sum.seeds += 1
    }
    return seed + step
  }

  private func take(_ line: String, _ playing: inout Int?, _ sum: borrowing Mutex<Sum>) {
    let words = line.split(separator: " ")
    switch words.first {
    case "begin": playing = Int(words[1])
    case "end":
      let numbers = words.dropFirst().map { Int($0) ?? 0 }
      playing = nil
      sum.withLock { sum in
        sum.seeds += 1
        sum.writes += numbers[2]
        sum.versions += numbers[3]
        sum.decisions += numbers[4]
        sum.steps += numbers[5]
        sum.virtualMilliseconds += numbers[6]
      }
      if shows { print("seed \(words[1]): trace hash \(words[2]), \(numbers[6]) virtual ms, \(numbers[5]) steps") }
    case "!":
      let seed = playing ?? 0
      let what = String(line.dropFirst(2 + (words.count > 1 ? words[1].count + 1 : 0)))
      sum.withLock { sum in
        sum.failed.insert(seed)
        if sum.first == nil { sum.first = (seed, what) }
      }
      tell("seed \(seed): \(what)")
    case "|": tell("  \(line.dropFirst(2))")
    default: tell(line)
    }
  }

  private func tell(_ line: String) { if !isQuiet { print(line) } }
}

/// Lines of a pipe as they come.
struct LineReader {
  private let handle: FileHandle
  private var buffer = Data()

  init(_ handle: FileHandle) { self.handle = handle }

  mutating func next() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[(end + 1)...])
        return line
      }
      let data = handle.availableData
      if data.isEmpty { return nil }
      buffer.append(data)
    }
  }
}

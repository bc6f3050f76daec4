internal import CaravanBusNATS
internal import CaravanClient
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// An agent with ten apps and many rows: from the start of its process to its first answer, after an orderly end and
/// after `kill -9`; then what it takes while nobody wants anything of it.
struct StartBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int

  private static let apps = (0..<10).map { "app-\($0)" }
  private static let starts = 5
  /// The deadlines of what came before pass first: a connection's are 10 s.
  private static let settling: Duration = .seconds(12)
  private static let idle: Duration = .seconds(30)
  private static let deadline: Duration = .seconds(30)

  func run() async throws {
    let socket = try await suite.agent("start", user: "start")
    try await fill(socket)
    var process = try await measureStarts("start", socket) { await $0.stop(clock: suite.host.clock) }
    process = try await measureStarts("start after kill -9", socket) {
      $0.kill()
      return await $0.wait()
    }
    try await withClients(of: Self.apps.map { (socket, $0) }) { _ in
      try await suite.host.clock.sleep(for: Self.settling)
      let before = try Self.wakeUps(of: process.identifier)
      try await suite.host.clock.sleep(for: Self.idle)
      let wakeUps = try Self.wakeUps(of: process.identifier) - before
      report.line(
        "idle, \(Self.apps.count) apps, \(rows) rows",
        [
          "resident_mb": try Self.megabytes("Rss:", of: process.identifier),
          // What no file holds, so that the kernel cannot take it back.
          "anonymous_mb": try Self.megabytes("Anonymous:", of: process.identifier),
          // Libraries count in part, for other processes have them too.
          "proportional_mb": try Self.megabytes("Pss:", of: process.identifier),
          "wake_ups_per_minute": Double(wakeUps) * 60 / Self.idle.seconds,
        ])
    }
  }

  /// By way of the cloud, which is quicker than one durable write after the other.
  private func fill(_ socket: String) async throws {
    let writer = try await suite.edgeDevice("start-writer", user: "start")
    let samples = SampleRows(host: suite.host, bytes: 250)
    var op: UInt64 = 0
    for app in Self.apps {
      let type = try await writer.makeType("rows", in: app)
      for _ in 0..<rows / Self.apps.count / Limits.recordsPerCommit {
        op += 1
        let names = (0..<Limits.recordsPerCommit).map {
          samples.name(op * UInt64(Limits.recordsPerCommit) + UInt64($0))
        }
        try await writer.save(names.map { _ in samples.body() }, names: names, type: type, op: op, to: "rows", in: app)
      }
    }
    await writer.bus.drain(deadline: .seconds(1))
    try await withClients(of: Self.apps.map { (socket, $0) }) { clients in
      for client in clients { try await client.createTable("rows", "text VARCHAR").readSyncNow() }
    }
  }

  /// - Returns: the process that was started last.
  private func measureStarts(
    _ figure: String, _ socket: String, _ end: (ChildProcess) async -> ChildProcess.Exit
  ) async throws -> ChildProcess {
    var samples = Samples()
    var process = try await suite.agentProcess("start")
    for number in 0..<Self.starts {
      try await withClients(of: [(socket, Self.apps[0])]) { clients in
        try await clients[0].table("rows").write(["text": .text("change \(number)")])
      }
      _ = await end(process)
      let start = suite.host.clock.now
      process = try await suite.startAgent("start")
      try await firstAnswer(socket)
      samples.add(suite.host.clock.now - start)
    }
    report.line(figure, ["p50_ms": samples.p50, "worst_ms": samples.p99])
    return process
  }

  private func firstAnswer(_ socket: String) async throws {
    let expiry = suite.host.clock.now + Self.deadline
    while true {
      do {
        return try await withClients(of: [(socket, Self.apps[0])]) { clients in
          _ = try await clients[0].table("rows").rows(.init("_id=?", [.text("none")])).all()
        }
      } catch let error as CaravanError {
        guard error.code == .networkNotConnected, suite.host.clock.now < expiry else { throw error }
        try await suite.host.clock.sleep(for: .milliseconds(1))
      }
    }
  }

  // MARK: The process (proc(5))

  private static func megabytes(_ entry: String, of process: Int32) throws(CaravanError) -> Double {
    let lines = try TextFile.read("/proc/\(process)/smaps_rollup").split(separator: "\n")
    let words = lines.first { $0.hasPrefix(entry) }?.split(separator: " ") ?? []
    guard words.count == 3, let kilobytes = Double(words[1]) else {
      throw CaravanError(.internalError, "/proc/\(process)/smaps_rollup has no '\(entry)'")
    }
    return kilobytes * 1_024 / 1e6
  }

  /// How often its threads have gone to sleep.
  private static func wakeUps(of process: Int32) throws(CaravanError) -> Int {
    var count = 0
    for thread in names(in: "/proc/\(process)/task") where Int(thread) != nil {
      let lines = try TextFile.read("/proc/\(process)/task/\(thread)/status").split(separator: "\n")
      let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
      count += line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }
    return count
  }

  private static func names(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe $0.prefix { $0 != 0 }.map { $0 } }
      names.append(String(decoding: name, as: UTF8.self))
    }
    return names
  }
}

/// Connects to each of these agents as an app, runs `body`, and disconnects.
nonisolated(nonsending) func withClients(
  of places: [(socket: String, app: String)], _ body: ([CaravanClient]) async throws -> Void
) async throws {
  try await withClients(of: places[...], besides: [], body)
}

private nonisolated(nonsending) func withClients(
  of places: ArraySlice<(socket: String, app: String)>, besides clients: [CaravanClient],
  _ body: ([CaravanClient]) async throws -> Void
) async throws {
  guard let place = places.first else { return try await body(clients) }
  try await CaravanClient.withConnection(to: place.socket, app: place.app) { client in
    try await withClients(of: places.dropFirst(), besides: clients + [client], body)
  }
}

internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanHTTPClient
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// Says when the suite is ready, and keeps its run file true. The suite does not need that file: one that cannot be
/// written is said, and tried again.
struct Announcer: Service {
  private static let retryPeriod: Duration = .seconds(1)
  static let startDeadline: Duration = .seconds(30)
  /// A process that died so often before the suite was ready will not live.
  static let deathsAtStart = 3
  private static let pollPeriod: Duration = .milliseconds(20)

  let run: RunFile
  let directory: SuiteDirectory
  let gateway: GatewayClient
  let processes: ProcessTable
  let terminal: Terminal
  private let stop = Latch()
  private let unwritten: Outage

  /// - Parameter host: whose log says what goes wrong.
  init(
    _ run: RunFile, directory: SuiteDirectory, gateway: GatewayClient, processes: ProcessTable, terminal: Terminal,
    host: Host
  ) {
    unwritten = Outage(
      host, "the run file cannot be written: commands with --dir do not find this suite",
      over: "the run file is written")
    self.run = run
    self.directory = directory
    self.gateway = gateway
    self.processes = processes
    self.terminal = terminal
  }

  func run() async throws {
    guard try await waitUntilReady() else { return }
    await keep { terminal.say("ready \(file.json.encoded())") }
  }

  /// Until it is told to stop.
  /// - Parameter begin: what to do once the file has been written for the first time, or could not be.
  func keep(_ begin: () -> Void) async {
    var written: RunFile?
    write(file, as: &written)
    begin()
    while !stop.isOpen && !Task.isCancelled {
      if written == file {
        await processes.changed.wait()
      } else {
        await processes.changed.wait(atMost: Self.retryPeriod, clock: terminal.host.clock)
      }
      if written != file { write(file, as: &written) }
    }
    var over = run
    over.process = 0
    write(over, as: &written)
  }

  func shutDown() {
    stop.open()
    processes.changed.raise()
  }

  private var file: RunFile {
    var file = run
    file.processes = processes.entries.compactMap { entry in entry.process.map { (entry.name, Int64($0)) } }
    return file
  }

  private func write(_ file: RunFile, as written: inout RunFile?) {
    do throws(CaravanError) {
      try TextFile.writeSecret(file.json.encoded() + "\n", to: directory.runFile)
      written = file
      unwritten.ended()
    } catch {
      unwritten.lasts(error)
    }
  }

  /// - Returns: false when it was told to stop before.
  private func waitUntilReady() async throws(CaravanError) -> Bool {
    let clock = terminal.host.clock
    let expiry = clock.now + Self.startDeadline
    var reason = "nobody answers at \(gateway.url)"
    while !stop.isOpen && !Task.isCancelled {
      do throws(CaravanError) {
        let answer = try await gateway.send("GET", "/readyz")
        if answer.status == 200 { return true }
        reason = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? reason
      } catch {
        reason = error.message
      }
      if let dead = processes.entries.first(where: { $0.deaths >= Self.deathsAtStart }) {
        throw CaravanError(.unavailable, "\(dead.name) does not stay alive; its log says: \(lastWords(of: dead.name))")
      }
      guard clock.now < expiry else {
        throw CaravanError(
          .timedOut, "not ready within \(Self.startDeadline.components.seconds) s: \(reason); see \(directory.logs)")
      }
      await pause(Self.pollPeriod)
    }
    return false
  }

  private func lastWords(of name: String) -> String {
    let lines = (try? TextFile.tail(directory.log(name), bytes: 2_000))?.split(whereSeparator: \.isNewline) ?? []
    return lines.last.map(String.init) ?? "nothing (\(directory.log(name)))"
  }

  private func pause(_ wait: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await terminal.host.clock.sleep(for: wait) }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }
}

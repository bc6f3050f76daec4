internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// A suite of its own for one measurement: `caravan up` in a directory that goes away with it, and the devices it
/// needs.
actor BenchSuite {
  nonisolated let host: Host
  nonisolated let directory: String
  /// Of storage.
  nonisolated let engine: RowEngine
  /// Of devices.
  nonisolated let deviceEngine: RowEngine
  nonisolated let programs: String
  nonisolated let urls: [String]
  private var children: [ChildProcess]
  private var agents: [String: ChildProcess] = [:]

  private static let startDeadline: Duration = .seconds(20)

  /// - Parameters:
  ///   - programs: the directory of Caravan's executables.
  ///   - postgres: where the suite keeps its data, if not in files: best a database of its own.
  static func with(
    programs: String, postgres: String?, host: Host, _ body: (BenchSuite) async throws -> Void
  ) async throws {
    try await withDirectory { directory in
      try await start(in: directory, programs: programs, postgres: postgres, host: host, body)
    }
  }

  /// A directory that goes away with what it holds.
  static func withDirectory(_ body: (_ directory: String) async throws -> Void) async throws {
    var template = Array("/tmp/caravan-bench.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw CaravanError(.storageFull, "cannot make a directory in /tmp") }
    let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { removeTree(directory) }
    try await body(directory)
  }

  private static func start(
    in directory: String, programs: String, postgres: String?, host: Host, _ body: (BenchSuite) async throws -> Void
  ) async throws {
    raiseFileLimit()
    var environment = Command.environment
    environment["CARAVAN_POSTGRES"] = postgres
    let up = try await ChildProcess.start(
      ChildCommand(
        "\(programs)/caravan", ["up", "--dir", "\(directory)/suite"], environment: environment,
        output: .file("\(directory)/up.log")), host: host)
    let suite: BenchSuite
    do {
      let ready = try await readyLine("\(directory)/up.log", up, host)
      suite = BenchSuite(
        host: host, directory: directory, programs: programs, postgres: postgres, urls: [ready], child: up)
    } catch {
      await up.stop(clock: host.clock)
      throw error
    }
    do { try await body(suite) } catch {
      await suite.stop()
      throw error
    }
    await suite.stop()
  }

  private init(
    host: Host, directory: String, programs: String, postgres: String?, urls: [String], child: ChildProcess
  ) {
    self.host = host
    self.directory = directory
    self.programs = programs
    deviceEngine = RowEngine(programs: programs, directory: directory, host: host)
    engine =
      postgres == nil
      ? RowEngine(programs: programs, directory: "\(directory)/suite/storage", host: host)
      : RowEngine(programs: programs, directory: directory, postgres: postgres, host: host)
    self.urls = urls
    children = [child]
  }

  private func stop() async {
    for child in children.reversed() { await child.stop(clock: host.clock) }
    children = []
  }

  /// The bus's address from `ready {json}`.
  private static func readyLine(_ log: String, _ up: ChildProcess, _ host: Host) async throws -> String {
    let expiry = host.clock.now + startDeadline
    while up.isRunning, host.clock.now < expiry {
      let lines = (try? TextFile.read(log))?.split(separator: "\n") ?? []
      if let line = lines.first(where: { $0.hasPrefix("ready ") }),
        let url = try JSON.parse(String(line.dropFirst(6)))["nats"]?.stringValue
      {
        return url
      }
      try await host.clock.sleep(for: .milliseconds(20))
    }
    throw CaravanError(.unavailable, "caravan up did not become ready: \((try? TextFile.read(log)) ?? "no output")")
  }

  /// A thousand devices are as many connections of this process; 1,024 files are what most systems begin with.
  private static func raiseFileLimit() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  private static func removeTree(_ path: String) {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe $0.prefix { $0 != 0 }.map { $0 } }
        let text = String(decoding: name, as: UTF8.self)
        if text != ".", text != ".." { removeTree("\(path)/\(text)") }
      }
      unsafe closedir(directory)
      unsafe rmdir(path)
    } else {
      unsafe unlink(path)
    }
  }

  // MARK: Devices

  /// Signed here with the suite's key: hundreds of enrolments are not what is measured.
  nonisolated func credentials(_ device: String, user: String) throws -> Credentials {
    let keys = "\(directory)/suite/keys"
    func line(_ file: String) throws -> String {
      String(try TextFile.read("\(keys)/\(file)").prefix { !$0.isWhitespace })
    }
    let signing = try NKey(seed: line("device-signing.nk"))
    let account = try JWT(verifying: line("account.jwt")).claims.subject
    let key = try NKey.generate(.user)
    let enrolled = EnrolledDevice(
      user: try UserID(user), device: try DeviceID(device), enrolment: 1, environment: .development)
    let claims = JWTClaims(
      subject: key.publicKey, name: enrolled.token, issuedAt: host.clock.wallTime.milliseconds / 1000,
      .user(UserClaims(.scoped, issuerAccount: account, tags: ["user:\(enrolled.user)"])))
    return try Credentials(jwt: claims.sign(with: signing), key: key)
  }

  /// Does again what is refused for a while, when that is over.
  nonisolated func patiently(_ body: @Sendable () async throws -> Void) async throws {
    while true {
      do { return try await body() } catch let error as CaravanError {
        guard error.code == .rateLimited, let wait = error.retryAfterMilliseconds else { throw error }
        try await host.clock.sleep(for: .milliseconds(Int64(wait)))
      }
    }
  }

  nonisolated func edgeDevice(_ device: String, user: String) async throws -> EdgeDevice {
    try await EdgeDevice(credentials(device, user: user), urls: urls, host: host)
  }

  /// - Parameter user: of all of them; nil: each has its own.
  nonisolated func edgeDevices(_ count: Int, prefix: String, user: String? = nil) async throws -> [EdgeDevice] {
    var devices: [EdgeDevice] = []
    for number in 0..<count {
      devices.append(try await edgeDevice("\(prefix)-\(number)", user: user ?? "\(prefix)-\(number)"))
    }
    return devices
  }

  /// Starts an agent process.
  /// - Returns: its socket.
  func agent(_ device: String, user: String, link: String = "wired") async throws -> String {
    let home = home(of: device)
    guard unsafe mkdir(home, 0o700) == 0 else { throw CaravanError(.storageFull, "cannot make '\(home)'") }
    try TextFile.writeSecret(try credentials(device, user: user).rendered, to: "\(home)/device.creds")
    let child = try await startAgent(device, link: link)
    let expiry = host.clock.now + Self.startDeadline
    while unsafe access("\(home)/agent.sock", F_OK) != 0 {
      guard child.isRunning, host.clock.now < expiry else {
        throw CaravanError(.unavailable, "the agent did not start: \((try? TextFile.read("\(home)/log")) ?? "no log")")
      }
      try await host.clock.sleep(for: .milliseconds(5))
    }
    return "\(home)/agent.sock"
  }

  /// Starts a device's agent on the data it has, and does not wait until it serves.
  @discardableResult
  func startAgent(_ device: String, link: String = "wired") async throws -> ChildProcess {
    let home = home(of: device)
    let child = try await ChildProcess.start(
      ChildCommand(
        "\(programs)/caravan-agent",
        [
          "--creds", "\(home)/device.creds", "--data", "\(home)/data", "--socket", "\(home)/agent.sock", "--nats",
          urls.joined(separator: ","), "--link", link,
        ], output: .file("\(home)/log")), host: host)
    children.append(child)
    agents[device] = child
    return child
  }

  /// The one started last.
  func agentProcess(_ device: String) throws(CaravanError) -> ChildProcess {
    guard let process = agents[device] else {
      throw CaravanError(.internalError, "no agent of '\(device)' was started")
    }
    return process
  }

  private func home(of device: String) -> String { "\(directory)/\(device)" }

  /// A request as sync asks storage, answered by nobody but an echo.
  nonisolated func roundTripBaseline(_ floors: Baselines, rounds: Int) async throws -> Samples {
    try await withEcho(of: 1) { asking, answering, subject in
      try await floors.roundTrip(asking[0], answering, on: subject, rounds: rounds)
    }
  }

  /// As many connections as `clients`, each asking again and again; requests a second.
  nonisolated func echoBaseline(clients: Int, bytes: Int, seconds: Double) async throws -> Double {
    try await withEcho(of: clients) { asking, answering, subject in
      try await Baselines(host: host, directory: directory).echoes(
        asking, answering, on: subject, bytes: bytes, seconds: seconds)
    }
  }

  private nonisolated func withEcho<Result: Sendable>(
    of clients: Int, _ body: (_ asking: [NATSBus], _ answering: NATSBus, Subject) async throws -> Result
  ) async throws -> Result {
    var asking: [NATSBus] = []
    for _ in 0..<clients { asking.append(try await connect(as: "cli")) }
    let answering = try await connect(as: "storage")
    let subject = Subject.partitioned(.storage, try Partition(0), method: "floor")
    let result = try await body(asking, answering, subject)
    for bus in asking + [answering] { await bus.drain(deadline: .seconds(1)) }
    return result
  }

  nonisolated func serviceCredentials(_ service: String) throws(CaravanError) -> Credentials {
    try Credentials.reading("\(directory)/suite/keys/creds/\(service).creds")
  }

  nonisolated func connect(as service: String) async throws -> NATSBus {
    let credentials = try serviceCredentials(service)
    let bus = try await NATSBus.connect(
      NATSOptions(urls: urls, credentials: credentials, name: "\(service)-floor"), host: host)
    try await bus.waitUntilConnected(deadline: .seconds(10))
    return bus
  }

  // MARK: Processes

  /// On this machine.
  nonisolated var brokerPort: UInt16 {
    get throws(CaravanError) {
      guard let port = urls.first?.split(separator: ":").last.flatMap({ UInt16($0) }) else {
        throw CaravanError(.internalError, "'\(urls)' names no port")
      }
      return port
    }
  }

  struct Usage: Sendable {
    /// Of processor time.
    let seconds: Double
    let residentBytes: Int
  }

  /// The number of a service's process.
  private nonisolated func process(of service: String) throws -> Int64 {
    let run = try RunFile(JSON.parse(TextFile.read("\(directory)/suite/run.json")))
    guard let process = run.processes.first(where: { $0.name == service })?.process else {
      throw CaravanError(.internalError, "no '\(service)' runs: \(run.processes.map(\.name))")
    }
    return process
  }

  /// Ends a service as a crash would; the suite starts it anew.
  nonisolated func kill(_ service: String) throws {
    let process = try process(of: service)
    guard Glibc.kill(pid_t(process), SIGKILL) == 0 else {
      throw CaravanError(.internalError, "'\(service)' cannot be killed: error \(errno)")
    }
  }

  /// What a service has used so far (proc(5)).
  nonisolated func usage(of service: String) throws -> Usage {
    let process = try process(of: service)
    func numbers(_ file: String, after mark: Character? = nil) throws(CaravanError) -> [Int] {
      let text = try TextFile.read("/proc/\(process)/\(file)")
      let rest = mark.flatMap { text.lastIndex(of: $0) }.map { text[$0...].dropFirst() } ?? text[...]
      return rest.split(whereSeparator: \.isWhitespace).map { Int($0) ?? 0 }
    }
    // After the name in brackets: user and system time are fields 14 and 15 of all.
    let times = try numbers("stat", after: ")")
    let memory = try numbers("statm")
    guard times.count > 12, memory.count > 1 else { throw CaravanError(.internalError, "/proc/\(process) is cut off") }
    return Usage(
      seconds: Double(times[11] + times[12]) / Double(sysconf(Int32(_SC_CLK_TCK))),
      residentBytes: memory[1] * sysconf(Int32(_SC_PAGESIZE)))
  }
}

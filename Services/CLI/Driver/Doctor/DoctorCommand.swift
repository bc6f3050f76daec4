internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire
internal import Glibc

/// `caravan doctor`: what is wrong on a device, and what to do about it.
enum DoctorCommand {
  /// Where the package keeps the agent's configuration: read when nothing else is said.
  static let standardConfiguration = "/etc/caravan/agent.conf"

  private static let data = Flag<String?>("data", "DIR", "the agent's directory", environment: "CARAVAN_DATA")
  private static let socket = Flag<String?>("socket", "PATH", "the apps' socket", environment: "CARAVAN_SOCKET")
  private static let nats = Flag<[String]>(
    "nats", "URL,…", "the brokers", environment: "CARAVAN_NATS", default: [])
  private static let json = Flag<Bool>("json", "for programs")

  /// Its settings are the agent's, as far as they matter here.
  private static let command = Command(
    "caravan doctor",
    "Says what is wrong on a device, and what to do; of \(standardConfiguration) when nothing is given. With --dir: "
      + "what storage of that suite says of its disk and its clock.",
    flags: [
      Flag<String?>.suiteDirectory,
      Flag<String?>.configuration, Flag<String?>.credentials, data, socket, nats, Flag<String?>.tlsAuthority,
      Flag<String?>.tlsCertificate, Flag<String?>.tlsKey, Flag<Bool>.insecure, json,
    ], readingSettingsOf: .bus + .agent)

  static let tools = [
    Tool(command) { options, terminal in
      let options = try given(options) ? options : standard(asJSON: options[json])
      let findings = Diagnosis.findings(try await facts(options, terminal.host))
      say(findings, asJSON: options[json], terminal)
      let problems = findings.count { $0.level == .problem }
      guard problems == 0 else {
        throw CaravanError(.unavailable, problems == 1 ? "there is a problem" : "there are \(problems) problems")
      }
    }
  ]

  private static func given(_ options: Options) -> Bool {
    !options[nats].isEmpty
      || [options[Flag<String?>.credentials], options[data], options[socket], options[Flag<String?>.suiteDirectory]]
        .contains { $0 != nil }
  }

  private static func standard(asJSON: Bool) throws -> Options {
    guard unsafe access(standardConfiguration, F_OK) == 0 else {
      throw command.usage(
        "nothing is said about a device, and there is no \(standardConfiguration): give --config, or --creds, --data "
          + "and --socket; of a suite: --dir")
    }
    return try command.parse(["--config", standardConfiguration] + (asJSON ? ["--json"] : []))
  }

  private static func say(_ findings: [Finding], asJSON: Bool, _ terminal: Terminal) {
    guard asJSON else { return findings.forEach { terminal.say($0.text) } }
    func count(_ level: Finding.Level) -> JSON { .int(Int64(findings.count { $0.level == level })) }
    let report: JSON = [
      "findings": .array(findings.map(\.json)), "problems": count(.problem), "warnings": count(.warning),
    ]
    terminal.say(report.encoded())
  }

  // MARK: Gathering

  private static func facts(_ options: Options, _ host: Host) async throws(CaravanError) -> DeviceFacts {
    let probe = DeviceProbe(host)
    var facts = DeviceFacts(now: host.clock.wallTime.milliseconds / 1_000)
    if let file = options[Flag<String?>.credentials] {
      facts.credentials = await probe.credentials(file, data: options[data])
    }
    if let path = options[socket] {
      let (agent, process) = await probe.agent(path)
      facts.agent = agent
      facts.files = await probe.fileLimit(of: process)
    }
    if let directory = options[data] { facts.data = await probe.data(directory) }
    let broker = BrokerProbe(
      credentials: options[Flag<String?>.credentials].flatMap { DeviceProbe.current($0, data: options[data]) },
      tls: try NATSOptions.TLS.given(by: options), allowsClear: options[Flag<Bool>.insecure], host: host)
    let directory = options[Flag<String?>.suiteDirectory]
    // Without a device's credentials nothing could be said of a suite's broker but that it is there, and `cloud` asks
    // it with the suite's own.
    if directory == nil || options[Flag<String?>.credentials] != nil || options.isGiven(nats) {
      for url in options[nats] { facts.brokers.append(await broker.facts(url)) }
    }
    if let directory { facts.cloud = await cloud(directory, host) }
    return facts
  }

  private static func cloud(_ path: String, _ host: Host) async -> CloudFacts {
    let place = SuiteDirectory(SuiteDirectory.absolute(path))
    do throws(CaravanError) {
      let run = try place.running()
      let session = try BusSession(
        url: run.nats, tls: run.tls, credentials: KeyDirectory.credentialsFile(.cli, in: place.keys),
        name: "caravan-doctor")
      let status = try await session.with(host) { bus throws(CaravanError) in
        try await StorageClient(bus: bus, host: host, writer: "@cli").status(of: Partition.all[0])
      }
      return CloudFacts(
        directory: place.path,
        state: .answers(
          damagedChunks: status.damagedChunks, damagedRecords: status.damagedRecords,
          clockProblem: status.clockProblem))
    } catch {
      return CloudFacts(directory: place.path, state: .silent(error.message))
    }
  }
}

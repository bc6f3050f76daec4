internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import Glibc

/// `caravan up`: nats-server and every service on one machine.
enum SuiteCommands {
  private static let http = Flag<HostPort?>(
    "http", "H:P",
    "where HTTP is served (default: 127.0.0.1:8080, or a free port where that is taken); with TLS unless it is loopback"
  )
  private static let nats = Flag<HostPort?>(
    "nats", "H:P", "where devices connect (default: 127.0.0.1:4222, or a free port); with TLS unless it is loopback")
  private static let deviceTLS = Flag<Bool>(
    "device-tls", "the broker asks devices, services and commands for a certificate, which device add issues")
  private static let insecure = Flag<Bool>("insecure", "HTTP without TLS, tokens included, also for other machines")
  private static let scale = Flag<[String]>(
    "scale", "SERVICE=N", "so many processes of a service; repeatable", default: [])
  private static let openContainers = Flag<Bool>(
    "open-containers",
    "who uses a container first has it, in development; so it is on the loopback, unless --closed-containers is given"
  )
  private static let closedContainers = Flag<Bool>("closed-containers", "the operator makes containers")

  static let tools = [
    Tool(
      Command(
        "caravan up", "Starts nats-server and every service, says 'ready {json}', and runs until SIGINT or SIGTERM.",
        operands: .init("[SERVICE=N ...]", 0...SuiteService.allCases.count),
        flags: [
          Flag<String?>.suiteDirectory, http, nats, KeyCommands.names, scale, Flag<String?>.postgres,
          Flag<[String]>.stores, deviceTLS, insecure, KeyCommands.connections, ConnectionCommands.each,
          openContainers, closedContainers, Flag<Duration>.deviceCredentials, Flag<LogLevel>.logLevel,
        ])
    ) { options, terminal in try await up(options, terminal) }
  ]

  private static func up(_ options: Options, _ terminal: Terminal) async throws {
    guard !options[openContainers] || !options[closedContainers] else {
      throw CaravanError(.invalidData, "--open-containers and --closed-containers: say one of them")
    }
    let directory = try SuiteDirectory(options[Flag<String?>.suiteDirectory])
    let postgres = options[Flag<String?>.postgres]
    let scale = try SuiteScale(options[scale] + options.operands, onPostgres: postgres != nil)
    for path in [directory.path, directory.nats, directory.logs] { _ = try Folder(making: path) }
    let lock = try lock(directory)
    defer { lock.release() }
    let host = logging(terminal.host, to: directory.log("up"))
    let earlier = lastRun(directory, host)
    let addresses = try Addresses(
      http: options[http], nats: options[nats], after: earlier, names: options[KeyCommands.names],
      random: terminal.host.random)
    defer { addresses.release() }
    let isLocal = addresses.http.isLoopback && addresses.nats.isLoopback
    let plan = SuitePlan(
      directory: directory, scale: scale, postgres: postgres, stores: options[Flag<[String]>.stores],
      demandsCertificates: options[deviceTLS], allowsClear: options[insecure],
      opensContainers: options[openContainers] || isLocal && !options[closedContainers],
      connections: options[KeyCommands.connections], connectionsPerDevice: options[ConnectionCommands.each],
      deviceCredentials: try options.deviceCredentialSeconds(),
      logLevel: options[Flag<LogLevel>.logLevel])
    let suite = try Suite(plan, addresses: addresses, terminal: terminal, host: host)
    let group = ServiceGroup(suite.services, host: host, deadline: Suite.shutDownDeadline)
    TerminationSignals.handle { _ in group.shutDown() }
    try await group.run()
  }

  /// - Throws: `unavailable` naming the process that holds the directory.
  private static func lock(_ directory: SuiteDirectory) throws(CaravanError) -> DirectoryLock {
    do { return try DirectoryLock(directory.path) } catch {
      guard error.code == .unavailable else { throw error }
      let holder = (try? directory.lastRun()).map { $0.process > 0 ? " (process \($0.process))" : "" } ?? ""
      throw CaravanError(
        .unavailable, "a suite runs in '\(directory.path)' already\(holder): stop it first, or use another --dir")
    }
  }

  /// Devices know the addresses of the last run; one whose file is damaged is forgotten.
  private static func lastRun(_ directory: SuiteDirectory, _ host: Host) -> RunFile? {
    do throws(CaravanError) { return try directory.lastRun() } catch {
      host.log.warning("the run file of the last time says nothing", [.error: error.message])
      return nil
    }
  }

  /// Into the file, or onto the terminal where there can be none.
  private static func logging(_ host: Host, to path: String) -> Host {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file < 0 else {
      return host.with(log: Log(level: .info, clock: host.clock, sink: DescriptorLogSink(descriptor: file)))
    }
    let reason = SystemError.text(errno)
    let host = host.with(log: Log(level: .info, clock: host.clock, sink: DescriptorLogSink.standardError))
    host.log.warning("the log cannot be written to its file", [.path: path, .error: reason])
    return host
  }
}

internal import CLICore
internal import Glibc
internal import Launch
internal import Model
internal import Runtime

/// The processes of `caravan up`.
struct Suite {
  /// For all of them together; each gets `Keeper.patience`.
  static let shutDownDeadline: Duration = .seconds(20)
  static let version = Release.version

  /// In the order of their start; they end in reverse order.
  let services: [any Service]

  init(
    directory: SuiteDirectory, addresses: Addresses, scale: SuiteScale, postgres: String?, stores: [String],
    logLevel: LogLevel, terminal: Terminal, host: Host
  ) throws(CaravanError) {
    let programs = try Self.programs()
    let (broker, authority) = try Self.broker(directory, addresses, host)
    let processes = SuiteProcess.all(scale)
    let board = ProcessBoard(["nats"] + processes.map(\.name))
    let brokerIsUp = Latch()
    var services: [any Service] = [
      Keeper("nats", board: board, host: host) { () throws(CaravanError) in
        let child = try await NATSServerProcess.start(
          broker, in: directory.nats, log: directory.log("nats"), host: host)
        brokerIsUp.open()
        return child
      }
    ]
    let bus =
      ["--nats", broker.reachableURL, "--log-level", logLevel.name] + (authority.map { ["--tls-ca", $0] } ?? [])
    for process in processes {
      var environment = Self.environment
      if process.service == .storage {
        environment[Self.postgresVariable] = postgres
        if !stores.isEmpty { environment[Self.storesVariable] = stores.joined(separator: ",") }
        environment.merge(Self.objectVariables) { _, new in new }
      }
      let command = ChildCommand(
        "\(programs)/\(process.service.executable)",
        directory.arguments(
          of: process, bus: bus, http: addresses.http.description, onPostgres: postgres != nil),
        environment: environment, output: .file(directory.log(process.name)))
      services.append(
        Keeper(process.name, board: board, host: host) { () throws(CaravanError) in
          await brokerIsUp.wait()
          return try await ChildProcess.start(command, host: host)
        })
    }
    let run = RunFile(
      http: "http://\(addresses.http.reachable)", nats: broker.reachableURL, authority: authority,
      directory: directory.path, version: Self.version, process: Int64(getpid()))
    services.append(
      Announcer(
        run, directory: directory,
        gateway: GatewayClient(address: addresses.http.reachable, adminToken: nil, host: host), board: board,
        terminal: terminal))
    self.services = services
  }

  /// The broker's configuration, with keys made where they are missing, and the certificate of who signed its own.
  private static func broker(
    _ directory: SuiteDirectory, _ addresses: Addresses, _ host: Host
  ) throws(CaravanError) -> (NATSConfiguration, authority: String?) {
    let seconds = host.clock.wallTime.milliseconds / 1000
    let keys = try KeyDirectory.ensure(directory.keys, at: seconds)
    var configuration = NATSConfiguration(host: addresses.nats.host, port: addresses.nats.port)
    configuration.operator = try keys.brokerOperator(directory: "\(directory.nats)/jwt")
    guard !addresses.nats.isLoopback else { return (configuration, nil) }
    var names: [String] = []
    for name in [addresses.nats.reachable.host, host.process.hostName, "localhost", "127.0.0.1"] + addresses.names
    where !names.contains(name) { names.append(name) }
    let tls = try keys.ensureCertificate(names, at: seconds)
    configuration.tls = NATSConfiguration.TLS(
      certificateFile: tls.file("nats-cert.pem"), keyFile: tls.file("nats-key.pem"))
    return (configuration, tls.file("ca.pem"))
  }

  /// The directory of this program, where the others are.
  static func programs() throws(CaravanError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let directory = path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
    for service in SuiteService.allCases {
      guard unsafe access("\(directory)/\(service.executable)", X_OK) == 0 else {
        throw CaravanError(
          .invalidData, "\(service.executable) is not beside caravan in '\(directory)': build or install all of them")
      }
    }
    return directory
  }

  private static let postgresVariable = "CARAVAN_POSTGRES"
  private static let storesVariable = "CARAVAN_STORES"

  /// Where storage copies objects to.
  private static var objectVariables: [String: String] {
    Command.environment.filter { $0.key.hasPrefix("CARAVAN_OBJECTS") }
  }

  /// This process's own, without what would be another's setting.
  private static var environment: [String: String] {
    Command.environment.filter { !$0.key.hasPrefix("CARAVAN_") }
  }
}

extension NATSConfiguration {
  /// Where this machine reaches it.
  fileprivate var reachableURL: String { "\(tls == nil ? "nats" : "tls")://\(HostPort(host, port).reachable)" }
}

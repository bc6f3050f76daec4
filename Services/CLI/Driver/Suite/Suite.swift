internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// The processes of `caravan up`.
struct Suite {
  /// For all of them together; each gets `Keeper.patience`.
  static let shutDownDeadline: Duration = .seconds(20)
  static let version = Release.version

  /// In the order of their start; they end in reverse order.
  let services: [any Service]

  init(
    _ plan: SuitePlan, addresses: Addresses, terminal: Terminal, host: Host
  ) throws(CaravanError) {
    let directory = plan.directory
    let programs = try Self.programs()
    let edge = try SuiteEdge(plan, addresses, host)
    let broker = edge.broker
    let processes = SuiteProcess.all(plan.scale)
    let table = ProcessTable(["nats"] + processes.map(\.name))
    let brokerIsUp = Latch()
    var services: [any Service] = [
      Keeper("nats", processes: table, host: host) { () throws(CaravanError) in
        let child = try await NATSServerProcess.start(
          broker, in: directory.nats, log: directory.log("nats"), host: host)
        brokerIsUp.open()
        return child
      }
    ]
    for process in processes {
      let command = ChildCommand(
        "\(programs)/\(process.service.executable)",
        directory.arguments(
          of: process, bus: edge.bus(of: process.service, plan.logLevel), http: edge.http,
          opensContainers: plan.opensContainers, onPostgres: plan.postgres != nil),
        environment: Self.environment(of: process.service, plan), output: .file(directory.log(process.name)))
      services.append(
        Keeper(process.name, processes: table, host: host) { () throws(CaravanError) in
          await brokerIsUp.wait()
          return try await ChildProcess.start(command, host: host)
        })
    }
    let limiter = edge.limiter(ofDevice: plan.connectionsPerDevice, of: plan.connections, host)
    services.append(StartedBroker(brokerIsUp, then: limiter))
    let run = edge.runFile(directory, version: Self.version, process: Int64(getpid()))
    services.append(
      Announcer(
        run, directory: directory,
        gateway: try GatewayClient(
          url: run.http, adminToken: nil, authority: run.httpAuthority, allowsClear: true, host: host),
        processes: table,
        terminal: terminal, host: host))
    self.services = services
  }

  /// The directory of this program, where the others are.
  static func programs() throws(CaravanError) -> String {
    let directory = Program.directory
    for service in SuiteService.allCases {
      guard unsafe access("\(directory)/\(service.executable)", X_OK) == 0 else {
        throw CaravanError(
          .invalidData, "\(service.executable) is not beside caravan in '\(directory)': build or install all of them")
      }
    }
    return directory
  }

  /// This process's own, without what would be another's setting, and with what is that service's.
  private static func environment(of service: SuiteService, _ plan: SuitePlan) -> [String: String] {
    var environment = Command.environment.filter { !$0.key.hasPrefix("CARAVAN_") }
    switch service {
    case .storage:
      environment["CARAVAN_POSTGRES"] = plan.postgres
      if !plan.stores.isEmpty { environment["CARAVAN_STORES"] = plan.stores.joined(separator: ",") }
      // Where it copies objects to.
      environment.merge(Command.environment.filter { $0.key.hasPrefix("CARAVAN_OBJECTS") }) { _, new in new }
    case .gateway:
      // Its limits. Its certificate is the suite's affair.
      let limits = Command.environment.filter {
        $0.key.hasPrefix("CARAVAN_HTTP_") && !["CARAVAN_HTTP_CERT", "CARAVAN_HTTP_KEY"].contains($0.key)
      }
      environment.merge(limits) { _, new in new }
    case .push:
      // What it may call, and as whom.
      environment.merge(Command.environment.filter { $0.key.hasPrefix("CARAVAN_PUSH_") }) { _, new in new }
    case .query:
      // Where all instances have one index.
      environment.merge(Command.environment.filter { $0.key.hasPrefix("CARAVAN_INDEX_") }) { _, new in new }
    case .schema, .notify, .sync: break
    }
    return environment
  }
}

internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// How `caravan up` is set up.
struct SuitePlan: Sendable {
  var directory: SuiteDirectory
  var scale: SuiteScale
  var postgres: String?
  var stores: [String]
  /// Whether the broker asks everybody for a certificate.
  var demandsCertificates: Bool
  /// Whether HTTP may go in clear to other machines.
  var allowsClear: Bool
  /// Whether a container is registered at its first use.
  var opensContainers: Bool
  var connections: Int
  var connectionsPerDevice: Int
  /// How long devices' credentials are good, in seconds.
  var deviceCredentials: Int64
  var logLevel: LogLevel
}

/// Where a suite meets others: the broker and the gateway, with keys and certificates made where they are missing.
/// The broker speaks TLS off the loopback and where it asks for certificates, the gateway off the loopback unless it
/// is told otherwise.
struct SuiteEdge: Sendable {
  let broker: NATSConfiguration
  private let keys: KeyDirectory
  private let gateway: HostPort
  private let gatewayPair: KeyDirectory.PairFiles?
  private let clients: [Holder: KeyDirectory.PairFiles]
  private let allowsClear: Bool
  private let deviceCredentials: Int64

  init(_ plan: SuitePlan, _ addresses: Addresses, _ host: Host) throws(CaravanError) {
    let seconds = host.clock.wallTime.milliseconds / 1000
    let directory = plan.directory
    keys = try KeyDirectory.ensure(directory.keys, connections: plan.connections, at: seconds)
    gateway = addresses.http
    allowsClear = plan.allowsClear
    deviceCredentials = plan.deviceCredentials
    func names(_ address: HostPort) -> [String] {
      var names: [String] = []
      for name in [address.reachable.host, host.process.hostName, "localhost", "127.0.0.1"] + addresses.names
      where !names.contains(name) { names.append(name) }
      return names
    }
    var broker = NATSConfiguration(host: addresses.nats.host, port: addresses.nats.port)
    broker.operator = try keys.brokerOperator(directory: "\(directory.nats)/jwt")
    if plan.demandsCertificates || !addresses.nats.isLoopback {
      let pair = try keys.ensureBrokerCertificate(names(addresses.nats), at: seconds)
      broker.tls = NATSConfiguration.TLS(
        certificateFile: pair.certificate, keyFile: pair.key,
        clientAuthorityFile: plan.demandsCertificates ? keys.authorityFile : nil)
    }
    self.broker = broker
    var clients: [Holder: KeyDirectory.PairFiles] = [:]
    if plan.demandsCertificates {
      for holder in Holder.allCases { clients[holder] = try keys.ensureClientCertificate(of: holder, at: seconds) }
    }
    self.clients = clients
    let isClear = addresses.http.isLoopback || plan.allowsClear
    gatewayPair = isClear ? nil : try keys.ensureHTTPCertificate(names(addresses.http), at: seconds)
  }

  private var brokerURL: String {
    "\(broker.tls == nil ? "nats" : "tls")://\(HostPort(broker.host, broker.port).reachable)"
  }
  private var authority: String? { broker.tls == nil ? nil : keys.authorityFile }

  /// What a service needs to reach the bus: `--nats …`.
  func bus(of service: SuiteService, _ level: LogLevel) -> [String] {
    var arguments = ["--nats", brokerURL, "--log-level", level.name]
    if let authority { arguments += ["--tls-ca", authority] }
    if let holder = Holder(rawValue: service.rawValue), let pair = clients[holder] {
      arguments += ["--tls-cert", pair.certificate, "--tls-key", pair.key]
    }
    return arguments
  }

  /// What the gateway needs to serve: `--http …`.
  var http: [String] {
    let address = ["--http", gateway.description, "--device-credentials", "\(deviceCredentials)s"]
    if let gatewayPair { return address + ["--http-cert", gatewayPair.certificate, "--http-key", gatewayPair.key] }
    return gateway.isLoopback ? address : address + ["--insecure"]
  }

  func runFile(_ directory: SuiteDirectory, version: String, process: Int64) -> RunFile {
    var run = RunFile(
      http: "\(gatewayPair == nil ? "http" : "https")://\(gateway.reachable)", nats: brokerURL, authority: authority,
      directory: directory.path, version: version, process: process)
    run.httpAuthority = gatewayPair == nil ? nil : keys.authorityFile
    run.client = clients[.cli].map { RunFile.ClientFiles(certificate: $0.certificate, key: $0.key) }
    return run
  }

  /// - Parameters:
  ///   - most: connections of one device.
  ///   - all: connections of the account.
  func limiter(ofDevice most: Int, of all: Int, _ host: Host) -> ConnectionLimiter {
    func tls(_ holder: Holder) -> NATSOptions.TLS? {
      authority.map {
        NATSOptions.TLS(
          authorityFile: $0, certificateFile: clients[holder]?.certificate, keyFile: clients[holder]?.key)
      }
    }
    return ConnectionLimiter(
      keys: keys, url: brokerURL, tls: tls(.system), limits: ConnectionLimits(each: most, all: all), host: host)
  }
}

/// Runs a service from when the broker has started.
struct StartedBroker: Service {
  private let isUp: Latch
  private let service: any Service
  private let stop = Latch()

  init(_ isUp: Latch, then service: any Service) {
    self.isUp = isUp
    self.service = service
  }

  func run() async throws {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await isUp.wait() }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
    if !stop.isOpen { try await service.run() }
  }

  func shutDown() {
    stop.open()
    service.shutDown()
  }
}

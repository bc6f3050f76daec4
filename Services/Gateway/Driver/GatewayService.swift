public import CaravanBus
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanGatewayCore
internal import CaravanHTTPServer
public import CaravanModel
public import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// The HTTP side of the suite: health, metrics, the status page, and enrolment.
public final class GatewayService: Service {
  private let server: HTTPServer
  private let presence: ServiceHost
  private let watch: CertificateWatch?
  private let stamp: CertificateFiles.Stamp?

  /// What must answer for the suite to be ready.
  static let required = ["caravan-storage", "caravan-sync", "caravan-schema", "caravan-notify", "caravan-query"]

  /// Binds the address at once.
  /// - Throws: `unavailable` when the address cannot be bound; `invalidData` when it is another machine's business what
  ///   is said there and it would go in clear, or when the certificate cannot be used.
  public init(
    _ settings: GatewaySettings, bus: any MessageBus, host: Host, authority: DeviceAuthority
  ) throws(CaravanError) {
    let address = HostPort(settings.address, settings.port)
    guard settings.certificate != nil || settings.allowsClear || address.isLoopback else {
      throw CaravanError(
        .invalidData,
        "--http \(address) can be reached from other machines, and all would go there in clear: give --http-cert and "
          + "--http-key, or say --insecure")
    }
    let enroller = Enroller(
      storage: StorageClient(bus: bus, host: host, writer: "@gateway"), authority: authority, host: host)
    let routes = Routes(
      monitor: SuiteMonitor(bus: bus, host: host), enroller: enroller, door: Door(settings, clock: host.clock),
      log: host.log)
    let stamp = settings.certificate?.stamp
    let certificate = try settings.certificate?.read()
    let server = try HTTPServer(
      address: settings.address, port: settings.port, limits: settings.limits, clock: host.clock,
      certificate: certificate
    ) { await routes.answer($0) }
    self.server = server
    watch = settings.certificate.map { CertificateWatch(files: $0, server: server, host: host) }
    self.stamp = stamp
    presence = ServiceHost(
      name: "caravan-gateway", version: Release.version, bus: bus, host: host, endpoints: [Self.renewal(enroller)])
  }

  /// Credentials of a device are renewed over its connection; the broker proves whose they are.
  private static func renewal(_ enroller: Enroller) -> Endpoint {
    Endpoint(
      "renew", .everyRenewal, group: ServiceName.gateway.rawValue, maxInFlight: GatewayLimits.renewalsInFlight
    ) { incoming throws(CaravanError) in
      let jwt: JWT
      switch incoming.subject {
      case .renew(let device): jwt = try await enroller.renew(device)
      case .unnumbered(let user, let device, _):
        jwt = try await enroller.renew(EnrolledDevice(credentials: device.text, user: user.text))
      default: throw CaravanError(.invalidData, "'\(incoming.subject.text)' is not a subject of renewals")
      }
      return RenewedCredentials(jwt: jwt.text).encoded()
    }
  }

  /// The port listened on, also if the system chose it.
  public var port: UInt16 { server.port }

  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { whole in
      if let watch, let stamp { whole.addTask { await watch.run(since: stamp) } }
      defer { whole.cancelAll() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await self.presence.run() }
        group.addTask { try await self.server.run() }
        try await group.next()
        shutDown()
        try await group.waitForAll()
      }
    }
  }

  public func shutDown() {
    server.shutDown()
    presence.shutDown()
  }
}

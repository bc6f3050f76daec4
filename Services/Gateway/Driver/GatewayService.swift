public import Bus
internal import Crypto
internal import Encoding
internal import GatewayCore
internal import HTTP
public import Model
public import Runtime
internal import StorageClient
internal import Wire

/// The HTTP side of the suite: health, metrics, the status page, and enrolment.
public final class GatewayService: Service {
  private let server: HTTPServer
  private let presence: ServiceHost

  /// What must answer for the suite to be ready.
  static let required = ["caravan-storage", "caravan-sync", "caravan-schema", "caravan-notify", "caravan-query"]

  /// Binds the address at once.
  /// - Parameters:
  ///   - adminToken: what whoever mints enrolment tokens must present.
  /// - Throws: `unavailable` when the address cannot be bound.
  public init(
    address: String, port: UInt16, bus: any MessageBus, host: Host, authority: DeviceAuthority, adminToken: String
  ) throws(CaravanError) {
    let enroller = Enroller(
      storage: StorageClient(bus: bus, host: host, writer: "@gateway"), authority: authority, host: host)
    let routes = Routes(
      monitor: SuiteMonitor(bus: bus, host: host), enroller: enroller,
      adminToken: Array(adminToken.utf8), log: host.log)
    var limits = HTTPLimits()
    limits.bodyBytes = GatewayLimits.bodyBytes
    server = try HTTPServer(address: address, port: port, limits: limits) { await routes.answer($0) }
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
      case .renew(let device):
        jwt = try await enroller.renew(device.device, of: device.user, enrolment: device.enrolment)
      case .unnumbered(let user, let device, _): jwt = try await enroller.renew(device, of: user, enrolment: nil)
      default: throw CaravanError(.invalidData, "'\(incoming.subject.text)' is not a subject of renewals")
      }
      return RenewedCredentials(jwt: jwt.text).encoded()
    }
  }

  /// The port listened on, also if the system chose it.
  public var port: UInt16 { server.port }

  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.presence.run() }
      group.addTask { try await self.server.run() }
      try await group.next()
      shutDown()
      try await group.waitForAll()
    }
  }

  public func shutDown() {
    server.shutDown()
    presence.shutDown()
  }
}

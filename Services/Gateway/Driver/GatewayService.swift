public import Bus
internal import Crypto
internal import Encoding
internal import GatewayCore
internal import HTTP
public import Model
public import Runtime
internal import StorageClient

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
    let routes = Routes(
      monitor: SuiteMonitor(bus: bus, host: host),
      enroller: Enroller(
        storage: StorageClient(bus: bus, host: host, writer: "@gateway"), authority: authority, host: host),
      adminToken: Array(adminToken.utf8), log: host.log)
    var limits = HTTPLimits()
    limits.bodyBytes = GatewayLimits.bodyBytes
    server = try HTTPServer(address: address, port: port, limits: limits) { await routes.answer($0) }
    presence = ServiceHost(name: "caravan-gateway", version: Self.version, bus: bus, host: host)
  }

  public static let version = "0.1.0"

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

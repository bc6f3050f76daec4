public import CaravanBus
public import CaravanCrypto
public import CaravanModel
import CaravanPushCore
public import CaravanRuntime
import CaravanWire

/// What an operator says of pushes.
public struct PushSettings: Sendable {
  /// Signs who sends (VAPID).
  public var key: P256PrivateKey
  /// Whom a push service's operator can turn to: `mailto:` or `https:`; nil: nobody is named.
  public var contact: String?
  /// How the suite calls itself to servers that are asked whether they take events.
  public var origin = "caravan"
  /// Servers that are called wherever they are, also without TLS.
  public var exceptions: [HostPort] = []
  /// Who may have signed servers' certificates (PEM); nil: whom the system trusts.
  public var authorityFile: String?

  public init(key: P256PrivateKey) { self.key = key }
}

/// `caravan-push`: carries notifications to what holds no connection, over HTTP. It keeps nothing and has no access to
/// data: who asks it to deliver keeps what was not taken. Any number of instances may run.
public final class PushService: Service {
  private let service: ServiceHost

  /// - Parameters:
  ///   - keys: secrets of webhooks come from them.
  ///   - lanes: that carry its calls; nil: its own, of libcurl.
  public init(
    _ settings: PushSettings, keys: any TicketKeys, bus: any MessageBus, host: Host, version: String = Release.version,
    lanes: [any OutboundLane]? = nil
  ) throws(CaravanError) {
    let own: [any OutboundLane] =
      if let lanes { lanes } else { try HTTPLane.all(authority: settings.authorityFile, executors: host.executors) }
    let handler = PushHandler(
      webPush: WebPush(key: settings.key, contact: settings.contact),
      webhooks: Webhooks(keys: keys, origin: settings.origin),
      outbound: Outbound(exceptions: settings.exceptions, lanes: own),
      metrics: PushMetrics(host.metrics), host: host)
    service = ServiceHost(
      name: "caravan-push", version: version, bus: bus, host: host,
      endpoints: [
        Self.endpoint("register") { (request: RegisterTargetRequest) async throws(CaravanError) in
          try await handler.register(request)
        },
        Self.endpoint("deliver") { (request: DeliverRequest) async throws(CaravanError) in
          try await handler.deliver(request)
        },
      ])
  }

  public func run() async throws { try await service.run() }
  public func shutDown() { service.shutDown() }

  private static func endpoint<Request: WireMessage, Reply: WireMessage>(
    _ method: String, _ answer: @escaping @Sendable (Request) async throws(CaravanError) -> Reply
  ) -> Endpoint {
    Endpoint(
      method, .exact(.service(.push, method: method)), group: ServiceName.push.rawValue,
      maxInFlight: PushLimits.inFlight
    ) { (request: Request, _) async throws(CaravanError) in try await answer(request) }
  }
}

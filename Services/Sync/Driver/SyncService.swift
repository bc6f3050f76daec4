package import CaravanBus
package import CaravanCrypto
package import CaravanModel
package import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
package import CaravanSyncCore
import CaravanTokens
import CaravanWire

/// The device protocol: `edge.*.*.exchange`. Stateless; any number of instances share the queue group.
package final class SyncService: Service {
  private let service: ServiceHost

  /// - Parameters:
  ///   - ticketKey: seals chunk tickets; the same in every instance, and storage's.
  ///   - tokenKey: seals change tokens and turns; the same in every instance, and notify's. nil: as the tickets'.
  ///   - aliasKey: from which releases of before derived users' aliases, for those that are not written down yet; nil:
  ///     the ticket key with which the deployment began, if that is still in the ring.
  ///   - rates: that this instance keeps devices, users and containers to.
  ///   - features: what it does of what not every release does.
  ///   - faults: where it is told to fail.
  ///   - version: semantic, as discovery shows it.
  package init(
    bus: any MessageBus, host: Host, ticketKey: any TicketKeys, tokenKey: (any TicketKeys)? = nil,
    aliasKey: TicketKey? = nil, rates: RateLimits = .standard, features: Features = .all,
    faults: FaultSwitch = .off, version: String = Release.version
  ) throws(CaravanError) {
    let cloud = Cloud(
      bus: bus, host: host, ticketKey: ticketKey, tokenKey: tokenKey ?? ticketKey,
      aliasKey: aliasKey ?? ticketKey.ring.original, rates: rates,
      features: features, faults: faults)
    let codec = try FrameCodec()
    service = ServiceHost(
      name: "caravan-sync", version: version, bus: bus, host: host,
      endpoints: [
        Endpoint(
          "exchange", .everyExchange, group: ServiceName.sync.rawValue, maxInFlight: SyncLimits.framesInFlight
        ) { incoming throws(CaravanError) in
          // The broker proves who that is; nothing in a payload says who is asking (architecture §4).
          let device = try Self.sender(of: incoming.subject)
          do throws(CaravanError) {
            return try await cloud.admission.countingFrame(of: device) { () async throws(CaravanError) in
              let fragments = AnswerFragments(of: device, cloud)
              let (frame, form, prepaid) = try await fragments.open(incoming.message.payload)
              let exchange = try await codec.open(frame)
              let session = DeviceSession(
                device: device, epoch: exchange.epoch, clock: frame.clockMilliseconds, prepaid: prepaid, cloud: cloud)
              let reply = ExchangeReply(results: await session.run(exchange.operations))
              return await fragments.close(try await codec.close(reply, isPlain: frame.plainAnswer), form)
            }
          } catch { throw cloud.refusals.told(error) }
        }
      ])
  }

  /// - Throws: `featureDisabled` to an agent that is too old: it keeps what is unsent, shows why, and asks again.
  private static func sender(of subject: Subject) throws(CaravanError) -> EnrolledDevice {
    switch subject {
    case .exchange(let device): return device
    case .unnumbered:
      throw CaravanError(
        .featureDisabled,
        "this device's agent is older than \(Release.oldestAgent), with which this cloud speaks: update caravan-agent; "
          + "rows that are not sent yet are kept, and go then",
        retryAfterMilliseconds: SyncLimits.oldAgentRestMilliseconds)
    default: throw CaravanError(.invalidData, "'\(subject.text)' is not an exchange subject")
    }
  }

  package func run() async throws { try await service.run() }
  package func shutDown() { service.shutDown() }
}

/// What every session uses of the services behind; one for all, so that a frame costs no copies of it.
final class Cloud: Sendable {
  /// Of what sync writes for others; no device can be called so.
  static let writer = "@sync"

  let bus: any MessageBus
  let host: Host
  let storage: StorageClient
  let schema: SchemaClient
  let tokens: TokenSeal
  let tickets: TicketSeal
  let turns: TurnSeal
  let aliases: AliasRegistry
  let metrics: SyncMetrics
  let features: Features
  let faults: FaultSwitch
  let admission: AdmissionControl
  let lanes = DeviceLanes()
  let refusals: DeviceRefusals
  let disputes = DisputeLimiter()
  let typeSettings: TypeSettingsCache
  let visibility: VisibilityCache

  init(
    bus: any MessageBus, host: Host, ticketKey: any TicketKeys, tokenKey: any TicketKeys, aliasKey: TicketKey?,
    rates: RateLimits, features: Features, faults: FaultSwitch
  ) {
    self.features = features
    self.faults = faults
    self.bus = bus
    self.host = host
    storage = StorageClient(bus: bus, host: host, writer: Self.writer)
    schema = SchemaClient(bus: bus, clock: host.clock, metrics: host.metrics)
    typeSettings = TypeSettingsCache(schema, clock: host.clock)
    visibility = VisibilityCache(schema, clock: host.clock)
    tokens = TokenSeal(key: tokenKey)
    tickets = TicketSeal(key: ticketKey)
    turns = TurnSeal(key: tokenKey)
    aliases = AliasRegistry(AliasStore(storage: storage), legacy: aliasKey, host: host)
    metrics = SyncMetrics(host.metrics)
    admission = AdmissionControl(rates, host: host)
    refusals = DeviceRefusals(host, retryAfter: SyncLimits.retryAfterMilliseconds)
  }
}

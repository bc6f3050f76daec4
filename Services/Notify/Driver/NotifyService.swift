public import CaravanBus
public import CaravanChangeStream
public import CaravanCrypto
public import CaravanModel
import CaravanNotifyCore
public import CaravanRuntime
import CaravanStorageClient
import CaravanTokens
import CaravanWire

/// `caravan-notify`: tells devices which of their subscriptions changed. Any number of instances share the partitions.
public final class NotifyService: Service {
  static let name = ServiceName.notify

  private let owner: PartitionOwner
  private let endpoints: ServiceHost
  private let work: NotifyWork

  /// - Parameters:
  ///   - ticketKey: seals the change tokens of what travels with notifications; sync's.
  ///   - timing: of the leases on partitions.
  ///   - partitions: that the instances share; fewer than all for simulations.
  public init(
    bus: any MessageBus, host: Host, ticketKey: any TicketKeys, version: String = Release.version,
    timing: LeaseTiming = LeaseTiming(), partitions: [Partition] = Partition.all
  ) {
    endpoints = ServiceHost(name: "caravan-notify", version: version, bus: bus, host: host)
    work = NotifyWork(endpoints: endpoints, bus: bus, host: host, tokens: TokenSeal(key: ticketKey))
    owner = PartitionOwner(
      Self.name, member: endpoints.instance.lowercased(), bus: bus, host: host, timing: timing, partitions: partitions,
      work: work)
  }

  /// The partitions this instance acts for now.
  public var partitions: [Partition] { owner.partitions }

  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.owner.run() }
      group.addTask {
        await self.owner.waitUntilSettled()
        try await self.endpoints.run()
      }
      try await group.waitForAll()
    }
  }

  public func shutDown() {
    endpoints.shutDown()
    owner.shutDown()
  }
}

/// One partition: its lists, its change stream, the acknowledgements of its devices, its endpoint.
final class NotifyWork: PartitionWork {
  private let endpoints: ServiceHost
  private let bus: any MessageBus
  private let host: Host
  private let storage: StorageClient
  private let subscriptions: SubscriptionStore
  private let tokens: TokenSeal
  private let metrics: NotifyMetrics
  private let desks = Mutex<[Partition: NotifyHandler]>([:])

  init(endpoints: ServiceHost, bus: any MessageBus, host: Host, tokens: TokenSeal) {
    self.tokens = tokens
    self.endpoints = endpoints
    self.bus = bus
    self.host = host
    storage = StorageClient(bus: bus, host: host, writer: "@\(NotifyService.name.rawValue)")
    subscriptions = SubscriptionStore(storage: storage)
    metrics = NotifyMetrics(host.metrics)
  }

  func serve(_ lease: PartitionLease) async throws {
    let cursor = try await storage.cursor(of: NotifyService.name.rawValue, in: lease.partition)
    let pusher = Pusher(lease.partition, bus: bus, storage: storage, host: host, metrics: metrics)
    let handler = NotifyHandler(
      lease: lease, cursor: cursor, bus: bus, storage: storage, subscriptions: subscriptions, tokens: tokens,
      pusher: pusher, host: host, metrics: metrics)
    desks.withLock { $0[lease.partition] = handler }
    try await handler.load()
    try await pusher.load()
    let follower = ChangeFollower(lease, bus: bus, storage: storage, host: host, consumer: handler)
    let attach = Self.attach(lease.partition, handler)
    defer { endpoints.remove(attach.pattern) }
    let acks = try await bus.subscribe(
      .everyAck(lease.partition), group: NotifyService.name.rawValue, capacity: NotifyLimits.acksWaiting)
    defer { acks.cancel() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await follower.run(from: cursor) {
          try await self.endpoints.add(attach)
          lease.serving()
        }
      }
      group.addTask { await handler.hear(acks) }
      group.addTask { await handler.runTimers() }
      group.addTask { await pusher.run() }
      group.addTask { try await handler.runCursor() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  func handOver(_ lease: PartitionLease) async {
    guard let handler = desks.withLock({ $0.removeValue(forKey: lease.partition) }) else { return }
    // The next owner begins at the cursor as it is; an older one only makes it repeat itself.
    try? await handler.saveCursor()
  }

  private static func attach(_ partition: Partition, _ handler: NotifyHandler) -> Endpoint {
    Endpoint(
      "attach", .exact(.partitioned(NotifyService.name, partition, method: "attach")),
      group: NotifyService.name.rawValue, maxInFlight: NotifyLimits.inFlight
    ) { (request: AttachRequest, _) async throws(CaravanError) in try await handler.attach(request) }
  }
}

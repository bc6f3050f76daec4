package import CaravanBus
package import CaravanCrypto
package import CaravanModel
package import CaravanRuntime
import CaravanStorageCore
package import CaravanStore

/// The truth on the bus: `svc.storage.<partition>.<method>` for services, `edge.*.*.chunks.*` for devices' bulk bytes,
/// and the change stream. Everything durable is the store's; this decides who may ask what, and says what happened.
package final class StorageService: Service {
  private let service: ServiceHost
  private let store: any Store
  private let feed: ChangeFeed
  private let bus: any MessageBus
  private let host: Host
  private let metrics: StorageMetrics
  private let objects: ObjectMover?
  private let maintenance: Maintenance
  private let moves: OwnerMover?

  /// - Parameters:
  ///   - feed: the observer that `store` was opened with.
  ///   - ticketKey: checks chunk tickets; the same as sync's.
  ///   - rates: of chunks, that this process keeps devices, users and containers to.
  ///   - objects: moves objects to the object store; nil: there is none.
  ///   - moves: moves users between the stores that `store` is made of; nil: it is one.
  ///   - clock: the store's, where it may be doubted: the one of `host`, or that of a server.
  ///   - server: whose time `clock` shows; nil: this machine's.
  ///   - companions: who may serve beside it; nil: whoever does.
  ///   - version: semantic, as discovery shows it.
  package init(
    store: any Store, feed: ChangeFeed, bus: any MessageBus, host: Host, ticketKey: any TicketKeys,
    rates: RateLimits = .standard, objects: ObjectMover? = nil, moves: OwnerMover? = nil, clock: TrustedClock? = nil,
    server: ServerTime? = nil, companions: Companions? = nil, version: String = Release.version
  ) {
    self.objects = objects
    self.moves = moves
    self.store = store
    self.feed = feed
    self.bus = bus
    self.host = host
    metrics = StorageMetrics(host.metrics)
    let actions = DelayedActions(store: store, host: host)
    let methods = StorageMethods(
      store: store, actions: actions, metrics: metrics, moves: moves, clock: clock, ticketClock: host.clock)
    let chunks = ChunkAdmission(store: store, host: host, ticketKey: ticketKey, rates: rates, metrics: metrics)
    let service = ServiceHost(
      name: "caravan-storage", version: version, bus: bus, host: host, companions: companions,
      endpoints: methods.endpoints + [chunks.endpoint]
    ) { store.trouble }
    self.service = service
    maintenance = Maintenance(
      store: store, actions: actions, host: host, metrics: metrics, moved: feed.moved,
      requests: { service.inFlight }, clock: clock, server: server)
  }

  package func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.service.run() }
      group.addTask { await self.feed.run(self.bus, self.host, self.metrics) }
      group.addTask { await self.announceHeads() }
      group.addTask { await self.maintenance.run() }
      if let objects { group.addTask { await objects.run() } }
      if let moves { group.addTask { await moves.run() } }
      // The service's end ends the others; the last commits are announced first.
      defer { group.cancelAll() }
      try await group.next()
      feed.finish()
    }
  }

  package func shutDown() { service.shutDown() }

  package var trouble: String? { store.trouble }

  /// Says how far the logs have come whenever change events were lost here, so that consumers see the gap without
  /// waiting for the next change. Until the task is cancelled.
  private func announceHeads() async {
    let events = bus.events()
    await withDiscardingTaskGroup { group in
      group.addTask {
        while let event = await events.next() { if event == .connected { self.feed.lost.raise() } }
      }
      while !Task.isCancelled {
        await feed.lost.wait()
        do { try await feed.announce(store.logHeads(), bus) } catch {
          host.log.debug("could not say how far the logs have come", [.error: "\(error)"])
        }
      }
    }
  }
}

internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// Counts the connections of each device by what the broker tells of them, and makes the credentials of a device void
/// that has too many: they end, and it has to be enrolled anew. It holds the operator's key, so it listens to nobody
/// but the broker.
final class ConnectionLimiter: Service {
  /// After the broker was lost, and while it refuses.
  private static let retry: Duration = .seconds(5)
  /// Events may be lost: so often the broker is asked which connections there are.
  private static let recount: Duration = .seconds(60)
  /// The broker is asked that often anyway; pings beside it would only wake a suite at rest.
  private static let pings: Duration = .seconds(300)
  private static let backlog = 65_536

  let keys: KeyDirectory
  let url: String
  let tls: NATSOptions.TLS?
  let allowsClear: Bool
  let limits: ConnectionLimits
  let host: Host
  private let stop = Latch()
  private let watching = Mutex(false)

  /// Whether the broker tells it of connections.
  var isWatching: Bool { watching.withLock { $0 } }

  init(
    keys: KeyDirectory, url: String, tls: NATSOptions.TLS?, allowsClear: Bool = false, limits: ConnectionLimits,
    host: Host
  ) {
    self.keys = keys
    self.url = url
    self.tls = tls
    self.allowsClear = allowsClear
    self.limits = limits
    self.host = host
  }

  /// Whatever goes wrong here ends nothing else: it is logged, and tried again.
  func run() async {
    let ledger = ConnectionLedger(keys: keys, limits: limits, host: host)
    while !stop.isOpen && !Task.isCancelled {
      do throws(CaravanError) { try await watch(ledger) } catch {
        if !stop.isOpen { host.log.warning("connections cannot be watched", [.error: error.message]) }
      }
      await pause(Self.retry)
    }
  }

  func shutDown() { stop.open() }

  private func session(_ holder: Holder) async throws(CaravanError) -> NATSBus {
    var session = try BusSession(
      url: url, tls: tls, allowsClear: allowsClear, credentials: keys.credentialsFile(holder),
      name: "caravan connections")
    session.options.pingInterval = Self.pings
    let bus = try await NATSBus.connect(session.options, host: host)
    do throws(CaravanError) { try await bus.waitUntilConnected(deadline: BusSession.connectDeadline) } catch {
      await bus.drain(deadline: .milliseconds(100))
      throw error
    }
    return bus
  }

  /// Until it is to stop, or a connection is lost for good.
  private func watch(_ ledger: ConnectionLedger) async throws(CaravanError) {
    let bus = try await session(.system)
    let suite: NATSBus
    do throws(CaravanError) { suite = try await session(.connections) } catch {
      await bus.drain(deadline: .milliseconds(100))
      throw error
    }
    let presence = ServiceHost(name: "caravan-connections", version: Suite.version, bus: suite, host: host)
    let events = bus.events()
    do throws(CaravanError) {
      let account = keys.accountKey.publicKey.text
      let feed = try await bus.subscribe(.everyConnection(account: account), group: nil, capacity: Self.backlog)
      try await ledger.recount(over: bus)
      watching.withLock { $0 = true }
      defer { watching.withLock { $0 = false } }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await Self.follow(feed, ledger, bus) }
        group.addTask { await Self.follow(events, ledger, bus) }
        group.addTask { try? await presence.run() }
        group.addTask { await self.recount(ledger, bus) }
        group.addTask { await self.stop.wait() }
        await group.next()
        group.cancelAll()
        presence.shutDown()
        feed.cancel()
      }
    } catch {
      await bus.drain(deadline: .milliseconds(100))
      await suite.drain(deadline: .milliseconds(100))
      throw error
    }
    await bus.drain(deadline: .milliseconds(500))
    await suite.drain(deadline: .milliseconds(500))
  }

  private static func follow(_ feed: any BusSubscription, _ ledger: ConnectionLedger, _ bus: any MessageBus) async {
    while let delivery = await feed.next() {
      switch delivery {
      case .message(let incoming): await ledger.take(incoming, over: bus)
      case .gap: try? await ledger.recount(over: bus)
      }
    }
  }

  /// A broker that comes back may be another one, or have lost some connections meanwhile.
  private static func follow(_ events: any BusEventStream, _ ledger: ConnectionLedger, _ bus: any MessageBus) async {
    while let event = await events.next() {
      if event == .connected { try? await ledger.recount(over: bus) }
    }
  }

  private func recount(_ ledger: ConnectionLedger, _ bus: any MessageBus) async {
    while (try? await host.clock.sleep(for: Self.recount)) != nil { try? await ledger.recount(over: bus) }
  }

  private func pause(_ wait: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await self.host.clock.sleep(for: wait) }
      group.addTask { await self.stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }
}

internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// Starts apps that do not run when something has arrived for them that they are to hear of, as their packages have
/// registered (CK-85): it connects to a socket at which somebody else, systemd as a rule, listens in the app's place,
/// and says nothing. Who then starts the app, as which user, is decided there.
final class AppStarter: Sendable {
  private let register: AppRegister
  private let store: LocalStore
  private let peers: AppPeers
  private let host: Host
  private let starts = Mutex(
    AppStarts(shortest: AppLimits.startPause.milliseconds, longest: AppLimits.longestStartPause.milliseconds))
  private let wanted = Signal()
  private let isOver = Latch()
  private let started: Counter

  init(_ register: AppRegister, store: LocalStore, peers: AppPeers, host: Host) {
    self.register = register
    self.store = store
    self.peers = peers
    self.host = host
    started = host.metrics.counter(.appsStarted)
  }

  /// Something may be there for an app that it has not been told.
  func note(_ app: ContainerID) {
    starts.withLock { $0.wants(app, at: now) }
    wanted.raise()
  }

  /// A connection of the app has ended: it has taken what there was, or not.
  func left(_ app: ContainerID) async {
    if await start(for: app) == nil { starts.withLock { $0.isDone(app) } } else { note(app) }
  }

  private var now: UInt64 { host.clock.now.nanoseconds / 1_000_000 }

  func shutDown() {
    isOver.open()
    wanted.raise()
  }

  /// Until `shutDown`.
  func run() async {
    // While no agent ran, apps may have gone without having been told.
    for app in (try? await store.apps()) ?? [] { note(app.app) }
    while !isOver.isOpen {
      let next = starts.withLock { $0.next }
      if let next {
        await wanted.wait(atMost: .milliseconds(Int64(next > now ? next - now : 0)), clock: host.clock)
      } else {
        await wanted.wait()
      }
      for app in starts.withLock({ $0.due(at: now) }) where !isOver.isOpen { await start(app) }
    }
  }

  private func start(_ app: ContainerID) async {
    guard !peers.isConnected(app) else { return starts.withLock { $0.runs(app) } }
    guard let start = await start(for: app) else { return starts.withLock { $0.isDone(app) } }
    do throws(CaravanError) {
      try Self.knock(at: start.socket)
      started.add()
      host.log.info("an app is started, as something has arrived for it", [.app: app, .path: start.socket])
    } catch {
      host.log.warning("an app cannot be started", [.app: app, .path: start.socket, .error: error])
    }
    starts.withLock { $0.started(app, at: now) }
  }

  /// How the app is started, where there is something for which it is to be.
  private func start(for app: ContainerID) async -> AppRegistration.Start? {
    guard let start = register.start(of: app) else { return nil }
    return await store.untold(of: app).contains { start.tables.contains($0.name) } ? start : nil
  }

  /// Who listens there sees a connection, which ends.
  /// - Throws: `unavailable` when nobody listens.
  private static func knock(at path: String) throws(CaravanError) {
    let address = try UnixAddress(path)
    let descriptor = socket(AF_UNIX, FrameSocket.streamType | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw CaravanError(.unavailable, "no socket: raise the limit on open files") }
    defer { close(descriptor) }
    // Where connections wait that nobody has taken, there is no need of one more.
    guard address.connect(descriptor) || errno == EAGAIN else {
      throw CaravanError(.unavailable, "nobody listens at '\(path)': enable the app's socket unit")
    }
  }
}

extension Duration {
  fileprivate var milliseconds: UInt64 { UInt64(wholeMilliseconds) }
}

extension CounterName {
  static let appsStarted = CounterName(
    "caravan_agent_apps_started_total", "Apps that did not run and were started, as something had arrived for them.")
}

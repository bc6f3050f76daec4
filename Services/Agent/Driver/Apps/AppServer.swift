internal import AgentCore
internal import Client
public import Model
public import Runtime
internal import Wire

/// The agent's unix socket: apps connect, prove who they are, and are answered (SIM-40, MOB-16).
///
/// On a device there are a handful of apps, and one that reads slowly, sends garbage or dies concerns nobody but
/// itself.
public final class AppServer: Service {
  private let socket: UnixSocket
  private let store: LocalStore
  private let sync: any SyncControl
  private let host: Host
  private let peers = AppPeers()

  /// Listens; apps wait until `run`. The store tells this server, and nobody else, of news.
  /// - Parameter inherited: a descriptor that listens at the path already; nil: the socket is made here.
  /// - Throws: `unavailable` when the socket cannot be made, or another agent has it.
  public init(
    socket path: String, inherited: Int32? = nil, store: LocalStore, sync: any SyncControl, host: Host
  ) async throws(CaravanError) {
    socket = try UnixSocket(listeningAt: path, inherited: inherited)
    self.store = store
    self.sync = sync
    self.host = host
    let peers = peers
    await store.whenNewsArrives { table in peers.wake(table.app) }
  }

  /// Serves until `shutDown`, or until the task is cancelled.
  public func run() async throws {
    let listener = BlockingThread(host.executors.makeSerial("apps"))
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        while let app = await self.nextConnection(listener) {
          group.addTask { await self.serve(app) }
        }
        self.peers.shutDown()
      }
    } onCancel: {
      self.shutDown()
    }
    socket.close()
  }

  public func shutDown() {
    socket.shutDown()
    peers.shutDown()
  }

  private func nextConnection(_ listener: BlockingThread) async -> FrameSocket? {
    while true {
      do throws(CaravanError) { return try await listener.accept(from: socket) } catch {
        host.log.warning("an app was not let in", [.error: error])
        // Out of descriptors: a moment later some may be free again.
        guard (try? await host.clock.sleep(for: .milliseconds(100))) != nil else { return nil }
      }
    }
  }

  private func serve(_ connection: FrameSocket) async {
    guard let owner = peers.add(connection) else {
      let busy = CaravanError(
        .serverBusy, "\(AppLimits.connections) apps are connected, which is the limit: retry later")
      connection.post(AppReply(kind: .failure(Failure(busy))))
      return
    }
    await AppPeer(connection, owner: owner, store: store, sync: sync).run(peers)
    peers.remove(owner)
  }
}

/// The connections that live, and whose apps they are.
final class AppPeers: Sendable {
  private struct Connection {
    let socket: FrameSocket
    var app: ContainerID?
    /// It has asked to be told of some table.
    var isWatching = false
  }

  private struct State {
    var connections: [UInt64: Connection] = [:]
    var last: UInt64 = 0
    var isShutDown = false
  }

  private let state = Mutex(State())

  /// - Returns: the session's name; nil when there are too many, or no more are served.
  func add(_ socket: FrameSocket) -> UInt64? {
    state.withLock { state in
      guard !state.isShutDown, state.connections.count < AppLimits.connections else { return nil }
      state.last += 1
      state.connections[state.last] = Connection(socket: socket)
      return state.last
    }
  }

  func identify(_ owner: UInt64, as app: ContainerID) { state.withLock { $0.connections[owner]?.app = app } }
  func watches(_ owner: UInt64) { state.withLock { $0.connections[owner]?.isWatching = true } }
  func remove(_ owner: UInt64) { state.withLock { _ = $0.connections.removeValue(forKey: owner) } }

  func wake(_ app: ContainerID) {
    let sockets = state.withLock { $0.connections.values.filter { $0.isWatching && $0.app == app }.map(\.socket) }
    for socket in sockets { socket.wake() }
  }

  func shutDown() {
    let sockets = state.withLock { state in
      state.isShutDown = true
      return state.connections.values.map(\.socket)
    }
    for socket in sockets { socket.shutDown() }
  }
}

/// Runs blocking calls on a thread of their own.
actor BlockingThread {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func accept(from socket: UnixSocket) throws(CaravanError) -> FrameSocket? { try socket.acceptBlocking() }
}

internal import CaravanAgentCore
public import CaravanAgentStore
public import CaravanAgentSync
internal import CaravanClient
public import CaravanModel
public import CaravanRuntime
internal import CaravanWire
internal import Glibc

/// The agent's unix socket: apps connect, prove who they are, and are answered (SIM-40, MOB-16).
///
/// An app that floods it, reads slowly, sends garbage or dies concerns nobody but itself: each has its share of the
/// socket (`AppSlots`), and so have the apps of one user together.
public final class AppServer: Service {
  /// Who may be an app.
  public struct Configuration: Sendable {
    /// The agent's, whose device it is; this process's where nobody else is named.
    public var user: UInt32
    /// Whoever comes first is the app, whatever its user.
    public var isOpen: Bool
    /// Where packages register their apps.
    public var packages: String

    public init(
      user: UInt32? = nil, isOpen: Bool = false, packages: String = "/usr/share/caravan/apps"
    ) {
      self.user = user ?? geteuid()
      self.isOpen = isOpen
      self.packages = packages
    }
  }

  private let socket: UnixSocket
  private let tokens: TokenDirectory
  private let store: LocalStore
  private let sync: any SyncControl
  private let register: AppRegister
  private let host: Host
  private let peers = AppPeers()
  private let conduct: AppConduct
  private let starter: AppStarter

  /// Listens; apps wait until `run`. The store tells this server, and nobody else, of news.
  /// - Parameter inherited: a descriptor that listens at the path already; nil: the socket is made here.
  /// - Throws: `unavailable` when the socket cannot be made, or another agent has it.
  public init(
    socket path: String, inherited: Int32? = nil, _ configuration: Configuration = Configuration(), store: LocalStore,
    sync: any SyncControl, host: Host
  ) async throws(CaravanError) {
    tokens = try TokenDirectory(of: path, user: configuration.user)
    socket = try UnixSocket(listeningAt: path, inherited: inherited)
    register = AppRegister(configuration, store: store, log: host.log)
    self.store = store
    self.sync = sync
    self.host = host
    conduct = AppConduct(host.metrics)
    let (peers, starter) = (peers, AppStarter(register, store: store, peers: peers, host: host))
    self.starter = starter
    await store.whenNewsArrives { table in
      peers.wake(table.app)
      starter.note(table.app)
    }
    let news = store.cloudNews
    await sync.whenSessionsEnd { report in
      peers.tell(report)
      news.synced(report.table)
    }
    await sync.whenConnected { news.connected() }
  }

  /// Serves until `shutDown`, or until the task is cancelled.
  public func run() async throws {
    let listener = BlockingThread(host.executors.makeSerial("apps"))
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        group.addTask { await self.starter.run() }
        while let app = await self.nextConnection(listener) {
          group.addTask { await self.serve(app) }
        }
        self.peers.shutDown()
        self.starter.shutDown()
      }
    } onCancel: {
      self.shutDown()
    }
    socket.close()
  }

  public func shutDown() {
    socket.shutDown()
    peers.shutDown()
    starter.shutDown()
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
    let owner: UInt64
    do throws(CaravanError) { owner = try peers.add(connection) } catch {
      conduct.note(error, of: nil)
      return connection.post(AppReply(kind: .failure(Failure(error))))
    }
    connection.whenHeld { [peers] bytes in peers.holds(bytes, owner) }
    let places = AppPeer.Places(store: store, sync: sync, register: register, tokens: tokens, conduct: conduct)
    await AppPeer(connection, owner: owner, places).run(peers)
    if let app = peers.remove(owner) { await starter.left(app) }
  }
}

/// The connections that live, and whose apps they are.
final class AppPeers: Sendable {
  private struct Connection {
    let socket: FrameSocket
    var app: ContainerID?
    /// It has asked to be told of some table.
    var isWatching = false
    /// Tables whose syncs it has asked to hear of, and what it has not been told.
    var listened: Set<TableID> = []
    var events = SyncEventQueue(capacity: AppLimits.syncEvents)
  }

  private struct State {
    var connections: [UInt64: Connection] = [:]
    var slots = AppSlots(AppLimits.shares)
    var isShutDown = false
  }

  private let state = Mutex(State())

  /// - Returns: the session's name.
  /// - Throws: as `AppSlots.admit`, and `unavailable` when no more are served.
  func add(_ socket: FrameSocket) throws(CaravanError) -> UInt64 {
    let (owner, displaced) = try state.withLock { (state) throws(CaravanError) -> (UInt64, FrameSocket?) in
      guard !state.isShutDown else {
        throw CaravanError(.unavailable, "the agent is stopping: connect again later")
      }
      let (slot, displaced) = try state.slots.admit(user: socket.user)
      state.connections[slot] = Connection(socket: socket)
      return (slot, displaced.flatMap { state.connections[$0]?.socket })
    }
    displaced?.shutDown()
    return owner
  }

  /// - Throws: as `AppSlots.identify`.
  func identify(_ owner: UInt64, as app: ContainerID) throws(CaravanError) {
    try state.withLock { (state) throws(CaravanError) in
      try state.slots.identify(owner, as: app)
      state.connections[owner]?.app = app
    }
  }

  /// - Throws: as `AppSlots.checkRoom`.
  func checkRoom(_ owner: UInt64) throws(CaravanError) {
    try state.withLock { (state) throws(CaravanError) in try state.slots.checkRoom(owner) }
  }

  /// - Throws: as `AppSlots.beginWaiting`.
  func beginWaiting(_ owner: UInt64) throws(CaravanError) {
    try state.withLock { (state) throws(CaravanError) in try state.slots.beginWaiting(owner) }
  }

  func endWaiting(_ owner: UInt64) { state.withLock { $0.slots.endWaiting(owner) } }
  func holds(_ bytes: Int, _ owner: UInt64) { state.withLock { $0.slots.holds(bytes, owner) } }
  func watches(_ owner: UInt64) { state.withLock { $0.connections[owner]?.isWatching = true } }

  /// - Throws: `limitExceeded`.
  func listens(_ owner: UInt64, to table: TableID) throws(CaravanError) {
    try state.withLock { (state) throws(CaravanError) in
      let listened = state.connections[owner]?.listened ?? []
      guard listened.contains(table) || listened.count < AppLimits.listenedTables else {
        throw CaravanError(.limitExceeded, "\(listened.count) tables are listened to, which is the limit")
      }
      state.connections[owner]?.listened.insert(table)
    }
  }

  /// Nobody who does not listen is woken.
  func tell(_ report: SessionReport) {
    let sockets = state.withLock { state -> [FrameSocket] in
      let owners = state.connections.filter { $0.value.listened.contains(report.table) }.keys
      for owner in owners { state.connections[owner]?.events.add(CaravanWire.SyncEvent(report)) }
      return owners.compactMap { state.connections[$0]?.socket }
    }
    for socket in sockets { socket.wake() }
  }

  func takeEvent(_ owner: UInt64) -> CaravanWire.SyncEvent? { state.withLock { $0.connections[owner]?.events.next() } }

  /// - Returns: whose it was, if it has said so.
  func remove(_ owner: UInt64) -> ContainerID? {
    state.withLock { state in
      state.slots.leave(owner)
      return state.connections.removeValue(forKey: owner)?.app
    }
  }

  /// Ends the connections of an app.
  func cutOff(_ app: ContainerID) {
    let sockets = state.withLock { $0.connections.values.filter { $0.app == app }.map(\.socket) }
    for socket in sockets { socket.shutDown() }
  }

  func isConnected(_ app: ContainerID) -> Bool {
    state.withLock { $0.connections.values.contains { $0.app == app } }
  }

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

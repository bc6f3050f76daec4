import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

/// Records what apps ask of the sync engine, and answers as told.
final class ScriptedSync: SyncControl, CloudControl {
  struct State: Sendable {
    var calls: [String] = []
    var link: Link? = .wifi
    var policy = CaravanAgentCore.NetworkPolicy()
    var refusal: CaravanError?
    var tell: (@Sendable (SessionReport) -> Void)?
    var connected: (@Sendable () -> Void)?
    var counters: [SyncStatus.Counter] = []
    var spent: [CaravanModel.LinkClass: UInt64] = [:]
    var usage: [SyncStatus.Usage] = []
    /// What queries find, one after the other.
    var pages: [CloudPage] = []
    var questions: [CloudQuestion] = []
    /// What was asked of subscriptions, and those that there are in every database.
    var managed: [SubscriptionsQuestion] = []
    var subscriptions: [CaravanModel.StandingQuery] = []
    /// What was asked of push targets, and what the cloud says of them.
    var pushed: [PushTargetsRequest] = []
    var targets = PushTargetsReply()
    var fetched: [RecordsQuestion] = []
    var changed: [RecordChanges] = []
    var read: [CloudObjectQuestion] = []
    var slices: [ObjectSlice?] = []
    /// What is found, and what becomes of changes, one answer after the other; nil: the answer is lost.
    var found: [[FoundCloudRecord]?] = []
    var outcomes: [[CaravanAgentSync.RecordOutcome]?] = []
  }

  let state = Mutex(State())
  /// Syncs wait for it.
  let gate: Latch?

  init(gate: Latch? = nil) { self.gate = gate }

  var calls: [String] { state.withLock { $0.calls } }
  private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

  func registrationsChanged(of table: TableID) async { note("registrations \(table)") }
  func tableDropped(_ table: TableID) async { note("dropped \(table)") }
  func askForWhatIsLacking() async {}
  func query(_ question: CloudQuestion) async throws(CaravanError) -> CloudPage {
    state.withLock { $0.questions.append(question) }
    let page = state.withLock { $0.pages.isEmpty ? nil : $0.pages.removeFirst() }
    guard let page else { throw CaravanError(.networkNotConnected, "not connected") }
    return page
  }
  func subscriptions(
    _ question: SubscriptionsQuestion
  ) async throws(CaravanError) -> [CaravanModel.StandingQuery] {
    if let refusal = state.withLock({ $0.refusal }) { throw refusal }
    return state.withLock { state in
      state.managed.append(question)
      switch question.change {
      case .save(let query): state.subscriptions = state.subscriptions.filter { $0.id != query.id } + [query]
      case .remove(let id): state.subscriptions.removeAll { $0.id == id }
      case nil: break
      }
      return state.subscriptions
    }
  }
  func cloud(asReadOf table: TableID?) async throws(CaravanError) -> any CloudControl { self }
  func pushTargets(
    _ request: PushTargetsRequest, of app: ContainerID
  ) async throws(CaravanError) -> PushTargetsReply {
    if let refusal = state.withLock({ $0.refusal }) { throw refusal }
    return state.withLock { state in
      state.pushed.append(request)
      return state.targets
    }
  }
  func fetch(_ question: RecordsQuestion) async throws(CaravanError) -> [FoundCloudRecord] {
    state.withLock { $0.fetched.append(question) }
    return try state.withLock { $0.found.isEmpty ? nil : $0.found.removeFirst() }.answered()
  }
  func change(_ changes: RecordChanges) async throws(CaravanError) -> [CaravanAgentSync.RecordOutcome] {
    state.withLock { $0.changed.append(changes) }
    return try state.withLock { $0.outcomes.isEmpty ? nil : $0.outcomes.removeFirst() }.answered()
  }
  func read(_ question: CloudObjectQuestion) async throws(CaravanError) -> ObjectSlice {
    state.withLock { $0.read.append(question) }
    return try state.withLock { $0.slices.isEmpty ? nil : $0.slices.removeFirst() }.answered()
  }
  func reset(_ table: TableID, _ choice: CaravanAgentCore.ResetChoice, discardingUnsent: Bool) async {
    note("reset \(table) \(choice)")
  }

  func syncNow(_ table: TableID, write: Bool, read: Bool) async throws(CaravanError) {
    note("sync \(table) \(write) \(read)")
    await gate?.wait()
    if let refusal = state.withLock({ $0.refusal }) { throw refusal }
  }

  func resetDevice() async { note("reset device") }
  func whenSessionsEnd(_ tell: @escaping @Sendable (SessionReport) -> Void) async { state.withLock { $0.tell = tell } }

  func whenConnected(_ tell: @escaping @Sendable () -> Void) async { state.withLock { $0.connected = tell } }

  func linkChanged(to link: Link?) async { state.withLock { $0.link = link } }
  func useDetectedLink() async throws(CaravanError) { throw CaravanError(.invalidData, "nobody watches the link") }
  func setPolicy(_ policy: CaravanAgentCore.NetworkPolicy) async { state.withLock { $0.policy = policy } }

  func status() async -> SyncStatus {
    state.withLock { state in
      SyncStatus(
        device: "d1", user: "u1", link: state.link, isConnected: false, counters: state.counters, policy: state.policy,
        spent: state.spent, usage: state.usage)
    }
  }
}

extension Optional where Wrapped: Sendable {
  fileprivate func answered() throws(CaravanError) -> Wrapped {
    guard let self else { throw CaravanError(.timedOut, "the answer was lost") }
    return self
  }
}

/// A store behind its socket.
struct AppFixture: Sendable {
  let store: LocalStore
  let sync: ScriptedSync
  let socket: String
  let host = Host.live(logLevel: .error)

  static func with(
    sync: ScriptedSync = ScriptedSync(), _ configuration: AppServer.Configuration = AppServer.Configuration(),
    _ body: @Sendable (AppFixture) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let store = try await LocalStore.open("\(directory)/store", host: Host.live(logLevel: .error))
      let fixture = AppFixture(store: store, sync: sync, socket: "\(directory)/agent.sock")
      let server = try await AppServer(
        socket: fixture.socket, configuration, store: store, sync: sync, host: fixture.host)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        do { try await body(fixture) } catch {
          server.shutDown()
          throw error
        }
        server.shutDown()
        try await group.waitForAll()
      }
      #expect(try await store.problems() == [])
      await store.close()
    }
  }

  @discardableResult
  func app<R: Sendable>(_ name: String = "album", _ body: (CaravanClient) async throws -> R) async throws -> R {
    try await CaravanClient.withConnection(to: socket, app: name, body)
  }

  static let schema = "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"

  /// A connection that has said hello as `app` with its token, which the library has fetched.
  /// - Parameter isNew: false: the app has connected before.
  func raw(_ app: String, isNew: Bool = true) async throws -> RawPeer {
    if isNew { try await self.app(app) { _ in } }
    let peer = try RawPeer(socket)
    await peer.send(hello(app))
    guard case .welcome? = try await peer.receive()?.kind else { throw CaravanError(.notAuthenticated, "no welcome") }
    return peer
  }

  /// What an app says first once it has its token.
  func hello(_ app: String) -> AppRequest {
    let file = fopen("\(socket).tokens/\(app)", "r")
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    fgets(&text, 128, file)
    let token = String(decoding: text.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return AppRequest(id: 1, kind: .hello(AppHello(app: app, token: token)))
  }
}

/// A connection that sends whatever it likes. It blocks, so it has a thread of its own.
actor RawPeer {
  private let executor = Host.live(logLevel: .error).executors.makeSerial("raw peer")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private let descriptor: Int32

  /// One end of a pair.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw CaravanError(.unavailable, "no connection") }
  }

  deinit { Glibc.close(descriptor) }

  /// - Returns: how much the peer took before it closed.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Int { Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  func send(_ request: AppRequest) {
    let message = request.encoded()
    send(Frame.head(message: message.count) + message)
  }

  /// The next reply; nil when the peer has closed.
  func receive() throws -> AppReply? {
    guard let message = take(4), let data = take(4) else { return nil }
    func count(_ bytes: [UInt8]) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
    guard let message = take(count(message)), let data = take(count(data)) else { return nil }
    return try Frame(message, data: data).reply()
  }

  private func take(_ count: Int) -> [UInt8]? {
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + filled, count - filled, 0) }
      guard got > 0 else { return nil }
      filled += got
    }
    return bytes
  }
}

import CaravanBackup
import CaravanBus
import CaravanCrypto
import CaravanDiffSync
import CaravanModel
import CaravanRuntime
import CaravanSchemaDriver
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanSyncClient
import CaravanSyncDriver
import CaravanTestKit
import CaravanWire

@testable import CaravanDiffSyncClient

/// Storage, schema and sync in one simulated cluster with diff-sync clients and devices that speak frames.
final class DiffCluster: Sendable {
  let simulation: Simulation
  let hub: InProcessHub
  let directory: TemporaryDirectory
  private let key: TicketKey
  private let storage = Mutex<(task: SimulatedTask<Void>, store: StoreSQLite)?>(nil)
  /// How often the cloud was restored.
  private let restores = Mutex(0)
  private let backups = Mutex(0)

  static let container = ContainerID(unchecked: "notes")
  static let zone = "diary"
  static let fields: [CaravanModel.FieldDefinition] = [
    FieldDefinition(id: 0, name: "text", kind: .text), FieldDefinition(id: 0, name: "n", kind: .integer),
    FieldDefinition(id: 0, name: "x", kind: .real), FieldDefinition(id: 0, name: "tags", kind: .text, isList: true),
    FieldDefinition(id: 0, name: "photo", kind: .object),
  ]

  private init(seed: UInt64, _ policy: any FaultPolicy) throws {
    simulation = Simulation(seed: seed)
    directory = try TemporaryDirectory()
    key = try TicketKey(Array(repeating: 7, count: TicketKey.byteCount))
    let net = simulation.host("net").host
    hub = InProcessHub(clock: net.clock, random: net.random, faults: policy)
  }

  deinit { simulation.end() }

  /// Runs `body` in a cluster with these services, by virtual time.
  static func run(
    seed: UInt64 = 1, _ policy: any FaultPolicy = NoFaults(),
    _ body: @escaping @Sendable (DiffCluster) async throws -> Void
  ) throws {
    let cluster = try DiffCluster(seed: seed, policy)
    let hub = cluster.hub
    _ = cluster.simulation.start { await hub.run() }
    let schema = try SchemaService(bus: hub.connect(as: "schema"), host: cluster.host("schema"), opensContainers: true)
    let sync = try SyncService(bus: hub.connect(as: "sync"), host: cluster.host("sync"), ticketKey: cluster.key)
    _ = cluster.simulation.start { try await schema.run() }
    _ = cluster.simulation.start { try await sync.run() }
    try cluster.simulation.run(deadline: .seconds(7_200)) {
      try await cluster.startStorage()
      try await cluster.host("test").clock.sleep(for: .seconds(1))
      try await body(cluster)
      cluster.stopStorage()
    }
  }

  func host(_ name: String) -> Host { simulation.host(name).host }

  func pass(_ duration: Duration) async throws { try await host("test").clock.sleep(for: duration) }

  // MARK: Storage

  func startStorage() async throws {
    let (host, feed) = (host("storage"), ChangeFeed())
    let store = try await StoreSQLite(.simulation(.directory(cloud)), host: host, observer: feed)
    let service = StorageService(store: store, feed: feed, bus: hub.connect(as: "storage"), host: host, ticketKey: key)
    let task = simulation.start { try await service.run() }
    storage.withLock { $0 = (task, store) }
  }

  /// As by `kill -9`.
  func stopStorage() {
    let held = storage.withLock { held in
      defer { held = nil }
      return held
    }
    held?.store.crash()
    held?.task.cancel()
  }

  private var cloud: String { "\(directory.path)/cloud\(restores.withLock { $0 })" }

  /// All that the cloud has, in a file.
  func backUp() throws -> String {
    let path = "\(directory.path)/backup\(backups.withLock { ($0, $0 += 1).0 })"
    try BackupFile.write(SQLiteSnapshot(cloud), to: path, at: host("test").clock.wallTime)
    return path
  }

  /// The cloud's files are lost, and come back as the backup has them.
  func restore(_ backup: String) async throws {
    stopStorage()
    restores.withLock { $0 += 1 }
    let (cloud, host) = (cloud, host("storage"))
    _ = try BackupFile.restore(backup, at: host.clock.wallTime) { () throws(CaravanError) in
      try SQLiteRestore(.simulation(.directory(cloud)), host: host)
    } checking: { () throws(CaravanError) in
      try SQLiteSnapshot(cloud)
    }
    try await startStorage()
    // Leases of who stopped run out, types that were agreed on since are asked for again.
    try await pass(.seconds(60))
  }

  /// Another worker of sync, beside the first.
  func startSync(_ name: String) throws {
    let sync = try SyncService(bus: hub.connect(as: name), host: host(name), ticketKey: key)
    _ = simulation.start { try await sync.run() }
  }

  // MARK: Clients

  /// A diff-sync client on whatever its directory holds.
  func client(_ name: String, host: Host? = nil) throws -> DiffSyncClient {
    var configuration = DiffSyncClient.Configuration(
      container: Self.container, zone: Self.zone, device: EnrolledDevice("ann", name),
      directory: "\(directory.path)/\(name)")
    configuration.isDurable = false
    return try DiffSyncClient(configuration, bus: hub.connect(as: name), host: host ?? self.host(name))
  }

  /// A client that has agreed on the type `note`.
  func agreed(_ name: String, host: Host? = nil) async throws -> DiffSyncClient {
    let client = try client(name, host: host)
    try await client.agree(on: "note", Self.fields)
    return client
  }

  func device(_ name: String) -> FrameDevice {
    FrameDevice(name: DeviceID(unchecked: name), bus: hub.connect(as: name))
  }
}

/// Speaks frames, one operation each.
struct FrameDevice: Sendable {
  let name: DeviceID
  let bus: InProcessBus
  var epoch: UInt64 = 1

  func ask(_ kind: CaravanWire.Operation.Kind) async throws -> CaravanWire.Result.Kind {
    let device = EnrolledDevice(UserID(unchecked: "ann"), name)
    return try await SyncClient(bus: bus, device: device, epoch: epoch).ask(kind, deadline: .seconds(20))
  }

  /// `note` as the registry has it.
  func agree(_ policy: CaravanModel.ConflictPolicy = .fieldMerge, on name: String = "note") async throws
    -> CaravanModel.RecordType
  {
    let type = CaravanModel.RecordType(
      id: 0, definition: 0, name: name, fields: DiffCluster.fields, settings: TypeSettings(conflicts: policy))
    let proposal = ProposeTable(container: DiffCluster.container.text, type: CaravanWire.RecordType(type))
    guard case .type(let agreed) = try await ask(.propose(proposal)) else {
      throw CaravanError(.internalError, "no type")
    }
    return try agreed.model()
  }

  func begin(
    _ height: Seq = 0, incarnation: Incarnation = 0, cursor: [UInt8] = [], pushes: Bool = true
  ) async throws -> SyncBeginResult {
    let begin = SyncBegin(
      container: DiffCluster.container.text, zone: DiffCluster.zone, lastSyncHeight: height, incarnation: incarnation,
      cursor: cursor, pushes: pushes)
    guard case .syncBegin(let result) = try await ask(.syncBegin(begin)) else {
      throw CaravanError(.internalError, "no answer to SYNC_BEGIN")
    }
    return result
  }

  func `continue`(_ op: UInt64, _ token: [UInt8], _ diffs: [CaravanWire.Diff]) async throws -> SyncContinueResult {
    let message = SyncContinue(
      container: DiffCluster.container.text, zone: DiffCluster.zone, op: op, token: token, diffs: diffs)
    guard case .syncContinue(let result) = try await ask(.syncContinue(message)) else {
      throw CaravanError(.internalError, "no answer to SYNC_CONTINUE")
    }
    return result
  }

  /// A whole sync: what came of the SYNC_CONTINUE.
  func sync(_ op: UInt64, _ diffs: [CaravanDiffSync.Diff]) async throws -> SyncContinueResult {
    try await `continue`(op, begin().token, diffs.map { CaravanWire.Diff($0) })
  }

  /// One record of a native device's.
  @discardableResult
  func push(_ op: UInt64, _ mutation: CaravanWire.Mutation) async throws -> CommitResult {
    let push = Push(container: DiffCluster.container.text, zone: DiffCluster.zone, op: op, mutations: [mutation])
    guard case .commit(let reply) = try await ask(.push(push)) else {
      throw CaravanError(.internalError, "no answer to a push")
    }
    return try reply.model()
  }

  /// What the zone holds, by a native pull.
  func entries() async throws -> [CaravanWire.Entry] {
    let pull = Pull(container: DiffCluster.container.text, zone: DiffCluster.zone, ownBodies: true, fresh: true)
    guard case .pull(let result) = try await ask(.pull(pull)) else {
      throw CaravanError(.internalError, "no answer to a pull")
    }
    return try EntryPage(decoding: result.page).entries
  }

  func drop() async throws {
    _ = try await ask(.drop(DropTable(container: DiffCluster.container.text, zone: DiffCluster.zone)))
  }
}

extension SyncBeginResult {
  var models: [CaravanDiffSync.Diff] { get throws { try diffs.map { try $0.model() } } }
}

extension [String: Object] {
  /// Without what only a restore of the server asks for.
  var bare: [String: Object] { mapValues { Object(objtype: $0.objtype, fields: $0.fields, isStale: $0.isStale) } }
}

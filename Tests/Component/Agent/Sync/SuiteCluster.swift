import CaravanAgentCore
import CaravanBus
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanNotifyDriver
import CaravanQueryDriver
import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaDriver
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanSyncCore
import CaravanSyncDriver
import CaravanTestKit

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// The cloud's services and devices in one simulated cluster, over a network with faults.
final class SuiteCluster: Sendable {
  let cluster: Simulation
  let faults = FaultPlan()
  let hub: InProcessHub
  let directory: TemporaryDirectory
  /// Of sync: its metrics.
  let syncHost: Host

  /// - Parameters:
  ///   - policy: of the network, in place of `faults`.
  ///   - features: what the cloud does.
  ///   - hasFiles: the cloud's store lies in `cloud`, where it can be damaged.
  ///   - hasQuery: the query service runs as well.
  ///   - hasKeyFile: the services read their keys in `keyFile(_:)`, where they can be rotated.
  init(
    seed: UInt64, policy: (any FaultPolicy)? = nil, features: Features = .all, hasFiles: Bool = false,
    hasKeyFile: Bool = false, hasQuery: Bool = false
  ) throws {
    cluster = Simulation(seed: seed)
    directory = try TemporaryDirectory()
    syncHost = cluster.host("sync").host
    let net = cluster.host("net").host
    let ofNetwork: any FaultPolicy = if let policy { policy } else { faults }
    hub = InProcessHub(clock: net.clock, random: net.random, faults: ofNetwork)
    let key = try TicketKey(Array(repeating: 7, count: TicketKey.byteCount))
    let hub = hub
    let place: StoreOptions.Location = hasFiles ? .directory(cloud) : .memory
    _ = cluster.start { await hub.run() }
    let (storageHost, notifyHost, syncHost) = (cluster.host("storage").host, cluster.host("notify").host, self.syncHost)
    let (cluster, path) = (cluster, directory.path)
    for purpose in RingPurpose.allCases where hasKeyFile {
      try TextFile.writeSecret(TicketKey.generate().fileText, to: "\(path)/\(purpose.file)")
    }
    @Sendable func keys(_ purpose: RingPurpose, _ host: Host) throws -> any TicketKeys {
      guard hasKeyFile else { return key }
      let file = try RingFile("\(path)/\(purpose.file)", host: host)
      _ = cluster.start { await file.run() }
      return file
    }
    _ = cluster.start {
      let feed = ChangeFeed()
      let store = try await StoreSQLite(.simulation(place), host: storageHost, observer: feed)
      let bus = hub.connect(as: "storage")
      try await StorageService(
        store: store, feed: feed, bus: bus, host: storageHost, ticketKey: keys(.tickets, storageHost)
      )
      .run()
    }
    let schema = try SchemaService(
      bus: hub.connect(as: "schema"), host: cluster.host("schema").host, opensContainers: true)
    let sync = try SyncService(
      bus: hub.connect(as: "sync"), host: syncHost, ticketKey: keys(.tickets, syncHost),
      tokenKey: keys(.tokens, syncHost), aliasKey: key, features: features)
    let notify = try NotifyService(
      bus: hub.connect(as: "notify"), host: notifyHost, ticketKey: keys(.tokens, notifyHost))
    let query = try QueryService(
      bus: hub.connect(as: "query"), host: cluster.host("query").host, place: .directory("\(directory.path)/query"),
      survivesPowerCut: false)
    let services: [any Service] = hasQuery ? [schema, sync, notify, query] : [schema, sync, notify]
    for service in services { _ = cluster.start { try await service.run() } }
  }

  /// Where the services' keys are.
  func keyFile(_ purpose: RingPurpose) -> String { "\(directory.path)/\(purpose.file)" }

  /// Where the cloud's files are.
  var cloud: String { "\(directory.path)/cloud" }

  deinit { cluster.end() }

  /// Registers the type of `RunningDevice.table` with these settings, before any device does.
  func registerType(_ settings: TypeSettings) async throws {
    let bus = hub.connect(as: "operator")
    let fields = try SchemaText(parsing: RunningDevice.columns).fields()
    let type = RecordType(id: 0, definition: 0, name: RunningDevice.table.name, fields: fields, settings: settings)
    let clock = cluster.host("operator").host.clock
    while (try? await SchemaClient(bus: bus).propose(type, to: RunningDevice.table.app, in: .development, by: nil))
      == nil
    {
      try await clock.sleep(for: .milliseconds(50))
    }
  }

  /// The device of this name, started on whatever its directory holds.
  /// - Parameters:
  ///   - environment: that it is enrolled for; it has a store for each.
  ///   - ahead: how wrong its clock is.
  func start(
    _ name: String, in environment: CaravanModel.Environment = .development, ahead: Duration = .zero
  ) async throws -> RunningDevice {
    var options = LocalStoreOptions()
    options.isDurable = false
    let place = environment == .development ? name : "\(name).\(environment.rawValue)"
    let device = EnrolledDevice("ada", name, in: environment)
    return try await start(name, in: "\(directory.path)/\(place)", options, ahead: ahead, device: device)
  }

  /// - Parameter look: sees the device before it runs.
  func start(
    _ name: String, in directory: String, _ options: LocalStoreOptions, ahead: Duration = .zero,
    link: LinkClass = .wired, device: EnrolledDevice? = nil,
    look: (Agent) async throws -> Void = { _ in }
  ) async throws -> RunningDevice {
    let machine = cluster.host(name)
    machine.adjustWallTime(by: ahead)
    let host = machine.host
    let identity = DeviceIdentity(device: device ?? EnrolledDevice("ada", name))
    let hub = hub
    let agent = try await Agent(
      Agent.Configuration(directory: directory, identity: identity, link: link, store: options), host: host
    ) { () throws(CaravanError) in hub.connect(as: name) }
    try await look(agent)
    return RunningDevice(name: name, agent: agent, clock: host.clock, task: cluster.start { try await agent.run() })
  }
}

struct RunningDevice: Sendable {
  static let table = TableID(app: ContainerID(unchecked: "photos"), name: "album")
  static let columns = "name VARCHAR, number INTEGER, photo OBJECT"
  let name: String
  let agent: Agent
  let clock: any Clock
  let task: SimulatedTask<Void>

  var store: LocalStore { agent.store }

  /// As by `kill -9`: what is not in the store's file is gone.
  func kill() async throws {
    task.cancel()
    try? await task.value()
  }

  /// What its table has taken of the links.
  func bytesDown(of table: TableID = table) async -> Int { Int(await agent.engine.status().totals[table]?.down ?? 0) }

  func createTable() async throws {
    try await store.createTable(
      Self.table, schema: try SchemaText(parsing: Self.columns), localOnly: false)
  }

  /// Both directions, at once.
  func register() async throws {
    for direction in Direction.allCases {
      try await store.register(
        Self.table, direction,
        SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .roaming))
    }
    await agent.engine.registrationsChanged(of: Self.table)
  }

  func write(_ name: String, _ number: Int64) async throws {
    let cells = [CellValue("name", .text(name)), CellValue("number", .integer(number))]
    try await store.write(Self.table, cells: cells)
  }

  func update(_ name: String, _ number: Int64) async throws {
    try await store.write(
      Self.table, cells: [CellValue("number", .integer(number))], selection: Selection("name = ?", [.text(name)]))
  }

  func delete(_ name: String) async throws {
    _ = try await store.delete(Self.table, selection: Selection("name = ?", [.text(name)]))
  }

  /// The photo of the row of this name; nil: there is no such row, or it has none.
  func photo(_ name: String) async throws -> [UInt8]? {
    for row in try await rows() where row.cells.contains(where: { $0.value == .text(name) }) && !row.objects.isEmpty {
      var bytes: [UInt8] = []
      while true {
        let slice = try await store.readObject(
          Self.table, row: row.id, object: "photo", offset: UInt64(bytes.count), length: 1 << 20, owner: 1)
        bytes += slice.bytes
        if slice.bytes.isEmpty || UInt64(bytes.count) == slice.size { return bytes }
      }
    }
    return nil
  }

  /// Nothing of the table waits to be sent or decided.
  func isSettled() async throws -> Bool {
    guard let status = try await store.status(of: Self.table.app).first else { return false }
    return status.dirty + status.pending + status.conflicts + status.torn == 0
  }

  func writePhoto(_ name: String, _ bytes: [UInt8]) async throws {
    let opened = try await store.openWrite(
      Self.table, cells: [CellValue("name", .text(name))], objects: ["photo"], owner: 1)
    try await store.writeObject(opened.handle, row: 0, object: "photo", offset: 0, bytes: bytes, owner: 1)
    _ = try await store.closeWrite(opened.handle, owner: 1)
  }

  func rows() async throws -> [RowView] {
    var request = ReadRequest(table: Self.table)
    request.order = [ReadRequest.OrderTerm("name")]
    return try await store.beginRead(request, owner: 1).rows
  }

  func numbers() async throws -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    for row in try await rows() {
      guard case .text(let name)? = row.cells.first(where: { $0.column == "name" })?.value else { continue }
      guard case .integer(let number)? = row.cells.first(where: { $0.column == "number" })?.value else { continue }
      numbers[name] = number
    }
    return numbers
  }

  /// Asks every 5 ms at first, and less often the longer it takes: hours of a device would be a million questions.
  func until(_ what: String, within limit: Duration = .seconds(600), _ condition: () async throws -> Bool) async throws
  {
    let start = clock.now
    while try await !condition() {
      let waited = clock.now - start
      guard waited < limit else { throw NotYet(what: what) }
      try await clock.sleep(for: max(.milliseconds(5), waited / 500))
    }
  }
}

import CaravanBackup
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanQueryDriver
import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaDriver
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanSyncCore
import CaravanSyncDriver
import CaravanTestKit
import CaravanWire

extension Host {
  /// The real machine, silent.
  static var quiet: Host {
    let live = Host.live()
    return live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
  }
}

/// Storage on a directory of its own, schema and sync, on one in-process bus.
struct CloudCluster: Sendable {
  let hub: InProcessHub
  let host: Host
  let key: TicketKey
  let environment: CaravanModel.Environment
  let faults: FaultSwitch

  /// Runs the services for the time of `body`.
  /// - Parameters:
  ///   - isRestored: the store is one that has just been restored, from a backup in which nothing was.
  ///   - containers: that the operator makes first, where devices cannot.
  ///   - store: the directory of a store that there is already.
  ///   - hasQuery: the query service runs as well.
  static func with(
    environment: CaravanModel.Environment = .development, notifier: RecordingNotifier? = nil,
    rates: RateLimits = .standard,
    features: Features = .all, faults: FaultSwitch = .off, isRestored: Bool = false,
    opensContainers: Bool = true, makes containers: [String] = ["probe", "album"], store: String? = nil,
    hasQuery: Bool = false,
    _ body: @Sendable (CloudCluster) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      let host = Host.quiet
      let hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1))
      let cluster = CloudCluster(hub: hub, host: host, key: try .generate(), environment: environment, faults: faults)
      try await withThrowingTaskGroup(of: Void.self) { group in
        var services: [any Service] = [
          try await cluster.storage(
            isRestored ? cluster.restored(in: path) : store ?? path, files: store == nil ? 1 : 2),
          try SchemaService(bus: hub.connect(as: "schema"), host: host, opensContainers: opensContainers),
          try cluster.sync(rates, features),
        ]
        if let notifier { services.append(notifier.service(on: hub.connect(as: "notify"), host: host)) }
        if hasQuery {
          services.append(
            try QueryService(bus: hub.connect(as: "query"), host: host, place: .directory("\(path)/query")))
        }
        for service in services { group.addTask { try await service.run() } }
        do {
          try await cluster.untilServing(makes: environment == .production || !opensContainers ? containers : [])
          try await body(cluster)
        } catch {
          for service in services { service.shutDown() }
          throw error
        }
        for service in services { service.shutDown() }
        try await group.waitForAll()
      }
    }
  }

  /// A store that has just been restored, from a backup in which nothing was.
  private func restored(in path: String) async throws -> String {
    let (old, backup, new) = ("\(path)/old", "\(path)/backup", "\(path)/new")
    try await StoreSQLite(.simulation(.directory(old)), host: host, observer: ChangeFeed()).close()
    try BackupFile.write(SQLiteSnapshot(old), to: backup, at: host.clock.wallTime)
    return try restored(from: backup, to: new)
  }

  func restored(from backup: String, to new: String) throws -> String {
    _ = try BackupFile.restore(backup, at: host.clock.wallTime) { () throws(CaravanError) in
      try SQLiteRestore(.simulation(.directory(new)), host: host)
    } checking: { () throws(CaravanError) in
      try SQLiteSnapshot(new)
    }
    return new
  }

  /// - Parameter files: that the store has; what `caravan up` has made has two.
  func storage(_ path: String, files: Int = 1) async throws -> StorageService {
    let feed = ChangeFeed()
    var options = StoreOptions.simulation(.directory(path))
    options.files = files
    let store = try await StoreSQLite(options, host: host, observer: feed)
    return StorageService(store: store, feed: feed, bus: hub.connect(as: "storage"), host: host, ticketKey: key)
  }

  func sync(_ rates: RateLimits = .standard, _ features: Features = .all) throws -> SyncService {
    try SyncService(
      bus: hub.connect(as: "sync"), host: host, ticketKey: key, rates: rates, features: features, faults: faults)
  }

  /// - Parameter containers: that the operator makes first, for the user `probe`.
  func untilServing(makes containers: [String] = []) async throws {
    let probe = hub.connect(as: "probe")
    for name in containers {
      try await eventually("the registry answers") {
        (try? await SchemaClient(bus: probe).createContainer(name, owner: UserID("probe"), isForMembers: false)) != nil
      }
    }
    let device = Device(try UserID("probe"), try DeviceID("probe"), in: environment, bus: probe)
    try await eventually("sync, schema and storage answer") {
      guard let results = try? await device.exchange([.pull(Pull(container: "probe", zone: "probe"))]) else {
        return false
      }
      guard case .pull? = results.first else { return false }
      let list = ListTypesRequest(container: "probe", environment: environment.rawValue)
      let subject = Subject.service(.schema, method: "types")
      return (try? await probe.call(list, to: subject, as: ListTypesReply.self)) != nil
    }
  }

  /// - Parameter other: its environment, where that is not the cluster's.
  func device(
    _ name: String, of user: String = "ann", in other: CaravanModel.Environment? = nil, epoch: UInt64 = 1
  ) throws -> Device {
    Device(
      try UserID(user), try DeviceID(name), in: other ?? environment, epoch: epoch, bus: hub.connect(as: name))
  }
}

/// Speaks frames as the agent does.
struct Device: Sendable {
  let user: UserID
  let name: DeviceID
  let environment: CaravanModel.Environment
  let epoch: UInt64
  let bus: InProcessBus

  init(
    _ user: UserID, _ name: DeviceID, in environment: CaravanModel.Environment, epoch: UInt64 = 1, bus: InProcessBus
  ) {
    self.environment = environment
    self.user = user
    self.name = name
    self.epoch = epoch
    self.bus = bus
  }

  var enrolled: EnrolledDevice { EnrolledDevice(user, name, in: environment) }
  private var subject: Subject { .exchange(enrolled) }

  /// One frame, uncompressed, and its results.
  func exchange(_ operations: [CaravanWire.Operation.Kind]) async throws -> [CaravanWire.Result.Kind] {
    let exchange = Exchange(epoch: epoch, operations: operations.map { CaravanWire.Operation(kind: $0) }).encoded()
    let reply = try await send(Frame(plainBytes: UInt32(exchange.count), body: exchange))
    return try ExchangeReply(decoding: FrameBody.open(reply)).results.map { $0.kind ?? .done(Empty()) }
  }

  func send(_ frame: Frame) async throws -> Frame { try Frame(decoding: await send(frame.encoded())) }

  /// Any bytes at all.
  func send(_ payload: [UInt8]) async throws(CaravanError) -> [UInt8] {
    try await bus.request(Message(payload), to: subject, deadline: .seconds(20)).payload
  }

  /// The only result of one operation.
  func ask(_ operation: CaravanWire.Operation.Kind) async throws -> CaravanWire.Result.Kind {
    let results = try await exchange([operation])
    guard results.count == 1 else { throw CaravanError(.internalError, "\(results.count) results of one operation") }
    return results[0]
  }
}

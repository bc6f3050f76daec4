import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// A storage service on an in-process bus, and a client beside it.
struct StorageBench: Sendable {
  let clock = ManualClock()
  let host: Host
  let hub: InProcessHub
  let bus: InProcessBus
  let storage: StorageClient
  let key: TicketKey
  let tickets: TicketSeal

  static func with(
    _ options: StoreOptions = .simulation(.memory), rates: RateLimits = .standard,
    _ body: (StorageBench) async throws -> Void
  ) async throws {
    let bench = try StorageBench()
    let feed = ChangeFeed()
    let store = try await StoreSQLite(options, host: bench.host, observer: feed)
    let service = StorageService(
      store: store, feed: feed, bus: bench.hub.connect(as: "storage"), host: bench.host, ticketKey: bench.key,
      rates: rates)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      // The chunks' endpoint is the last to open.
      try await eventually("storage answers") { await bench.refusal(ChunkRequest()) != .unavailable }
      try await body(bench)
      service.shutDown()
      try await group.waitForAll()
    }
    await store.close()
  }

  init() throws {
    let live = Host.live(logLevel: .error)
    host = Host(
      clock: clock, random: SeededRandom(seed: 3), executors: live.executors, log: live.log, metrics: MetricsRegistry())
    hub = InProcessHub(clock: clock, random: host.random)
    bus = hub.connect(as: "test")
    storage = StorageClient(bus: bus, host: host, writer: "@test")
    key = try TicketKey([UInt8](repeating: 5, count: TicketKey.byteCount))
    tickets = TicketSeal(key: key)
  }

  func status() async throws(CaravanError) -> StorageStatus {
    // Without the client's retries, whose waits would be the manual clock's.
    try await bus.call(Empty(), to: StorageMethod.status.subject(in: Partition.all[0]))
  }

  // MARK: Samples

  static let user = UserID(unchecked: "ada")
  static let device = EnrolledDevice("ada", "phone")
  static let database = DatabaseID(container: ContainerID(unchecked: "notes"), environment: .development, owner: user)
  static let partition = Partition(of: database)
  static func zone(_ name: String = "t") throws -> ZoneID { try ZoneID(database, name) }

  static func save(_ name: String, body: [UInt8] = [1], chunks: [ChunkHash] = []) -> CaravanModel.Mutation {
    CaravanModel.Mutation(name: name, base: .any, change: .save(type: 1, body: body, chunks: chunks))
  }

  func commit(_ number: UInt64, _ mutations: [CaravanModel.Mutation], to zone: ZoneID) async throws -> CommitReply {
    let op = OpID(writer: "phone", epoch: 1, number: number)
    return try await storage.commit(
      CommitRequest(Commit(zone: zone, op: op, isAtomic: false, mutations: mutations)), in: Partition(of: zone.database)
    )
  }

  // MARK: Chunks

  func ticket(
    upload: Bool = true, bytes: UInt64 = 1 << 20, lasting seconds: Int64 = 60, of database: DatabaseID = database
  ) -> Ticket {
    tickets.issue(
      TicketGrant(
        database: database, device: Self.device, isUpload: upload, bytes: bytes,
        expiresMilliseconds: clock.wallTime.milliseconds + seconds * 1_000))
  }

  func chunks(
    _ request: ChunkRequest, as device: EnrolledDevice = device, partition: Partition = partition
  ) async throws(CaravanError) -> ChunkReply {
    try await hub.connect(as: device.device.text).call(request, to: .chunks(device, partition))
  }

  /// Why storage refuses; nil when it does not.
  func refusal(
    _ request: ChunkRequest, as device: EnrolledDevice = device, partition: Partition = partition
  ) async -> ErrorCode? {
    do throws(CaravanError) {
      _ = try await chunks(request, as: device, partition: partition)
      return nil
    } catch { return error.code }
  }
}

extension Chunk {
  /// Of these bytes, under their true hash.
  init(_ bytes: [UInt8]) { self.init(hash: SHA256.hash(bytes).bytes, data: bytes) }
}

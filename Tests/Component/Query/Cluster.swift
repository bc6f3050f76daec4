import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanQueryCore
import CaravanQueryDriver
import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaDriver
import CaravanStorageClient
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Glibc

import struct Synchronization.Atomic

/// Loses what it is told to lose, and says things twice.
final class Faults: FaultPolicy {
  struct Rules: Sendable {
    var lost: @Sendable (Passage) -> Bool = { _ in false }
    var doubled: @Sendable (Passage) -> Bool = { _ in false }
  }

  private let rules = Mutex(Rules())

  func set(_ change: @Sendable (inout Rules) -> Void) { rules.withLock { change(&$0) } }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    let rules = rules.withLock { $0 }
    if rules.lost(passage) { return [] }
    return rules.doubled(passage) ? [.zero, .zero] : [.zero]
  }
}

/// Storage, schema and query in one simulated cluster.
final class Cluster: Sendable {
  let simulation: Simulation
  let faults = Faults()
  let hub: InProcessHub
  let bus: InProcessBus
  let storage: StorageClient
  let schema: SchemaClient
  private let room: IndexRoom
  private let hosts = Atomic<Int>(0)

  init(seed: UInt64 = 1, _ engine: IndexEngine = IndexRoom.usual) throws {
    simulation = Simulation(seed: seed)
    room = try IndexRoom(engine)
    let host = simulation.host("test").host
    hub = InProcessHub(clock: host.clock, random: host.random, faults: faults)
    bus = hub.connect(as: "test")
    storage = StorageClient(bus: bus, host: host, writer: "@test")
    schema = SchemaClient(bus: bus)
    let (storageHost, schemaHost) = (simulation.host("storage").host, simulation.host("schema").host)
    let (storageBus, schemaBus) = (hub.connect(as: "storage"), hub.connect(as: "schema"))
    let key = try TicketKey(Array(repeating: 7, count: TicketKey.byteCount))
    _ = simulation.start {
      let feed = ChangeFeed()
      let store = try await StoreSQLite(.simulation(.memory), host: storageHost, observer: feed)
      try await StorageService(store: store, feed: feed, bus: storageBus, host: storageHost, ticketKey: key).run()
    }
    _ = simulation.start { try await SchemaService(bus: schemaBus, host: schemaHost, opensContainers: true).run() }
    try simulation.run(for: .milliseconds(10))
  }

  deinit { simulation.end() }

  /// A query process of this name, with the index it had before, if any.
  func startQuery(_ name: String = "query", wallTimeLater later: Duration = .zero, steps: Int? = nil) throws -> Instance
  {
    let machine = simulation.host("\(name)-\(hosts.wrappingAdd(1, ordering: .relaxed).newValue)")
    machine.adjustWallTime(by: later)
    let host = machine.host
    let bus = hub.connect(as: name)
    let service = try QueryService(
      bus: bus, host: host, place: room.place(of: name), steps: steps, survivesPowerCut: false)
    let task = simulation.start { try await service.run() }
    return Instance(service: service, machine: machine, bus: bus, task: task)
  }

  struct Instance: Sendable {
    let service: QueryService
    let machine: SimulatedHost
    let bus: InProcessBus
    let task: SimulatedTask<Void>

    func count(_ metric: String) -> UInt64 {
      guard case .counter(let value) = machine.host.metrics.snapshot()[metric] else { return 0 }
      return value
    }
  }

  func removeIndex(_ name: String = "query") throws { try room.clear(name) }

  /// Until the partition's endpoint answers, be it that there is no such type.
  func waitUntilServed(_ database: DatabaseID = album) throws {
    let clock = simulation.host("test").host.clock
    let request = QueryRequest(database: DatabaseRef(database), type: "none")
    try simulation.run {
      while true {
        do throws(CaravanError) { _ = try await self.ask(request) } catch {
          if error.code == .tableNotFound { return }
        }
        try await clock.sleep(for: .milliseconds(20))
      }
    }
  }

  // MARK: Records

  func define(_ type: CaravanModel.RecordType, in container: ContainerID = album.container) throws
    -> CaravanModel.RecordType
  {
    try simulation.run { try await self.schema.propose(type, to: container, in: .development, by: nil) }
  }

  @discardableResult
  func save(_ records: [(name: String, fields: RecordFields)], type: CaravanModel.RecordType, to zone: ZoneID) throws
    -> CommitResult
  {
    try commit(
      records.map {
        CaravanModel.Mutation(name: $0.name, base: .any, change: .save(type: type.id, body: $0.fields.body, chunks: []))
      }, to: zone)
  }

  @discardableResult
  func delete(_ names: [String], from zone: ZoneID) throws -> CommitResult {
    try commit(names.map { CaravanModel.Mutation(name: $0, base: .any, change: .delete) }, to: zone)
  }

  private func commit(_ mutations: [CaravanModel.Mutation], to zone: ZoneID) throws -> CommitResult {
    let result = try simulation.run { try await self.storage.commit(to: zone, mutations) }
    // Until services have heard of it.
    try simulation.run(for: .milliseconds(1))
    return result
  }

  func incarnation(of zone: ZoneID) throws -> Incarnation {
    let request = ReadChangesRequest(zone: ZoneRef(zone), maxRecords: 1, maxBytes: 1)
    return try simulation.run { try await self.storage.changes(of: zone, request).next?.incarnation ?? 0 }
  }

  func drop(_ zone: ZoneID) throws {
    _ = try simulation.run { try await self.storage.drop(zone, writer: "@test") }
  }

  // MARK: Queries

  func ask(_ request: QueryRequest) async throws(CaravanError) -> QueryReply {
    let database = try request.database?.model() ?? album
    let method = database.shard == 0 ? "find" : "shard"
    return try await bus.call(request, to: .partitioned(.query, Partition(of: database), method: method))
  }

  func find(_ query: Query) throws -> QueryReply { try simulation.run { try await self.ask(QueryRequest(query)) } }

  /// Until the index reflects everything in the log.
  func settle(_ database: DatabaseID = album, type: String = "photos") throws {
    let partition = Partition(of: database)
    try simulation.run {
      let head = try await self.storage.log(of: partition, after: 0, atMost: 1).head
      let request = QueryRequest(database: DatabaseRef(database), type: type)
      while try await self.ask(request).position ?? 0 < head {
        try await self.simulation.host("test").host.clock.sleep(for: .milliseconds(1))
      }
    }
  }

  /// Every page, in order.
  func findAll(_ query: Query) throws -> [Found] {
    var query = query
    var all: [Found] = []
    while true {
      let reply = try find(query)
      all += reply.hits.compactMap { hit in
        hit.entry.map { Found(zone: hit.zone, name: $0.name, body: $0.body) }
      }
      if reply.cursor.isEmpty { return all }
      query.cursor = reply.cursor
    }
  }
}

struct Found: Hashable, Sendable {
  let zone: String
  let name: String
  let body: [UInt8]
}

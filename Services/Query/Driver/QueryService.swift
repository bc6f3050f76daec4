public import CaravanBus
public import CaravanChangeStream
public import CaravanModel
public import CaravanPostgreSQL
import CaravanQueryCore
public import CaravanRuntime
import CaravanSQLite
import CaravanSchemaClient
import CaravanStorageClient
import CaravanWire

/// Where `caravan-query` keeps its index: derived data, which can be deleted and is built again.
public enum QueryPlace: Sendable {
  /// A directory that this instance alone uses.
  case directory(String)
  /// Tables that all instances share: whoever takes a partition over goes on where the index is.
  case postgres(ConnectionString)
}

/// `caravan-query`: answers questions about the records of one type of a database (CK-80). Any number of instances
/// share the partitions, and an index or have one each.
public final class QueryService: Service {
  static let name = ServiceName.query

  private let owner: PartitionOwner
  private let endpoints: ServiceHost
  private let work: QueryWork

  /// - Parameters:
  ///   - place: of the index.
  ///   - partitions: that the instances share; fewer than all for simulations.
  ///   - steps: what one query may cost; fewer for tests.
  ///   - survivesPowerCut: false for simulations: nothing waits for the disk.
  /// - Throws: `unavailable` when another process uses the directory; `storageFull` when it cannot be used.
  public init(
    bus: any MessageBus, host: Host, place: QueryPlace, version: String = Release.version,
    timing: LeaseTiming = LeaseTiming(), partitions: [Partition] = Partition.all, steps: Int? = nil,
    survivesPowerCut: Bool = true
  ) throws(CaravanError) {
    endpoints = ServiceHost(name: "caravan-query", version: version, bus: bus, host: host)
    work = try QueryWork(
      endpoints: endpoints, bus: bus, host: host, place: place,
      durability: survivesPowerCut ? .normal : .none, steps: steps ?? QueryLimits.steps)
    owner = PartitionOwner(
      Self.name, member: endpoints.instance.lowercased(), bus: bus, host: host, timing: timing, partitions: partitions,
      work: work)
  }

  /// The partitions this instance answers for now.
  public var partitions: [Partition] { owner.partitions }

  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.work.builder.run() }
      group.addTask { try await self.serve() }
      defer { group.cancelAll() }
      try await group.next()
    }
    await work.close()
  }

  private func serve() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.owner.run() }
      group.addTask {
        await self.owner.waitUntilSettled()
        try await self.endpoints.run()
      }
      try await group.waitForAll()
    }
  }

  public func shutDown() {
    endpoints.shutDown()
    owner.shutDown()
  }
}

/// One partition: its part of the index, its change stream, its endpoint.
final class QueryWork: PartitionWork {
  private let endpoints: ServiceHost
  private let bus: any MessageBus
  private let host: Host
  private let lock: DirectoryLock?
  private let storage: StorageClient
  private let handler: QueryHandler
  let builder: IndexBuilder

  init(
    endpoints: ServiceHost, bus: any MessageBus, host: Host, place: QueryPlace,
    durability: CaravanSQLite.ConnectionOptions.Durability, steps: Int
  ) throws(CaravanError) {
    self.endpoints = endpoints
    self.bus = bus
    self.host = host
    storage = StorageClient(bus: bus, host: host, writer: "@\(QueryService.name.rawValue)")
    let index: any IndexPlace
    switch place {
    case .directory(let directory):
      lock = try DirectoryLock(directory)
      index = IndexFile(path: "\(directory)/index.db", durability: durability)
    case .postgres(let address):
      lock = nil
      index = PostgresIndex(address)
    }
    let writer = try IndexWriter(index, host: host)
    let metrics = QueryMetrics(host.metrics)
    builder = IndexBuilder(writer, clock: host.clock, metrics: metrics)
    var readers: [IndexReader] = []
    for _ in 0..<QueryLimits.readers {
      readers.append(try IndexReader(index, steps: steps, host: host))
    }
    handler = QueryHandler(
      writer: writer, readers: readers, builder: builder,
      types: TypeSource(SchemaClient(bus: bus, clock: host.clock, metrics: host.metrics), clock: host.clock),
      metrics: metrics, storage: storage, bus: bus, clock: host.clock)
  }

  func serve(_ lease: PartitionLease) async throws {
    let partition = lease.partition
    try await handler.writer.begin(partition, under: lease.token)
    defer { handler.writer.end(partition) }
    try await builder.resume(partition)
    let wanted = try await stillWanted(in: partition)
    let subscribed = try await subscribed(in: partition)
    let demand = Demand(wanted, clock: host.clock)
    let catchUp = try await beginCatchingUp(under: lease)
    let feeder = IndexFeeder(
      partition: partition, demand: demand, index: handler.writer, storage: storage, types: handler.types,
      metrics: handler.metrics, catchUp: catchUp)
    let follower = ChangeFollower(
      lease, bus: bus, storage: storage, host: host, gathering: .forIndex,
      isUrgent: { [handler] in handler.writer.isWatched(partition) }, consumer: feeder)
    let answers = Self.endpoints(of: partition, handler) { [handler] database async throws(CaravanError) in
      try await demand.follow()
      switch demand.ask(database) {
      case .known: break
      case .renew: try await handler.writer.want(database, at: demand.now)
      case .include:
        try await follower.betweenChanges { () async throws(CaravanError) in try await feeder.include(database) }
      }
      // Who asks sees what has been heard of, also what waits for more of its kind.
      await follower.takeInHeard()
    }
    defer {
      for endpoint in answers { endpoints.remove(endpoint.pattern) }
      demand.isFollowed(false)
    }
    let isAsleep = wanted.isEmpty && subscribed.isEmpty
    if isAsleep {
      for endpoint in answers { try await endpoints.add(endpoint) }
      lease.serving()
      await demand.waitForFirst()
      try Task.checkCancellation()
    }
    let cursor = wanted.isEmpty ? nil : try await handler.writer.cursor(of: partition)
    let sender = NotificationSender(
      partition, index: handler.writer, storage: storage, types: handler.types, metrics: handler.metrics, host: host)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await follower.run(from: cursor) {
          try await self.handler.writer.isCurrent(with: partition, under: lease.token)
          catchUp.ended()
          demand.isFollowed(true)
          guard !isAsleep else { return }
          for endpoint in answers { try await self.endpoints.add(endpoint) }
          lease.serving()
        }
      }
      group.addTask {
        try await demand.follow()
        for database in subscribed where !demand.includes(database) {
          try await follower.betweenChanges { () async throws(CaravanError) in try await feeder.include(database) }
        }
        try await sender.run()
      }
      group.addTask {
        await self.handler.writer.waitUntilLost(partition)
        try Task.checkCancellation()
        throw CaravanError(.unavailable, "partition \(partition) of the index is to be begun anew")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Databases with subscriptions, which are kept where everybody finds them: this instance may know nothing yet of
  /// what they are about.
  private func subscribed(in partition: Partition) async throws(CaravanError) -> [DatabaseID] {
    var subscribed: [DatabaseID] = []
    for head in try await storage.zones(named: SubscriptionZone.name, in: partition) {
      subscribed.append(try required(head.zone, "zone").model().database)
    }
    return subscribed
  }

  /// Questions about a whole database, and those that the partition of its beginning asks about parts of it: these
  /// have places of their own, so that no two partitions wait for each other.
  private static func endpoints(
    of partition: Partition, _ handler: QueryHandler, after prepare: @escaping QueryHandler.Preparation
  ) -> [Endpoint] {
    func endpoint<Request: WireMessage, Reply: WireMessage>(
      _ method: String, _ answer: @escaping @Sendable (Request) async throws(CaravanError) -> Reply
    ) -> Endpoint {
      let pattern = SubjectPattern.exact(.partitioned(QueryService.name, partition, method: method))
      return Endpoint(
        method, pattern, group: QueryService.name.rawValue, maxInFlight: QueryLimits.inFlight
      ) { (request: Request, _) async throws(CaravanError) in try await answer(request) }
    }
    return [
      endpoint("find") { request async throws(CaravanError) in
        try await handler.find(request, in: partition, after: prepare)
      },
      endpoint("shard") { request async throws(CaravanError) in
        try await handler.findPart(request, in: partition, after: prepare)
      },
      endpoint("subscriptions") { request async throws(CaravanError) in
        try await handler.subscriptions(request, in: partition, after: prepare)
      },
    ]
  }

  /// Between two times that this instance holds the lease others may have told what they found, and not told all of it.
  private func beginCatchingUp(under lease: PartitionLease) async throws(CaravanError) -> CatchUp {
    guard !handler.writer.isShared else { return CatchUp(isLate: false) }
    let last = try await handler.writer.lastToken(in: lease.partition)
    let isLate = last.map { ![$0, $0 + 1].contains(lease.token) } ?? false
    if isLate { try await handler.writer.giveUpHits(in: lease.partition, at: host.clock.wallTime) }
    return CatchUp(isLate: isLate)
  }

  /// What the index has, and when it was asked about last; it loses what nobody has asked about for long.
  private func stillWanted(in partition: Partition) async throws(CaravanError) -> [DatabaseID: WallTime] {
    var wanted = try await handler.writer.wanted(in: partition)
    for (database, last) in wanted where Demand.isUnasked(since: last, at: host.clock.wallTime) {
      if try await handler.writer.hasStandings(database) { continue }
      while try await handler.writer.forgetSome(of: database) {}
      wanted[database] = nil
    }
    return wanted
  }

  /// The index and its cursor are where the next one finds them, or this instance's own: there is nothing to say.
  func handOver(_ lease: PartitionLease) async {}

  func close() async {
    for reader in handler.readers { await reader.close() }
    await handler.writer.close()
    lock?.release()
  }
}

extension Gathering {
  /// The index is not in a hurry: a query takes in first what waits.
  fileprivate static let forIndex = Gathering(
    linger: .milliseconds(QueryLimits.lingerMilliseconds), hints: QueryLimits.hintsPerGroup,
    bytes: QueryLimits.groupBytes)
}

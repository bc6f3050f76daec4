import CaravanBus
import CaravanChangeStream
import CaravanCrypto
import CaravanModel
import CaravanNotifyDriver
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire

import struct Synchronization.Atomic

/// Loses what it is told to lose, and says things twice.
final class Faults: FaultPolicy {
  struct Rules: Sendable {
    var lost: @Sendable (Passage) -> Bool = { _ in false }
    var doubled: @Sendable (Passage) -> Bool = { _ in false }
  }

  private let rules = Mutex(Rules())
  private let asked = Atomic<Int>(0)

  /// Requests to storage so far.
  var storageRequests: Int { asked.load(ordering: .relaxed) }

  func set(_ change: @Sendable (inout Rules) -> Void) { rules.withLock { change(&$0) } }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    let rules = rules.withLock { $0 }
    if passage.subject.hasPrefix("svc.storage.") { asked.add(1, ordering: .relaxed) }
    if rules.lost(passage) { return [] }
    return rules.doubled(passage) ? [.zero, .zero] : [.zero]
  }
}

/// Storage, notify and devices in one simulated cluster.
final class Cluster: Sendable {
  let simulation: Simulation
  let faults = Faults()
  let hub: InProcessHub
  let bus: InProcessBus
  let storage: StorageClient
  private let key: TicketKey
  private let ops = Atomic<UInt64>(0)

  init(seed: UInt64 = 1) throws {
    simulation = Simulation(seed: seed)
    let host = simulation.host("test")
    hub = InProcessHub(clock: host.host.clock, random: host.host.random, faults: faults)
    bus = hub.connect(as: "test")
    storage = StorageClient(bus: bus, host: host.host, writer: "@test")
    let machine = simulation.host("storage").host
    let storageBus = hub.connect(as: "storage")
    let key = try TicketKey(Array(repeating: 7, count: TicketKey.byteCount))
    self.key = key
    _ = simulation.start {
      let feed = ChangeFeed()
      let store = try await StoreSQLite(.simulation(.memory), host: machine, observer: feed)
      try await StorageService(store: store, feed: feed, bus: storageBus, host: machine, ticketKey: key).run()
    }
  }

  deinit { simulation.end() }

  var now: Duration { simulation.now - Instant(nanoseconds: 0) }

  /// A notify process of this name.
  /// - Parameter wrap: what its bus is wrapped in.
  func startNotify(
    _ name: String = "notify", log: MemoryLogSink? = nil,
    through wrap: (InProcessBus) -> any MessageBus = { $0 }
  ) -> Instance {
    let bus = hub.connect(as: name)
    var host = simulation.host("\(name)-\(ops.wrappingAdd(1, ordering: .relaxed).newValue)").host
    if let log { host = host.with(log: Log(level: .info, clock: host.clock, sink: log)) }
    let service = NotifyService(bus: wrap(bus), host: host, ticketKey: key)
    return Instance(
      service: service, metrics: host.metrics, bus: bus, task: simulation.start { try await service.run() })
  }

  struct Instance: Sendable {
    let service: NotifyService
    let metrics: MetricsRegistry
    let bus: InProcessBus
    let task: SimulatedTask<Void>

    /// As by `kill -9`.
    func crash() {
      bus.close()
      task.cancel()
    }

    func count(_ metric: String) -> UInt64 {
      guard case .counter(let value) = metrics.snapshot()[metric] else { return 0 }
      return value
    }
  }

  func waitUntilOwned(_ instances: Instance...) throws {
    try simulation.run(within: .seconds(30)) {
      instances.reduce(0) { $0 + $1.service.partitions.count } == Partition.all.count
    }
    // The endpoints come right after.
    try simulation.run(for: .milliseconds(10))
  }

  // MARK: What devices and sync do

  func write(_ zone: ZoneID, by writer: String = "@test", rows: Int = 1) throws {
    try simulation.run {
      for _ in 0..<rows {
        let number = self.ops.wrappingAdd(1, ordering: .relaxed).newValue
        let mutation = CaravanModel.Mutation(
          name: "row\(number)", base: .any, change: .save(type: 0, body: [], chunks: []))
        let commit = Commit(
          zone: zone, op: OpID(writer: writer, epoch: 1, number: number), isAtomic: true, mutations: [mutation])
        _ = try await self.storage.commit(CommitRequest(commit), in: Partition(of: zone.database))
      }
    }
  }

  func head(of zone: ZoneID) throws -> UInt64 { try found(zone)?.seq ?? 0 }
  func life(of zone: ZoneID) throws -> UInt64 { try found(zone)?.incarnation ?? 0 }

  private func found(_ zone: ZoneID) throws -> ZoneHead? {
    try simulation.run {
      try await self.storage.zones(of: zone.database).first { try $0.zone?.model() == zone }
    }
  }

  /// What sync does for a `Subscribe`: the record first, then notify.
  @discardableResult
  func subscribe(
    _ device: EnrolledDevice, generation: UInt64 = 1, _ items: [(ZoneID, UInt32)],
    seen: [UInt64] = [], toldOnly: Set<ZoneID> = [], tolerances: [ZoneID: UInt32] = [:]
  ) throws -> AttachReply {
    let list = SubscriptionList(
      generation: generation,
      subscriptions: items.map {
        Subscription(
          zone: ZoneRef($0.0), periodMilliseconds: $0.1, toldOnly: toldOnly.contains($0.0),
          delayToleranceMilliseconds: tolerances[$0.0] ?? 0)
      })
    return try simulation.run {
      let record = RecordFields([1: .data(list.encoded()), 2: .integer(Int64(generation))])
      let mutation = CaravanModel.Mutation(
        name: device.token, base: .any, change: .save(type: 0, body: record.body, chunks: []))
      let zone = try ZoneID(
        DatabaseID(container: .system, environment: device.environment, owner: device.user), "subscriptions")
      _ = try await self.storage.commit(to: zone, [mutation])
      return try await self.attach(
        AttachRequest(device: device.text, generation: generation, seen: seen, list: list))
    }
  }

  /// What the gateway does when a device is revoked.
  func unsubscribe(_ device: EnrolledDevice) throws {
    try simulation.run {
      let zone = try ZoneID(
        DatabaseID(container: .system, environment: device.environment, owner: device.user), "subscriptions")
      let mutation = CaravanModel.Mutation(name: device.token, base: .any, change: .delete)
      _ = try await self.storage.commit(to: zone, [mutation])
    }
  }

  @discardableResult
  func hello(
    _ device: EnrolledDevice, generation: UInt64, seen: [UInt64], lives: [UInt64] = []
  ) throws -> AttachReply {
    try simulation.run {
      try await self.attach(
        AttachRequest(device: device.text, generation: generation, seen: seen, lives: lives))
    }
  }

  private func attach(_ request: AttachRequest) async throws -> AttachReply {
    let partition = Partition(of: .system(try EnrolledDevice(request.device).user))
    return try await bus.call(request, to: .partitioned(.notify, partition, method: "attach"))
  }

  /// A device that listens and answers.
  func connect(_ device: EnrolledDevice, answers: Bool = true) throws -> Listener {
    let listener = Listener(device: device, bus: hub.connect(as: device.device.text), answers: answers)
    _ = simulation.start { try await listener.listen() }
    try simulation.run(for: .milliseconds(1))
    return listener
  }
}

/// A device as notify sees it.
final class Listener: Sendable {
  private let device: EnrolledDevice
  private let bus: InProcessBus
  private let answers: Atomic<Bool>
  private let heard = Mutex<[Notification]>([])

  init(device: EnrolledDevice, bus: InProcessBus, answers: Bool) {
    (self.device, self.bus) = (device, bus)
    self.answers = Atomic(answers)
  }

  var notifications: [Notification] { heard.withLock { $0 } }
  var bitmaps: [[UInt8]] { notifications.map(\.bitmap) }

  func setAnswers(_ value: Bool) { answers.store(value, ordering: .relaxed) }

  func listen() async throws {
    let inbox = try await bus.subscribe(.exact(.notify(device)), group: nil, capacity: 16)
    let partition = Partition(of: .system(device.user))
    while case .message(let incoming)? = await inbox.next() {
      let notification = try Notification.decode(incoming.message.payload)
      heard.withLock { $0.append(notification) }
      guard answers.load(ordering: .relaxed) else { continue }
      let ack = AckNotification(number: notification.number)
      try await bus.publish(ack, to: .acks(device, partition))
    }
  }
}

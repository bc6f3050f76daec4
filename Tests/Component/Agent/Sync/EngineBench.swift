import CaravanAgentCore
import CaravanAgentStore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire

@testable import CaravanAgentSync

/// One device against a scripted cloud, in a cluster whose time stands still while anything can run.
struct EngineBench: Sendable {
  let cluster: Simulation
  let hub: InProcessHub
  let cloud: ScriptedCloud
  let store: MemoryStore
  let engine: SyncEngine
  let connection: CloudConnection
  let host: Host

  static let identity = DeviceIdentity(device: EnrolledDevice("ada", "laptop"))
  static let album = TableID(app: ContainerID(unchecked: "photos"), name: "album")
  static let notes = TableID(app: ContainerID(unchecked: "notes"), name: "notes")

  /// - Parameter record: what an earlier life of the agent left of the network.
  init(
    _ cluster: Simulation, store: MemoryStore = MemoryStore(), remembering record: NetworkRecord = NetworkRecord(),
    link: CaravanModel.LinkClass? = .wifi
  ) {
    self.cluster = cluster
    let net = cluster.host("net").host
    let hub = InProcessHub(clock: net.clock, random: net.random)
    self.hub = hub
    cloud = ScriptedCloud(hub)
    self.store = store
    host = cluster.host("device").host
    engine = SyncEngine(
      store: store, remembering: record, identity: Self.identity, link: link, host: host)
    connection = CloudConnection(engine: engine) { () throws(CaravanError) in hub.connect(as: "device") }
  }

  /// Runs everything while `body` does, in virtual time.
  static func run(
    seed: UInt64 = 1, prepare: @escaping @Sendable (EngineBench) -> Void = { _ in },
    _ body: @escaping @Sendable (EngineBench) async throws -> Void
  ) throws {
    let cluster = Simulation(seed: seed)
    try cluster.run(deadline: .seconds(3_600)) {
      let bench = EngineBench(cluster)
      prepare(bench)
      try await bench.whileRunning { try await body(bench) }
    }
  }

  func whileRunning(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await cloud.run() }
      group.addTask { try await engine.run() }
      group.addTask { await connection.run() }
      defer { group.cancelAll() }
      try await body()
    }
  }

  /// Lets virtual time pass.
  func pass(_ duration: Duration) async throws { try await host.clock.sleep(for: duration) }

  /// Waits in virtual time.
  func until(
    _ what: String, within limit: Duration = .seconds(300), every step: Duration = .milliseconds(1),
    _ condition: () async -> Bool
  ) async throws {
    let end = host.clock.now + limit
    while await !condition() {
      guard host.clock.now < end else { throw NotYet(what: what) }
      try await pass(step)
    }
  }

  func write(_ name: String, _ text: String, in table: TableID = album, chunks: [ChunkHash] = []) {
    store.write(name, text, in: table, chunks: chunks)
    if !chunks.isEmpty { cloud.state.withLock { $0.named[name] = chunks } }
    engine.tableChanged(table, LocalChange(bytes: text.utf8.count))
  }

  /// Op numbers pushed by all frames.
  var pushes: [UInt64] { cloud.frames.flatMap(Self.pushedOps) }

  /// Proposals of the table's type.
  var proposals: Int { cloud.frames.joined().count { if case .propose = $0 { true } else { false } } }

  /// Questions for pages.
  var pulls: Int { cloud.frames.flatMap(Self.pulledZones).count }

  var settles: [UInt64] {
    cloud.frames.flatMap { $0 }.compactMap { operation in
      if case .settle(let settle) = operation { return settle.op }
      return nil
    }
  }

  static func pushedOps(_ frame: [CaravanWire.Operation.Kind]) -> [UInt64] {
    frame.compactMap { operation in
      if case .push(let push) = operation { return push.op }
      return nil
    }
  }

  static func pulledZones(_ frame: [CaravanWire.Operation.Kind]) -> [String] {
    frame.compactMap { operation in
      if case .pull(let pull) = operation { return pull.zone }
      return nil
    }
  }
}

struct NotYet: Error, CustomStringConvertible {
  let what: String
  var description: String { "it did not come to this: \(what)" }
}

import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: storage runs in a simulation, survives crashes in it, and the same seed tells the same story.
@Suite(.timeLimit(.minutes(2))) struct SimulatedStorageTests {
  /// Two clients write while storage crashes and starts again; then everything acknowledged is there, once.
  private static func story(seed: UInt64) async throws -> UInt64 {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let simulation = Simulation(seed: seed)
    let host = simulation.host("storage").host
    let clients = simulation.host("clients").host
    let options = StoreOptions.simulation(.directory(directory.path))
    try simulation.run {
      let hub = InProcessHub(clock: host.clock, random: host.random)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for _ in 0..<3 { try await live(options, host, hub, for: .milliseconds(300)) }
          try await live(options, host, hub, for: .seconds(30))
        }
        for client in 0..<2 {
          group.addTask { try await write(client, clients, hub) }
        }
        try await group.waitForAll()
      }
      let store = try await StoreSQLite(options, host: host)
      for client in 0..<2 {
        let page = try await store.changes(ChangeQuery(zone: StorageBench.zone("c\(client)")))
        #expect(page.count == 40 && page.head == 40, "seed \(seed)")
      }
      await store.close()
    }
    return simulation.traceHash
  }

  /// One life of storage; it ends as by `kill -9`.
  private static func live(
    _ options: StoreOptions, _ host: Host, _ hub: InProcessHub, for duration: Duration
  ) async throws {
    let feed = ChangeFeed()
    let store = try await StoreSQLite(options, host: host, observer: feed)
    let bus = hub.connect(as: "storage")
    let service = StorageService(
      store: store, feed: feed, bus: bus, host: host,
      ticketKey: try TicketKey([UInt8](repeating: 5, count: TicketKey.byteCount)))
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await service.run() }
      try? await host.clock.sleep(for: duration)
      store.crash()
      bus.close()
      group.cancelAll()
    }
  }

  /// Forty rows, each sent until it is answered.
  private static func write(_ client: Int, _ host: Host, _ hub: InProcessHub) async throws {
    let storage = StorageClient(bus: hub.connect(as: "client"), host: host, writer: "@client")
    let zone = try StorageBench.zone("c\(client)")
    for row in 0..<40 {
      let op = OpID(writer: "phone-\(client)", epoch: 1, number: UInt64(row))
      let commit = Commit(
        zone: zone, op: op, opFloor: UInt64(row), isAtomic: false, mutations: [StorageBench.save("\(row)")])
      while (try? await storage.commit(CommitRequest(commit), in: StorageBench.partition)) == nil {
        try await host.clock.sleep(for: .milliseconds(50))
      }
      try await host.clock.sleep(for: .milliseconds(20))
    }
  }

  @Test(
    "I1, I7: crashes in the middle, nothing lost or doubled; the same seed, the same trace",
    arguments: 1...5 as ClosedRange<UInt64>)
  func crashes(seed: UInt64) async throws {
    let first = try await Self.story(seed: seed)
    let second = try await Self.story(seed: seed)
    if Simulation.isHashingDeterministic { #expect(first == second) }
  }
}

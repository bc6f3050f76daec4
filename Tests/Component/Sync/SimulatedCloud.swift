import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSchemaDriver
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanSyncDriver
import CaravanTestKit

/// Storage, schema and sync in a simulation, where waiting costs nothing and one message can be lost.
struct SimulatedCloud: Sendable {
  let hub: InProcessHub
  let host: Host
  let store: StoreSQLite
  let fault: OnePassage

  static func run(seed: UInt64, _ body: @escaping @Sendable (SimulatedCloud) async throws -> Void) throws {
    let simulation = Simulation(seed: seed)
    let host = simulation.host("cloud").host
    try simulation.run {
      let fault = OnePassage()
      let hub = InProcessHub(clock: host.clock, random: host.random, faults: fault)
      let feed = ChangeFeed()
      let store = try await StoreSQLite(.simulation(.memory), host: host, observer: feed)
      let key = try TicketKey([UInt8](repeating: 5, count: TicketKey.byteCount))
      let services: [any Service] = [
        StorageService(store: store, feed: feed, bus: hub.connect(as: "storage"), host: host, ticketKey: key),
        try SchemaService(bus: hub.connect(as: "schema"), host: host, opensContainers: true),
        try SyncService(bus: hub.connect(as: "sync"), host: host, ticketKey: key),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for service in services { group.addTask { try await service.run() } }
        group.addTask { await hub.run() }
        try await host.clock.sleep(for: .seconds(5))
        try await body(SimulatedCloud(hub: hub, host: host, store: store, fault: fault))
        for service in services { service.shutDown() }
        hub.shutDown()
        try await group.waitForAll()
      }
      await store.close()
    }
  }

  /// A device of a user and an app of its own.
  func place(_ name: String) throws -> CloudPlace {
    let user = try UserID("u-\(name)")
    let device = Device(user, try DeviceID("d-\(name)"), in: .development, bus: hub.connect(as: "d-\(name)"))
    return CloudPlace(cloud: self, device: device, container: try ContainerID("app-\(name)"))
  }
}

/// Lets one message of all be lost, come twice, or come late.
final class OnePassage: FaultPolicy {
  enum Fate: String, Sendable, CaseIterable {
    case lost, doubled
    /// After everybody has given it up.
    case late
  }

  private struct State {
    var left: Int?
    var fate = Fate.lost
    var met: String?
  }

  private let state = Mutex(State())

  /// The next message but so many.
  func arm(_ messages: Int, _ fate: Fate) { state.withLock { $0 = State(left: messages, fate: fate) } }

  /// - Returns: what became of the message, if there were so many.
  func disarm() -> String? {
    state.withLock { state in
      defer { state = State() }
      return state.met
    }
  }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    state.withLock { state in
      guard let left = state.left else { return [.zero] }
      state.left = left == 0 ? nil : left - 1
      guard left == 0 else { return [.zero] }
      state.met = "\(passage.subject) from \(passage.sender) is \(state.fate)"
      switch state.fate {
      case .lost: return []
      case .doubled: return [.zero, .zero]
      case .late: return [.seconds(45)]
      }
    }
  }
}

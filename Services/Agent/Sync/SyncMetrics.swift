internal import CaravanAgentCore
internal import CaravanRuntime

extension CounterName {
  static let framesSent = CounterName(
    "caravan_agent_frames_sent_total", "Frames sent, by whether the entropy test had them compressed.")
  static let transfers = CounterName("caravan_agent_transfers_total", "Transfers, by what made them due.")
  static let deadlines = CounterName(
    "caravan_agent_deadlines_total", "Tables and directions that went in a transfer, by whether in time.")
  static let sessions = CounterName("caravan_agent_sessions_total", "Syncs of one table, by direction and outcome.")
  static let disruptions = CounterName(
    "caravan_agent_disruptions_total", "Syncs of one table cut off, by where they stood: Simba's Table 3(a).")
  static let wireBytes = CounterName(
    "caravan_agent_wire_bytes_total", "Payload bytes on the wire, by direction and kind.")
  static let notifications = CounterName("caravan_agent_notifications_total", "Notifications received, by outcome.")
  static let chunksMoved = CounterName("caravan_agent_chunks_total", "Chunks moved, by direction.")
  static let patches = CounterName("caravan_agent_patches_total", "Patches of chunks moved, by direction and outcome.")
  static let resent = CounterName(
    "caravan_agent_pushes_resent_total", "Pushes sent again under the same op id after a lost answer.")
  static let settled = CounterName(
    "caravan_agent_pushes_settled_total", "Pushes asked about after a restart, by outcome.")
}

extension GaugeName {
  static let connected = GaugeName("caravan_agent_connected", "1 while the agent is connected to the broker.")
  static let refused = GaugeName(
    "caravan_agent_refused", "1 while the agent counts as refused by the broker: mode notRecoverable.")
}

/// The engine's instruments, looked up once.
struct SyncMetrics: Sendable {
  let registry: MetricsRegistry
  let bytesUp: Counter
  let bytesDown: Counter
  let chunkBytesUp: Counter
  let chunkBytesDown: Counter
  let notificationBytesDown: Counter
  let chunksUp: Counter
  let chunksDown: Counter
  let patchesUp: Counter
  let patchesDown: Counter
  let patchesRefused: Counter
  let resent: Counter
  let connected: Gauge
  let refused: Gauge
  private let met: Counter
  private let late: Counter
  private let triggers: [Coalescer.Trigger: Counter]

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    bytesUp = registry.counter(.wireBytes, [.direction: "up", .kind: "frame"])
    bytesDown = registry.counter(.wireBytes, [.direction: "down", .kind: "frame"])
    chunkBytesUp = registry.counter(.wireBytes, [.direction: "up", .kind: "chunk"])
    chunkBytesDown = registry.counter(.wireBytes, [.direction: "down", .kind: "chunk"])
    notificationBytesDown = registry.counter(.wireBytes, [.direction: "down", .kind: "notification"])
    chunksUp = registry.counter(.chunksMoved, [.direction: "up"])
    chunksDown = registry.counter(.chunksMoved, [.direction: "down"])
    patchesUp = registry.counter(.patches, [.direction: "up", .outcome: "sent"])
    patchesDown = registry.counter(.patches, [.direction: "down", .outcome: "applied"])
    patchesRefused = registry.counter(.patches, [.direction: "down", .outcome: "refused"])
    resent = registry.counter(.resent)
    connected = registry.gauge(.connected)
    refused = registry.gauge(.refused)
    met = registry.counter(.deadlines, [.outcome: "met"])
    late = registry.counter(.deadlines, [.outcome: "late"])
    triggers = Dictionary(
      uniqueKeysWithValues: Coalescer.Trigger.allCases.map {
        ($0, registry.counter(.transfers, [.trigger: $0.rawValue]))
      })
  }

  func transfer(_ transfer: Coalescer.Transfer) {
    triggers[transfer.trigger]?.add()
    met.add(transfer.items.count - transfer.late)
    late.add(transfer.late)
  }

  func session(_ direction: Direction, outcome: String) {
    registry.counter(.sessions, [.direction: direction == .write ? "up" : "down", .outcome: outcome]).add()
  }

  /// A session was cut off in this state of Table 3(a).
  func disrupted(_ state: Disruption) { registry.counter(.disruptions, [.state: state.rawValue]).add() }

  func notification(_ outcome: String) { registry.counter(.notifications, [.outcome: outcome]).add() }

  func settled(_ outcome: String) { registry.counter(.settled, [.outcome: outcome]).add() }
}

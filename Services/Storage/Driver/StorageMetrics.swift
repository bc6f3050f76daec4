import CaravanModel
import CaravanRuntime
import CaravanStore

extension CounterName {
  static let rows = CounterName("caravan_storage_rows_total", "Mutations decided.")
  static let entriesRead = CounterName("caravan_storage_entries_read_total", "Entries of change pages.")
  static let chunkBytes = CounterName("caravan_storage_chunk_bytes_total", "Chunk bytes moved.")
  static let patches = CounterName(
    "caravan_storage_patches_total", "Patches of chunks moved, by direction and outcome.")
  static let groups = CounterName("caravan_storage_groups_total", "Commits in parts that were decided.")
  static let actions = CounterName(
    "caravan_storage_actions_total", "Deletions that were put off: asked for, called off, done.")
  static let hints = CounterName("caravan_storage_hints_total", "Change hints.")
}

extension GaugeName {
  static let zones = GaugeName("caravan_storage_zones", "Zones.")
  static let records = GaugeName("caravan_storage_records", "Live records.")
  static let chunks = GaugeName("caravan_storage_chunks", "Chunks kept.")
  static let chunkStoreBytes = GaugeName("caravan_storage_chunk_store_bytes", "Bytes of the chunks kept.")
}

extension MetricLabels {
  /// Said alike by all processes that share the store.
  static let ofStore: MetricLabels = [.scope: "store"]
}

struct StorageMetrics: Sendable {
  let accepted: Counter
  let conflicts: Counter
  /// Conflicts that a policy settled.
  let merged: Counter
  let refused: Counter
  let groups: Counter
  let expired: Counter
  let contention: Contention
  let actionsScheduled: Counter
  let actionsCancelled: Counter
  let actionsDone: Counter
  let entriesRead: Counter
  let chunkBytesIn: Counter
  let chunkBytesOut: Counter
  let patchesIn: Counter
  let patchesRefused: Counter
  let patchesOut: Counter
  let hints: Counter
  let lostEvents: Counter
  private let registry: MetricsRegistry

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    accepted = registry.counter(.rows, [.outcome: "accepted"])
    conflicts = registry.counter(.rows, [.outcome: "conflict"])
    merged = registry.counter(.rows, [.outcome: "merged"])
    refused = registry.counter(.rows, [.outcome: "refused"])
    groups = registry.counter(.groups)
    expired = registry.counter(.rows, [.outcome: "expired"])
    contention = Contention(registry)
    actionsScheduled = registry.counter(.actions, [.outcome: "scheduled"])
    actionsCancelled = registry.counter(.actions, [.outcome: "cancelled"])
    actionsDone = registry.counter(.actions, [.outcome: "done"])
    entriesRead = registry.counter(.entriesRead)
    chunkBytesIn = registry.counter(.chunkBytes, [.direction: "in"])
    chunkBytesOut = registry.counter(.chunkBytes, [.direction: "out"])
    patchesIn = registry.counter(.patches, [.direction: "in", .outcome: "applied"])
    patchesRefused = registry.counter(.patches, [.direction: "in", .outcome: "refused"])
    patchesOut = registry.counter(.patches, [.direction: "out", .outcome: "sent"])
    hints = registry.counter(.hints, [.outcome: "sent"])
    lostEvents = registry.counter(.hints, [.outcome: "lost"])
  }

  func count(_ result: CommitResult, in zone: ZoneID) {
    guard case .applied(let outcomes, _, _, _) = result else { return }
    contention.count(outcomes, in: zone)
    for outcome in outcomes {
      switch outcome {
      case .accepted: accepted.add()
      case .conflict: conflicts.add()
      case .merged: merged.add()
      case .refused: refused.add()
      case .aborted, .read: break
      }
    }
  }

  /// Before it is known nothing is said: another process may have said it of the same store.
  func show(_ status: StoreStatus) {
    registry.gauge(.zones, .ofStore).set(Double(status.zones))
    registry.gauge(.records, .ofStore).set(Double(status.records))
    registry.gauge(.chunks, .ofStore).set(Double(status.chunks))
    registry.gauge(.chunkStoreBytes, .ofStore).set(Double(status.chunkBytes))
    registry.gauge(.damagedChunks, .ofStore).set(Double(status.damagedChunks))
    registry.gauge(.damagedRecords, .ofStore).set(Double(status.damagedRecords))
  }
}

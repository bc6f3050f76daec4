import CaravanRuntime
import CaravanSchemaClient
import CaravanWire

extension CounterName {
  static let operations = CounterName("caravan_sync_operations_total", "Operations of device frames.")
  static let rows = CounterName("caravan_sync_rows_total", "Rows pushed by devices.")
  static let disputes = CounterName("caravan_sync_disputes_total", "Conflicts put to server extensions.")
  static let resets = CounterName("caravan_sync_resets_total", "Pulls whose device had to begin anew.")
  static let pageBytes = CounterName("caravan_sync_page_bytes_total", "Bytes of change pages sent to devices.")
}

/// What is counted of the device protocol.
struct SyncMetrics: Sendable {
  private let done: Counter
  private let refused: Counter
  private let accepted: Counter
  private let conflicts: Counter
  private let merged: Counter
  let disputes: DisputeMetrics
  let pageBytes: Counter
  let resets: Counter
  /// Types of a push that were looked for in the same push before.
  let typesAtHand: Counter

  init(_ registry: MetricsRegistry) {
    done = registry.counter(.operations, [.outcome: "done"])
    refused = registry.counter(.operations, [.outcome: "refused"])
    accepted = registry.counter(.rows, [.outcome: "accepted"])
    conflicts = registry.counter(.rows, [.outcome: "conflict"])
    merged = registry.counter(.rows, [.outcome: "merged"])
    disputes = DisputeMetrics(registry)
    pageBytes = registry.counter(.pageBytes)
    resets = registry.counter(.resets)
    typesAtHand = registry.counter(.typeReads, [.outcome: "request"])
  }

  func count(_ reply: CommitReply) {
    accepted.add(reply.outcomes.count { $0.verdict == .accepted })
    conflicts.add(reply.outcomes.count { $0.verdict == .conflict })
    merged.add(reply.outcomes.count { $0.verdict == .merged })
  }

  func count(isRefused: Bool) { (isRefused ? refused : done).add() }
}

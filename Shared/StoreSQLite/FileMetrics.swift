internal import Runtime

/// What one file's writer counts.
struct FileMetrics: Sendable {
  private let groups: Counter
  private let writes: Counter
  private let failures: Counter
  private let purges: Counter
  private let moved: Counter
  private let duration: Histogram

  init(file: Int, _ registry: MetricsRegistry) {
    let labels: MetricLabels = [.file: String(file)]
    groups = registry.counter(.commitGroups, labels)
    writes = registry.counter(.committedWrites, labels)
    failures = registry.counter(.failedWrites, labels)
    purges = registry.counter(.purgedTombstones, labels)
    moved = registry.counter(.movedEntries, labels)
    duration = registry.histogram(.commitGroupSeconds, labels)
  }

  func committed(writes count: Int, in time: Duration) {
    groups.add()
    writes.add(count)
    duration.record(time)
  }

  func failed(writes count: Int) { failures.add(count) }
  func moved(entries count: Int) { moved.add(count) }
  func purged(tombstones count: Int) { purges.add(count) }
}

extension CounterName {
  static let commitGroups = CounterName("caravan_storage_commit_groups_total", "Transactions, each with one fsync.")
  static let committedWrites = CounterName("caravan_storage_writes_total", "Writes made durable.")
  static let purgedTombstones = CounterName("caravan_storage_purged_tombstones_total", "Deletions forgotten.")
  static let movedEntries = CounterName("caravan_storage_moved_entries_total", "Entries moved to fill pages.")
  static let failedWrites = CounterName("caravan_storage_failed_writes_total", "Writes lost with their transaction.")
}

extension HistogramName {
  static let commitGroupSeconds = HistogramName(
    "caravan_storage_commit_group_seconds", "Time of one transaction, its fsync included.")
}

internal import CaravanRuntime

/// What the store counts, all its connections together.
struct PostgresMetrics: Sendable {
  private let groups: Counter
  private let writes: Counter
  private let failures: Counter
  private let duration: Histogram
  let conflicts: Counter
  let lost: Counter
  let purged: Counter
  private let numbersUsed: Gauge
  private let isTold = Latch()

  init(_ registry: MetricsRegistry) {
    groups = registry.counter(.commitGroups)
    writes = registry.counter(.committedWrites)
    failures = registry.counter(.failedWrites)
    duration = registry.histogram(.commitGroupSeconds)
    conflicts = registry.counter(.transactionConflicts)
    lost = registry.counter(.lostConnections)
    purged = registry.counter(.purgedTombstones)
    numbersUsed = registry.gauge(.numbersUsed, [.kind: "zones"])
  }

  func committed(writes count: Int, in time: Duration) {
    groups.add()
    writes.add(count)
    duration.record(time)
  }

  func failed(writes count: Int) { failures.add(count) }

  /// So many ids of zones of all that there are have been given in one partition. Warns once when few are left.
  func numbered(upTo id: Int64, _ log: Log) {
    numbersUsed.set(Double(id) / Double(PostgresLimits.highestZone))
    guard id >= PostgresLimits.fewZonesLeft, !isTold.isOpen else { return }
    isTold.open()
    log.warning(
      "a partition of the store has used \(id) of \(PostgresLimits.highestZone) numbers for zones: move users to other "
        + "storages")
  }
}

extension CounterName {
  static let commitGroups = CounterName("caravan_storage_commit_groups_total", "Transactions, each with one fsync.")
  static let committedWrites = CounterName("caravan_storage_writes_total", "Writes made durable.")
  static let failedWrites = CounterName("caravan_storage_failed_writes_total", "Writes lost with their transaction.")
  static let purgedTombstones = CounterName("caravan_storage_purged_tombstones_total", "Deletions forgotten.")
  static let transactionConflicts = CounterName(
    "caravan_storage_transaction_conflicts_total", "Transactions tried again because they met others.")
  static let lostConnections = CounterName(
    "caravan_storage_lost_connections_total", "Connections to the database lost in use.")
}

extension GaugeName {
  static let numbersUsed = GaugeName(
    "caravan_storage_numbers_used_ratio",
    "Numbers for zones that were given, of all there are, in the partition that has given most.")
}

extension HistogramName {
  static let commitGroupSeconds = HistogramName(
    "caravan_storage_commit_group_seconds", "Time of one transaction, its fsync included.")
}

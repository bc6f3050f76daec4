internal import CaravanRuntime

/// What one file's writer counts.
struct FileMetrics: Sendable {
  private let groups: Counter
  private let writes: Counter
  private let failures: Counter
  private let purges: Counter
  private let moved: Counter
  private let duration: Histogram
  private let numbered: [FileContext.Numbered: Gauge]
  private let log: Log
  private let file: Int

  init(file: Int, _ host: Host) {
    let registry = host.metrics
    let labels: MetricLabels = [.file: String(file)]
    self.file = file
    log = host.log
    numbered = Dictionary(
      uniqueKeysWithValues: FileContext.Numbered.allCases.map { rows in
        (rows, registry.gauge(.numbersUsed, [.file: String(file), .kind: rows.rawValue]))
      })
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

  /// So many numbers of all that there are for rows of this kind have been given. Warns once when few are left.
  func numbered(_ rows: FileContext.Numbered, upTo id: Int64, isNew: Bool = true) {
    numbered[rows]?.set(Double(id) / Double(FileLimits.highestOwner))
    guard isNew ? id == FileLimits.fewNumbersLeft : id >= FileLimits.fewNumbersLeft else { return }
    log.warning(
      "file \(file) of the store has used \(id) of \(FileLimits.highestOwner) numbers for \(rows.rawValue): "
        + "move zones to other storages, or add files")
  }

  func purged(tombstones count: Int) { purges.add(count) }
}

extension CounterName {
  static let commitGroups = CounterName("caravan_storage_commit_groups_total", "Transactions, each with one fsync.")
  static let committedWrites = CounterName("caravan_storage_writes_total", "Writes made durable.")
  static let purgedTombstones = CounterName("caravan_storage_purged_tombstones_total", "Deletions forgotten.")
  static let movedEntries = CounterName("caravan_storage_moved_entries_total", "Entries moved to fill pages.")
  static let failedWrites = CounterName("caravan_storage_failed_writes_total", "Writes lost with their transaction.")
}

extension GaugeName {
  static let numbersUsed = GaugeName(
    "caravan_storage_numbers_used_ratio",
    "Numbers for rows of a file that were given, of all there are, by kind: writers or zones.")
}

extension HistogramName {
  static let commitGroupSeconds = HistogramName(
    "caravan_storage_commit_group_seconds", "Time of one transaction, its fsync included.")
}

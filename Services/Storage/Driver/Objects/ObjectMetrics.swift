import CaravanRuntime
import CaravanStore

extension CounterName {
  static let objects = CounterName("caravan_storage_objects_total", "Objects moved to the object store, by outcome.")
  static let objectBytes = CounterName("caravan_storage_object_bytes_total", "Bytes of objects moved.")
}

extension GaugeName {
  static let objectsWaiting = GaugeName(
    "caravan_storage_objects_waiting", "Records whose objects are to be moved to the object store.")
  static let objectsFailing = GaugeName("caravan_storage_objects_failing", "Of these, those tried in vain.")
  static let objectsRefused = GaugeName(
    "caravan_storage_objects_refused", "Records with objects that the object store does not take.")
}

extension HistogramName {
  static let objectSeconds = HistogramName("caravan_storage_object_seconds", "Time of one object on its way.")
}

/// What is counted of the way to the object store.
struct ObjectMetrics: Sendable {
  let failed: Counter
  let removed: Counter
  private let put: Counter
  private let bytes: Counter
  private let seconds: Histogram
  private let registry: MetricsRegistry

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    put = registry.counter(.objects, [.outcome: "put"])
    removed = registry.counter(.objects, [.outcome: "removed"])
    failed = registry.counter(.objects, [.outcome: "failed"])
    bytes = registry.counter(.objectBytes)
    seconds = registry.histogram(.objectSeconds)
  }

  func moved(bytes count: Int, in time: Duration) {
    put.add()
    bytes.add(count)
    seconds.record(time)
  }

  /// Before they are known nothing is said, as in `StorageMetrics`.
  func show(_ counts: ObjectCounts) {
    registry.gauge(.objectsWaiting, .ofStore).set(Double(counts.waiting))
    registry.gauge(.objectsFailing, .ofStore).set(Double(counts.failing))
    registry.gauge(.objectsRefused, .ofStore).set(Double(counts.refused))
  }
}

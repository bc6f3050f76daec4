import CaravanRuntime
import CaravanWire

extension CounterName {
  static let pushTaken = CounterName("caravan_push_taken_total", "Notifications that push targets took.")
  static let pushLater = CounterName(
    "caravan_push_later_total", "Tries after which a notification is to be tried again.")
  static let pushRefused = CounterName(
    "caravan_push_refused_total", "Notifications that push targets refused, and targets that are gone.")
}

extension HistogramName {
  static let pushSeconds = HistogramName("caravan_push_seconds", "How long push targets took to answer.")
}

struct PushMetrics: Sendable {
  let taken: Counter
  let later: Counter
  let refused: Counter
  let seconds: Histogram

  init(_ metrics: MetricsRegistry) {
    taken = metrics.counter(.pushTaken)
    later = metrics.counter(.pushLater)
    refused = metrics.counter(.pushRefused)
    seconds = metrics.histogram(.pushSeconds)
  }

  func count(_ outcome: DeliveryOutcome) {
    switch outcome {
    case .taken: taken.add()
    case .later, .unspecified: later.add()
    case .refused, .gone: refused.add()
    }
  }
}

/// The metrics of one process. Ask for an instrument once and keep it: looking it up takes a lock and a hash.
public final class MetricsRegistry: Sendable {
  /// Distinct series a registry keeps; what is asked for beyond is counted in
  /// `caravan_metrics_series_dropped_total` and works, but nobody sees it.
  public static let seriesLimit = 2_000

  private struct Key: Hashable {
    let name: String
    let labels: MetricLabels
  }

  private enum Instrument {
    case counter(CounterName, Counter)
    case gauge(GaugeName, Gauge)
    case histogram(HistogramName, Histogram)
  }

  private let seriesLimit: Int
  private let series = Mutex<[Key: Instrument]>([:])
  private let dropped = Counter()

  public init(seriesLimit: Int = seriesLimit) { self.seriesLimit = seriesLimit }

  public func counter(_ name: CounterName, _ labels: MetricLabels = [:]) -> Counter {
    let instrument = instrument(name.text, labels) { .counter(name, Counter()) }
    guard case .counter(_, let counter) = instrument else { preconditionFailure(taken(name.text)) }
    return counter
  }

  public func gauge(_ name: GaugeName, _ labels: MetricLabels = [:]) -> Gauge {
    let instrument = instrument(name.text, labels) { .gauge(name, Gauge()) }
    guard case .gauge(_, let gauge) = instrument else { preconditionFailure(taken(name.text)) }
    return gauge
  }

  public func histogram(_ name: HistogramName, _ labels: MetricLabels = [:]) -> Histogram {
    let instrument = instrument(name.text, labels) { .histogram(name, Histogram()) }
    guard case .histogram(_, let histogram) = instrument else { preconditionFailure(taken(name.text)) }
    return histogram
  }

  private func instrument(_ name: String, _ labels: MetricLabels, make: () -> Instrument) -> Instrument {
    series.withLock { series in
      let key = Key(name: name, labels: labels)
      if let known = series[key] { return known }
      let new = make()
      if series.count < seriesLimit { series[key] = new } else { dropped.add() }
      return new
    }
  }

  private func taken(_ name: String) -> String { "the metric '\(name)' is already of another kind" }

  /// Everything as of now, in the order of names and labels.
  public func snapshot() -> MetricsSnapshot {
    var snapshot = MetricsSnapshot()
    for (key, instrument) in series.withLock({ $0 }) {
      switch instrument {
      case .counter(let name, let counter):
        snapshot.add(.counter(counter.value), labels: key.labels, name: name.text, help: name.help)
      case .gauge(let name, let gauge):
        snapshot.add(.gauge(gauge.value), labels: key.labels, name: name.text, help: name.help)
      case .histogram(let name, let histogram):
        snapshot.add(.histogram(histogram.value), labels: key.labels, name: name.text, help: name.help)
      }
    }
    if dropped.value > 0 {
      let name = CounterName.seriesDropped
      snapshot.add(.counter(dropped.value), labels: [:], name: name.text, help: name.help)
    }
    return snapshot
  }
}

extension CounterName {
  static let seriesDropped = CounterName(
    "caravan_metrics_series_dropped_total", "Requests for series beyond the limit of a process.")
}

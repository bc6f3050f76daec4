/// Values of many series, of one process or merged from many.
public struct MetricsSnapshot: Sendable, Hashable {
  public enum Value: Sendable, Hashable {
    case counter(UInt64)
    case gauge(Double)
    case histogram(HistogramValue)

    var kind: Kind {
      switch self {
      case .counter: .counter
      case .gauge: .gauge
      case .histogram: .histogram
      }
    }
  }

  public enum Kind: String, Sendable, Hashable {
    case counter, gauge, histogram
  }

  /// Series of one name, which are of one kind.
  public struct Family: Sendable, Hashable {
    public let name: String
    public let help: String
    public let kind: Kind
    public internal(set) var series: [MetricLabels: Value]
  }

  public private(set) var families: [String: Family] = [:]

  public init() {}

  /// Counters and histograms of the same name and labels add up, of gauges the last stays. A value whose kind differs
  /// from its family's (instances of two releases) is left out.
  mutating func add(_ value: Value, labels: MetricLabels, name: String, help: String) {
    var family = families[name] ?? Family(name: name, help: help, kind: value.kind, series: [:])
    guard family.kind == value.kind else { return }
    switch (family.series[labels], value) {
    case (.counter(let a), .counter(let b)): family.series[labels] = .counter(a &+ b)
    case (.histogram(var a), .histogram(let b)):
      a.add(b)
      family.series[labels] = .histogram(a)
    case (.counter, _), (.gauge, _), (.histogram, _), (nil, _): family.series[labels] = value
    }
    families[name] = family
  }

  /// Takes another process's values in, each with `labels` (its service and instance) beside its own. What is said of
  /// more than the process has no instance: whoever says it, it is there once, and may be added up.
  public mutating func merge(_ other: MetricsSnapshot, adding labels: MetricLabels = [:]) {
    for family in other.families.values {
      for (own, value) in family.series {
        var labels = labels
        if own[.scope] != nil { labels[.instance] = nil }
        add(value, labels: own.adding(labels), name: family.name, help: family.help)
      }
    }
  }

  public subscript(_ name: String, _ labels: MetricLabels = [:]) -> Value? { families[name]?.series[labels] }
}

/// What a label says. Values must be few: names of methods, outcomes, link classes, on a device its tables, in the
/// cloud so many containers and zones as a bound allows; never ids of users or devices.
public enum MetricLabel: String, Sendable, Hashable, CaseIterable {
  case service, instance, endpoint, outcome, code, partition, link, trigger, direction, kind, state, file, version
  case table, container, environment, zone
  /// Of whom it is said where that is not the process: `store`, which several may share.
  case scope
}

/// Labels of one series, in the order given: `[.endpoint: "push", .outcome: "ok"]`.
public struct MetricLabels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  public private(set) var pairs: [Pair]

  public struct Pair: Sendable, Hashable {
    public let label: MetricLabel
    public let value: String
  }

  public init(dictionaryLiteral elements: (MetricLabel, String)...) {
    pairs = []
    for (label, value) in elements { self[label] = value }
  }

  public subscript(_ label: MetricLabel) -> String? {
    get { pairs.first { $0.label == label }?.value }
    set {
      pairs.removeAll { $0.label == label }
      if let newValue { pairs.append(Pair(label: label, value: newValue)) }
      pairs.sort { $0.label.rawValue < $1.label.rawValue }
    }
  }

  func adding(_ other: MetricLabels) -> MetricLabels {
    var sum = self
    for pair in other.pairs { sum[pair.label] = pair.value }
    return sum
  }
}

/// The names of metrics are declared as static members, once per service in one file:
///
///     extension CounterName { static let commits = CounterName("caravan_storage_commits_total", "Commits accepted.") }
public struct CounterName: Sendable, Hashable {
  public let text: String
  public let help: String

  /// `text` ends in `_total`.
  public init(_ text: String, _ help: String) {
    precondition(isMetricName(text) && text.hasSuffix("_total"), "'\(text)' is not the name of a counter")
    self.text = text
    self.help = help
  }
}

public struct GaugeName: Sendable, Hashable {
  public let text: String
  public let help: String

  /// `text` ends in its base unit where it has one (`_bytes`, `_seconds`), and not in `_total`.
  public init(_ text: String, _ help: String) {
    precondition(isMetricName(text) && !text.hasSuffix("_total"), "'\(text)' is not the name of a gauge")
    self.text = text
    self.help = help
  }
}

public struct HistogramName: Sendable, Hashable {
  public let text: String
  public let help: String

  /// `text` ends in `_seconds`.
  public init(_ text: String, _ help: String) {
    precondition(isMetricName(text) && text.hasSuffix("_seconds"), "'\(text)' is not the name of a histogram")
    self.text = text
    self.help = help
  }
}

/// Ours all begin with `caravan_` and use lower-case letters, digits and single underscores.
private func isMetricName(_ text: String) -> Bool {
  // To ask a text whether it contains another would link the engine of regular expressions, 1 MB, into every process.
  text.hasPrefix("caravan_") && !zip(text.utf8, text.utf8.dropFirst()).contains { $0 == 0x5f && $1 == 0x5f }
    && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
}

extension MetricsSnapshot {
  /// Prometheus text exposition format 0.0.4, families and series in the order of their names.
  public var prometheusText: String {
    var text = ""
    for family in families.values.sorted(by: { $0.name < $1.name }) {
      text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n"
      text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for (labels, value) in family.series.sorted(by: { Self.precedes($0.key, $1.key) }) {
        text += Self.lines(family.name, labels, value)
      }
    }
    return text
  }

  private static func lines(_ name: String, _ labels: MetricLabels, _ value: Value) -> String {
    switch value {
    case .counter(let count): return "\(name)\(braces(labels)) \(count)\n"
    case .gauge(let number): return "\(name)\(braces(labels)) \(spelling(number))\n"
    case .histogram(let histogram):
      var text = ""
      var cumulated: UInt64 = 0
      for (bucket, count) in histogram.counts.enumerated() {
        cumulated += count
        let bound = HistogramValue.bound(bucket).map { "\(Double($0) / 1e9)" } ?? "+Inf"
        text += "\(name)_bucket\(braces(labels, bound: bound)) \(cumulated)\n"
      }
      text += "\(name)_sum\(braces(labels)) \(Double(histogram.sumNanoseconds) / 1e9)\n"
      return text + "\(name)_count\(braces(labels)) \(cumulated)\n"
    }
  }

  private static func braces(_ labels: MetricLabels, bound: String? = nil) -> String {
    var parts = labels.pairs.map { "\($0.label.rawValue)=\"\(escaped($0.value, quotes: true))\"" }
    if let bound { parts.append("le=\"\(bound)\"") }
    return parts.isEmpty ? "" : "{\(parts.joined(separator: ","))}"
  }

  private static func spelling(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
    return number.description
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += #"\\"#
      case "\n": escaped += #"\n"#
      case "\"" where quotes: escaped += #"\""#
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  static func precedes(_ a: MetricLabels, _ b: MetricLabels) -> Bool {
    a.pairs.lexicographicallyPrecedes(b.pairs) {
      ($0.label.rawValue, $0.value) < ($1.label.rawValue, $1.value)
    }
  }
}

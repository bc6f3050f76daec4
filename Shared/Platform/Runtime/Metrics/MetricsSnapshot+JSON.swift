public import CaravanEncoding
public import CaravanModel

/// How a process's metrics travel in the `data` object of `$SRV.STATS`:
///
///     {"<name>": {"kind": "counter", "help": "…", "series": [{"labels": {"endpoint": "push"}, "value": 3}]}}
///
/// A histogram's value is `{"sum": <nanoseconds>, "buckets": {"<index>": <count>}}`, empty buckets left out.
extension MetricsSnapshot {
  public var json: JSON {
    var object = JSON.Object()
    for family in families.values.sorted(by: { $0.name < $1.name }) {
      let series = family.series.sorted { Self.precedes($0.key, $1.key) }
      object[family.name] = [
        "kind": .string(family.kind.rawValue), "help": .string(family.help),
        "series": .array(series.map { ["labels": Self.json($0.key), "value": Self.json($0.value)] }),
      ]
    }
    return .object(object)
  }

  /// Series with labels this release does not know are left out.
  /// - Throws: `invalidData` naming the metric that is not of the form above.
  public init(json: JSON) throws(CaravanError) {
    self.init()
    guard let members = json.objectValue?.members else {
      throw CaravanError(.invalidData, "metrics are not a JSON object")
    }
    for member in members {
      guard let kind = member.value["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
        let help = member.value["help"]?.stringValue, let series = member.value["series"]?.arrayValue
      else { throw CaravanError(.invalidData, "metric '\(member.name)' lacks its kind, help or series") }
      for entry in series {
        guard let labels = Self.labels(entry["labels"]) else { continue }
        guard let value = Self.value(entry["value"], kind) else {
          throw CaravanError(.invalidData, "metric '\(member.name)' has a value that is no \(kind.rawValue)")
        }
        add(value, labels: labels, name: member.name, help: help)
      }
    }
  }

  // MARK: Parts

  private static func json(_ labels: MetricLabels) -> JSON {
    var object = JSON.Object()
    for pair in labels.pairs { object[pair.label.rawValue] = .string(pair.value) }
    return .object(object)
  }

  private static func json(_ value: Value) -> JSON {
    switch value {
    case .counter(let count): return .int(Int64(clamping: count))
    case .gauge(let number): return .double(number)
    case .histogram(let histogram):
      var buckets = JSON.Object()
      for (bucket, count) in histogram.counts.enumerated() where count > 0 {
        buckets[String(bucket)] = .int(Int64(clamping: count))
      }
      return ["sum": .int(Int64(clamping: histogram.sumNanoseconds)), "buckets": .object(buckets)]
    }
  }

  private static func labels(_ json: JSON?) -> MetricLabels? {
    var labels = MetricLabels()
    for member in json?.objectValue?.members ?? [] {
      guard let label = MetricLabel(rawValue: member.name), let value = member.value.stringValue else { return nil }
      labels[label] = value
    }
    return labels
  }

  private static func value(_ json: JSON?, _ kind: Kind) -> Value? {
    switch kind {
    case .counter: json?.intValue.flatMap(UInt64.init(exactly:)).map(Value.counter)
    case .gauge: json?.doubleValue.map(Value.gauge)
    case .histogram: json.flatMap(histogram).map(Value.histogram)
    }
  }

  private static func histogram(_ json: JSON) -> HistogramValue? {
    guard let sum = json["sum"]?.intValue.flatMap(UInt64.init(exactly:)),
      let buckets = json["buckets"]?.objectValue?.members
    else { return nil }
    var histogram = HistogramValue()
    histogram.sumNanoseconds = sum
    for bucket in buckets {
      guard let index = Int(bucket.name), histogram.counts.indices.contains(index),
        let count = bucket.value.intValue.flatMap(UInt64.init(exactly:))
      else { return nil }
      histogram.counts[index] = count
    }
    return histogram
  }
}

internal import CaravanEncoding
internal import CaravanRuntime

/// Figures of one run, each printed as one JSON line as soon as it is known.
struct BenchReport: Sendable {
  let bench: String
  /// False: lines for people.
  let asJSON: Bool

  func line(_ figure: String, _ values: KeyValuePairs<String, Double>, floor: KeyValuePairs<String, Double> = [:]) {
    line(figure, values.map { ($0.key, $0.value) }, floor: floor.map { ($0.key, $0.value) })
  }

  func line(_ figure: String, _ values: [(key: String, value: Double)], floor: [(key: String, value: Double)] = []) {
    var object: JSON.Object = ["bench": .string(bench), "figure": .string(figure)]
    for (name, value) in values { object[name] = .double(Self.rounded(value)) }
    if !floor.isEmpty {
      var floors = JSON.Object()
      for (name, value) in floor { floors[name] = .double(Self.rounded(value)) }
      object["floor"] = .object(floors)
    }
    if asJSON { return print(JSON.object(object).encoded()) }
    let text = values.map { "\($0.key) \(Self.rounded($0.value))" }.joined(separator: "  ")
    let below = floor.map { "\($0.key) \(Self.rounded($0.value))" }.joined(separator: "  ")
    print("\(bench)  \(figure)  \(text)\(below.isEmpty ? "" : "  [floor: \(below)]")")
  }

  private static func rounded(_ value: Double) -> Double {
    let step = value.magnitude >= 1000 ? 1.0 : value.magnitude >= 10 ? 100 : 1000
    return step == 1 ? value.rounded() : (value * step).rounded() / step
  }
}

/// Durations of repeated operations.
struct Samples: Sendable {
  private(set) var nanoseconds: [Int64] = []

  mutating func add(_ duration: Duration) { nanoseconds.append(duration.wholeNanoseconds) }
  mutating func add(_ other: Samples) { nanoseconds += other.nanoseconds }

  /// In milliseconds; `share` is 0.5 for the median.
  func percentile(_ share: Double) -> Double {
    let sorted = nanoseconds.sorted()
    guard !sorted.isEmpty else { return .nan }
    return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1e6
  }

  var p50: Double { percentile(0.5) }
  var p99: Double { percentile(0.99) }
}

import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Foundation
import Testing

extension CounterName {
  fileprivate static let requests = CounterName("caravan_test_requests_total", "Requests, \\ and\nmore.")
}

extension GaugeName {
  fileprivate static let waiting = GaugeName("caravan_test_waiting", "Requests that wait.")
}

extension HistogramName {
  fileprivate static let latency = HistogramName("caravan_test_latency_seconds", "Time to answer.")
}

@Suite("Metrics")
struct MetricsTests {
  let registry = MetricsRegistry()

  func filled() -> MetricsSnapshot {
    registry.counter(.requests, [.endpoint: "push", .outcome: "ok"]).add(3)
    registry.counter(.requests, [.outcome: "\"odd\"\\\n", .endpoint: "pull"]).add()
    registry.gauge(.waiting).set(2.5)
    for milliseconds in [1, 2, 4, 1_000] {
      registry.histogram(.latency, [.endpoint: "push"]).record(.milliseconds(milliseconds))
    }
    return registry.snapshot()
  }

  @Test("one name and the same labels are one series, in any order of labels")
  func identity() {
    registry.counter(.requests, [.endpoint: "a", .outcome: "b"]).add(2)
    registry.counter(.requests, [.outcome: "b", .endpoint: "a"]).add(3)
    #expect(registry.snapshot()["caravan_test_requests_total", [.endpoint: "a", .outcome: "b"]] == .counter(5))
  }

  @Test("promtool finds nothing wrong with the text, also of several instances together")
  func prometheus() throws {
    var merged = MetricsSnapshot()
    merged.merge(filled(), adding: [.service: "sync", .instance: "1"])
    merged.merge(filled(), adding: [.service: "sync", .instance: "2"])
    let text = merged.prometheusText
    #expect(text.contains(#"caravan_test_requests_total{endpoint="push",instance="2",outcome="ok",service="sync"} 6"#))
    #expect(text.contains(#"outcome="\"odd\"\\\n""#))
    #expect(
      text.contains(#"caravan_test_latency_seconds_bucket{endpoint="push",instance="1",service="sync",le="+Inf"} 4"#))
    #expect(text.contains("# TYPE caravan_test_latency_seconds histogram\n"))
    #expect(try promtool(text) == "")
    #expect(try promtool("caravan_bad 1\n") != "", "promtool says nothing about a metric without help")
  }

  @Test("what processes say of what they share is there once, whoever says it; the rest is of each")
  func scope() {
    var merged = MetricsSnapshot()
    for instance in ["1", "2"] {
      let registry = MetricsRegistry()
      registry.gauge(.waiting, [.scope: "store"]).set(7)
      registry.gauge(.waiting).set(1)
      merged.merge(registry.snapshot(), adding: [.service: "storage", .instance: instance])
    }
    #expect(merged["caravan_test_waiting", [.scope: "store", .service: "storage"]] == .gauge(7))
    #expect(merged["caravan_test_waiting", [.instance: "2", .service: "storage"]] == .gauge(1))
    #expect(merged.families["caravan_test_waiting"]?.series.count == 3)
  }

  private func promtool(_ text: String) throws -> String {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/promtool")
    process.arguments = ["check", "metrics"]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }

  @Test("a snapshot survives JSON")
  func json() throws {
    let snapshot = filled()
    #expect(try MetricsSnapshot(json: JSON.parse(snapshot.json.encoded())) == snapshot)
  }

  @Test("damaged JSON is refused with the metric's name; labels of another release are left out")
  func damagedJSON() throws {
    let bad = try JSON.parse(#"{"caravan_x_total":{"kind":"counter","help":"h","series":[{"labels":{},"value":-1}]}}"#)
    let error = #expect(throws: CaravanError.self) { try MetricsSnapshot(json: bad) }
    #expect(error?.message.contains("caravan_x_total") == true)
    let later = try JSON.parse(
      #"{"caravan_x_total":{"kind":"counter","help":"h","series":[{"labels":{"colour":"red"},"value":1}]}}"#)
    #expect(try MetricsSnapshot(json: later).families.isEmpty)
  }

  @Test("series beyond the limit work but are only counted")
  func seriesLimit() {
    let registry = MetricsRegistry(seriesLimit: 2)
    for endpoint in ["a", "b", "c", "c"] { registry.counter(.requests, [.endpoint: endpoint]).add() }
    let snapshot = registry.snapshot()
    #expect(snapshot.families["caravan_test_requests_total"]?.series.count == 2)
    #expect(snapshot["caravan_metrics_series_dropped_total"] == .counter(2))
  }

  @Test(
    "a duration falls into the bucket whose bound it does not exceed",
    arguments: [
      (0, 0), (4_000, 0), (4_001, 1), (8_000, 1), (8_001, 2), (67_108_864_000, 24), (67_108_864_001, 25),
      (Int64.max, 25),
    ] as [(Int64, Int)])
  func buckets(nanoseconds: Int64, bucket: Int) {
    var histogram = HistogramValue()
    histogram.record(.nanoseconds(nanoseconds))
    #expect(histogram.counts[bucket] == 1)
    #expect(histogram.count == 1)
  }

  @Test("quantiles are never below the truth and at most twice it")
  func quantiles() throws {
    var histogram = HistogramValue()
    #expect(histogram.quantile(0.5) == nil)
    for milliseconds in 1...1_000 { histogram.record(.milliseconds(milliseconds)) }
    for (q, truth) in [(0.5, 500.0), (0.99, 990.0)] {
      let seconds = try #require(histogram.quantile(q)).seconds
      #expect(seconds >= truth / 1_000 && seconds <= truth / 500)
    }
  }

  @Test("counting from many tasks loses nothing")
  func concurrent() async {
    let (counter, gauge) = (registry.counter(.requests), registry.gauge(.waiting))
    let histogram = registry.histogram(.latency)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<10_000 {
            counter.add()
            gauge.add(1)
            histogram.record(.microseconds(5))
          }
        }
      }
    }
    #expect(counter.value == 80_000)
    #expect(gauge.value == 80_000)
    #expect(histogram.value.counts[1] == 80_000)
  }

  @Test("the host adds the memory of the process")
  func memory() {
    guard case .gauge(let bytes) = CaravanRuntime.Host.live().snapshotMetrics()["caravan_process_resident_memory_bytes"]
    else {
      Issue.record("no memory gauge")
      return
    }
    #expect(bytes > 1_000_000 && bytes < Double(ProcessInfo.processInfo.physicalMemory))
    #expect(ProcessFacts.current.identifier == Int(getpid()))
    #expect(!ProcessFacts.current.hostName.isEmpty)
  }
}

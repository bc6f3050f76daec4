import CaravanBus
import CaravanEncoding
import CaravanGatewayCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Foundation
import Testing

/// Goal: the gateway tells the truth about the suite. Method: services in name only on the gateway's bus.
@Suite("The suite as the gateway shows it", .timeLimit(.minutes(2)))
struct SuiteTests {
  @Test("ready when all services answer, and not before; live in any case")
  func readiness() async throws {
    try await GatewayCluster.with { cluster in
      #expect(try await cluster.ask("GET", "/healthz").status == 200)
      let early = try await cluster.ask("GET", "/readyz")
      #expect(early.status == 503)
      for name in ["caravan-sync", "caravan-schema", "caravan-notify", "caravan-query"] {
        #expect(early.text.contains(name))
      }
      #expect(!early.text.contains("caravan-storage"))
      try await Self.withPresences(of: ["caravan-sync", "caravan-schema", "caravan-notify", "caravan-query"], cluster) {
        try await eventually("ready") { try await cluster.ask("GET", "/readyz").status == 200 }
      }
    }
  }

  @Test(
    "not ready when a service that runs can do nothing, and the answer says which and why; ready when one of it can")
  func trouble() async throws {
    try await GatewayCluster.with { cluster in
      let trouble = Mutex<String?>("PostgreSQL cannot be reached")
      let names = ["caravan-sync", "caravan-schema", "caravan-query"]
      let unable = ServiceHost(
        name: "caravan-notify", version: "1.0.0", bus: cluster.hub.connect(as: "unable"), host: cluster.host
      ) { trouble.withLock { $0 } }
      try await Self.withPresences(of: names, and: [unable], cluster) {
        try await eventually("all are there") {
          try await cluster.ask("GET", "/v1/status").json["missing"]?.arrayValue?.isEmpty == true
        }
        let answer = try await cluster.ask("GET", "/readyz")
        #expect(answer.status == 503)
        #expect(answer.text.contains("not ready, caravan-notify: PostgreSQL cannot be reached"))
        let status = try await cluster.ask("GET", "/v1/status").json
        #expect(Self.instance("caravan-notify", status)?["trouble"] == "PostgreSQL cannot be reached")
        try await Self.withPresences(of: ["caravan-notify"], cluster) {
          try await eventually("one of two is enough") { try await cluster.ask("GET", "/readyz").status == 200 }
        }
        trouble.withLock { $0 = nil }
        try await eventually("ready") { try await cluster.ask("GET", "/readyz").status == 200 }
      }
    }
  }

  @Test(
    "a method that a path does not answer is told those that it does",
    arguments: [
      ("POST", "/readyz", "GET, HEAD"), ("DELETE", "/", "GET, HEAD"), ("GET", "/v1/enrol", "POST"),
      ("PUT", "/v1/devices", "GET"), ("POST", "/v1/devices/ann/x", "GET, DELETE"),
    ])
  func methods(method: String, path: String, allowed: String) async throws {
    try await GatewayCluster.with { cluster in
      let answer = try await cluster.ask(method, path, admin: GatewayCluster.adminToken)
      #expect(answer.status == 405 && answer.headers["allow"] == allowed, "\(answer.headers)")
    }
  }

  @Test("the status shows each instance with its endpoints, and rates from the second look on")
  func status() async throws {
    try await GatewayCluster.with { cluster in
      let first = try await cluster.ask("GET", "/v1/status").json
      let storage = try #require(Self.instance("caravan-storage", first))
      #expect((storage["resident_bytes"]?.intValue ?? 0) > 1_000_000)
      try await eventually("a second report") {
        let json = try await cluster.ask("GET", "/v1/status").json
        let endpoints = Self.instance("caravan-storage", json)?["endpoints"]?.arrayValue ?? []
        return endpoints.contains { $0["rate"]?.doubleValue != nil }
      }
    }
  }

  @Test("metrics pass promtool", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
  func metrics() async throws {
    try await GatewayCluster.with { cluster in
      let answer = try await cluster.ask("GET", "/metrics")
      #expect(answer.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
      #expect(answer.text.contains(#"service="caravan-storage""#))
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/promtool")
      process.arguments = ["check", "metrics"]
      let (input, output) = (Pipe(), Pipe())
      process.standardInput = input
      process.standardError = output
      process.standardOutput = output
      try process.run()
      input.fileHandleForWriting.write(answer.body)
      try input.fileHandleForWriting.close()
      let said = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
    }
  }

  @Test("the page is one document that loads nothing from elsewhere")
  func page() async throws {
    try await GatewayCluster.with { cluster in
      let page = try await cluster.ask("GET", "/")
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
      #expect(!page.text.contains("//cdn") && !page.text.contains("https://"))
    }
  }

  @Test("unknown paths are 404, wrong methods 405")
  func routing() async throws {
    try await GatewayCluster.with { cluster in
      for (method, path, status) in [
        ("GET", "/nothing", 404), ("POST", "/healthz", 405), ("DELETE", "/v1/enrol", 405),
        ("PUT", "/v1/devices/ann/a", 405),
        ("GET", "/v1/devices/ann/a/b", 404), ("GET", "/v1/devices/a", 404), ("HEAD", "/", 200),
        ("HEAD", "/metrics", 200), ("HEAD", "/v1/enrol", 405),
      ] {
        let answer = try await cluster.ask(method, path, admin: GatewayCluster.adminToken)
        #expect(answer.status == status, "\(method) \(path)")
      }
    }
  }

  @Test("rates are those between two reports, and nothing is said where there is nothing to compare")
  func rates() throws {
    func report(_ nanoseconds: UInt64, _ requests: UInt64, _ time: UInt64) throws -> SuiteReport {
      let stats = """
        {"name": "s", "id": "i", "endpoints": [{"name": "e", "num_requests": \(requests), "processing_time": \(time)}]}
        """
      return SuiteReport(takenAt: nanoseconds, instances: [try InstanceReport(JSON.parse(stats))])
    }
    let (early, late) = (try report(1_000_000_000, 10, 5_000_000), try report(3_000_000_000, 30, 45_000_000))
    let endpoint = late.json(since: early, required: [])["instances"]?.arrayValue?[0]["endpoints"]?.arrayValue?[0]
    #expect(endpoint?["rate"] == .double(10))
    #expect(endpoint?["latency_ms"] == .double(2))
    let alone = early.json(since: nil, required: ["x"])
    #expect(alone["missing"] == ["x"])
    #expect(alone["instances"]?.arrayValue?[0]["endpoints"]?.arrayValue?[0]["rate"] == .null)
  }

  @Test("TRU-10, TRU-12: the status warns of damage on storage's disk, and of a clock that is not believed")
  func warnings() throws {
    func report(_ damaged: Int, _ trusted: Int) throws -> SuiteReport {
      func gauge(_ name: String, _ value: Int) -> String {
        "\"\(name)\": {\"kind\": \"gauge\", \"help\": \"h\", \"series\": [{\"labels\": {}, \"value\": \(value).0}]}"
      }
      let metrics =
        gauge("caravan_storage_damaged_chunks", damaged) + ", " + gauge("caravan_storage_clock_trusted", trusted)
      let stats = "{\"name\": \"s\", \"id\": \"i\", \"data\": {\"metrics\": {\(metrics)}}}"
      return SuiteReport(takenAt: 1, instances: [try InstanceReport(JSON.parse(stats))])
    }
    #expect(try report(0, 1).warnings.isEmpty)
    let warnings = try report(3, 0).json(since: nil, required: [])["warnings"]?.arrayValue ?? []
    #expect(warnings.count == 2 && "\(warnings)".contains("3 chunks") && "\(warnings)".contains("caravan clock"))
  }

  private static func instance(_ service: String, _ status: JSON) -> JSON? {
    status["instances"]?.arrayValue?.first { $0["service"]?.stringValue == service }
  }

  private static func withPresences(
    of names: [String], and others: [ServiceHost] = [], _ cluster: GatewayCluster,
    _ body: @Sendable () async throws -> Void
  ) async throws {
    let services =
      others
      + names.map {
        ServiceHost(name: $0, version: "1.0.0", bus: cluster.hub.connect(as: $0), host: cluster.host)
      }
    let group = ServiceGroup(services, host: cluster.host)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      defer { group.shutDown() }
      try await body()
    }
  }
}

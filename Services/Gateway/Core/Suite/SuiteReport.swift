public import CaravanEncoding
public import CaravanModel

/// What one service instance says of one of its endpoints (ADR-32 STATS).
public struct EndpointReport: Sendable, Equatable {
  public var name: String
  public var requests: UInt64
  public var errors: UInt64
  public var processingNanoseconds: UInt64
  public var inFlight: UInt64
}

public struct InstanceReport: Sendable, Equatable {
  public var service: String
  public var instance: String
  public var version: String
  public var host: String
  public var process: UInt64
  public var started: String
  public var residentBytes: UInt64
  /// What keeps it from its work; nil: nothing.
  public var trouble: String?
  public var endpoints: [EndpointReport]
  /// As `MetricsSnapshot(json:)` reads it.
  public var metrics: JSON

  /// - Throws: `invalidData` when the answer is no STATS response.
  public init(_ stats: JSON) throws(CaravanError) {
    guard let service = stats["name"]?.stringValue, let instance = stats["id"]?.stringValue else {
      throw CaravanError(.invalidData, "a STATS answer lacks its name or id")
    }
    func number(_ json: JSON?) -> UInt64 { UInt64(clamping: json?.intValue ?? 0) }
    self.service = service
    self.instance = instance
    version = stats["version"]?.stringValue ?? ""
    started = stats["started"]?.stringValue ?? ""
    host = stats["data"]?["host"]?.stringValue ?? ""
    process = number(stats["data"]?["process"])
    residentBytes = number(stats["data"]?["resident_bytes"])
    trouble = stats["data"]?["trouble"]?.stringValue
    metrics = stats["data"]?["metrics"] ?? [:]
    endpoints = (stats["endpoints"]?.arrayValue ?? []).map { endpoint in
      EndpointReport(
        name: endpoint["name"]?.stringValue ?? "", requests: number(endpoint["num_requests"]),
        errors: number(endpoint["num_errors"]), processingNanoseconds: number(endpoint["processing_time"]),
        inFlight: number(endpoint["data"]?["in_flight"]))
    }
  }
}

extension InstanceReport {
  /// The greatest value of a gauge; nil: there is none of this name.
  func gauge(_ name: String) -> Double? {
    let series = metrics[name]?["series"]?.arrayValue ?? []
    return series.compactMap { $0["value"]?.doubleValue }.max()
  }
}

/// All instances that answered at one time.
public struct SuiteReport: Sendable, Equatable {
  /// Monotonic nanoseconds.
  public var takenAt: UInt64
  /// Ordered by service, then instance.
  public var instances: [InstanceReport]

  public init(takenAt: UInt64, instances: [InstanceReport]) {
    self.takenAt = takenAt
    self.instances = instances.sorted { ($0.service, $0.instance) < ($1.service, $1.instance) }
  }

  /// Services of the suite that nobody runs.
  public func missing(of required: [String]) -> [String] {
    required.filter { name in !instances.contains { $0.service == name } }
  }

  /// What keeps the suite from being ready: services that nobody runs, and those none of whose instances can do its
  /// work. None: it is ready.
  public func obstacles(to required: [String]) -> [String] {
    let missing = missing(of: required)
    assert(Set(required).count == required.count, "a service is required twice, and would be missed twice")
    let unable = required.compactMap { name -> String? in
      let own = instances.filter { $0.service == name }
      guard let trouble = own.first?.trouble, own.allSatisfy({ $0.trouble != nil }) else { return nil }
      return "\(name): \(trouble)"
    }
    return (missing.isEmpty ? [] : ["nobody runs: \(missing.joined(separator: ", "))"]) + unable
  }

  /// The report as the status page shows it; rates and latencies are those since `earlier`.
  public func json(since earlier: SuiteReport?, required: [String]) -> JSON {
    assert(earlier?.takenAt ?? 0 <= takenAt, "the earlier report was taken later")
    let rows = instances.map { instance -> JSON in
      let before = earlier?.instances.first { $0.instance == instance.instance }
      let seconds = earlier.map { Double(takenAt - $0.takenAt) / 1e9 } ?? 0
      return [
        "service": .string(instance.service), "instance": .string(instance.instance),
        "version": .string(instance.version), "host": .string(instance.host),
        "process": .int(Int64(clamping: instance.process)), "started": .string(instance.started),
        "resident_bytes": .int(Int64(clamping: instance.residentBytes)),
        "trouble": instance.trouble.map(JSON.string) ?? .null,
        "endpoints": .array(
          instance.endpoints.map { endpoint in
            endpoint.json(since: before?.endpoints.first { $0.name == endpoint.name }, seconds: seconds)
          }),
      ]
    }
    return [
      "missing": .array(missing(of: required).map(JSON.string)),
      "obstacles": .array(obstacles(to: required).map(JSON.string)), "warnings": .array(warnings.map(JSON.string)),
      "instances": .array(rows),
    ]
  }

  /// A service may say any number, and one that no count can be.
  private static func whole(_ gauge: Double) -> Int64 { Int64(exactly: gauge.rounded()) ?? .max }

  /// What keeps nobody from work, and somebody should look at.
  public var warnings: [String] {
    var warnings: [String] = []
    let damaged = instances.compactMap { $0.gauge("caravan_storage_damaged_chunks") }.max() ?? 0
    if damaged > 0 {
      warnings.append(
        "\(Self.whole(damaged)) chunks of objects are damaged on storage's disk: caravan damage lists them")
    }
    let records = instances.compactMap { $0.gauge("caravan_storage_damaged_records") }.max() ?? 0
    if records > 0 {
      warnings.append("\(Self.whole(records)) records are damaged on storage's disk: caravan damage lists them")
    }
    if instances.contains(where: { $0.gauge("caravan_storage_clock_trusted") == 0 }) {
      warnings.append(
        "storage does not believe its clock, and deletes nothing for its age: see caravan clock")
    }
    return warnings
  }
}

extension EndpointReport {
  /// `rate` is requests a second and `latency_ms` their mean, both null before there are two reports to compare.
  func json(since earlier: EndpointReport?, seconds: Double) -> JSON {
    assert(earlier.map { $0.name == name } ?? true, "'\(name)' is compared with another endpoint")
    assert(seconds.isFinite && seconds >= 0, "no time has passed backwards")
    var object: JSON.Object = [
      "name": .string(name), "requests": .int(Int64(clamping: requests)), "errors": .int(Int64(clamping: errors)),
      "in_flight": .int(Int64(clamping: inFlight)), "rate": .null, "latency_ms": .null,
    ]
    guard let earlier, seconds > 0, requests >= earlier.requests,
      processingNanoseconds >= earlier.processingNanoseconds
    else { return .object(object) }
    let count = requests - earlier.requests
    object["rate"] = .double(Double(count) / seconds)
    if count > 0 {
      let nanoseconds = processingNanoseconds - earlier.processingNanoseconds
      object["latency_ms"] = .double(Double(nanoseconds) / Double(count) / 1e6)
    }
    return .object(object)
  }
}

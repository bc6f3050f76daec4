internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// BEN-23: by whom record types are found when devices save and ask: in the request itself, in a process's memory, or
/// at the registry; of many containers with many types, each used again and again.
struct SchemaBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rounds: Int

  private static let users = 16
  private static let containers = 8
  private static let typesPerContainer = 4
  private static let asksEvery = 4
  private static let places = ["request", "memory", "registry"]

  func run() async throws {
    let devices = try await suite.edgeDevices(Self.users, prefix: "schema")
    let bus = try await suite.connect(as: "cli")
    var op: UInt64 = 0
    for batch in [1, 10] {
      let before = try await reads(bus)
      var asked = 0
      for round in 0..<rounds {
        for (number, device) in devices.enumerated() {
          op += 1
          let container = "bench\((number + round) % Self.containers)"
          let name = "type\(round % Self.typesPerContainer)"
          let type = try await device.makeType(name, in: container)
          let rows = SampleRows(host: suite.host, bytes: 100)
          try await device.save(
            (0..<batch).map { _ in rows.body() }, names: (0..<batch).map { rows.name(op << 8 | UInt64($0)) },
            type: type,
            op: op, to: name, in: container)
          guard (number + round) % Self.asksEvery == 0 else { continue }
          try await ask(bus, device, name, container)
          asked += 1
        }
      }
      say(batch, try await reads(bus), before, saves: rounds * devices.count, asked: asked)
    }
    for bus in devices.map(\.bus) + [bus] { await bus.drain(deadline: .seconds(1)) }
  }

  private func ask(_ bus: NATSBus, _ device: EdgeDevice, _ type: String, _ container: String) async throws {
    let query = CaravanModel.Query(
      database: DatabaseID(container: try ContainerID(container), environment: .development, owner: device.user),
      type: type, limit: 10)
    let _: QueryReply = try await bus.call(
      QueryRequest(query), to: .partitioned(.query, Partition(of: query.database), method: "find"),
      deadline: .seconds(10))
  }

  private func say(_ batch: Int, _ after: [Double], _ before: [Double], saves: Int, asked: Int) {
    let counts = zip(after, before).map { $0 - $1 }
    let all = counts.reduce(0, +)
    report.line(
      "records_\(batch)",
      [
        "reads": all, "request_share": counts[0] / all, "memory_share_of_rest": counts[1] / (counts[1] + counts[2]),
        "found_share": 1 - counts[2] / all, "registry_share": counts[2] / all, "saves": Double(saves),
        "queries": Double(asked),
      ])
  }

  /// What all processes have counted, by place.
  private func reads(_ bus: NATSBus) async throws -> [Double] {
    let answers = try await bus.gather(Message(), to: .discovery(.stats), within: .milliseconds(300), limit: 100)
    var all = MetricsSnapshot()
    for answer in answers {
      if let metrics = try JSON.parse(answer.payload)["data"]?["metrics"] {
        all.merge(try MetricsSnapshot(json: metrics))
      }
    }
    return Self.places.map { place in
      guard case .counter(let count) = all["caravan_schema_type_reads_total", [.outcome: place]] else { return 0 }
      return Double(count)
    }
  }
}

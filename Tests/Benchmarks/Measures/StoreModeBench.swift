internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime

/// Rows with 1 KiB objects, updated and read through the agent's socket in both store modes, in turn (BEN-03).
struct StoreModeBench: Sendable {
  let client: CaravanClient
  let host: Host
  let report: BenchReport
  let rounds: Int

  private static let objectBytes = 1 << 10
  private static let rows = 100

  private struct Figures {
    var updates = Samples()
    var reads = Samples()
  }

  func run() async throws {
    var tables: [(mode: TableProperties.StoreMode, table: Table, rows: [String], figures: Figures)] = []
    for (index, mode) in TableProperties.StoreMode.allCases.enumerated() {
      let table = try await client.createTable(
        "small_\(index)", "number INTEGER, thing OBJECT", properties: TableProperties(mode: mode))
      var rows: [String] = []
      for number in 0..<Self.rows {
        rows.append(
          try await table.write(
            ["number": .integer(Int64(number))], contents: ["thing": host.random.bytes(Self.objectBytes)]))
      }
      tables.append((mode, table, rows, Figures()))
    }
    for round in 0..<rounds {
      // Neither always goes first.
      for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        let (_, table, rows, _) = tables[index]
        let object = host.random.bytes(Self.objectBytes)
        let number = round % Self.rows
        var start = host.clock.now
        try await table.update(
          .init("number=?", [.integer(Int64(number))]), [:], contents: ["thing": object])
        tables[index].figures.updates.add(host.clock.now - start)
        start = host.clock.now
        guard try await table.contents(of: "thing", row: rows[number]).all() == object else {
          throw CaravanError(.internalError, "an object came back changed")
        }
        tables[index].figures.reads.add(host.clock.now - start)
      }
    }
    for (mode, _, _, figures) in tables {
      report.line(
        "1 KiB objects, \(mode.rawValue)",
        [
          "update_mb_per_s": Self.rate(figures.updates), "update_p50_ms": figures.updates.p50,
          "read_mb_per_s": Self.rate(figures.reads), "read_p50_ms": figures.reads.p50,
        ])
    }
  }

  private static func rate(_ samples: Samples) -> Double { Double(objectBytes) / 1e6 / (samples.p50 / 1e3) }
}

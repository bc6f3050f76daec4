internal import CaravanModel
internal import CaravanRuntime

/// What it takes to know who wrote each row last (BEN-13, MOB-51, E12): as ranges over versions, which is what a zone's
/// log is; in every row, as the engine's store has it; and in every row by name.
struct WriterBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int

  private static let container = "bench"
  private static let writers = 8
  private static let runs = [1, 10, 100, 1_000]

  func run() async throws {
    for run in Self.runs { try await measure(run) }
  }

  /// Writers take turns, each with so many rows. A turn of one row is the worst case: all writers interleave.
  private func measure(_ run: Int) async throws {
    let user = "writers-\(run)"
    let devices = try await suite.edgeDevices(Self.writers, prefix: user, user: user)
    let type = try await devices[0].makeType("writers", in: Self.container)
    let samples = SampleRows(host: suite.host, bytes: 16)
    let before = try await suite.engine.weigh()
    let turns = (rows + run - 1) / run
    for turn in 0..<turns {
      let device = devices[turn % Self.writers]
      let end = min((turn + 1) * run, rows)
      for first in stride(from: turn * run, to: end, by: Limits.recordsPerCommit) {
        let numbers = (first..<min(first + Limits.recordsPerCommit, end)).map { UInt64($0) }
        try await device.save(
          numbers.map { _ in samples.body() }, names: numbers.map(samples.name), type: type, op: UInt64(first + 1),
          to: "writers", in: Self.container)
      }
    }
    try say(run, before, try await suite.engine.weigh())
  }

  private func say(_ run: Int, _ before: RowEngine.Figures, _ after: RowEngine.Figures) throws {
    func perRow(_ part: String) throws -> Double { try (after.number(part) - before.number(part)) / Double(rows) }
    report.line(
      "writers",
      [
        "run": Double(run), "writers": Double(Self.writers), "rows": Double(rows),
        "range_bytes_per_row": try perRow("log_bytes"), "column_bytes_per_row": try perRow("writer_bytes"),
        "name_bytes_per_row": try perRow("writer_name_bytes"),
      ])
  }
}

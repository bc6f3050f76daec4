internal import Model
internal import Runtime
internal import SQLite

/// What it takes to know who wrote each row last (BEN-13, MOB-51, E12): as ranges over versions, which is what a zone's
/// log is; in every row, as a number, which is what the store reads; and in every row by name. Of the embedded store.
struct WriterBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int

  private static let container = "bench"
  private static let writers = 8
  private static let runs = [1, 10, 100, 1_000]

  func run() async throws {
    guard !suite.storageFiles.isEmpty else { return }
    for run in Self.runs { try await measure(run) }
  }

  /// Writers take turns, each with so many rows. A turn of one row is the worst case: all writers interleave.
  private func measure(_ run: Int) async throws {
    let user = "writers-\(run)"
    let devices = try await suite.edgeDevices(Self.writers, prefix: user, user: user)
    let type = try await devices[0].makeType("writers", in: Self.container)
    let samples = SampleRows(host: suite.host, bytes: 16)
    let before = try sizes()
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
    say(run, try sizes() - before)
  }

  private struct Sizes {
    var log = 0
    var column = 0
    var names = 0

    static func - (a: Sizes, b: Sizes) -> Sizes {
      Sizes(log: a.log - b.log, column: a.column - b.column, names: a.names - b.names)
    }
  }

  /// Of the log's rows as SQLite packs them, and of the writer in each entry: its number, and one byte that says how
  /// long that is.
  private func sizes() throws(CaravanError) -> Sizes {
    var sizes = Sizes()
    for path in suite.storageFiles {
      let db = try Connection(.file(path))
      defer { db.close() }
      let log = try db.prepare("SELECT coalesce(sum(payload), 0) FROM dbstat WHERE name = 'log'").first {
        Int($0.integer(0))
      }
      let column = try db.prepare(
        """
        SELECT coalesce(
            sum(1 + CASE WHEN writer < 2 THEN 0 WHEN writer < 128 THEN 1 WHEN writer < 32768 THEN 2 ELSE 3 END), 0),
          coalesce(sum(1 + length(w.name)), 0)
        FROM entries JOIN writers w ON w.id = writer
        """
      ).first { (column: Int($0.integer(0)), names: Int($0.integer(1))) }
      sizes.log += log ?? 0
      sizes.column += column?.column ?? 0
      sizes.names += column?.names ?? 0
    }
    return sizes
  }

  private func say(_ run: Int, _ sizes: Sizes) {
    func perRow(_ bytes: Int) -> Double { Double(bytes) / Double(rows) }
    report.line(
      "writers",
      [
        "run": Double(run), "writers": Double(Self.writers), "rows": Double(rows),
        "range_bytes_per_row": perRow(sizes.log), "number_bytes_per_row": perRow(sizes.column),
        "name_bytes_per_row": perRow(sizes.names),
      ])
  }
}

internal import Client
internal import Model
internal import Runtime

/// A new device fetches what others wrote: rows a second, durable in its own store, and bytes a row on the wire.
struct CatchupBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rows: Int

  private static let batch = Limits.recordsPerCommit

  func run() async throws {
    let user = "catchup"
    let writer = try await suite.edgeDevice("catchup-a", user: user)
    let type = try await writer.makeType("catchup", in: "bench")
    let samples = SampleRows(host: suite.host, bytes: 250)
    let clock = suite.host.clock
    let uploadStart = clock.now
    for op in 0..<(rows / Self.batch) {
      let numbers = (0..<Self.batch).map { UInt64(op * Self.batch + $0) }
      try await writer.save(
        numbers.map { _ in samples.body() }, names: numbers.map(samples.name), type: type, op: UInt64(op + 1),
        to: "catchup", in: "bench")
    }
    let uploaded = rows / Self.batch * Self.batch
    report.line(
      "upload", ["rows": Double(uploaded), "rows_per_s": Double(uploaded) / (clock.now - uploadStart).seconds])
    let floor = try Floors(host: suite.host, directory: suite.directory).rawSQLite(
      rowBytes: 250, batch: 1000, seconds: 1)
    let socket = try await suite.agent("catchup-b", user: user)
    try await CaravanClient.withConnection(to: socket, app: "bench") { client in
      let table = try await client.createTable("catchup", "text VARCHAR")
      let start = clock.now
      try await table.readSyncNow()
      let took = (clock.now - start).seconds
      let status = try await client.status().tables.first { $0.name == "catchup" }
      guard let status, status.rows == UInt64(uploaded) else {
        throw CaravanError(.internalError, "\(status?.rows ?? 0) of \(uploaded) rows arrived")
      }
      report.line(
        "fresh_device",
        [
          "rows": Double(uploaded), "rows_per_s": Double(uploaded) / took,
          "wire_bytes_per_row": Double(status.bytesDown) / Double(uploaded),
        ], floor: ["sqlite_rows_per_s": floor])
    }
  }
}

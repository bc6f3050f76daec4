internal import CaravanBusNATS
internal import CaravanModel
internal import CaravanRuntime

/// BEN-16: what a store keeps on the disk after many updates of records chosen at random, beside what the same records
/// take when each has been written once, and beside their names and bodies. A log of diffs beside the records would go
/// on growing.
struct AmplificationBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  /// Ten of each record.
  let updates: Int

  private static let batch = 100

  func run() async throws {
    let device = try await suite.edgeDevice("amplification", user: "amplification")
    let writer = ZoneWriter(
      device: device, type: try await device.makeType("row", in: ZoneWriter.container), zone: "amplified",
      rows: SampleRows(host: suite.host, bytes: 250))
    let records = updates / 10
    let names = (0..<UInt64(records)).map(writer.rows.name)
    var op: UInt64 = 0
    for start in stride(from: 0, to: records, by: Self.batch) {
      op += 1
      try await writer.save(Array(names[start..<min(start + Self.batch, records)]), op: op)
    }
    let once = try await suite.engine.weigh(isSettled: true)
    for _ in 0..<updates / Self.batch {
      op += 1
      let chosen = Set((0..<Self.batch).map { _ in names[Int(suite.host.random.below(UInt64(records)))] })
      try await writer.save(chosen.sorted(), op: op, isNew: false)
    }
    let after = try await suite.engine.weigh(isSettled: true)
    let (bytes, live) = (try after.number("table_bytes"), try after.number("record_bytes"))
    report.line(
      "\(updates)_updates",
      [
        "records": Double(records), "bytes_per_record": bytes / Double(records),
        "amplification": bytes / (try once.number("table_bytes")), "of_names_and_bodies": bytes / live,
      ], floor: ["name_and_body_bytes_per_record": live / Double(records)])
    await device.bus.drain(deadline: .seconds(1))
  }
}

internal import CaravanBusNATS
internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// A new device fetches what others wrote: rows a second, durable in its own store, and bytes a row on the wire. Before
/// it the same pages straight from storage, by two who read beside each other.
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
    try await readStorage(user, expecting: uploaded)
    let floor = try await suite.deviceEngine.rowsPerSecond(bytes: 250, batch: 1000, seconds: 1)
    let socket = try await suite.agent("catchup-b", user: user)
    try await CaravanClient.withConnection(to: socket, app: "bench") { client in
      let table = try await client.createTable("catchup", "text VARCHAR")
      let start = clock.now
      try await table.readSyncNow()
      let took = (clock.now - start).seconds
      let status = try await client.status()
      guard let rows = status.tables.first(where: { $0.name == "catchup" })?.rows, rows == UInt64(uploaded) else {
        throw CaravanError(.internalError, "not all of \(uploaded) rows arrived")
      }
      let wireBytes = status.usage.reduce(0) { $0 + $1.bytesDown }
      report.line(
        "fresh_device",
        [
          "rows": Double(uploaded), "rows_per_s": Double(uploaded) / took,
          "wire_bytes_per_row": Double(wireBytes) / Double(uploaded),
        ], floor: ["sqlite_rows_per_s": floor])
    }
  }

  private static let readers = 2

  /// Pages as sync asks storage for them.
  private func readStorage(_ user: String, expecting rows: Int) async throws {
    let bus = try await suite.connect(as: "sync")
    let storage = StorageClient(bus: bus, host: suite.host, writer: "@bench")
    let database = DatabaseID(container: try ContainerID("bench"), environment: .development, owner: try UserID(user))
    let zone = try ZoneID(database, "catchup")
    let start = suite.host.clock.now
    let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<Self.readers { group.addTask { try await read(zone, of: storage, expecting: rows) } }
      return try await group.reduce(0, +)
    }
    let took = (suite.host.clock.now - start).seconds
    await bus.drain(deadline: .seconds(1))
    report.line(
      "storage_endpoint",
      [
        "readers": Double(Self.readers), "rows_per_s": Double(rows * Self.readers) / took,
        "page_bytes_per_row": Double(bytes) / Double(rows * Self.readers),
      ])
  }

  /// - Returns: bytes of all pages.
  private func read(_ zone: ZoneID, of storage: StorageClient, expecting rows: Int) async throws -> Int {
    var (bytes, pages) = (0, 0)
    var position: CaravanWire.ChangePosition?
    while true {
      let request = ReadChangesRequest(
        zone: ZoneRef(zone), maxRecords: 4_096, maxBytes: UInt32(Limits.pageBytes), from: position)
      let reply = try await storage.changes(of: zone, request)
      (bytes, pages) = (bytes + reply.page.count, pages + 1)
      guard reply.more else {
        guard reply.next?.seq == UInt64(rows) else {
          throw CaravanError(.internalError, "storage gave \(reply.next?.seq ?? 0) of \(rows) rows in \(pages) pages")
        }
        return bytes
      }
      position = reply.next
    }
  }
}

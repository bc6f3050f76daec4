internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Reading a zone by snapshots, beside the plain way, while it is written at twice the reader's speed (BEN-29, CK-53):
/// what it costs reader, writer and store, and whether the reader ever has a state that the zone had.
struct SnapshotBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  /// Of the zone.
  let rows: Int

  private static let container = "bench"
  private static let rowBytes = 250
  /// About as many are read at once; twice as many are written meanwhile.
  private static let page = 100
  private static let pageBytes: UInt32 = 32_000
  /// The reader is given pages enough to go through the zone so many times.
  private static let passes = 3
  private static let pagesPerLook = 20

  private struct Figures {
    var pages = 0
    var states = 0
    var written = 0
    var read = Samples()
    var write = Samples()
    /// Entries that only snapshots had, and their bytes: the most there were.
    var kept = (rows: 0.0, bytes: 0.0)
  }

  func run() async throws {
    let raw = try await suite.engine.rowsPerSecond(bytes: Self.rowBytes, batch: Self.page, among: rows, seconds: 1)
    let floor = 1e3 * Double(Self.page) / raw
    let plain = try await measure("plain", bySnapshots: false)
    say("plain", plain, floor: floor)
    say("snapshots", try await measure("snapshots", bySnapshots: true), beside: plain, floor: floor)
  }

  private func say(_ figure: String, _ figures: Figures, beside plain: Figures? = nil, floor: Double) {
    var values: [(String, Double)] = [
      ("rows", Double(rows)), ("pages", Double(figures.pages)), ("consistent_states", Double(figures.states)),
      ("page_p50_ms", figures.read.p50), ("batch_write_p50_ms", figures.write.p50),
      ("kept_rows", figures.kept.rows), ("kept_bytes_per_row", figures.kept.bytes / Double(rows)),
    ]
    if let plain {
      values.append(("page_ratio", figures.read.p50 / plain.read.p50))
      values.append(("write_ratio", figures.write.p50 / plain.write.p50))
    }
    report.line(figure, values, floor: [("\(suite.engine.name)_batch_write_ms", floor)])
  }

  private func measure(_ zone: String, bySnapshots: Bool) async throws -> Figures {
    let (writer, reader) = (
      try await suite.edgeDevice("\(zone)-a", user: zone), try await suite.edgeDevice("\(zone)-b", user: zone)
    )
    let samples = SampleRows(host: suite.host, bytes: Self.rowBytes)
    let type = try await writer.makeType(zone, in: Self.container)
    let names = (0..<rows).map { samples.name(UInt64($0)) }
    var op: UInt64 = 0
    func save(_ numbers: [Int], isNew: Bool) async throws {
      op += 1
      try await writer.save(
        numbers.map { _ in samples.body() }, names: numbers.map { names[$0] }, type: type, op: op, to: zone,
        in: Self.container, isNew: isNew)
    }
    for start in stride(from: 0, to: rows, by: Self.page) {
      try await save(Array(start..<min(start + Self.page, rows)), isNew: true)
    }
    var figures = Figures()
    var token: [UInt8] = []
    let clock = suite.host.clock
    while figures.pages < Self.passes * rows / Self.page {
      var start = clock.now
      let pull = Pull(
        container: Self.container, zone: zone, token: token, maxBytes: Self.pageBytes, snapshot: bySnapshots)
      guard case .pull(let page) = try await reader.ask(.pull(pull)), !page.resetRequired else {
        throw CaravanError(.internalError, "a pull was answered with something else than a page")
      }
      figures.read.add(clock.now - start)
      token = page.token
      figures.pages += 1
      if page.consistent { figures.states += 1 }
      for _ in 0..<2 {
        let numbers = Set((0..<Self.page).map { _ in Int(suite.host.random.below(UInt64(rows))) }).sorted()
        start = clock.now
        try await save(numbers, isNew: false)
        figures.write.add(clock.now - start)
        figures.written += numbers.count
      }
      guard figures.pages % Self.pagesPerLook == 0 else { continue }
      let weight = try await suite.engine.weigh()
      let kept = (rows: try weight.number("superseded_rows"), bytes: try weight.number("superseded_bytes"))
      if kept.rows > figures.kept.rows { figures.kept = kept }
    }
    return figures
  }
}

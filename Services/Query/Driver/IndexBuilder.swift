import CaravanModel
import CaravanRuntime

/// Builds indexes in steps, between which others use the file: one step of each table in turn, for as long as the
/// service runs. What was begun before goes on.
final class IndexBuilder: Sendable {
  private struct Work {
    /// The first is next.
    var tables: [TableKey] = []
    /// Opened when the table is ready.
    var latches: [TableKey: Latch] = [:]
    /// How often it was asked for: more may be to be built than a step has found.
    var asked: [TableKey: Int] = [:]

    mutating func turn() -> (table: TableKey, asked: Int)? {
      guard let table = tables.first else { return nil }
      tables.append(tables.removeFirst())
      return (table, asked[table, default: 0])
    }

    /// - Returns: nil: somebody has asked for more meanwhile.
    mutating func done(_ table: TableKey, asked count: Int) -> Latch? {
      guard asked[table, default: 0] == count else { return nil }
      tables.removeAll { $0 == table }
      asked[table] = nil
      return latches.removeValue(forKey: table)
    }
  }

  private let writer: IndexWriter
  private let clock: any Clock
  private let metrics: QueryMetrics
  private let work = Mutex(Work())
  private let more = Signal()

  /// Before a step that the disk has refused is tried again.
  private static let pause: Duration = .seconds(1)

  init(_ writer: IndexWriter, clock: any Clock, metrics: QueryMetrics) {
    self.writer = writer
    self.clock = clock
    self.metrics = metrics
  }

  /// Returns when the table's indexes are built, or after `patience`.
  func build(_ table: TableKey, patience: Duration) async {
    let latch = work.withLock { work in
      work.asked[table, default: 0] += 1
      if !work.tables.contains(table) { work.tables.append(table) }
      if let latch = work.latches[table] { return latch }
      let latch = Latch()
      work.latches[table] = latch
      return latch
    }
    more.raise()
    try? await clock.withDeadline(patience, "building an index") { await latch.wait() }
  }

  /// Goes on with what was begun in a partition before.
  func resume(_ partition: Partition) async throws(CaravanError) {
    let unfinished = try await writer.unfinished(in: partition)
    work.withLock { work in
      for table in unfinished {
        work.asked[table, default: 0] += 1
        if !work.tables.contains(table) { work.tables.append(table) }
      }
    }
    more.raise()
  }

  /// Returns when it is cancelled.
  /// - Throws: what is wrong with the index, but that it cannot be written now.
  func run() async throws(CaravanError) {
    while !Task.isCancelled {
      guard let (table, asked) = work.withLock({ $0.turn() }) else {
        await more.wait()
        continue
      }
      if try await step(table) {
        // Whoever asked the writer for something meanwhile comes first.
        await Task.yield()
      } else {
        work.withLock { $0.done(table, asked: asked) }?.open()
      }
    }
  }

  /// - Returns: whether there is more to be built.
  private func step(_ table: TableKey) async throws(CaravanError) -> Bool {
    // Whoever serves the partition now goes on.
    guard writer.serves(Partition(of: table.database)) else { return false }
    do throws(CaravanError) {
      let (start, takings) = (clock.now, writer.takings)
      let hasMore = try await writer.step(table)
      metrics.steps.add()
      // Changes that come meanwhile get half of the time, or the index would fall behind them until it is built.
      if hasMore, writer.takings != takings { try? await clock.sleep(for: clock.now - start) }
      return hasMore
    } catch {
      guard error.isTransient else { throw error }
      try? await clock.sleep(for: Self.pause)
      return true
    }
  }
}

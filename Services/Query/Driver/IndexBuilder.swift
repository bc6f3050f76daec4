import CaravanModel
import CaravanRuntime

/// Builds indexes in steps, between which others use the file: one table after another, for as long as the service
/// runs. What was begun before goes on.
final class IndexBuilder: Sendable {
  private struct Work {
    var tables: [TableKey] = []
    /// Opened when the table is ready.
    var latches: [TableKey: Latch] = [:]
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
      if let latch = work.latches[table] { return latch }
      let latch = Latch()
      work.latches[table] = latch
      if !work.tables.contains(table) { work.tables.append(table) }
      return latch
    }
    more.raise()
    try? await clock.withDeadline(patience, "building an index") { await latch.wait() }
  }

  /// Returns when it is cancelled. What was begun before it ran comes first.
  /// - Throws: what is wrong with the file, but that the disk is full.
  func run() async throws(CaravanError) {
    let unfinished = try await writer.unfinished()
    work.withLock { $0.tables = unfinished + $0.tables.filter { !unfinished.contains($0) } }
    while !Task.isCancelled {
      guard let table = work.withLock({ $0.tables.first }) else {
        await more.wait()
        continue
      }
      guard try await steps(of: table) else { continue }
      let latch = work.withLock { work in
        work.tables.removeAll { $0 == table }
        return work.latches.removeValue(forKey: table)
      }
      latch?.open()
    }
  }

  /// - Returns: whether the table is ready.
  private func steps(of table: TableKey) async throws(CaravanError) -> Bool {
    do throws(CaravanError) {
      while try await writer.step(table) {
        metrics.steps.add()
        // Whoever asked the writer for something meanwhile comes first.
        await Task.yield()
        if Task.isCancelled { return false }
      }
      return true
    } catch {
      guard error.isTransient else { throw error }
      try? await clock.sleep(for: Self.pause)
      return false
    }
  }
}

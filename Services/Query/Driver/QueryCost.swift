import CaravanModel
import CaravanQueryCore
import CaravanRuntime

/// What one query has cost so far, of what it may (`QueryLimits.steps`, `QueryLimits.runTime`). Used on the thread of
/// one connection.
final class QueryCost {
  private var steps = 0
  private let most: Int
  private let deadline: Instant
  private let clock: any Clock

  init(most: Int, clock: any Clock) {
    self.most = most
    self.clock = clock
    deadline = clock.now + QueryLimits.runTime
  }

  private(set) var isOver = false

  /// - Returns: whether the query may go on.
  func add(_ steps: Int) -> Bool {
    self.steps += steps
    if self.steps >= most || clock.now >= deadline { isOver = true }
    return !isOver
  }

  /// Whether the evaluator may look at a record.
  /// - Parameters:
  ///   - bytes: of its body.
  ///   - times: how often it may have to go through them.
  func mayLook(at bytes: Int, times: Int) -> Bool {
    !isOver && add(QueryLimits.recordCost + bytes / QueryLimits.bytesPerStep + bytes * times)
  }
}

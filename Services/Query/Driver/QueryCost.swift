import CaravanModel
import CaravanQueryCore
import CaravanRuntime

/// What one question has cost so far, of what it may (`QueryLimits.steps`, `QueryLimits.runTime`). Used on the thread
/// of one connection.
final class QueryCost {
  private struct Allowance {
    var steps: Int
    var end: Instant
  }

  private var steps = 0
  private let whole: Allowance
  /// Of what is being tried.
  private var allowed: Allowance
  private let clock: any Clock

  init(most: Int, clock: any Clock) {
    self.clock = clock
    whole = Allowance(steps: most, end: clock.now + QueryLimits.runTime)
    allowed = whole
  }

  private(set) var isOver = false

  /// What comes next may cost half of what is left, as there is another way.
  func spareHalf() {
    let left = whole.end - clock.now
    allowed = Allowance(steps: steps + max(0, whole.steps - steps) / 2, end: clock.now + left / 2)
  }

  /// What was spared may be spent as well.
  func spendAll() {
    allowed = whole
    isOver = false
  }

  /// - Returns: whether the query may go on.
  func add(_ steps: Int) -> Bool {
    self.steps += steps
    if self.steps >= allowed.steps || clock.now >= allowed.end { isOver = true }
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

import CaravanRuntime
import CaravanSyncCore

/// A frame's reply budget, shared by its lanes.
final class ReplyAccount: Sendable {
  private let budget: Mutex<ReplyBudget>

  init(_ budget: ReplyBudget) { self.budget = Mutex(budget) }

  func take(_ wanted: Int) -> Int? { budget.withLock { $0.take(wanted) } }

  func settle(taken: Int, needed: Int, least: Int) -> Int? {
    budget.withLock { $0.settle(taken: taken, needed: needed, least: least) }
  }

  /// All of it or nothing.
  func settle(taken: Int, needed: Int) -> Bool { settle(taken: taken, needed: needed, least: needed) != nil }
}

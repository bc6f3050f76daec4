import Model

/// The room in one reply frame. Pushes have theirs set aside from the start, so that a conflict's server copies come
/// home however much the same frame pulls; pulls share the rest, first come first served.
package struct ReplyBudget: Sendable, Hashable {
  private var left: Int

  /// - Parameters:
  ///   - operations: of the frame.
  ///   - setAside: estimates of the pushes' answers, in bytes.
  package init(operations: Int, setAside: [Int]) {
    precondition(operations >= setAside.count, "more pushes than operations")
    left = Limits.frameBytes - operations * SyncLimits.replyBytesPerOperation - setAside.reduce(0, +)
  }

  /// What the answer to a push is likely to need: accepted outcomes, or server copies as large as the device's rows.
  package static func estimate(mutations: Int, bytes: Int) -> Int { mutations * SyncLimits.outcomeBytes + bytes }

  /// Room for a page of at most `wanted` bytes; nil: none worth a question to the store.
  package mutating func take(_ wanted: Int) -> Int? {
    let granted = min(wanted, left - SyncLimits.pageOverheadBytes)
    guard granted >= min(wanted, SyncLimits.smallestPull) else { return nil }
    left -= granted
    return granted
  }

  /// Exchanges what was taken for as much as there is of what is needed.
  /// - Returns: nil when that is less than `least`: the answer must not be sent.
  package mutating func settle(taken: Int, needed: Int, least: Int) -> Int? {
    precondition(least <= needed, "the least of an answer is part of it")
    left += taken
    let granted = min(needed, left)
    guard granted >= least else { return nil }
    left -= granted
    return granted
  }
}

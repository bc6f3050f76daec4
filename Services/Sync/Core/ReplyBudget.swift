import CaravanModel

/// The room in one reply frame. Pushes have theirs set aside from the start, so that a conflict's server copies come
/// home however much the same frame pulls; pulls share the rest evenly, and what one leaves goes to those after it.
package struct ReplyBudget: Sendable, Hashable {
  private var left: Int
  private var pullsLeft: Int

  /// - Parameters:
  ///   - operations: of the frame.
  ///   - pulls: of the frame.
  ///   - setAside: estimates of the pushes' answers, in bytes.
  package init(operations: Int, pulls: Int, setAside: Int) {
    precondition(operations >= pulls, "more pulls than operations")
    precondition(pulls >= 0 && setAside >= 0, "less than nothing is set aside, or pulled")
    left = Limits.frameBytes - operations * SyncLimits.replyBytesPerOperation - setAside
    pullsLeft = pulls
  }

  /// What the answer to a push is likely to need: accepted outcomes, or server copies as large as the device's rows.
  package static func estimate(mutations: Int, bytes: Int) -> Int { mutations * SyncLimits.outcomeBytes + bytes }

  /// Room for the next pull's page of at most `wanted` bytes; nil: none worth a question to the store.
  package mutating func take(_ wanted: Int) -> Int? {
    precondition(pullsLeft > 0, "more pulls than there are in the frame")
    precondition(wanted > 0, "a page of nothing")
    let granted = min(wanted, left / pullsLeft)
    pullsLeft -= 1
    guard granted >= min(wanted, SyncLimits.smallestPull) else { return nil }
    left -= granted
    precondition(left >= 0 && granted <= wanted, "\(granted) bytes were promised of a frame that lacks \(-left)")
    return granted
  }

  /// Exchanges what was taken for as much as there is of what is needed.
  /// - Returns: nil when that is less than `least`: the answer must not be sent.
  package mutating func settle(taken: Int, needed: Int, least: Int) -> Int? {
    precondition(least <= needed, "the least of an answer is part of it")
    precondition(taken >= 0 && least >= 0, "less than nothing was taken, or is needed")
    left += taken
    let granted = min(needed, left)
    guard granted >= least else { return nil }
    left -= granted
    precondition(left >= 0, "the answer takes \(-left) bytes that the frame does not have")
    return granted
  }
}

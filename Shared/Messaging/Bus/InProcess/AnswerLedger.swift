internal import CaravanRuntime

/// Where a connection may answer, for it has been asked from there.
struct AnswerLedger {
  private struct Permit {
    var left: Int?
    let until: Instant?
  }

  private var leaves: [String: Permit] = [:]

  /// - Parameter copies: so many of the request arrive where the network doubles it, and each may be answered.
  mutating func asked(_ address: String, _ answers: BrokerRights.Answers, copies: Int, at now: Instant) {
    if leaves.count >= BusLimits.answersOpen { leaves = leaves.filter { $0.value.until.map { $0 >= now } ?? true } }
    leaves[address] = Permit(left: answers.count.map { $0 * copies }, until: answers.lifetime.map { now + $0 })
  }

  /// Whether an answer may go there now; it counts as given.
  mutating func answers(_ address: String, at now: Instant) -> Bool {
    guard var leave = leaves[address] else { return false }
    if let until = leave.until, now > until {
      leaves[address] = nil
      return false
    }
    guard let left = leave.left else { return true }
    leave.left = left - 1
    leaves[address] = left > 1 ? leave : nil
    return left > 0
  }
}

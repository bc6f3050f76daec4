package import CaravanModel

/// How far a push target has come in its user's notification log, and how it does.
package struct TargetProgress: Sendable, Hashable {
  /// A notification that was not taken.
  package struct GivenUp: Sendable, Hashable {
    package var source: UInt32
    package var number: UInt64
    package var status: UInt32
    package var problem: String
    /// Unix milliseconds.
    package var at: Int64

    package init(source: UInt32, number: UInt64, status: UInt32, problem: String, at: Int64) {
      (self.source, self.number, self.status, self.problem, self.at) = (source, number, status, problem, at)
    }
  }

  /// What became of one try.
  package enum Outcome: Sendable, Hashable {
    case taken
    /// To be tried again, after so long at least.
    case later(status: UInt32, problem: String, waitMilliseconds: Int64)
    /// Nobody takes this notification.
    case refused(GivenUp)
    /// Nobody takes anything there any more.
    case gone(status: UInt32, problem: String)
  }

  /// Of the log; nil: from its beginning.
  package var position: ChangePosition?
  package var delivered: UInt64 = 0
  package var givenUp: UInt64 = 0
  /// Of the last answer; 0: there was none.
  package var status: UInt32 = 0
  /// Of the last try; empty: it went well.
  package var problem = ""
  /// Unix milliseconds; nil: the last try went well.
  package var failingSince: Int64?
  /// Tries that failed since then.
  package var failures = 0
  /// It is tried no more until it is registered again.
  package var hasEnded = false
  /// The last ones, the newest at the end.
  package var last: [GivenUp] = []
  /// Of each source of the log, the last number that lies behind the target.
  package var numbers: [UInt32: UInt64] = [:]

  package init(position: ChangePosition? = nil) { self.position = position }

  /// Takes in one try. What is taken or given up lies behind the target.
  /// - Parameters:
  ///   - next: the position behind the notification.
  ///   - now: Unix milliseconds.
  /// - Returns: whether the target has come to `next`.
  package mutating func take(_ outcome: Outcome, next: ChangePosition, now: Int64) -> Bool {
    switch outcome {
    case .taken:
      delivered += 1
      works(status: 0)
    case .refused(let lost):
      giveUp(lost, 1)
      works(status: lost.status)
    case .later(let status, let problem, _):
      fails(status, problem, now)
      return false
    case .gone(let status, let problem):
      fails(status, problem, now)
      hasEnded = true
      return false
    }
    position = next
    return true
  }

  /// The target comes to a notification of a source. The log keeps the last ones only: those before it that the target
  /// has not come to and that made room for later ones are given up.
  /// - Parameters:
  ///   - since: nothing of the source is missing below this number.
  ///   - now: Unix milliseconds.
  /// - Returns: how many were given up.
  package mutating func meet(_ number: UInt64, of source: UInt32, since: UInt64, at now: Int64) -> UInt64 {
    let before = number > 0 ? number - 1 : 0
    guard let behind = numbers[source] else {
      // What came before the target began is not for it.
      if numbers.count < NotifyLimits.sourcesPerTarget { numbers[source] = before }
      return 0
    }
    let known = max(behind, since > 0 ? since - 1 : 0)
    guard before > known else { return 0 }
    let count = before - known
    giveUp(
      GivenUp(
        source: source, number: before, status: status,
        problem: "\(count) up to this one waited until the log had no room for them: ask anew", at: now), count)
    numbers[source] = before
    return count
  }

  /// A notification lies behind the target now, whatever became of it.
  package mutating func pass(_ number: UInt64, of source: UInt32, next: ChangePosition) {
    position = next
    guard let behind = numbers[source] else { return }
    precondition(numbers.count <= NotifyLimits.sourcesPerTarget, "a log of \(numbers.count) sources")
    numbers[source] = max(behind, number)
  }

  /// A notification that has waited too long.
  package mutating func giveUp(_ lost: GivenUp, next: ChangePosition) {
    giveUp(lost, 1)
    pass(lost.number, of: lost.source, next: next)
  }

  private mutating func giveUp(_ lost: GivenUp, _ count: UInt64) {
    precondition(count > 0, "nothing is given up")
    givenUp += count
    last.append(lost)
    if last.count > Limits.pushDeadLetters { last.removeFirst() }
  }

  private mutating func works(status: UInt32) {
    self.status = status
    (problem, failingSince, failures) = ("", nil, 0)
  }

  private mutating func fails(_ status: UInt32, _ problem: String, _ now: Int64) {
    (self.status, self.problem) = (status, problem)
    failures += 1
    let since = failingSince ?? now
    failingSince = since
    // A clock that was set back makes it begin anew.
    if now < since { failingSince = now }
    if now - since >= NotifyLimits.pushPatienceMilliseconds { hasEnded = true }
  }

  /// How long nothing is sent after a failure: twice as long each time.
  package var pauseMilliseconds: Int64 {
    guard failures > 0 else { return 0 }
    let doublings = min(failures - 1, 32)
    return min(NotifyLimits.firstPushPauseMilliseconds << Int64(doublings), NotifyLimits.longestPushPauseMilliseconds)
  }
}

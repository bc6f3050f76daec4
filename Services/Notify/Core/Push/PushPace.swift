/// How fast a target is called: in turns, so that its server gets no more calls in a minute than it said it takes.
package struct PushPace: Sendable, Hashable {
  /// Of one turn, at most.
  package let callsPerTurn: Int
  private let spacing: Int64
  private let isSaid: Bool

  /// - Parameter perMinute: that its server takes; 0: it did not say.
  package init(perMinute: UInt32) {
    let most = Int64(perMinute)
    isSaid = most > 0
    callsPerTurn = isSaid ? Int(min(Int64(NotifyLimits.pushesPerTurn), max(1, most / 10))) : NotifyLimits.pushesPerTurn
    // A minute may begin with the last calls of a turn and end with the first of another, whose rest comes after it.
    let steady = most - Int64(callsPerTurn) + 1
    spacing =
      isSaid
      ? max(NotifyLimits.pushSpacingMilliseconds, (60_000 + steady - 1) / steady)
      : NotifyLimits.pushSpacingMilliseconds
    precondition(callsPerTurn > 0 && spacing > 0, "a pace at which nothing comes")
  }

  /// When the next turn may begin.
  /// - Parameters:
  ///   - began: when this one did.
  ///   - last: when the last of its calls began.
  package func next(afterTurnAt began: Int64, calls: Int, lastAt last: Int64) -> Int64 {
    precondition(calls >= 0, "a turn of fewer than no calls")
    return calls == 0 ? began : (isSaid ? last : began) + Int64(calls) * spacing
  }
}

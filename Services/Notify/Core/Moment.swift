/// One reading of both clocks, in milliseconds. Periods follow the wall clock, which may jump; waiting for an answer
/// follows the monotonic one.
package struct Moment: Sendable, Hashable {
  package var wall: Int64
  package var monotonic: Int64

  package init(wall: Int64, monotonic: Int64) {
    self.wall = wall
    self.monotonic = monotonic
  }
}

/// When something is to be looked at again, by either clock.
package struct Wake: Sendable, Hashable {
  package var wall: Int64?
  package var monotonic: Int64?

  package init(wall: Int64? = nil, monotonic: Int64? = nil) {
    self.wall = wall
    self.monotonic = monotonic
  }

  /// The earlier of the two, on each clock.
  package func earlier(_ other: Wake) -> Wake {
    Wake(wall: earliest(wall, other.wall), monotonic: earliest(monotonic, other.monotonic))
  }

  /// Milliseconds from `now` until the earlier of both; nil: never.
  package func delay(from now: Moment) -> Int64? {
    earliest(wall.map { $0 - now.wall }, monotonic.map { $0 - now.monotonic }).map { max(0, $0) }
  }
}

/// Nil is never.
func earliest<Time: Comparable>(_ a: Time?, _ b: Time?) -> Time? {
  guard let a, let b else { return a ?? b }
  return min(a, b)
}

/// Timers fire on multiples of their period on the wall clock, so those of harmonic periods coincide (MOB-33, MOB-34).
package enum PeriodClock {
  /// First delay = period − (now mod period).
  package static func next(after wall: Int64, period: UInt32) -> Int64 {
    precondition(period > 0, "period 0 has no timer")
    let length = Int64(period)
    let phase = wall % length
    let next = wall + length - (phase < 0 ? phase + length : phase)
    assert(next > wall && next - wall <= length, "a timer of period \(length) fires \(next - wall) ms from now")
    precondition(next % length == 0, "a timer fires beside the multiples of its period")
    return next
  }
}

/// When tables of one period are looked at: on wall-clock multiples of it, so that harmonic periods meet and devices
/// that joined at different times keep step (MOB-33, MOB-34). All tables of a period share one of these (MOB-32).
struct PeriodClock: Sendable {
  let periodMilliseconds: Int64
  /// Wall time divided by the period, rounded down, when it was last looked at.
  private var index: Int64

  init(periodMilliseconds: UInt32, at now: Moment) {
    precondition(periodMilliseconds > 0, "a table with period 0 is looked at at once and has no clock")
    self.periodMilliseconds = Int64(periodMilliseconds)
    index = Self.index(self.periodMilliseconds, now)
  }

  private static func index(_ period: Int64, _ now: Moment) -> Int64 {
    let quotient = now.wallMilliseconds / period
    return now.wallMilliseconds < 0 && now.wallMilliseconds % period != 0 ? quotient - 1 : quotient
  }

  /// True once for every multiple passed since the last call; several passed at once (a sleeping machine, a clock that
  /// jumped ahead) count as one, and a clock that went back starts afresh without firing.
  mutating func fires(at now: Moment) -> Bool {
    let current = Self.index(periodMilliseconds, now)
    defer { index = current }
    return current > index
  }

  /// Monotonic time of the next multiple, if the wall clock goes on as it does.
  func next(after now: Moment) -> UInt64 {
    let into = now.wallMilliseconds - Self.index(periodMilliseconds, now) * periodMilliseconds
    return now.monotonic + UInt64(periodMilliseconds - into) * 1_000_000
  }
}

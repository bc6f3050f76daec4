/// When tables of one period are looked at: on wall-clock multiples of it, so that harmonic periods meet and devices
/// that joined at different times keep step (MOB-33, MOB-34). All tables of a period share one of these (MOB-32).
///
/// A tick is due when the wall clock reaches its multiple, or when the time to it has passed on the monotonic clock,
/// whichever is first: setting the wall clock may bring a tick forward, and never puts one off.
struct PeriodClock: Sendable {
  let periodMilliseconds: Int64
  /// Of the wall clock at the next tick.
  private var multiple: Int64
  /// Monotonic time of it, as the clocks stood when it was set.
  private var next: UInt64

  init(periodMilliseconds: UInt32, at now: Moment) {
    precondition(periodMilliseconds > 0, "a table with period 0 is looked at at once and has no clock")
    self.periodMilliseconds = Int64(periodMilliseconds)
    (multiple, next) = (0, 0)
    (multiple, next) = aligned(now, from: now.wallMilliseconds)
  }

  /// The first multiple after `wall`, and when it comes.
  private func aligned(_ now: Moment, from wall: Int64) -> (Int64, UInt64) {
    let into = (wall % periodMilliseconds + periodMilliseconds) % periodMilliseconds
    let multiple = wall - into + periodMilliseconds
    assert(multiple > wall && multiple % periodMilliseconds == 0, "a tick beside the multiples of its period")
    return (multiple, now.monotonic + UInt64(max(0, multiple - now.wallMilliseconds)) * 1_000_000)
  }

  /// The tick that has come since the last call, at the monotonic time it was due; several at once (a suspended
  /// machine, a clock that jumped ahead) are one.
  mutating func fires(at now: Moment) -> UInt64? {
    guard now.monotonic >= next || now.wallMilliseconds >= multiple else {
      if multiple - now.wallMilliseconds > periodMilliseconds {
        // The clock was put back: keep step with it from now on, without waiting longer than was promised.
        let (multiple, next) = aligned(now, from: now.wallMilliseconds)
        self.multiple = multiple
        self.next = min(self.next, next)
        assert(self.next > now.monotonic, "a clock that was put back made a tick late")
      }
      return nil
    }
    let tick = min(next, now.monotonic)
    // The wall clock may run slower than the other one: a multiple that is only just ahead is the one that has fired.
    let isAhead = multiple > now.wallMilliseconds && multiple - now.wallMilliseconds <= Self.driftMilliseconds
    (multiple, next) = aligned(now, from: isAhead ? multiple : now.wallMilliseconds)
    assert(tick <= now.monotonic && now.monotonic < next, "the next tick is due with the one that has come")
    return tick
  }

  private static let driftMilliseconds: Int64 = 200

  /// Monotonic time of the next tick, if both clocks go on as they do.
  func next(after now: Moment) -> UInt64 {
    min(next, now.monotonic + UInt64(max(0, multiple - now.wallMilliseconds)) * 1_000_000)
  }
}

internal import Glibc
// On Linux the compiler takes `timeval` for this module's or for Glibc's, by whichever it has loaded first.
internal import SwiftOverlayShims

/// The machine's clocks: CLOCK_MONOTONIC and CLOCK_REALTIME. Sleepers wait on the event loop.
struct SystemClock: Clock {
  private static let monotonic = SuspendingClock()

  static var now: Instant {
    let sinceBoot = monotonic.systemEpoch.duration(to: monotonic.now)
    return Instant(nanoseconds: UInt64(max(0, sinceBoot.wholeNanoseconds)))
  }

  var now: Instant { Self.now }

  var wallTime: WallTime {
    var time = timeval()
    unsafe gettimeofday(&time, nil)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_usec) / 1_000)
  }

  func sleep(until instant: Instant) async throws { try await EventLoop.main.sleep(until: instant) }
}

struct SystemRandom: RandomSource {
  func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}

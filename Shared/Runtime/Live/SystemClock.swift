internal import Glibc

/// The machine's clocks.
struct SystemClock: Clock {
  var now: Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  var wallTime: WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }

  func sleep(until instant: Instant) async throws {
    try Task.checkCancellation()
    while true {
      let left = instant - now
      guard left > .zero else { return }
      try await Task.sleep(for: left, clock: .suspending)
    }
  }
}

struct SystemRandom: RandomSource {
  func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}

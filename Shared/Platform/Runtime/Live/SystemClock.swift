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

  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) { EventLoop.main.call(at: instant, body) }
}

/// The kernel's randomness, drawn in portions: a request needs several numbers, and each draw is a system call.
struct SystemRandom: RandomSource {
  /// 256 bytes come whole, whatever signals arrive (getentropy(3)).
  private static let wordsPerDraw = 32
  private static let drawn = Mutex<[UInt64]>([])

  func next() -> UInt64 {
    let word = Self.drawn.withLock { words in
      if words.isEmpty { words = Self.draw() }
      return words.popLast()
    }
    if let word { return word }
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }

  /// - Returns: nothing where the kernel has no such call.
  private static func draw() -> [UInt64] {
    unsafe [UInt64](unsafeUninitializedCapacity: wordsPerDraw) { buffer, count in
      let bytes = buffer.count * MemoryLayout<UInt64>.size
      count = unsafe getentropy(buffer.baseAddress, bytes) == 0 ? buffer.count : 0
    }
  }
}

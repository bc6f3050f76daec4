import CCaravanHeapMeter
import Glibc

/// What a decoder took for some bytes.
public struct Cost: Sendable {
  /// The most heap at one time, beside the bytes themselves.
  public let heap: Int
  /// Processor time.
  public let nanoseconds: Int
  /// Of the bytes, or of what they hold when they are compressed.
  public let plainBytes: Int
}

/// What bytes of anybody may cost whoever decodes them.
///
/// Whatever is beyond it is a way to harm others at little expense.
public enum CostOracle {
  public static let heapBytes = 64 << 10
  public static let heapPerByte = 64
  /// 1 µs for each byte, and this in any case: a refusal's words, the first look at a table, and what the clock and the
  /// scheduler add on a loaded machine are the same for one byte as for many.
  public static let nanoseconds = 250_000
  public static let nanosecondsPerByte = 1_000

  /// A decoder that may take more, and why.
  public struct Exception: Sendable {
    public let heapBytes: Int
    public let nanoseconds: Int
    public let reason: String
  }

  private static let compressed = Exception(
    heapBytes: 2 * heapBytes, nanoseconds: nanoseconds,
    reason: "a frame says how much it holds, and gets that much room, up to what whoever unpacks it allows: 64 KiB here"
  )

  public static let exceptions: [String: Exception] = [
    "backup": Exception(
      heapBytes: (1 << 20) + heapBytes, nanoseconds: 20_000_000,
      reason: "it is read from a file, in pieces of 256 KiB and twice, by a person who may read it"),
    "patch": compressed, "zstd": compressed,
  ]

  /// - Returns: nil when the cost is within the bounds.
  public static func complaint(_ cost: Cost, of target: FuzzTarget, checking time: Bool) -> String? {
    let exception = exceptions[target.name]
    let heap = (exception?.heapBytes ?? heapBytes) + heapPerByte * cost.plainBytes
    if cost.heap > heap {
      return "\(target): \(cost.heap) bytes of heap for \(cost.plainBytes) bytes, \(heap) are allowed"
    }
    let most = (exception?.nanoseconds ?? nanoseconds) + nanosecondsPerByte * cost.plainBytes
    guard time, cost.nanoseconds > most else { return nil }
    return "\(target): \(cost.nanoseconds / 1_000) µs for \(cost.plainBytes) bytes, \(most / 1_000) are allowed"
  }
}

/// Measures one decoder on one thread. What `hold` and `sure` do to check what it made is not the decoder's cost.
enum CostMeter {
  @TaskLocal static var current: Reading?

  /// Safe because it is used by the one thread that measures, and nobody else hears of it.
  final class Reading: @unchecked Sendable {
    var plainBytes: Int
    var pauses = 0
    var pausedAt = 0
    var paused = 0

    init(plainBytes: Int) { self.plainBytes = plainBytes }
  }

  static func measure(_ bytes: Int, _ body: () -> Void) -> Cost {
    let reading = Reading(plainBytes: bytes)
    return $current.withValue(reading) {
      let start = now
      heap_meter_begin()
      body()
      let heap = heap_meter_end()
      return Cost(heap: Int(heap), nanoseconds: now - start - reading.paused, plainBytes: reading.plainBytes)
    }
  }

  static func unmetered<R: ~Copyable>(_ body: () throws -> R) rethrows -> R {
    guard let reading = current else { return try body() }
    if reading.pauses == 0 { reading.pausedAt = now }
    reading.pauses += 1
    heap_meter_pause()
    defer {
      heap_meter_resume()
      reading.pauses -= 1
      if reading.pauses == 0 { reading.paused += now - reading.pausedAt }
    }
    return try body()
  }

  /// The bytes hold so many.
  static func holds(_ bytes: Int) {
    guard let current else { return }
    current.plainBytes = max(current.plainBytes, bytes)
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

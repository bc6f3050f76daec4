internal import struct Synchronization.Atomic

/// Only grows. Safe and cheap from any thread.
public final class Counter: Sendable {
  private let count = Atomic<UInt64>(0)

  public func add(_ amount: Int = 1) {
    precondition(amount >= 0, "a counter was asked to go back by \(amount)")
    count.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  public var value: UInt64 { count.load(ordering: .relaxed) }
}

/// Goes up and down. Safe and cheap from any thread.
public final class Gauge: Sendable {
  private let bits = Atomic<UInt64>(0)

  public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
  public func set(_ value: Int) { set(Double(value)) }

  public func add(_ amount: Int) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + Double(amount)).bitPattern
      let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

/// How long things took. One short lock, so that a snapshot's buckets and sum belong together.
public final class Histogram: Sendable {
  private let state = Mutex(HistogramValue())

  public func record(_ duration: Duration) { state.withLock { $0.record(duration) } }
  public var value: HistogramValue { state.withLock { $0 } }
}

/// Counts of durations in buckets whose upper bounds double from 4 µs to 67 s.
public struct HistogramValue: Sendable, Hashable {
  static let firstBound: UInt64 = 4_000
  /// The last one has no upper bound.
  public static let bucketCount = 26

  /// Not cumulative.
  public internal(set) var counts = [UInt64](repeating: 0, count: bucketCount)
  public internal(set) var sumNanoseconds: UInt64 = 0

  public init() {}

  public var count: UInt64 { counts.reduce(0, +) }

  /// Inclusive upper bound of a bucket, in nanoseconds; nil for the last.
  public static func bound(_ bucket: Int) -> UInt64? {
    bucket < bucketCount - 1 ? firstBound << UInt64(bucket) : nil
  }

  public mutating func record(_ duration: Duration) {
    let nanoseconds = UInt64(max(0, duration.wholeNanoseconds))
    // The number of doublings of the first bound that are needed to reach the duration.
    let units = nanoseconds == 0 ? 0 : (nanoseconds - 1) / Self.firstBound
    counts[min(UInt64.bitWidth - units.leadingZeroBitCount, Self.bucketCount - 1)] += 1
    sumNanoseconds &+= nanoseconds
  }

  mutating func add(_ other: HistogramValue) {
    for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
    sumNanoseconds &+= other.sumNanoseconds
  }

  /// The bound of the bucket in which the quantile lies: never below the true value, at most twice it (within the
  /// bounds); nil when nothing was recorded.
  public func quantile(_ q: Double) -> Duration? {
    let total = count
    guard total > 0 else { return nil }
    let rank = max(1, UInt64((q * Double(total)).rounded(.up)))
    var seen: UInt64 = 0
    for (bucket, count) in counts.enumerated() {
      seen += count
      if seen >= rank { return .nanoseconds(Int64(Self.bound(bucket) ?? Self.firstBound << UInt64(bucket))) }
    }
    return nil
  }
}

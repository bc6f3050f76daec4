public import CaravanRuntime

internal import struct Synchronization.Atomic

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
  static let increment: UInt64 = 0x9e37_79b9_7f4a_7c15
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= Self.increment
    return Self.mixed(state)
  }

  static func mixed(_ state: UInt64) -> UInt64 {
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

/// SplitMix64 as a source that tasks share.
public final class SeededRandom: RandomSource {
  private let state: Atomic<UInt64>

  public init(seed: UInt64) { state = Atomic(seed) }

  public func next() -> UInt64 {
    SplitMix64.mixed(state.wrappingAdd(SplitMix64.increment, ordering: .relaxed).newValue)
  }
}

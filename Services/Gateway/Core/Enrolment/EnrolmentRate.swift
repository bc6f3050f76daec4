package import CaravanModel

/// How often anybody may try to enrol: a rate for each address, and one for all of them together. Whoever is stopped at
/// their own rate takes nothing from all.
public struct EnrolmentRate: Sendable {
  private let each: Rate?
  private let all: Rate?
  private let capacity: Int
  private var buckets: [String: TokenBucket] = [:]
  private var whole = TokenBucket()

  /// - Parameters:
  ///   - each: of one address; nil: any.
  ///   - all: of all of them; nil: any.
  package init(each: Rate?, all: Rate?, capacity: Int = Limits.bucketsKept) {
    assert(capacity > 0, "a rate of each address needs room for one")
    self.each = each
    self.all = all
    self.capacity = capacity
  }

  package static let standardEach = Rate(perSecond: 10, burst: 100)
  package static let standardAll = Rate(perSecond: 100, burst: 1_000)
  package static let standard = EnrolmentRate(each: standardEach, all: standardAll)

  package var count: Int { buckets.count }

  /// - Parameters:
  ///   - address: of whoever tries.
  ///   - now: monotonic nanoseconds.
  /// - Returns: nil: go on; otherwise nanoseconds until the next try.
  package mutating func take(from address: String, at now: UInt64) -> UInt64? {
    if let each, let wait = buckets[address, default: TokenBucket()].wait(for: 1, each, at: now) { return wait }
    if let all {
      if let wait = whole.wait(for: 1, all, at: now) { return wait }
      whole.take(1, all, at: now)
    }
    guard let each else { return nil }
    if buckets[address] == nil, buckets.count >= capacity { makeRoom(at: now) }
    buckets[address, default: TokenBucket()].take(1, each, at: now)
    assert(buckets.count <= capacity, "\(buckets.count) addresses are remembered, of \(capacity)")
    return nil
  }

  /// A bucket that is full says as much as none. If none is, all are forgotten: the rate of all holds still.
  private mutating func makeRoom(at now: UInt64) {
    buckets = buckets.filter { !$0.value.isFull(at: now) }
    if buckets.count >= capacity { buckets = [:] }
  }
}

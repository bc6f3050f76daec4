/// How often something may be done: so many accesses a second in the long run, and so many at once.
package struct Rate: Sendable, Hashable {
  package let perSecond: UInt64
  package let burst: UInt64

  package init(perSecond: UInt64, burst: UInt64) {
    precondition((1...1_000_000_000).contains(perSecond) && burst > 0, "a rate is more than nothing")
    self.perSecond = perSecond
    self.burst = min(burst, UInt64.max / 4_000_000_000)
  }

  fileprivate func nanoseconds(_ accesses: UInt64) -> UInt64 { accesses * 1_000_000_000 / perSecond }

  /// What so many bytes cost that are moved as such.
  package static func accesses(bytes: Int) -> UInt64 {
    UInt64((bytes + Limits.bytesPerAccess - 1) / Limits.bytesPerAccess)
  }
}

/// A token bucket, kept as the time at which it will be full again. One that is full is as good as none.
package struct TokenBucket: Sendable, Hashable {
  private var fullAt: UInt64 = 0

  package init() {}

  package func isFull(at now: UInt64) -> Bool { fullAt <= now }

  /// What is larger than the burst is let through when the bucket is full, and paid for afterwards.
  /// - Returns: nil when there is enough; otherwise nanoseconds until there will be.
  package func wait(for accesses: UInt64, _ rate: Rate, at now: UInt64) -> UInt64? {
    let missing = max(fullAt, now) - now
    let wanted = missing + rate.nanoseconds(min(accesses, rate.burst))
    let window = rate.nanoseconds(rate.burst)
    return wanted <= window ? nil : wanted - window
  }

  package mutating func take(_ accesses: UInt64, _ rate: Rate, at now: UInt64) {
    fullAt = max(fullAt, now) + rate.nanoseconds(accesses)
  }
}

/// The rates of everybody of a kind; nil: no limit.
package struct RateLimits: Sendable, Hashable {
  package var device: Rate?
  package var user: Rate?
  package var container: Rate?

  package init(device: Rate?, user: Rate?, container: Rate?) {
    self.device = device
    self.user = user
    self.container = container
  }

  /// Far above what one machine serves: they stop what runs wild, and nothing else.
  package static let standard = RateLimits(
    device: Rate(perSecond: 50_000, burst: 500_000), user: Rate(perSecond: 200_000, burst: 2_000_000),
    container: Rate(perSecond: 1_000_000, burst: 10_000_000))
}

extension RateLimits {
  /// What an environment has of it: development less than production, so that who tries something out keeps nobody from
  /// working.
  package func share(of environment: Environment) -> RateLimits {
    guard environment == .development else { return self }
    let part = Limits.developmentRates
    func less(_ rate: Rate) -> Rate {
      Rate(perSecond: max(1, rate.perSecond / part), burst: max(1, rate.burst / part))
    }
    return RateLimits(device: device.map(less), user: user.map(less), container: container.map(less))
  }
}

/// Who has done how much lately (CK-101). One operation costs as much as it touches records, and bytes that are moved
/// as such what they take of a disk. Bounded: when too many are known, those with full buckets are forgotten, which
/// changes nothing, and if need be all.
package struct RateLedger: Sendable {
  package enum Scope: String, Sendable, Hashable, CaseIterable {
    case device, user, container
  }

  /// - Parameter nanoseconds: until the same operation would be let through.
  package struct Refusal: Sendable, Hashable {
    package let scope: Scope
    package let nanoseconds: UInt64
  }

  /// Whose an operation is.
  package struct Payer: Sendable, Hashable {
    package let device: EnrolledDevice
    /// Empty: it is about none.
    package let container: String

    package init(device: EnrolledDevice, container: String) {
      self.device = device
      self.container = container
    }
  }

  private struct Key: Hashable {
    let scope: Scope
    let environment: Environment
    let name: String
  }

  private let production: RateLimits
  private let development: RateLimits
  private let capacity: Int
  private var buckets: [Key: TokenBucket] = [:]

  /// - Parameter limits: of production; development has its own, smaller share.
  package init(_ limits: RateLimits, capacity: Int = Limits.bucketsKept) {
    precondition(capacity >= Scope.allCases.count, "a ledger without room limits nothing")
    production = limits.share(of: .production)
    development = limits.share(of: .development)
    self.capacity = capacity
  }

  package var count: Int { buckets.count }

  /// Takes from all three buckets, or from none.
  package mutating func take(_ accesses: UInt64, from payer: Payer, at now: UInt64) -> Refusal? {
    guard accesses > 0 else { return nil }
    var refusal: Refusal?
    for case (let key, let rate?) in buckets(of: payer) {
      guard let wait = buckets[key]?.wait(for: accesses, rate, at: now) else { continue }
      if wait > refusal?.nanoseconds ?? 0 { refusal = Refusal(scope: key.scope, nanoseconds: wait) }
    }
    if refusal == nil { charge(accesses, to: payer, at: now) }
    return refusal
  }

  /// For what it has cost only turns out when it is done: whoever owes is let through again when that is paid.
  package mutating func charge(_ accesses: UInt64, to payer: Payer, at now: UInt64) {
    guard accesses > 0 else { return }
    let asked = buckets(of: payer)
    if buckets.count + asked.count > capacity { makeRoom(at: now, for: asked.count) }
    for case (let key, let rate?) in asked { buckets[key, default: TokenBucket()].take(accesses, rate, at: now) }
  }

  private func buckets(of payer: Payer) -> [(Key, Rate?)] {
    let environment = payer.device.environment
    let limits = environment == .production ? production : development
    func key(_ scope: Scope, _ name: String) -> Key { Key(scope: scope, environment: environment, name: name) }
    return [
      (key(.device, payer.device.text), limits.device), (key(.user, payer.device.user.text), limits.user),
      (key(.container, payer.container), payer.container.isEmpty ? nil : limits.container),
    ]
  }

  private mutating func makeRoom(at now: UInt64, for more: Int) {
    buckets = buckets.filter { !$0.value.isFull(at: now) }
    if buckets.count + more > capacity { buckets = [:] }
  }
}

public import CaravanModel

/// Who holds a lease, as a store keeps it; decides what becomes of it when somebody asks. Times are the store's, in
/// milliseconds.
public struct LeaseHolder: Sendable, Hashable {
  /// Empty after a release.
  public var holder: String
  /// Of the newest tenure; tokens go on growing.
  public var token: UInt64
  public var expires: Int64

  public init(holder: String, token: UInt64, expires: Int64) {
    self.holder = holder
    self.token = token
    self.expires = expires
  }

  /// The name under which a store keeps the highest token of the leases that it has forgotten: what is taken next goes
  /// on from there, so that no token is given twice. Nobody can ask for a lease without a name.
  public static let forgotten = ""

  /// Whether it still holds. One that would outlast the longest that is given was given before the store's time went
  /// back: its holder has long stopped counting on it, and nobody should wait for the years between.
  public func isLive(at now: Int64) -> Bool {
    expires > now && expires - now <= StoreLimits.longestLease.components.seconds * 1_000
  }

  /// What the asker is told, and what is to be written.
  public struct Decision: Sendable, Hashable {
    public let answer: Lease
    /// nil: everything stays as it is.
    public let next: LeaseHolder?
  }

  /// Takes or renews the lease; a `ttl` of zero gives it back.
  /// - Parameter known: `forgotten`'s where the lease is not; nil: no lease was ever forgotten either.
  public static func decide(
    _ name: String, _ known: LeaseHolder?, holder: String, ttl: Duration, now: Int64
  ) -> Decision {
    let isLive = known?.isLive(at: now) ?? false
    if let known, isLive, known.holder != holder {
      let left = Duration.milliseconds(known.expires - now)
      return Decision(
        answer: Lease(name: name, isGranted: false, token: known.token, holder: known.holder, remaining: left),
        next: nil)
    }
    let milliseconds = Self.milliseconds(ttl)
    guard milliseconds > 0 else {
      // A release keeps the row: tokens must go on growing. Once expired, it is nobody's to release.
      let token = known?.token ?? 0
      return Decision(
        answer: Lease(name: name, isGranted: false, token: token, holder: "", remaining: .zero),
        next: isLive ? LeaseHolder(holder: "", token: token, expires: 0) : nil)
    }
    // Within one unbroken tenure the token stays; whoever begins one, even the same holder again, gets a new one.
    let token = isLive ? known?.token ?? 1 : (known?.token ?? 0) + 1
    return Decision(
      answer: Lease(
        name: name, isGranted: true, token: token, holder: holder, remaining: .milliseconds(milliseconds)),
      next: LeaseHolder(holder: holder, token: token, expires: now + milliseconds))
  }

  private static func milliseconds(_ ttl: Duration) -> Int64 {
    let (seconds, attoseconds) = min(ttl, StoreLimits.longestLease).components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}

/// What somebody wants of a lock. Who renews or releases says which tenure is meant: a late message then does nothing
/// to a later one.
public enum LockWish: Sendable, Hashable {
  case take(ttl: Duration)
  case renew(token: UInt64, ttl: Duration)
  case release(token: UInt64)
}

extension LeaseHolder {
  /// - Throws: `lockAlreadyHeld`, `lockNotHeld`, `leaseExpired`.
  public static func decide(
    _ name: String, _ known: LeaseHolder?, holder: String, _ wish: LockWish, now: Int64
  ) throws(CaravanError) -> Decision {
    switch wish {
    case .take(let ttl):
      let decision = decide(name, known, holder: holder, ttl: max(ttl, .milliseconds(1)), now: now)
      guard decision.answer.isGranted else {
        let left = (known?.expires ?? now) - now
        throw CaravanError(
          .lockAlreadyHeld, "'\(decision.answer.holder)' has the lock: retry when its time is over",
          retryAfterMilliseconds: UInt32(clamping: left))
      }
      return decision
    case .renew(let token, let ttl):
      try LeaseProof(lease: name, token: token).check(known, holder: holder, now: now)
      return decide(name, known, holder: holder, ttl: max(ttl, .milliseconds(1)), now: now)
    case .release(let token):
      let isMeant = known.map { $0.token == token && $0.holder == holder && $0.isLive(at: now) } ?? false
      return Decision(
        answer: Lease(name: name, isGranted: false, token: token, holder: "", remaining: .zero),
        next: isMeant ? LeaseHolder(holder: "", token: token, expires: 0) : nil)
    }
  }
}

extension LeaseProof {
  /// - Throws: `lockNotHeld` unless the lease lives under this token.
  public func check(_ tenure: LeaseHolder?, now: Int64, for consumer: String) throws(CaravanError) {
    guard let tenure, tenure.isLive(at: now), tenure.token == token else {
      throw CaravanError(
        .lockNotHeld, "the cursor of \(consumer) moves only under lease '\(lease)': take it again and use its token")
    }
  }

  /// - Throws: `lockNotHeld` unless this tenure is the holder's, `leaseExpired` when it has ended by itself.
  public func check(_ tenure: LeaseHolder?, holder: String, now: Int64) throws(CaravanError) {
    guard let tenure, tenure.token == token, tenure.holder == holder else {
      throw CaravanError(.lockNotHeld, "the lock is not held under token \(token): take it again")
    }
    guard tenure.isLive(at: now) else {
      throw CaravanError(.leaseExpired, "the lock's time is over: take it again")
    }
  }
}

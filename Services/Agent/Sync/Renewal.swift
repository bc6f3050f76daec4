internal import CaravanCrypto
internal import CaravanRuntime

/// When a device's credentials are to be renewed.
enum Renewal {
  /// How often an agent looks, at least.
  static let longestWait: Duration = .seconds(6 * 3_600)
  static let retry: Duration = .seconds(300)
  /// A clock that is so far before the time at which credentials were made is wrong.
  static let tolerance: Int64 = 300

  /// How long they need not be renewed: until half of their time is over. Those that never end are kept, and those that
  /// seem to come from the future are not: the clock is wrong, and says nothing of when they end.
  /// - Parameter now: Unix seconds.
  static func wait(_ claims: JWTClaims, at now: Int64) -> Duration {
    guard claims.expires != nil else { return longestWait }
    guard now >= claims.issuedAt - tolerance else { return .zero }
    return max(.zero, .seconds(claims.issuedAt - now) + half(claims))
  }

  /// Half of the time that they are good for.
  static func half(_ claims: JWTClaims) -> Duration {
    guard let expires = claims.expires else { return longestWait }
    return .seconds(max(2, expires - claims.issuedAt) / 2)
  }

  /// Why the broker does not let the device in, and what to do; nil: their time is not over.
  static func over(_ claims: JWTClaims, at now: Int64) -> String? {
    guard let expires = claims.expires, expires <= now else { return nil }
    return "this device was away for so long that its credentials are over: say caravan device renew, with their file; "
      + "what is not sent yet is kept"
  }
}

/// How long to wait after each failure in a row: doubled every time up to a limit, half of it random, so that devices
/// that failed together do not come back together.
public struct Backoff: Sendable, Hashable {
  /// In a row.
  public private(set) var failures: UInt32 = 0

  public init() {}

  /// - Parameters:
  ///   - random: any number.
  ///   - retryAfterMilliseconds: what the cloud asked for; waited at least.
  /// - Returns: nanoseconds until the next attempt.
  public mutating func failed(random: UInt64, retryAfterMilliseconds: UInt32? = nil) -> UInt64 {
    let doublings = min(UInt64(failures), 32)
    failures = min(failures + 1, .max - 1)
    let ceiling = min(EngineLimits.firstRetryMilliseconds << doublings, EngineLimits.longestRetryMilliseconds)
    let half = ceiling * 1_000_000 / 2
    let asked = UInt64(retryAfterMilliseconds ?? 0) * 1_000_000
    return max(asked, half) + random % half
  }

  public mutating func succeeded() { failures = 0 }
}

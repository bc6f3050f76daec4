import CaravanRuntime

/// Bounds of following the change stream.
public enum FollowLimits {
  /// Hints that wait while earlier ones are processed; beyond, the log is read.
  public static let hintsWaiting = 256
  /// Log entries read at once.
  public static let entriesPerRead: UInt32 = 512
  /// How far the logs have come is asked this long after something moved, then less and less often.
  public static let shortestWatch: Duration = .seconds(1)
  public static let longestWatch: Duration = .seconds(15)
}

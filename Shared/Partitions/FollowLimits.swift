import Runtime

/// Bounds of following the change stream.
public enum FollowLimits {
  /// Hints that wait while earlier ones are processed; beyond, the log is read.
  public static let hintsWaiting = 256
  /// Log entries read at once.
  public static let entriesPerRead: UInt32 = 512
  /// A partition that is quiet is looked at after this long, then less and less often: hints may get lost.
  public static let shortestPoll: Duration = .seconds(1)
  public static let longestPoll: Duration = .seconds(5)
}

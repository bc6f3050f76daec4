internal import Client
internal import Model

/// What the agent's socket takes at most.
public enum AppLimits {
  /// Connections of all apps.
  public static let connections = 64
  /// Requests of one connection that wait for the cloud (`syncNow`). Local ones are answered one after the other.
  public static let waitingRequests = 64
  /// Ways down that one read of an object may take: for its list, for its chunks, and once more.
  static let fetchRounds = 3
  /// Tables one connection watches.
  public static let watchedTables = 200
  /// A slow reader is not read beyond 1 MiB that waits for it, and cut off beyond 8 MiB or 10 s.
  static let socket = FrameSocket.Bounds(
    messageBytes: Limits.appMessageBytes, backlogBytes: 1 << 20, maximumBacklogBytes: 8 << 20,
    stall: .seconds(10))
  /// A connection says who it is within this time, or goes.
  static let helloPatience: Duration = .seconds(10)
}

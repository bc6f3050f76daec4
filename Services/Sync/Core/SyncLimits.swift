import Model

/// Bounds of the device protocol.
public enum SyncLimits {
  /// Zones of one frame worked on at the same time.
  public static let lanesInFlight = 16
  public static let framesInFlight = 128
  /// Kept free in a reply for each operation's refusal or small answer.
  public static let replyBytesPerOperation = 256
  /// Of one outcome without the server's copy.
  public static let outcomeBytes = 48
  /// A pull that has less than this left in its frame is told to come again.
  public static let smallestPull = 4 << 10
  /// What surrounds the bodies of a page: names, versions, writers.
  public static let pageOverheadBytes = 64 << 10
  /// A reply below this is not worth a compressor.
  public static let smallestCompressed = 512
  public static let ticketLifetime: Duration = .seconds(900)
  /// Most bytes that one ticket moves: an object of the greatest size.
  public static let ticketBytes = UInt64(Limits.chunksPerObject * Limits.chunkBytes)
  /// When a refusal may be gone and its author did not say.
  public static let retryAfterMilliseconds: UInt32 = 100
  public static let notifyDeadline: Duration = .seconds(1)
}

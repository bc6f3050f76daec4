/// Since when the cloud has been saying that a table's zone does not exist. Only time that the agent itself has lived
/// through counts, by its monotonic clock: a wall clock that jumps shortens nothing, and neither does a restart.
public struct ZoneAbsence: Sendable, Hashable {
  /// After how long the same answer is believed for good.
  public static let patienceMilliseconds: UInt64 = 600_000
  /// When the cloud is asked again.
  public static let retryMilliseconds = patienceMilliseconds + 1_000

  /// Milliseconds from the first answer to the last one, as far as the agent ran.
  public private(set) var waited: UInt64
  /// Monotonic, in nanoseconds.
  private var since: UInt64

  /// - Parameters:
  ///   - waited: what earlier runs of the agent have seen of it.
  ///   - now: the time of the first answer, or when this run of the agent began; monotonic.
  public init(waited: UInt64 = 0, at now: UInt64) {
    self.waited = waited
    since = now
  }

  /// The cloud has said so again.
  public mutating func heardAgain(at now: UInt64) {
    waited += (max(now, since) - since) / 1_000_000
    since = max(now, since)
  }

  public var isFinal: Bool { waited >= Self.patienceMilliseconds }
}

/// What an agent makes of the answer that a table's zone does not exist.
public enum ZoneVerdict: Sendable, Hashable {
  /// The cloud never had anything of the table: there is no zone yet.
  case neverThere
  /// The table's rows are out of sight; what was not sent is kept.
  case hidden
  /// Nothing of the table is left.
  case discarded
}

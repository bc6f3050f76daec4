import Runtime

/// How long leases are asked for, and when they stop counting here.
public struct LeaseTiming: Sendable, Hashable {
  /// A dead instance's partitions are free after this long.
  public var duration: Duration = .seconds(4)
  /// Between renewals while everything is as it should be.
  public var renewal: Duration = .milliseconds(1_300)
  /// Between rounds while this instance holds less than its share, or storage does not answer.
  public var eager: Duration = .milliseconds(250)
  /// A lease ends here this much earlier than `duration` after the request was *sent*: the store counts from when it
  /// arrived, and its clock may be a little faster.
  public var margin: Duration = .milliseconds(500)
  /// How long a new instance waits for its first partitions to be served before it says that it is ready.
  public var settling: Duration = .seconds(1)
  /// Before work that failed is begun again.
  public var restart: Duration = .milliseconds(500)

  public init() {}

  func validate() {
    precondition(margin < duration && renewal + margin < duration, "a lease must outlive the wait for its renewal")
  }
}

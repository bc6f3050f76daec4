import CaravanRuntime

/// How long leases are asked for, and when they stop counting here.
public struct LeaseTiming: Sendable, Hashable {
  /// The partitions of an instance that nobody can tell from a silent one (its machine died, its network was cut) are
  /// free after this long. Those of a process that died are free as soon as somebody looks: within `renewal` and
  /// `eager` when other instances run, else when it has been started again.
  public var duration: Duration = .seconds(6)
  /// Between renewals while everything is as it should be.
  public var renewal: Duration = .milliseconds(2_500)
  /// Between rounds while this instance holds less than its share, or storage does not answer.
  public var eager: Duration = .milliseconds(250)
  /// A lease ends here this much earlier than `duration` after the request was *sent*: the store counts from when it
  /// arrived, and its clock may be a little faster.
  public var margin: Duration = .milliseconds(500)
  /// How long a new instance waits for its first partitions to be served before it says that it is ready.
  public var settling: Duration = .seconds(1)
  /// After how long without a renewal a log says so.
  public var notice: Duration = .seconds(2)
  /// Before work that failed is begun again.
  public var restart: Duration = .milliseconds(500)

  public init() {}

  /// For one request about leases: a lost renewal is tried again while the lease still holds.
  public var patience: Duration { (duration - margin) / 4 }

  func validate() {
    precondition(margin < duration && renewal + patience + margin < duration, "a lease must outlive a lost renewal")
  }
}

/// What the intents of all apps add up to (MOB-03): when the next transfer begins, why, and what travels with it.
public struct TransferPolicy: Sendable, Hashable {
  /// What makes a transfer due (MOB-04); each is a metric.
  public enum Trigger: String, Sendable, Hashable, CaseIterable {
    /// An app asked for it now, or the cloud waits for an answer (UNI-22).
    case demand
    /// Data that tolerates no delay.
    case delaySensitive
    /// The delay tolerance of something that waited has been used up.
    case deadline
    /// Enough bytes have gathered.
    case volume
    /// The device itself has something to tell the cloud.
    case control
  }

  public struct Start: Sendable, Hashable {
    /// Monotonic nanoseconds; not later than any deadline of what may go.
    public var at: UInt64
    public var trigger: Trigger

    public init(at: UInt64, trigger: Trigger) {
      self.at = at
      self.trigger = trigger
    }
  }

  /// Nil: nothing waits that may start a transfer over this link.
  public var start: Start?
  /// All that goes along, by deadline; what has none, or could wait for its period, comes last.
  public var batch: [Coalescer.Key]
  /// Of the batch, about.
  public var bytes: UInt64

  public init(start: Start?, batch: [Coalescer.Key], bytes: UInt64) {
    self.start = start
    self.batch = batch
    self.bytes = bytes
  }
}

/// What apps changed of one table since the sync of it looked last.
public struct LocalChanges: Sendable, Hashable {
  /// Bytes to send; nil: nothing but what may be lost has changed.
  public private(set) var bytes: UInt64?
  /// Bytes that only ride along.
  public private(set) var toleratedBytes: UInt64?
  /// Monotonic; of what was written with a deadline of its own.
  public private(set) var deadline: UInt64?

  public init() {}

  public mutating func add(_ change: LocalChange, at now: UInt64) {
    let size = UInt64(max(0, change.bytes))
    if change.isTolerated {
      toleratedBytes = (toleratedBytes ?? 0) + size
    } else {
      bytes = (bytes ?? 0) + size
    }
    if let wait = change.withinMilliseconds { deadline = min(deadline ?? .max, now + UInt64(wait) * 1_000_000) }
  }
}

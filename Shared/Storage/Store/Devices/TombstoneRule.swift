public import CaravanModel

/// When tombstones are purged: once every recently active device has seen them (CK-44, I17). Whoever lacks one
/// nevertheless is reset, which the zone's mark of what was purged makes certain; so all that is known of devices may
/// be late or lost.
public struct TombstoneRule: Sendable, Hashable {
  /// A device that pulled within this time is active: it is waited for.
  public var activity: Duration = StoreLimits.deviceActivity
  /// No tombstone goes sooner, so that no request under way is older than the purge.
  public var grace: Duration = StoreLimits.tombstoneGrace

  public init() {}

  /// Unix time since when a device must have pulled to be active.
  public func activeSince(_ now: Int64) -> Int64 { now - activity.milliseconds }

  /// When tombstones of a zone that was restored begin to age.
  public func end(ofWaitFrom now: Int64) -> Int64 { now + activity.milliseconds }

  /// A device's time is written again when it has moved by this much, though its position has not.
  public var activityStep: Int64 { activity.milliseconds / 24 }
  /// The same of a device that reads a snapshot.
  public var snapshotStep: Int64 { StoreLimits.snapshotPatience.milliseconds / 4 }

  /// The highest version that may go.
  /// - Parameters:
  ///   - age: of the zone's tombstones.
  ///   - leastSeen: of the active devices; nil: there are none.
  public func limit(_ age: TombstoneAge, leastSeen: Seq?) -> Seq { min(age.aged, leastSeen ?? age.aged) }
}

/// How old a zone's tombstones are, from two marks in its history: entries have no time.
public struct TombstoneAge: Sendable, Hashable {
  /// What was written up to here is older than the grace.
  public var aged: Seq
  /// What was written up to here is older than `markedAt`.
  public var mark: Seq
  /// Unix time in milliseconds.
  public var markedAt: Int64

  public init(aged: Seq, mark: Seq, markedAt: Int64) {
    self.aged = aged
    self.mark = mark
    self.markedAt = markedAt
  }

  /// - Returns: what is to be written down of a zone that stands at `seq` now; nil: what is known already.
  public static func advanced(
    _ known: TombstoneAge?, seq: Seq, now: Int64, _ rule: TombstoneRule
  ) -> TombstoneAge? {
    guard let known else { return TombstoneAge(aged: 0, mark: seq, markedAt: now) }
    guard now >= known.markedAt + rule.grace.milliseconds else { return nil }
    return TombstoneAge(aged: known.mark, mark: seq, markedAt: now)
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}

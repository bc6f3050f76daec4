/// Bounds of the notify service.
package enum NotifyLimits {
  /// Devices with a subscription list, in one partition.
  package static let devicesPerPartition = 16_384
  /// A notification is sent again after this long, then twice as long each time.
  package static let firstRetryMilliseconds: Int64 = 1_000
  package static let longestRetryMilliseconds: Int64 = 16_000
  /// After so many sendings without an answer the device is away, until it attaches (MOB-43).
  package static let sendings = 6
  /// A new owner of a partition tells every device that does not attach by itself of everything, spread over this
  /// long.
  package static let sweepMilliseconds: Int64 = 30_000
  /// Changed entries that travel with one notification.
  package static let inlinePageBytes = 8 << 10
  /// Notifications handed to the bus at once: the first are on their way while the last are made.
  package static let sendsAtOnce = 128
  /// Encoded pages kept for the other devices of their zone.
  package static let cachedPages = 2
  /// Acknowledgements that wait while earlier ones are taken in; one that is dropped comes again with its notification.
  package static let acksWaiting = 16_384
  /// Requests of one partition at a time.
  package static let inFlight = 32
  /// The position up to which every device knows is stored this long after it has moved.
  package static let cursorSeconds: Int64 = 5
  /// A longer period is cut to this: a day.
  package static let longestPeriodMilliseconds: UInt32 = 86_400_000
  /// Longer tolerances are cut to this, as what waits holds the log's cursor back: an hour.
  package static let longestToleranceMilliseconds: UInt32 = 3_600_000
  /// Push targets of one partition.
  package static let targetsPerPartition = 65_536
  /// Targets that are pushed to at once, and those of one user among them.
  package static let pushesAtOnce = 16
  package static let pushesAtOncePerUser = 2
  /// Notifications that a target gets in one turn, and how long each keeps it from its next turn, where its server
  /// did not say how many it takes.
  package static let pushesPerTurn = 20
  package static let pushSpacingMilliseconds: Int64 = 50
  /// Sources of a log, each a partition, of which a target knows how far it has come.
  package static let sourcesPerTarget = 256
  /// For an answer of the push service.
  package static let pushDeadline: Duration = .seconds(20)
  /// Nothing is sent to a target that failed for so long, then for twice as long each time.
  package static let firstPushPauseMilliseconds: Int64 = 1_000
  package static let longestPushPauseMilliseconds: Int64 = 3_600_000
  /// A target that fails for so long is tried no more.
  package static let pushPatienceMilliseconds: Int64 = 7 * 86_400_000
  /// A notification that could not be pushed for so long is given up.
  package static let pushWorthMilliseconds: Int64 = 3 * 86_400_000
  /// Where the push service cannot be reached, or is busy.
  package static let pushBusyMilliseconds: Int64 = 1_000
}

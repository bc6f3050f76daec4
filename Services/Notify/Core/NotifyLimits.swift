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
}

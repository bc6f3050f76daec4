public import CaravanBus
public import CaravanModel

/// What storage answers at `svc.storage.<partition>.<method>`; the messages are those of `storage.proto`.
public enum StorageMethod: String, Sendable, Hashable, CaseIterable {
  /// `CommitRequest` → `CommitReply`
  case commit
  /// `CommitBatch` → `CommitBatchReply`, of any partitions
  case commits
  /// `SettleRequest` → `CommitReply`
  case settle
  /// `GroupRequest` → `GroupReply`
  case group
  /// `LockRequest` → `LeaseGrant`
  case lock
  /// `ReadChangesRequest` → `ReadChangesReply`
  case changes
  /// `FetchRequest` → `FetchReply`
  case fetch
  /// `ListZonesRequest` → `ListZonesReply`
  case zones
  /// `CreateZoneRequest` → `CreateZoneReply`
  case create
  /// `ChangedZonesRequest` → `ChangedZonesReply`
  case changed
  /// `DeleteZoneRequest` → `DeleteZoneReply`
  case drop
  /// `MissingChunksRequest` → `MissingChunksReply`
  case missing
  /// `ParcelRequest` → `ParcelReply`
  case parcel
  /// `ReadLogRequest` → `ReadLogReply`
  case log
  /// `Empty` → `LogHeadsReply`, whatever the partition
  case heads
  /// `LeaseRequest` → `LeaseReply`
  case lease
  /// `CursorRequest` → `CursorReply`
  case cursor
  /// `QuotaRequest` → `QuotaReply`
  case quota
  /// `MoveRequest` → `MoveReply`
  case move
  /// `Empty` → `StorageStatus`
  case status
  /// `ScheduleRequest` → `ScheduleReply`
  case schedule
  /// `CancelRequest` → `CancelReply`
  case cancel
  /// `Empty` → `ListActionsReply`, whatever the partition
  case actions
  /// `DamageRequest` → `DamageReply`, whatever the partition
  case damage
  /// `ClockRequest` → `ClockReply`, whatever the partition
  case clock
  /// `Empty` → `ClockReply`, whatever the partition: the time that tickets end by
  case time

  public func subject(in partition: Partition) -> Subject { .partitioned(.storage, partition, method: rawValue) }

  /// Every partition of this method, for who serves it.
  public var pattern: SubjectPattern { .everyPartition(.storage, method: rawValue) }

  /// Whether asking a second time does no harm when the first answer was lost.
  var isRepeatable: Bool {
    switch self {
    case .commit, .commits, .settle, .group, .lock, .changes, .fetch, .zones, .changed, .create, .missing, .parcel,
      .log, .heads, .lease, .cursor, .quota, .move, .status, .schedule, .actions, .damage, .clock,
      .time:
      true
    case .drop: false  // a zone made anew meanwhile would go too
    case .cancel: false  // the answer would be that there is nothing to call off
    }
  }
}

import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

/// Commits in parts, and the lock that guards them (SMSyncServer's server API). Each call may come again after a lost
/// answer, and then does nothing and succeeds (REC-25); there is no other recovery (REC-26).
struct GroupCalls: SessionPart {
  let session: DeviceSession

  // MARK: The lock

  func lock(_ lock: LockDatabase) async throws(CaravanError) -> LockState {
    let database = try session.database(lock.container, .private)
    let ttl = lock.ttlMilliseconds == 0 ? SyncLimits.lockMilliseconds : lock.ttlMilliseconds
    let grant = try await cloud.faults.around(.lockForDownload) { () async throws(CaravanError) in
      try await cloud.storage.lock(
        LockRequest(name: lockName(database), holder: device.text, ttlMilliseconds: ttl, token: lock.token),
        in: Partition(of: database))
    }
    return LockState(token: grant.token, remainingMilliseconds: grant.remainingMilliseconds)
  }

  func unlock(_ unlock: UnlockDatabase) async throws(CaravanError) -> Empty {
    let database = try session.database(unlock.container, .private)
    try await cloud.faults.around(.lockRemoval) { () async throws(CaravanError) in
      _ = try await cloud.storage.lock(
        LockRequest(name: lockName(database), holder: device.text, token: unlock.token, release: true),
        in: Partition(of: database))
    }
    return Empty()
  }

  /// One a user and container: it lies in the partition of what it guards.
  private func lockName(_ database: DatabaseID) -> String { "lock/\(database)" }

  // MARK: Groups

  func begin(_ begin: BeginGroup) async throws(CaravanError) -> OperationState {
    let zone = try groupZone(begin.container, begin.zone)
    let reply = try await cloud.faults.around(.setup) { () async throws(CaravanError) in
      try await ask(.begin(Empty()), begin.op, floor: begin.opFloor, in: zone)
    }
    return try OperationState(required(reply.state, "state"))
  }

  func upload(_ part: UploadPart) async throws(CaravanError) -> PartState {
    let zone = try groupZone(part.container, part.zone)
    let checked = try await session.checked(Push(mutations: part.mutations), of: zone)
    _ = try session.retired(before: checked.types, await cloud.visibility.of(zone.database), in: zone)
    let mutations = checked.mutations
    guard !mutations.contains(where: { $0.kind == .read }) else {
      throw CaravanError(.invalidData, "a part has saves and deletions only: read records by themselves")
    }
    let staged = GroupPart(number: part.part, mutations: mutations, chunks: part.chunks)
    let reply = try await cloud.faults.around(.inProgressMark) { () async throws(CaravanError) in
      try await ask(.part(staged), part.op, in: zone)
    }
    guard let state = reply.state else { return PartState(missingChunks: reply.missingChunks) }
    return PartState(operation: OperationState(state))
  }

  func commit(_ commit: CommitGroup, _ account: ReplyAccount) async throws(CaravanError) -> CommitReply {
    let zone = try groupZone(commit.container, commit.zone)
    let fence = commit.token == 0 ? "" : lockName(zone.database)
    let request = GroupCommit(parts: commit.parts, atomic: commit.atomic, lock: fence, token: commit.token)
    let answer = try await cloud.faults.around(.commit) { () async throws(CaravanError) in
      try await cloud.faults.around(.indexUpdate) { () async throws(CaravanError) in
        try await ask(.commit(request), commit.op, floor: commit.opFloor, in: zone)
      }
    }
    var reply = try required(answer.commit, "commit")
    try await session.hideInvisible(in: &reply, of: zone.database)
    cloud.metrics.count(reply)
    return try session.admit(reply, expected: 0, account)
  }

  func operation(_ question: AskOperation) async throws(CaravanError) -> OperationState {
    let zone = try groupZone(question.container, question.zone)
    let reply = try await cloud.faults.around(.downloadInfo) { () async throws(CaravanError) in
      try await ask(.status(Empty()), question.op, in: zone)
    }
    return try OperationState(required(reply.state, "state"))
  }

  func remove(_ operation: RemoveOperation) async throws(CaravanError) -> Empty {
    let zone = try groupZone(operation.container, operation.zone)
    _ = try await ask(.remove(Empty()), operation.op, in: zone)
    return Empty()
  }

  private func groupZone(_ container: String, _ name: String) throws(CaravanError) -> ZoneID {
    let zone = try zone(container, name)
    try DefaultZone.refuse(zone, "has no batches, and no groups")
    return zone
  }

  private func ask(
    _ kind: GroupRequest.Kind, _ op: UInt64, floor: UInt64 = 0, in zone: ZoneID
  ) async throws(CaravanError) -> GroupReply {
    try await cloud.storage.group(
      GroupRequest(
        zone: ZoneRef(zone), writer: try await writer(in: zone.database), epoch: epoch, op: op, opFloor: floor,
        kind: kind),
      in: Partition(of: zone.database))
  }
}

extension OperationState {
  init(_ group: GroupState) {
    let stage: OperationPhase.Group =
      switch group.stage {
      case .open: .open
      case .committed: .committed
      case .refused, .aborted, .expired, .unspecified: .failed
      }
    let objects = OperationPhase.Objects(
      waiting: Int(group.objectsWaiting), failing: Int(group.objectsFailing), refused: Int(group.objectsRefused))
    let phase = OperationPhase(stage, objects)
    self.init(
      status: OperationStatus(phase), parts: group.parts, records: group.records, bytes: group.bytes,
      expiresMilliseconds: group.untilMilliseconds, failure: Self.failure(group), objects: group.objectsWaiting)
  }

  private static func failure(_ group: GroupState) -> Failure? {
    switch group.stage {
    case .open, .unspecified: return nil
    case .committed:
      guard !group.problem.isEmpty else { return nil }
      return Failure(CaravanError(.unavailable, "an object could not be moved: \(group.problem)"))
    case .refused:
      return Failure(CaravanError(.serverRecordChanged, "a record of the group is in conflict: commit it for which"))
    case .aborted: return Failure(CaravanError(.cancelled, "the group was given up: begin another"))
    case .expired: return Failure(CaravanError(.leaseExpired, "nobody went on with the group: begin another"))
    }
  }
}

extension OperationStatus {
  init(_ phase: OperationPhase) {
    self =
      switch phase {
      case .notStarted: .notStarted
      case .inProgress: .inProgress
      case .failedBeforeTransfer: .failedBeforeTransfer
      case .failedDuringTransfer: .failedDuringTransfer
      case .failedAfterTransfer: .failedAfterTransfer
      case .successfulCompletion: .successfulCompletion
      }
  }
}

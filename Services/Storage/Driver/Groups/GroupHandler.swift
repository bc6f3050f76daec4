import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore
import CaravanWire

/// What storage answers about commits in parts and the locks that guard them (UNI-05, UNI-04). Each request may come
/// again, and then changes nothing (REC-25).
struct GroupHandler: Sendable {
  let store: any Store
  let metrics: StorageMetrics
  let traffic: ChunkTraffic
  let lists: ListedChunks
  /// All parts of a group are in memory while it is committed.
  private let commits = Limiter(permits: StorageLimits.groupCommitsInFlight, waiters: StorageLimits.groupsInFlight)

  init(store: any Store, metrics: StorageMetrics, traffic: ChunkTraffic, lists: ListedChunks) {
    self.store = store
    self.metrics = metrics
    self.traffic = traffic
    self.lists = lists
  }

  func answer(_ request: GroupRequest, _ partition: Partition) async throws(CaravanError) -> GroupReply {
    let zone = try required(request.zone, "zone").model()
    try RequestRules.check(zone.database, in: partition)
    guard !request.writer.isEmpty else { throw CaravanError(.invalidData, "\(WireError.missingField("writer"))") }
    let op = OpID(writer: request.writer, epoch: request.epoch, number: request.op)
    switch request.kind {
    case .begin:
      return GroupReply(state: GroupState(try await store.beginGroup(op, floor: request.opFloor, in: zone)))
    case .part(let part): return try await stage(part, op, zone)
    case .commit(let commit): return try await self.commit(commit, op, floor: request.opFloor, zone)
    case .status:
      let group = try GroupRules.known(await store.group(op, in: zone), op, in: zone)
      let objects = group.isOpen ? ObjectCounts() : try await store.objectCounts(of: op, in: zone)
      return GroupReply(state: GroupState(group, objects))
    case .remove:
      try await store.removeGroup(op, in: zone)
      return GroupReply()
    case nil:
      throw CaravanError(.invalidData, "a request about a group of a kind this release does not know")
    }
  }

  // MARK: Parts

  private func stage(_ part: GroupPart, _ op: OpID, _ zone: ZoneID) async throws(CaravanError) -> GroupReply {
    guard (1...Limits.recordsPerCommit).contains(part.mutations.count) else {
      throw CaravanError(
        .limitExceeded, "a part has \(part.mutations.count) records: send 1 to \(Limits.recordsPerCommit)")
    }
    try RequestRules.check(hasItsOwnUser: zone.database)
    try await traffic.stage(part.chunks, in: zone.database, as: .all)
    let mutations: [CaravanWire.Mutation]
    switch try await lists.complete(part.mutations, in: zone.database, as: .all) {
    case .missing(let hashes): return GroupReply(missingChunks: ChunkHash.joined(hashes))
    case .complete(let complete): mutations = complete
    }
    var chunks: Set<ChunkHash> = []
    for mutation in mutations { chunks.formUnion(try mutation.model().chunks) }
    let staged = StagedPart(
      zone: zone, op: op, number: Int(part.number), records: mutations.count, chunks: chunks.sorted(),
      body: StagedMutations(mutations: mutations).encoded())
    switch try await store.stage(staged) {
    case .staged(let group): return GroupReply(state: GroupState(group))
    case .missing(let hashes):
      return GroupReply(missingChunks: ChunkHash.joined(hashes.prefix(StoreLimits.hashesPerRequest)))
    }
  }

  // MARK: Commits

  private func commit(
    _ request: GroupCommit, _ op: OpID, floor: UInt64, _ zone: ZoneID
  ) async throws(CaravanError) -> GroupReply {
    try await commits.acquire()
    defer { commits.release() }
    let group = try GroupRules.known(await store.group(op, in: zone), op, in: zone)
    // Of one that is decided the op's outcome is all that is asked for.
    let mutations = group.isOpen ? try await self.mutations(of: op, in: zone) : []
    let fence = request.lock.isEmpty ? nil : LeaseProof(lease: request.lock, token: request.token)
    let result = try await store.commit(
      Commit(
        zone: zone, op: op, opFloor: floor, isAtomic: request.atomic, mutations: mutations,
        parts: Int(request.parts), fence: fence))
    metrics.count(result, in: zone)
    if group.isOpen { metrics.groups.add() }
    return GroupReply(commit: CommitReply(result, to: op.writer))
  }

  private func mutations(of op: OpID, in zone: ZoneID) async throws(CaravanError) -> [CaravanModel.Mutation] {
    var mutations: [CaravanModel.Mutation] = []
    for body in try await store.parts(of: op, in: zone) {
      for mutation in try StagedMutations.decode(body).mutations { mutations.append(try mutation.model()) }
    }
    return mutations
  }

  // MARK: Locks

  func lock(_ request: LockRequest, _ partition: Partition) async throws(CaravanError) -> LeaseGrant {
    try RequestRules.check(leases: [request.name], holder: request.holder)
    let ttl = Duration.milliseconds(Int64(request.ttlMilliseconds))
    let wish: LockWish =
      if request.release {
        .release(token: request.token)
      } else if request.token > 0 {
        .renew(token: request.token, ttl: ttl)
      } else {
        .take(ttl: ttl)
      }
    return LeaseGrant(try await store.lock(request.name, wish, holder: request.holder, in: partition))
  }
}

extension GroupState {
  init(_ group: StagedGroup, _ objects: ObjectCounts = ObjectCounts()) {
    let stage: GroupStage =
      switch group.stage {
      case .open: .open
      case .committed: .committed
      case .refused: .refused
      case .aborted, .removed: .aborted
      case .expired: .expired
      }
    self.init(
      stage: stage, parts: UInt32(clamping: group.parts), records: UInt32(clamping: group.records),
      bytes: UInt64(clamping: group.bytes), untilMilliseconds: UInt64(clamping: group.until),
      objectsWaiting: UInt32(clamping: objects.waiting), objectsFailing: UInt32(clamping: objects.failing),
      objectsRefused: UInt32(clamping: objects.refused), problem: objects.problem)
  }
}

import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanWire

/// What storage answers to services.
struct StorageMethods: Sendable {
  let store: any Store
  let actions: DelayedActions
  let metrics: StorageMetrics
  /// nil: there is one store.
  let moves: OwnerMover?
  /// nil: the store's clock is not this machine's.
  let clock: TrustedClock?
  /// What tickets are held against.
  let ticketClock: any Clock
  private let traffic: ChunkTraffic
  private let lists: ListedChunks
  private let groups: GroupHandler

  init(
    store: any Store, actions: DelayedActions, metrics: StorageMetrics, moves: OwnerMover?, clock: TrustedClock?,
    ticketClock: any Clock
  ) {
    self.clock = clock
    self.ticketClock = ticketClock
    self.store = store
    self.moves = moves
    self.actions = actions
    self.metrics = metrics
    traffic = ChunkTraffic(store: store, metrics: metrics)
    lists = ListedChunks(traffic: traffic)
    groups = GroupHandler(store: store, metrics: metrics, traffic: traffic, lists: lists)
  }

  var endpoints: [Endpoint] { StorageMethod.allCases.map(endpoint) }

  private func endpoint(_ method: StorageMethod) -> Endpoint {
    switch method {
    case .commit: serve(method, StorageLimits.commitsInFlight, commit)
    case .commits: serve(method, StorageLimits.batchesInFlight, commits)
    case .settle: serve(method, StorageLimits.commitsInFlight, settle)
    case .group: serve(method, StorageLimits.groupsInFlight, groups.answer)
    case .lock: serve(method, StorageLimits.leasesInFlight, groups.lock)
    case .changes: serve(method, StorageLimits.readsInFlight, changes)
    case .fetch: serve(method, StorageLimits.readsInFlight, fetch)
    case .zones: serve(method, StorageLimits.readsInFlight, zones)
    case .create: serve(method, StorageLimits.leasesInFlight, create)
    case .changed: serve(method, StorageLimits.readsInFlight, changedZones)
    case .drop: serve(method, StorageLimits.leasesInFlight, drop)
    case .missing: serve(method, StorageLimits.readsInFlight, missing)
    case .parcel: serve(method, StorageLimits.chunkRequestsInFlight, parcel)
    case .log: serve(method, StorageLimits.readsInFlight, log)
    case .heads: serve(method, StorageLimits.leasesInFlight, heads)
    case .lease: serve(method, StorageLimits.leasesInFlight, lease)
    case .cursor: serve(method, StorageLimits.leasesInFlight, cursor)
    case .quota: serve(method, StorageLimits.leasesInFlight, quota)
    case .move: serve(method, StorageLimits.leasesInFlight, move)
    case .status: serve(method, StorageLimits.readsInFlight, status)
    case .schedule: serve(method, StorageLimits.leasesInFlight, schedule)
    case .cancel: serve(method, StorageLimits.leasesInFlight, cancel)
    case .actions: serve(method, StorageLimits.leasesInFlight, list)
    case .damage: serve(method, StorageLimits.leasesInFlight, damage)
    case .clock: serve(method, StorageLimits.leasesInFlight, tellTime)
    case .time: serve(method, StorageLimits.leasesInFlight, time)
    }
  }

  private func serve<Request: WireMessage, Reply: WireMessage>(
    _ method: StorageMethod, _ maxInFlight: Int,
    _ answer: @escaping @Sendable (Request, Partition) async throws(CaravanError) -> Reply
  ) -> Endpoint {
    Endpoint(method.rawValue, method.pattern, group: ServiceName.storage.rawValue, maxInFlight: maxInFlight) {
      (request: Request, subject: Subject) async throws(CaravanError) -> Reply in
      guard case .partitioned(_, let partition, _) = subject else {
        throw CaravanError(.invalidData, "'\(subject.text)' names no partition")
      }
      return try await answer(request, partition)
    }
  }

  // MARK: Records

  private func commit(_ request: CommitRequest, _ partition: Partition) async throws(CaravanError) -> CommitReply {
    let zone = try zone(request.zone, partition)
    let view = ChunkView(of: request.writer, in: zone.database)
    var brought = try await traffic.opened(coming: request.chunks, in: zone.database, as: view)
    var request = request
    if request.mutations.contains(where: { !$0.lists.isEmpty }) {
      // A list is read before what it lists is counted.
      if !brought.isEmpty { try await store.stage(brought, in: zone.database, as: view) }
      brought = []
      switch try await lists.complete(request.mutations, in: zone.database, as: view) {
      case .complete(let mutations): request.mutations = mutations
      case .missing(let hashes): return CommitReply(.missing(hashes))
      }
    }
    let commit = try request.model()
    let result =
      brought.isEmpty ? try await store.commit(commit) : try await store.commit(commit, bringing: brought)
    return reply(result, in: commit.zone, to: commit.op.writer)
  }

  private func reply(_ result: CommitResult, in zone: ZoneID, to writer: String) -> CommitReply {
    metrics.count(result, in: zone)
    if case .missing(let hashes) = result {
      // As many as an answer has room for: the rest is missing the next time.
      return CommitReply(.missing(Array(hashes.prefix(StoreLimits.hashesPerRequest))))
    }
    return CommitReply(result, to: writer)
  }

  /// Side by side, so that they share the groups of their files. What brings no chunks, and names no list of any, goes
  /// to the store as one.
  private func commits(_ batch: CommitBatch, _ partition: Partition) async throws(CaravanError) -> CommitBatchReply {
    let commits = batch.commits
    guard (1...BatchLimits.commits).contains(commits.count) else {
      throw CaravanError(
        .invalidData, "a batch has 1 to \(BatchLimits.commits) commits: this one has \(commits.count)")
    }
    let (plain, others) = (
      commits.indices.filter { commits[$0].isPlain }, commits.indices.filter { !commits[$0].isPlain }
    )
    var answers: [CommitAnswer]
    if others.isEmpty {
      answers = await answer(toPlain: commits)
    } else {
      answers = await withTaskGroup { group in
        group.addTask { Array(zip(plain, await answer(toPlain: plain.map { commits[$0] }))) }
        for index in others { group.addTask { [(index, await answer(to: commits[index]))] } }
        return await group.inOrder(count: commits.count)
      }
    }
    answers.limitCopies(to: Limits.frameBytes)
    return CommitBatchReply(answers: answers)
  }

  private func answer(to request: CommitRequest) async -> CommitAnswer {
    do throws(CaravanError) {
      let zone = try required(request.zone, "zone").model()
      return CommitAnswer(kind: .reply(try await commit(request, Partition(of: zone.database))))
    } catch {
      return CommitAnswer(kind: .failure(Failure(error)))
    }
  }

  private func answer(toPlain requests: [CommitRequest]) async -> [CommitAnswer] {
    let commits = requests.map { (request) -> Swift.Result<Commit, CaravanError> in
      do throws(CaravanError) { return .success(try request.model()) } catch { return .failure(error) }
    }
    var results = await store.commit(commits.compactMap { try? $0.get() })[...]
    return commits.map { commit in
      do throws(CaravanError) {
        let commit = try commit.get()
        guard let result = results.popFirst() else { throw CaravanError(.internalError, "a commit has no result") }
        return CommitAnswer(kind: .reply(reply(try result.get(), in: commit.zone, to: commit.op.writer)))
      } catch {
        return CommitAnswer(kind: .failure(Failure(error)))
      }
    }
  }

  private func settle(_ request: SettleRequest, _ partition: Partition) async throws(CaravanError) -> CommitReply {
    let zone = try zone(request.zone, partition)
    guard !request.writer.isEmpty else { throw CaravanError(.invalidData, "\(WireError.missingField("writer"))") }
    let op = OpID(writer: request.writer, epoch: request.epoch, number: request.op)
    return CommitReply(try await store.settle(op, in: zone), to: op.writer)
  }

  private func changes(
    _ request: ReadChangesRequest, _ partition: Partition
  ) async throws(CaravanError) -> ReadChangesReply {
    let page = try await store.changes(request.query(zone(request.zone, partition)))
    metrics.entriesRead.add(page.count)
    return ReadChangesReply(page)
  }

  private func fetch(_ request: FetchRequest, _ partition: Partition) async throws(CaravanError) -> FetchReply {
    let zone = try zone(request.zone, partition)
    try RequestRules.check(names: request.names)
    let fields = request.fields.isEmpty ? nil : Set(request.fields)
    let found = try await store.fetch(request.names, fields: fields, in: zone)
    return FetchReply(
      entries: found.filter { !$0.isDamaged }.map { CaravanWire.Entry($0) },
      damaged: found.damaged.map { DamagedEntry($0) })
  }

  // MARK: Zones

  private func zones(_ request: ListZonesRequest, _ partition: Partition) async throws(CaravanError) -> ListZonesReply {
    try RequestRules.check(request.partition, is: partition)
    let database: DatabaseID? = if let reference = request.database { try reference.model() } else { nil }
    let filter = try RequestRules.filter(
      database: database, owner: request.owner, named: request.named, in: partition)
    return ListZonesReply(zones: try await store.zones(in: partition, filter).map { ZoneHead($0) })
  }

  private func create(
    _ request: CreateZoneRequest, _ partition: Partition
  ) async throws(CaravanError) -> CreateZoneReply {
    let zone = try zone(request.zone, partition)
    return CreateZoneReply(zone: ZoneHead(try await store.createZone(zone, writer: request.writer)))
  }

  private func changedZones(
    _ request: ChangedZonesRequest, _ partition: Partition
  ) async throws(CaravanError) -> ChangedZonesReply {
    let database = try required(request.database, "database").model()
    try RequestRules.check(database, in: partition)
    let count = RequestRules.bounded(request.maxZones, by: StoreLimits.zonesPerPage)
    return ChangedZonesReply(
      try await store.changedZones(
        ZoneChangeQuery(database: database, position: request.from?.model(), maxZones: count)))
  }

  private func drop(_ request: DeleteZoneRequest, _ partition: Partition) async throws(CaravanError) -> DeleteZoneReply
  {
    let zone = try zone(request.zone, partition)
    return DeleteZoneReply(existed: try await store.deleteZone(zone, writer: request.writer))
  }

  private func zone(_ reference: ZoneRef?, _ partition: Partition) throws(CaravanError) -> ZoneID {
    let zone = try required(reference, "zone").model()
    try RequestRules.check(zone.database, in: partition)
    return zone
  }

  // MARK: Chunks

  private func missing(
    _ request: MissingChunksRequest, _ partition: Partition
  ) async throws(CaravanError) -> MissingChunksReply {
    let database = try required(request.database, "database").model()
    try RequestRules.check(database, in: partition)
    try RequestRules.check(hasItsOwnUser: database)
    let hashes = try ChunkHash.list(request.hashes)
    try RequestRules.check(hashes: hashes)
    return MissingChunksReply(hashes: ChunkHash.joined(try await store.missing(hashes, in: database)))
  }

  /// Frames of devices whose links do not let them pass whole: sync's, who sees to whose they are.
  private func parcel(_ request: ParcelRequest, _ partition: Partition) async throws(CaravanError) -> ParcelReply {
    let database = try required(request.database, "database").model()
    try RequestRules.check(database, in: partition)
    try RequestRules.check(hasItsOwnUser: database)
    try await traffic.stage(request.put, in: database, as: .all)
    let wanted = try ChunkHash.list(request.get)
    try RequestRules.check(parts: wanted)
    guard !wanted.isEmpty else { return ParcelReply() }
    let found = try await store.chunks(wanted, in: database, maxBytes: Limits.chunksPerFrame * Limits.chunkBytes)
    return ParcelReply(chunks: found.map { Chunk(hash: $0.hash.bytes, data: $0.bytes ?? []) })
  }

  // MARK: The log

  private func log(_ request: ReadLogRequest, _ partition: Partition) async throws(CaravanError) -> ReadLogReply {
    try RequestRules.check(request.partition, is: partition)
    let count = RequestRules.bounded(request.maxEntries, by: StoreLimits.logEntriesPerPage)
    return ReadLogReply(try await store.log(of: partition, after: request.after, atMost: count))
  }

  private func heads(_ request: Empty, _ partition: Partition) async throws(CaravanError) -> LogHeadsReply {
    let heads = try await store.logHeads().sorted { $0.key < $1.key }
    return LogHeadsReply(heads: heads.map { LogHead(partition: $0.key.number, head: $0.value) })
  }

  // MARK: Ownership

  private func lease(_ request: LeaseRequest, _ partition: Partition) async throws(CaravanError) -> LeaseReply {
    try RequestRules.check(leases: request.names, holder: request.holder)
    let grants = try await store.lease(
      request.names, holder: request.holder, ttl: .milliseconds(Int64(request.ttlMilliseconds)))
    let living = request.list.isEmpty ? [] : try await store.leases(beginning: request.list)
    return LeaseReply(grants: grants.map { LeaseGrant($0) }, living: living.map { LeaseGrant($0) })
  }

  private func cursor(_ request: CursorRequest, _ partition: Partition) async throws(CaravanError) -> CursorReply {
    try RequestRules.check(request.partition, is: partition)
    guard !request.consumer.isEmpty else { throw CaravanError(.invalidData, "\(WireError.missingField("consumer"))") }
    guard let position = request.position else {
      return CursorReply(position: try await store.cursor(of: request.consumer, in: partition))
    }
    let proof = LeaseProof(lease: request.lease, token: request.fencingToken)
    try await store.moveCursor(of: request.consumer, in: partition, to: position, proof: proof)
    return CursorReply(position: position)
  }

  // MARK: Accounts

  private func quota(_ request: QuotaRequest, _ partition: Partition) async throws(CaravanError) -> QuotaReply {
    let account = try request.account()
    try RequestRules.check(account.partition.number, is: partition)
    if let quota = request.set { return QuotaReply(try await store.setQuota(quota.model(), of: account)) }
    if request.useDefault { return QuotaReply(try await store.setQuota(nil, of: account)) }
    return QuotaReply(try await store.account(account))
  }

  private func move(_ request: MoveRequest, _ partition: Partition) async throws(CaravanError) -> MoveReply {
    let user = try UserID(request.user)
    try RequestRules.check(DatabaseID.system(user), in: partition)
    guard let moves else {
      throw CaravanError(.invalidData, "there is one store: start with --store NAME=PLACE to have another")
    }
    return try await moves.move(user, to: request.to.isEmpty ? nil : request.to)
  }

  /// Whatever the partition.
  private func tellTime(_ request: ClockRequest, _ partition: Partition) async throws(CaravanError) -> ClockReply {
    guard let clock else {
      throw CaravanError(.invalidData, "the store keeps PostgreSQL's time: set the clock of that machine")
    }
    if request.accept { try clock.accept() }
    let time = clock.wallTime.milliseconds
    let error = clock.error?.wholeMilliseconds ?? 0
    return ClockReply(
      machineMilliseconds: UInt64(clamping: time + error), storageMilliseconds: UInt64(clamping: time),
      problem: clock.problem ?? "")
  }

  private func time(_ request: Empty, _ partition: Partition) async throws(CaravanError) -> ClockReply {
    ClockReply(storageMilliseconds: UInt64(clamping: ticketClock.wallTime.milliseconds))
  }

  private func status(_ request: Empty, _ partition: Partition) async throws(CaravanError) -> StorageStatus {
    var status = StorageStatus(try await store.status())
    status.add(try await store.objectCounts(of: nil, in: nil))
    status.clockProblem = clock?.problem ?? ""
    return status
  }
}

extension CommitRequest {
  /// It needs nothing but the store.
  fileprivate var isPlain: Bool { chunks.isEmpty && mutations.allSatisfy(\.lists.isEmpty) }
}

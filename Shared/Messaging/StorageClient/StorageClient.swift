public import CaravanBus
public import CaravanModel
public import CaravanRuntime
public import CaravanWire

/// How every service asks storage: typed calls over the bus, with a deadline and a bounded number of attempts.
///
/// A call is tried again only when that cannot do it twice: commits carry op ids (UNI-07), reads and leases are
/// repeatable, and dropping a zone is tried again only when it certainly did not happen.
public struct StorageClient: Sendable {
  public struct Policy: Sendable {
    /// For one attempt.
    public var deadline: Duration = .seconds(3)
    public var attempts = 3
    /// Before the second attempt; doubled before each further one. A server's retry-after counts instead if longer.
    public var backoff: Duration = .milliseconds(20)
    /// No wait between attempts is longer.
    public var longestWait: Duration = .milliseconds(500)

    public init() {}
  }

  private let bus: any MessageBus
  private let host: Host
  private let policy: Policy
  private let ops: OpSource
  private let queue: CommitQueue

  /// - Parameter writer: whose commits `commit(to:…)` makes: `@` and the service's name, which no device can have.
  public init(bus: any MessageBus, host: Host, writer: String, policy: Policy = Policy()) {
    precondition(writer.hasPrefix("@"), "a service writes under a name that no device can have")
    precondition(policy.attempts > 0, "at least one attempt is made")
    self.bus = bus
    self.host = host
    self.policy = policy
    queue = CommitQueue(clock: host.clock)
    ops = OpSource(writer: writer, epoch: OpSource.epoch(host))
  }

  /// One message to storage and its answer. Prefer the named calls.
  public func call<Reply: WireMessage>(
    _ method: StorageMethod, in partition: Partition, _ request: some WireMessage
  ) async throws(CaravanError) -> Reply {
    let message = Message(request.encoded())
    return try await repeating(method) { () async throws(CaravanError) -> Reply in
      try await Reply.decode(
        bus.request(message, to: method.subject(in: partition), deadline: policy.deadline).payload)
    }
  }

  private func repeating<Reply>(
    _ method: StorageMethod, _ attempt: () async throws(CaravanError) -> Reply
  ) async throws(CaravanError) -> Reply {
    var wait = policy.backoff
    var attempts = 1
    while true {
      do { return try await attempt() } catch {
        guard attempts < policy.attempts, mayRepeat(method, after: error) else { throw error }
        await pause(max(wait, .milliseconds(Int64(error.retryAfterMilliseconds ?? 0))))
        if Task.isCancelled { throw error }
      }
      attempts += 1
      wait *= 2
    }
  }

  private func mayRepeat(_ method: StorageMethod, after error: CaravanError) -> Bool {
    // Refused before anything was done, or unknown.
    error.code == .serverBusy || error.code == .unavailable || (error.code == .timedOut && method.isRepeatable)
  }

  /// Half of the wait is random, so that those refused together do not come back together.
  private func pause(_ wait: Duration) async {
    let bounded = min(wait, policy.longestWait)
    let half = UInt64(max(1, bounded.wholeNanoseconds / 2))
    try? await host.clock.sleep(for: .nanoseconds(Int64(half + host.random.below(half))))
  }
}

// MARK: Commits

extension StorageClient {
  /// A device's commit, under the op id it carries. Small ones that wait for storage at the same time go together.
  public func commit(_ request: CommitRequest, in partition: Partition) async throws(CaravanError) -> CommitReply {
    guard request.estimatedBytes <= BatchLimits.bytesPerCommit else {
      return try await call(.commit, in: partition, request)
    }
    return try await repeating(.commit) { () async throws(CaravanError) -> CommitReply in
      try await queue.commit(request) { await send($0, in: partition) }.get()
    }
  }

  /// One attempt.
  /// - Parameter partition: of the first.
  private func send(_ commits: [CommitRequest], in partition: Partition) async -> [CommitQueue.Answer] {
    do throws(CaravanError) {
      let deadline = policy.deadline
      guard commits.count > 1 else {
        let subject = StorageMethod.commit.subject(in: partition)
        return [.success(try await bus.call(commits[0], to: subject, deadline: deadline))]
      }
      let subject = StorageMethod.commits.subject(in: partition)
      let reply: CommitBatchReply = try await bus.call(CommitBatch(commits: commits), to: subject, deadline: deadline)
      guard reply.answers.count == commits.count else {
        throw CaravanError(.internalError, "\(commits.count) commits got \(reply.answers.count) answers")
      }
      return reply.answers.map { answer in
        switch answer.kind {
        case .reply(let reply): .success(reply)
        case .failure(let failure): .failure(failure.model())
        case nil: .failure(CaravanError(.internalError, "a commit got an answer of no kind: update the service"))
        }
      }
    } catch {
      // That the first does not wait any more says nothing of the others.
      let others = error.code == .cancelled ? CaravanError(.timedOut, "a message with commits was given up") : error
      return [.failure(error)] + commits.dropFirst().map { _ in .failure(others) }
    }
  }

  /// A commit of this service's own, under a new op id.
  public func commit(
    to zone: ZoneID, atomically: Bool = true, _ mutations: [CaravanModel.Mutation]
  ) async throws(CaravanError) -> CommitResult {
    let (op, floor) = ops.begin()
    defer { ops.end(op) }
    let commit = Commit(zone: zone, op: op, opFloor: floor, isAtomic: atomically, mutations: mutations)
    return try await self.commit(CommitRequest(commit), in: Partition(of: zone.database)).model()
  }

  /// What became of an op; one that never arrived is aborted for ever.
  public func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitReply {
    let request = SettleRequest(zone: ZoneRef(zone), writer: op.writer, epoch: op.epoch, op: op.number)
    return try await call(.settle, in: Partition(of: zone.database), request)
  }
}

// MARK: Groups and locks

extension StorageClient {
  /// Work on a commit in parts. Each request may be made again.
  public func group(_ request: GroupRequest, in partition: Partition) async throws(CaravanError) -> GroupReply {
    try await call(.group, in: partition, request)
  }

  /// Takes, renews or releases a lock.
  public func lock(_ request: LockRequest, in partition: Partition) async throws(CaravanError) -> LeaseGrant {
    try await call(.lock, in: partition, request)
  }
}

// MARK: Zones

extension StorageClient {
  public func changes(
    of zone: ZoneID, _ request: ReadChangesRequest
  ) async throws(CaravanError) -> ReadChangesReply {
    try await call(.changes, in: Partition(of: zone.database), request)
  }

  /// Entries of the records that exist or left a tombstone; the others are left out.
  /// - Parameter fields: ids of those the bodies are to have; none: all.
  /// - Throws: `recordDamaged` when the cloud's disk has lost what one of them is: it is not as if it were not there.
  public func fetch(
    _ names: [String], fields: [UInt32] = [], from zone: ZoneID
  ) async throws(CaravanError) -> [CaravanModel.Entry] {
    let request = FetchRequest(zone: ZoneRef(zone), names: names, fields: fields)
    let reply: FetchReply = try await call(.fetch, in: Partition(of: zone.database), request)
    guard reply.damaged.isEmpty else { throw .damagedRecords(reply.damaged.map(\.name)) }
    return reply.entries.map { $0.model() }
  }

  public func zones(of database: DatabaseID) async throws(CaravanError) -> [ZoneHead] {
    let partition = Partition(of: database)
    return try await zones(
      ListZonesRequest(partition: partition.number, database: DatabaseRef(database)), in: partition)
  }

  /// Zones of this name, of every database in the partition.
  public func zones(named name: String, in partition: Partition) async throws(CaravanError) -> [ZoneHead] {
    try await zones(ListZonesRequest(partition: partition.number, named: name), in: partition)
  }

  /// Zones of every private database of one user.
  public func zones(ofOwner owner: UserID) async throws(CaravanError) -> [ZoneHead] {
    let partition = Partition(of: .system(owner))
    return try await zones(ListZonesRequest(partition: partition.number, owner: owner.text), in: partition)
  }

  /// Zones of a database that changed after a position; nil: all of them.
  public func changedZones(
    of database: DatabaseID, from position: CaravanModel.DatabasePosition?
  ) async throws(CaravanError) -> ChangedZonesReply {
    let request = ChangedZonesRequest(
      database: DatabaseRef(database), from: position.map { CaravanWire.DatabasePosition($0) })
    return try await call(.changed, in: Partition(of: database), request)
  }

  private func zones(
    _ request: ListZonesRequest, in partition: Partition
  ) async throws(CaravanError) -> [ZoneHead] {
    let reply: ListZonesReply = try await call(.zones, in: partition, request)
    return reply.zones
  }

  /// Makes a zone, unless it is there.
  public func create(_ zone: ZoneID, writer: String) async throws(CaravanError) -> ZoneHead {
    let request = CreateZoneRequest(zone: ZoneRef(zone), writer: writer)
    let reply: CreateZoneReply = try await call(.create, in: Partition(of: zone.database), request)
    return try required(reply.zone, "zone")
  }

  /// - Returns: whether there was such a zone.
  public func drop(_ zone: ZoneID, writer: String) async throws(CaravanError) -> Bool {
    let request = DeleteZoneRequest(zone: ZoneRef(zone), writer: writer)
    let reply: DeleteZoneReply = try await call(.drop, in: Partition(of: zone.database), request)
    return reply.existed
  }

  // MARK: What is done later (CK-32)

  /// Has a zone or all of a user's data deleted when the time is over. Where that was asked for before, that stands.
  /// - Throws: `zoneDoesNotExist`.
  public func schedule(
    _ target: DelayedAction.Target, after grace: Duration, by requester: String
  ) async throws(CaravanError) -> DelayedAction {
    let request = ScheduleRequest(
      action: DelayedAction(requestedBy: requester, target: target),
      graceMilliseconds: UInt64(max(0, grace.wholeMilliseconds)))
    let reply: ScheduleReply = try await call(.schedule, in: Self.home(of: target), request)
    return try required(reply.action, "action")
  }

  /// - Throws: `noSuchObject` when there is nothing to call off, or it has begun.
  @discardableResult
  public func cancel(_ target: DelayedAction.Target) async throws(CaravanError) -> DelayedAction {
    let request = CancelRequest(action: DelayedAction(target: target))
    let reply: CancelReply = try await call(.cancel, in: Self.home(of: target), request)
    return try required(reply.action, "action")
  }

  public func actions() async throws(CaravanError) -> ListActionsReply {
    try await call(.actions, in: Partition.all[0], Empty())
  }

  private static func home(of target: DelayedAction.Target) throws(CaravanError) -> Partition {
    switch target {
    case .zone(let zone): Partition(of: try zone.model().database)
    case .user(let user): Partition(of: .system(try UserID(user)))
    }
  }

  // MARK: Chunks

  /// Those of `hashes` that the database lacks; the others are kept for the staging lease.
  public func missing(_ hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) -> [ChunkHash] {
    let request = MissingChunksRequest(database: DatabaseRef(database), hashes: ChunkHash.joined(hashes))
    let reply: MissingChunksReply = try await call(.missing, in: Partition(of: database), request)
    return try ChunkHash.list(reply.hashes)
  }

  /// Stages parts of a frame.
  public func stage(_ parts: [Chunk], in database: DatabaseID) async throws(CaravanError) {
    let most = Limits.chunkBatchBytes / Limits.chunkBytes
    for start in stride(from: 0, to: parts.count, by: most) {
      let put = Array(parts[start..<min(start + most, parts.count)])
      let request = ParcelRequest(database: DatabaseRef(database), put: put)
      let _: ParcelReply = try await call(.parcel, in: Partition(of: database), request)
    }
  }

  /// The frame that the chunks are together.
  /// - Throws: `chunksMissing`.
  public func frame(of hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) -> [UInt8] {
    let request = ParcelRequest(database: DatabaseRef(database), get: ChunkHash.joined(hashes))
    let reply: ParcelReply = try await call(.parcel, in: Partition(of: database), request)
    guard reply.chunks.count == hashes.count, reply.chunks.allSatisfy({ !$0.data.isEmpty }) else {
      throw CaravanError(.chunksMissing, "parts of the frame are not here: send them again")
    }
    return reply.chunks.flatMap(\.data)
  }
}

// MARK: The log, leases and cursors

extension StorageClient {
  public func log(
    of partition: Partition, after position: UInt64, atMost entries: UInt32
  ) async throws(CaravanError) -> ReadLogReply {
    let request = ReadLogRequest(partition: partition.number, after: position, maxEntries: entries)
    return try await call(.log, in: partition, request)
  }

  /// How far the log of every partition has come; 0 where there is none.
  public func logHeads() async throws(CaravanError) -> [UInt64] {
    let reply: LogHeadsReply = try await call(.heads, in: Partition.all[0], Empty())
    var heads = [UInt64](repeating: 0, count: Partition.all.count)
    for head in reply.heads { heads[Int(try Partition(head.partition).number)] = head.head }
    return heads
  }

  /// Takes or renews leases (`duration` positive) or gives them back (zero).
  /// - Parameter prefix: also tells of leases whose names begin so and that have not expired; empty: of none.
  /// - Returns: one grant a name, in order; and the leases asked about.
  @discardableResult
  public func lease(
    _ names: [String], holder: String, for duration: Duration, listing prefix: String = "", in partition: Partition
  ) async throws(CaravanError) -> (grants: [LeaseGrant], living: [LeaseGrant]) {
    let request = LeaseRequest(
      names: names, holder: holder, ttlMilliseconds: UInt32(clamping: duration.wholeMilliseconds), list: prefix)
    let reply: LeaseReply = try await call(.lease, in: partition, request)
    return (reply.grants, reply.living)
  }

  /// A consumer's durable position in a partition's log; 0 before its first write.
  public func cursor(of consumer: String, in partition: Partition) async throws(CaravanError) -> UInt64 {
    let request = CursorRequest(consumer: consumer, partition: partition.number)
    let reply: CursorReply = try await call(.cursor, in: partition, request)
    return reply.position ?? 0
  }

  /// - Throws: `lockNotHeld` when the lease has expired or is another's by now.
  public func moveCursor(
    of consumer: String, in partition: Partition, to position: UInt64, lease: String, fencingToken: UInt64
  ) async throws(CaravanError) {
    let request = CursorRequest(
      consumer: consumer, partition: partition.number, position: position, lease: lease, fencingToken: fencingToken)
    let _: CursorReply = try await call(.cursor, in: partition, request)
  }

  /// What an account uses and may use; `set` and `useDefault` of the request change that first.
  public func quota(_ request: QuotaRequest, of account: Account) async throws(CaravanError) -> AccountState {
    var request = request
    switch account {
    case .user(let user, _): (request.user, request.container) = (user.text, "")
    case .container(let container, _): (request.user, request.container) = ("", container.text)
    }
    request.environment = account.environment.rawValue
    let reply: QuotaReply = try await call(.quota, in: account.partition, request)
    return reply.model(of: account)
  }

  /// Has a user moved to another store, and says how that stands; nil: only says it (CK-100).
  public func move(_ user: UserID, to store: String?) async throws(CaravanError) -> MoveReply {
    let request = MoveRequest(user: user.text, to: store ?? "")
    return try await call(.move, in: Partition(of: .system(user)), request)
  }

  /// Chunks and records that are damaged, of one user or of all.
  /// - Parameter hasRecords: with the records that name the chunks, for which storage reads many.
  public func damage(of owner: UserID? = nil, hasRecords: Bool = false) async throws(CaravanError) -> DamageReply {
    let request = DamageRequest(owner: owner?.text ?? "", records: hasRecords)
    let partition = owner.map { Partition(of: .system($0)) } ?? Partition.all[0]
    return try await call(.damage, in: partition, request)
  }

  /// Whether storage believes its machine's clock.
  /// - Parameter isAccepted: it does from now on.
  public func clock(isAccepted: Bool = false) async throws(CaravanError) -> ClockReply {
    try await call(.clock, in: Partition.all[0], ClockRequest(accept: isAccepted))
  }

  /// What storage holds tickets against.
  public func time(of partition: Partition) async throws(CaravanError) -> WallTime {
    let reply: ClockReply = try await call(.time, in: partition, Empty())
    return WallTime(milliseconds: Int64(clamping: reply.storageMilliseconds))
  }

  public func status(of partition: Partition) async throws(CaravanError) -> StorageStatus {
    try await call(.status, in: partition, Empty())
  }
}

extension CommitRequest {
  /// About; chunks count for what they bring.
  fileprivate var estimatedBytes: Int {
    mutations.reduce(0) { $0 + $1.name.utf8.count + $1.body.count + $1.chunks.count }
      + chunks.reduce(0) { $0 + $1.data.count }
  }
}

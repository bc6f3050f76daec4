public import CaravanModel

/// The truth: zones, records, the zone log, chunks, op outcomes, leases and cursors (architecture §5).
///
/// Every mutation is durable when its call returns. A call that throws did nothing, except that after `timedOut` or
/// `cancelled` it is unknown: ask again under the same op id. Safe to call from any task.
/// - Throws: `serverBusy` when too much waits to be written; `storageFull` when the disk refuses, with everything
///   acknowledged before intact; `unavailable` once closed.
public protocol Store: Sendable {
  /// Why it can do nothing now, in a few words; nil: it can, for all that is known.
  var trouble: String? { get }

  // MARK: Records

  /// Applies a commit once: the same op id again gives the same result (UNI-07), with conflicts showing what the store
  /// holds now. The zone comes to be with its first accepted mutation.
  /// - Throws: `invalidData` when the op lies below its writer's low watermark, or its id is in use in another zone.
  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult

  /// Commits side by side, each for itself; what became of them in their order.
  func commit(_ commits: [Commit]) async -> [Result<CommitResult, CaravanError>]

  /// Applies a commit with chunks that its records name: they are kept as by `stage`, staged by the commit's writer,
  /// where the store can in the commit's own transaction.
  func commit(_ commit: Commit, bringing chunks: [ChunkBytes]) async throws(CaravanError) -> CommitResult

  /// What became of an op. One that never arrived is recorded as aborted and can never be applied later.
  func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage

  /// Entries of the records that exist or left a tombstone, in the order of `names`; the others are left out, as are
  /// those expired out of sight (CK-30). One that is damaged says so, and no more (`Entry.isDamaged`).
  /// - Parameter fields: ids of those the bodies are to have; nil: all (CK-24).
  func fetch(_ names: [String], fields: Set<UInt32>?, in zone: ZoneID) async throws(CaravanError) -> [Entry]

  /// Live records whose time is over by now, the longest over first (CK-30), those of one time in the order of names.
  /// - Parameter last: only those that come after this one.
  func expired(after last: ExpiredRecord?, atMost count: Int) async throws(CaravanError) -> [ExpiredRecord]

  // MARK: Zones

  /// In the order of their creation.
  func zones(in partition: Partition, _ filter: ZoneFilter) async throws(CaravanError) -> [ZonePosition]

  /// Makes a zone, unless it is there.
  func createZone(_ zone: ZoneID, writer: String) async throws(CaravanError) -> ZonePosition

  /// Zones of a database that changed, or were deleted, after a position.
  func changedZones(_ query: ZoneChangeQuery) async throws(CaravanError) -> ZoneChangePage

  /// Removes the zone from sight at once; its entries go in steps of `collect`. A zone of the same name gets another
  /// incarnation, and versions that continue the old ones, so that no old version fits a new record.
  /// - Parameter incarnation: only this life of it; nil: whichever there is.
  /// - Returns: whether there was such a zone.
  func deleteZone(_ zone: ZoneID, incarnation: Incarnation?, writer: String) async throws(CaravanError) -> Bool

  // MARK: Chunks

  /// Keeps chunks for the staging lease, until a record or a group refers to them; a power cut may take them before
  /// that. They take the place of damaged ones. The caller has checked the hashes.
  /// - Parameter view: who stages them in a public database, and may name them from then on.
  /// - Throws: `quotaExceeded`; `limitExceeded` when the user has staged too much.
  func stage(_ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView) async throws(CaravanError)

  /// Those of `hashes` that the database lacks or cannot read, in the order given; the others are kept for the staging
  /// lease.
  /// - Parameter view: what is not in it is missing; not one record's.
  func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkHash]

  /// Those of `hashes` that are in a view. Whether their bytes can be read, `chunks` says.
  func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> Set<ChunkHash>

  /// As many of `hashes` as fit in `maxBytes` (the first always), in order; `nil` bytes for those it lacks, and for
  /// those whose bytes are damaged.
  func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk]

  // MARK: Damage

  /// Chunks that were found damaged and have not come again since, at most so many, those that records hold first.
  func damage(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedChunk]

  /// Records whose rows were found damaged and have not been written since, at most so many.
  func damagedBodies(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedBody]

  /// Records of a database that name one of the chunks, at most so many. Reads the list of every record that has one.
  func records(
    naming chunks: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) async throws(CaravanError) -> [DamagedRecord]

  /// Reads the next chunks and records and notes those that are damaged. The store remembers where it went on.
  /// - Parameter bytes: about so many are read.
  func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep

  // MARK: Groups

  /// Begins a group under an op, unless it was begun before.
  /// - Parameter floor: as a commit's.
  /// - Throws: `quotaExceeded` when the user has too many.
  func beginGroup(_ op: OpID, floor: UInt64, in zone: ZoneID) async throws(CaravanError) -> StagedGroup

  /// Keeps a part until its group ends. The same part again does nothing.
  /// - Throws: `noOperationId` where no group was begun, `limitExceeded`, `invalidData`.
  func stage(_ part: StagedPart) async throws(CaravanError) -> PartStaging

  /// nil: never begun, or forgotten.
  func group(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> StagedGroup?

  /// The bodies of an open group's parts, by number. It becomes visible by a commit under its op that brings what is
  /// in them.
  func parts(of op: OpID, in zone: ZoneID) async throws(CaravanError) -> [[UInt8]]

  /// Forgets a group; one that is open is settled as aborted.
  func removeGroup(_ op: OpID, in zone: ZoneID) async throws(CaravanError)

  // MARK: Objects that go to the object store

  /// Tasks whose time has come, the oldest first; none where the store was not opened for an object store.
  func objectTasks(atMost count: Int) async throws(CaravanError) -> [ObjectTask]

  /// Notes what became of a task, and where the record's objects now lie.
  func finish(_ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String]) async throws(CaravanError)

  /// How the tasks of a group's records stand; of all, where no group is named.
  func objectCounts(of group: OpID?, in zone: ZoneID?) async throws(CaravanError) -> ObjectCounts

  // MARK: Locks

  /// Takes, renews or releases a lock of the partition's users. It lies beside what it guards, so that a commit is
  /// refused in one step with the loss of its lock.
  /// - Throws: `lockAlreadyHeld`, `lockNotHeld`, `leaseExpired`.
  func lock(
    _ name: String, _ wish: LockWish, holder: String, in partition: Partition
  ) async throws(CaravanError) -> Lease

  // MARK: The log of a partition

  func log(
    of partition: Partition, after position: UInt64, atMost entries: Int
  ) async throws(CaravanError) -> LogPage

  /// How far the logs have come; without partitions that have none.
  func logHeads() async throws(CaravanError) -> [Partition: UInt64]

  // MARK: Ownership

  /// Takes or renews leases on the store's clock; a `ttl` of zero gives them back. One grant a name, in order.
  func lease(_ names: [String], holder: String, ttl: Duration) async throws(CaravanError) -> [Lease]

  /// Leases whose names begin with `prefix` and that have not expired, by name.
  func leases(beginning prefix: String) async throws(CaravanError) -> [Lease]

  /// How far a consumer has come in a partition's log; 0 before its first write.
  func cursor(of consumer: String, in partition: Partition) async throws(CaravanError) -> UInt64

  /// Moves a consumer's cursor, for whoever holds the lease with this token.
  /// - Throws: `lockNotHeld` when the lease has expired or the token is not the newest.
  func moveCursor(
    of consumer: String, in partition: Partition, to position: UInt64, proof: LeaseProof
  ) async throws(CaravanError)

  // MARK: Accounts

  /// What an account holds and may hold, in one snapshot.
  func account(_ account: Account) async throws(CaravanError) -> AccountState

  /// What an account may hold from now on. What it holds already stays, however much that is.
  /// - Parameter quota: nil: what the store was opened with.
  func setQuota(_ quota: Quota?, of account: Account) async throws(CaravanError) -> AccountState

  // MARK: Maintenance

  /// What names the store among all others, for those that share it; nil: one process owns it.
  func sharedName() async throws(CaravanError) -> String?

  func status() async throws(CaravanError) -> StoreStatus

  /// One bounded step of maintenance: entries of deleted zones, unreferenced chunks after their grace, old log, old
  /// pages.
  /// - Returns: whether there is more to do now.
  func collect() async throws(CaravanError) -> Bool
}

extension Store {
  /// - Parameter database: nil: of all.
  public func damage(in database: DatabaseID?, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] {
    try await damage(database.map { .database($0) } ?? .everything, atMost: count)
  }

  public func sharedName() async throws(CaravanError) -> String? { nil }
  public var trouble: String? { nil }

  public func deleteZone(_ zone: ZoneID, writer: String) async throws(CaravanError) -> Bool {
    try await deleteZone(zone, incarnation: nil, writer: writer)
  }

  public func fetch(_ names: [String], in zone: ZoneID) async throws(CaravanError) -> [Entry] {
    try await fetch(names, fields: nil, in: zone)
  }

  public func stage(_ chunks: [ChunkBytes], in database: DatabaseID) async throws(CaravanError) {
    try await stage(chunks, in: database, as: .all)
  }

  public func missing(_ hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) -> [ChunkHash] {
    try await missing(hashes, in: database, as: .all)
  }
}

/// Hears of commits, after each is durable, in the order of positions within a partition. Called on the writing thread:
/// it must return at once.
public protocol CommitObserver: Sendable {
  func committed(_ group: [CommittedChange])
  /// There may be commits that it did not hear of, where a store learns only later what became of one.
  func missed()
}

extension CommitObserver {
  public func missed() {}
}

/// One commit (or zone deletion), with what it wrote.
public struct CommittedChange: Sendable, Hashable {
  public var partition: Partition
  public var log: LoggedCommit
  /// What the zone's index now holds of it; empty for a deletion.
  public var entries: [Entry]
  /// False: what it wrote is known in another store, and not said here.
  public var hasEntries: Bool

  public init(partition: Partition, log: LoggedCommit, entries: [Entry], hasEntries: Bool = true) {
    self.hasEntries = hasEntries
    self.partition = partition
    self.log = log
    self.entries = entries
  }
}

public import CaravanAgentCore
public import CaravanModel

/// The local store as the sync engine sees it. Every call is one transaction, and durable when it returns unless the
/// cloud would say the same again (`record`, `apply`); a failed call (`storageFull`, for one) has changed nothing.
///
/// Upstream, one table at a time:
///
///     guard let plan = try await store.collect(table, maximumRows: …, …) else { return }
///     send Push(plan)                 missing chunks ⇒ upload `chunks(…)` by hash, send the same push again
///     try await store.record(outcomes, of: plan.op)
///
/// A plan lives until it is recorded or aborted, across restarts: `plansInFlight()` first thing after opening, settle
/// each at the cloud, then `record` or `abort`. Rows of a plan (SP) are in no other plan; apps keep writing to them.
///
/// Downstream, one table at a time:
///
///     try await store.apply(page, to: table, token: newToken, end: more ? .more : .last, point: …)
///     while let missing = try await store.missingChunks(of: table, limit: …), !missing.isEmpty {
///       download, then try await store.stage(chunks)
///     }
///
/// Entries whose chunks are not all here, whose row is in a push, open for writing or being resolved wait inside the
/// store and are applied by the call that makes them ready; the token moves on regardless, for they are kept. Entries
/// of a table that shows its zone as it once was wait for the rest of that, and are applied together (UNI-13).
public protocol SyncStore: Sendable {
  // MARK: The store's own identity

  /// Counts the lives of this device's store: new for a new file, and after `beginEpoch`.
  var epoch: UInt64 { get async }
  /// Ops of the epoch below this number have been recorded or aborted: the cloud may forget them.
  var opFloor: UInt64 { get async }
  /// Starts a new epoch.
  /// - Throws: `invalidData` while plans are in flight.
  func beginEpoch() async throws(CaravanError)

  // MARK: Tables

  /// Every table that takes part in sync, in the order of their creation.
  func syncedTables() async -> [TableID]
  /// - Throws: `tableNotFound`.
  func isSynced(_ table: TableID) async throws(CaravanError) -> Bool
  /// - Throws: `tableNotFound`.
  func syncState(of table: TableID) async throws(CaravanError) -> TableSyncState
  /// The cloud's answer to the table's proposal. Field ids in bodies are those of this type from now on.
  /// - Throws: `schemaViolation` when a column is absent from it or of another kind.
  func agree(on type: RecordType, for table: TableID) async throws(CaravanError)
  /// Why the cloud last refused this table, shown in the status; nil clears it.
  /// - Parameter fault: has the table's sync rest until somebody resets it; nil: as it was.
  func note(refusal: String?, fault: TableFault?, of table: TableID) async throws(CaravanError)

  // MARK: Upstream

  /// Writes down a plan for the oldest dirty rows and marks them SP; nil when there is none to send, or the table has
  /// an op in flight. At least one row, however large.
  /// - Parameters:
  ///   - onlyDeletions: rows that were deleted, and no others.
  ///   - room: bytes, for rows with their objects and answers: those that do not fit are passed over, all if need be.
  ///   - retriesRefused: whether rows that the cloud has refused as they are go again, when there is nothing else.
  /// - Throws: `tableNotFound`; `schemaViolation` when no type has been agreed on yet.
  func collect(
    _ table: TableID, maximumRows: Int, maximumBytes: Int, onlyDeletions: Bool, room: Int?, retriesRefused: Bool
  ) async throws(CaravanError) -> PushPlan?
  /// From now on changes of these tables, and of no others, are planned in the transaction that makes them, unless an
  /// op is in flight; `collect` hands the plan out. Plans of other tables that nobody has taken are aborted.
  func planAtOnce(_ tables: Set<TableID>) async throws(CaravanError)
  /// Plans that were neither recorded nor aborted, oldest first.
  func plansInFlight() async throws(CaravanError) -> [PushPlan]
  /// The outcomes of a plan, one a mutation in its order: accepted rows become clean, conflicts are staged and the app
  /// is told. Recording a plan that is not in flight does nothing.
  ///
  /// - Parameter stamp: of what was accepted; nil: not known.
  @discardableResult
  func record(_ outcomes: [Outcome], of op: UInt64, by stamp: CommitStamp?) async throws(CaravanError) -> PushSummary
  /// The plan was not applied and never will be: its rows are dirty again (E1).
  func abort(_ op: UInt64) async throws(CaravanError)
  /// Chunks that a plan's rows name and the versions they are based on do not: what the cloud is likely to lack, and
  /// what each may be a patch of.
  func unsentChunks(of op: UInt64) async throws(CaravanError) -> [ChunkNeed]
  /// Bytes of these chunks, in order, as many as fit into `maximumBytes` but at least one; absent ones are left out.
  func chunks(_ hashes: [ChunkHash], maximumBytes: Int) async throws(CaravanError) -> [LocalChunk]
  /// Those of the chunks that are here; that others are not is no damage.
  func held(_ hashes: [ChunkHash]) async throws(CaravanError) -> [ChunkHash]
  /// Chunks of writes that are still open, or have been closed; others are left out.
  func chunksBeingWritten(_ hashes: [ChunkHash]) async throws(CaravanError) -> [LocalChunk]

  // MARK: Downstream

  /// What the rows of a page want and is not here, where none of them can be taken in without it and all of it comes in
  /// one answer; otherwise nothing. Brought along when the page is applied, it saves a transaction.
  func chunks(lackedBy page: [IncomingEntry], of table: TableID) async throws(CaravanError) -> [ChunkNeed]
  /// Applies a change page row by row in its order (SIM-67) and moves the table's token on. Pages with more behind them
  /// are durable with the last: what a power cut undoes is asked for again.
  /// - Parameters:
  ///   - chunks: which its rows want; of those that are damaged, or that nobody wants, nothing is kept.
  ///   - token: the change token after this page.
  ///   - point: with this page, all of the zone has come as it was at this version; nil: who knows.
  @discardableResult
  func apply(
    _ page: [IncomingEntry], with chunks: [LocalChunk], to table: TableID, token: [UInt8], end: PageEnd, point: Seq?
  ) async throws(CaravanError) -> PullSummary
  /// The cloud has named these rows, and its own copies of them are damaged. They stay here as they are; one that is
  /// the very copy goes to the cloud again.
  func isDamaged(atCloud rows: [CloudDamage], of table: TableID) async throws(CaravanError)
  /// What waiting entries and conflict copies of the table need, oldest entry first, and what each may be a patch of.
  func missingChunks(of table: TableID, limit: Int) async throws(CaravanError) -> [ChunkNeed]
  /// The same, of entries that need no more than is left of `room`, in bytes: what is too large is passed over.
  func missingChunks(of table: TableID, limit: Int, room: Int) async throws(CaravanError) -> [ChunkNeed]
  /// Takes downloaded chunks in, whoever waits for them, and applies what is complete now. Chunks nobody waits for are
  /// dropped.
  /// - Throws: `chunkDamaged` when bytes do not have their hash; the others have been taken.
  @discardableResult
  func stage(_ chunks: [LocalChunk], for table: TableID) async throws(CaravanError) -> PullSummary
  /// What has come of a chunk whose rest is awaited, from its beginning on.
  func part(of hash: ChunkHash) async throws(CaravanError) -> [UInt8]
  /// Keeps what follows on the first `start` bytes. Of few chunks at once: the oldest ones' parts are forgotten.
  func keep(part: [UInt8], of hash: ChunkHash, from start: Int) async throws(CaravanError)
  func dropPart(of hash: ChunkHash) async throws(CaravanError)
  /// The cloud's state is void (`resetRequired`). Rows stay visible until the resync has shown which of them the cloud
  /// still has, and dirty ones stay dirty (UNI-18); nothing is collected until then.
  /// - Parameters:
  ///   - lost: versions that a restore of the cloud took back: rows of them are offered again.
  ///   - token: from where the resync begins; empty: the cloud is to say.
  /// - Throws: `invalidData` while a plan of the table is in flight.
  func reset(_ table: TableID, lost: [LostRange], token: [UInt8]) async throws(CaravanError)
  /// The same, by somebody's wish: ends the table's fault as well (REC-27).
  /// - Throws: `serverBusy` while a push of the table has no answer; `invalidData` when changes that the cloud does not
  ///   have would be forgotten and `discardingUnsent` does not say that they are to be.
  func reset(_ table: TableID, _ choice: ResetChoice, discardingUnsent: Bool) async throws(CaravanError)

  /// The cloud has said that the table's zone does not exist.
  func zoneIsGone(_ table: TableID) async throws(CaravanError) -> ZoneVerdict
  /// The cloud has said that it does. Where it always has, nothing changes.
  func zoneIsThere(_ table: TableID) async throws(CaravanError)

  // MARK: Damage

  /// Sees to what reads have found damaged since the last call: rows concerned are refused until they are whole again,
  /// and what they need is among what their tables lack.
  func repairDamage() async throws(CaravanError)

  // MARK: Loss

  /// Rows of the table that may be lost are given up, as many as its tolerance allows (MOB-05).
  /// - Returns: how many still wait.
  @discardableResult
  func loseTolerated(of table: TableID, to place: LossPlace) async throws(CaravanError) -> UInt64

  // MARK: The network

  func networkRecord() async throws(CaravanError) -> NetworkRecord
  func save(_ policy: NetworkPolicy) async throws(CaravanError)
  /// The broker refuses these credentials; nil: none.
  func save(_ refusal: Admission.Refusal?) async throws(CaravanError)
  /// So many bytes may be spent on that day; replaces what was granted before.
  func save(grant bytes: UInt64, over link: LinkClass, on day: Int64) async throws(CaravanError)
  /// Adds to what the links have carried for each.
  func save(_ usage: UsageLedger.Unsaved) async throws(CaravanError)

  // MARK: Registrations

  /// Everything registered, ordered by table and direction.
  func registrations() async throws(CaravanError) -> [TableRegistration]
  /// The tables registered for reading in the order of registration, which is the order of a notification's bitmap,
  /// and the list's generation: it grows with every change (MOB-41), also of the tables whose rows are not to come with
  /// notifications, and of those of which nothing may be pulled now.
  /// - Parameters:
  ///   - toldOnly: the former; nil: nobody knows now, and the list is numbered as it was last.
  ///   - deferrable: the latter.
  func subscriptions(
    toldOnly: Set<TableID>?, deferrable: Set<TableID>
  ) async throws(CaravanError) -> SubscriptionList
}

/// A chunk's name and bytes.
public struct LocalChunk: Sendable, Hashable {
  public let hash: ChunkHash
  public let bytes: [UInt8]

  public init(hash: ChunkHash, bytes: [UInt8]) {
    self.hash = hash
    self.bytes = bytes
  }

  /// The chunk these bytes are.
  public init(containing bytes: [UInt8]) { self.init(hash: ChunkHash(of: bytes), bytes: bytes) }
}

public struct TableRegistration: Sendable, Hashable {
  public let table: TableID
  public let direction: Direction
  public let registration: SyncRegistration

  public init(table: TableID, direction: Direction, registration: SyncRegistration) {
    self.table = table
    self.direction = direction
    self.registration = registration
  }
}

public import CaravanAgentCore
internal import CaravanChunkFiles
public import CaravanModel
public import CaravanRuntime
internal import CaravanSQLite

/// When a transaction of the store survives a power cut. A process that dies takes none of them with it.
enum TransactionDurability {
  case atOnce
  /// With the next one that does so at once: what is lost until then is asked of the cloud again, or was allowed to be
  /// lost. Saves waiting for the disk.
  case later
}

extension WritePromise {
  var durability: TransactionDurability { self == .accepted ? .later : .atOnce }
}

/// The device's store: every app's tables, their objects' chunks, and where each stands in its sync, in one SQLite file
/// (write-ahead log, `synchronous=FULL`). What a call acknowledged is on the disk.
///
/// Copy-on-write: an open write keeps what it was given beside the row. Closing it puts cells, objects, flags and chunk
/// counts into one transaction, so no reader and no sync ever sees half a write, and one that dies leaves the row as it
/// was last closed (UNI-17).
///
/// One process owns the directory. All calls run one after the other, on the thread where the agent's tasks run.
public actor LocalStore {
  nonisolated let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  let context: StoreContext
  let batches: Batches
  let ancestors: Ancestors
  let tolerances: Tolerances
  let catalog: TableCatalog
  let refusals: Refusals
  let objectChunks: ObjectChunks
  let inbox: Inbox
  let writer: RowWriter
  let readers: Readers
  let wanted: WantedObjects
  let retention: Retention
  let resolutions = Resolutions()
  let cloudDamage: CloudDamageLog
  let repair: Repair
  let arrivals: Arrivals
  let lossQueue: LossQueue
  let pushLog: PushLog
  let writes: WriteSessions
  private let lock: DirectoryLock

  let openWrites: OpenWrites
  let slow: SlowSelections
  let selected: SelectedKeys
  let lives: LiveQueries
  /// Told of what concerns live queries that ask the cloud.
  public nonisolated let cloudNews: CloudNews

  // MARK: Life

  /// Opens the store in `directory`, which is made if absent, and recovers every row by Table 4.
  /// A database that is damaged so that it cannot be opened, or was found to be in use, is set aside, and what can be
  /// read of it carried over to a new one (SIM-78…82).
  /// - Throws: `unavailable` when another process owns the directory and keeps it, `storageFull`, or `internalError`
  ///   when the file is of a newer format.
  public static func open(
    _ directory: String, host: Host, options: LocalStoreOptions = LocalStoreOptions()
  ) async throws(CaravanError) -> LocalStore {
    try await DirectoryLock.whenFree(directory, within: StoreLimits.ownerPatience, clock: host.clock).release()
    let report = try PageRecovery.ifNeeded(directory, host: host, options: options)
    do throws(CaravanError) { return try await opened(directory, host, options, report) } catch {
      guard report == nil, PageRecovery.helps(against: error) else { throw error }
      let report = try PageRecovery.whenOpenFailed(directory, error, host: host, options: options)
      return try await opened(directory, host, options, report)
    }
  }

  private static func opened(
    _ directory: String, _ host: Host, _ options: LocalStoreOptions, _ report: PageRecoveryReport?
  ) async throws(CaravanError) -> LocalStore {
    let store = try LocalStore(directory, host: host, options: options)
    do throws(CaravanError) { try await store.recover(after: report) } catch {
      await store.close()
      throw error
    }
    return store
  }

  private init(_ directory: String, host: Host, options: LocalStoreOptions) throws(CaravanError) {
    executor = host.executors.makeInline()
    lock = try DirectoryLock(directory)
    context = try StoreContext(directory, host: host, options: options)
    batches = Batches(context)
    ancestors = Ancestors(context)
    tolerances = Tolerances(context)
    openWrites = OpenWrites(context)
    catalog = TableCatalog(context, batches: batches, tolerances: tolerances)
    refusals = Refusals(context: context, batches: batches)
    objectChunks = ObjectChunks(context: context)
    inbox = Inbox(catalog: catalog)
    writer = RowWriter(inbox: inbox, ancestors: ancestors, refusals: refusals)
    wanted = WantedObjects(inbox: inbox)
    let pool = ReaderPool(context)
    slow = SlowSelections(context)
    readers = Readers(pool: pool, wanted: wanted, writer: writer, openWrites: openWrites, slow: slow)
    selected = SelectedKeys(readers: readers)
    cloudNews = CloudNews()
    lives = LiveQueries(readers: readers, news: cloudNews)
    retention = Retention(inbox: inbox, writer: writer, openWrites: openWrites, readers: pool)
    cloudDamage = CloudDamageLog(catalog: catalog, ancestors: ancestors, openWrites: openWrites)
    repair = Repair(retention: retention, ancestors: ancestors)
    arrivals = Arrivals(repair: repair, resolutions: resolutions, cloudDamage: cloudDamage)
    lossQueue = LossQueue(writer: writer, openWrites: openWrites)
    pushLog = PushLog(arrivals: arrivals, lossQueue: lossQueue, refusals: refusals)
    writes = WriteSessions(pushLog: pushLog, inPlace: InPlaceWrites(repair: repair))
  }

  static func connectionOptions(_ options: LocalStoreOptions) -> ConnectionOptions {
    var connection = ConnectionOptions()
    connection.durability = options.isDurable ? .full : .none
    connection.cacheBytes = options.cacheBytes
    connection.pageBytes = options.pageBytes
    connection.checkpointPages = options.logBytes / options.pageBytes
    connection.tap = options.tap
    return connection
  }

  /// Ends reads, drops open writes and gives the directory up. Calls that come later are refused as `unavailable`.
  public func close() {
    if connection != nil { try? catalog.saveTold() }
    slow.stopAll()
    lives.closeAll()
    readers.closeAll()
    (openWrites.all, openWrites.cloud) = ([:], [:])
    context.close()
    lock.release()
  }

  // MARK: Who is told

  /// Called on the store's thread after rows became ready for upstream; must return at once.
  public func whenDirtied(_ tell: @escaping @Sendable (TableID, LocalChange) -> Void) { context.events.dirtied = tell }

  /// Called on the store's thread when a table has upcalls to deliver; must return at once.
  public func whenNewsArrives(_ tell: @escaping @Sendable (TableID) -> Void) { context.events.news = tell }

  /// Called on the store's thread with chunks of rows that are being written, of tables whose changes go at once; must
  /// return at once.
  public func whenChunksAreCut(_ tell: @escaping @Sendable (TableID, [ChunkHash]) -> Void) { context.events.cut = tell }

  // MARK: The context

  var host: Host { context.host }
  var options: LocalStoreOptions { context.options }
  var damage: DamageLog { context.damage }
  var connection: Connection? { context.connection }
  var database: Connection { get throws(CaravanError) { try context.database } }
  var chunkTable: ChunkTable { get throws(CaravanError) { try context.chunkTable } }
  func chunkReader(_ connection: Connection) -> ChunkReader { context.chunkReader(connection) }
  func newHandle() -> UInt64 { context.newHandle() }
  func nextChange() -> Int64 { context.nextChange() }
  var tables: [TableID: TableState] { catalog.tables }
  func state(_ table: TableID) throws(CaravanError) -> TableState { try catalog.state(table) }
  func change<Result>(
    _ table: TableID, _ durability: TransactionDurability = .atOnce, isFreeing: Bool = false,
    _ body: (inout TableState) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result { try catalog.change(table, durability, isFreeing: isFreeing, body) }

  // MARK: Events

  /// Where a connection goes on that names no number: all of the app's have taken what there was up to here.
  public func told(of table: TableID) throws(CaravanError) -> UInt64 { try catalog.told(of: table) }

  /// What happened to a table since any connection of its app was told.
  public func takeUpcalls(_ table: TableID) throws(CaravanError) -> PendingUpcalls {
    let upcalls = try upcalls(of: table, after: told(of: table))
    try tell(table, upTo: upcalls.number)
    return upcalls
  }

  /// The app has taken the events up to this number.
  public func tell(_ table: TableID, upTo number: UInt64) throws(CaravanError) {
    try catalog.tell(table, upTo: number)
  }

  /// What happened to a table behind the event of this number.
  public func upcalls(of table: TableID, after number: UInt64) throws(CaravanError) -> PendingUpcalls {
    let state = try state(table)
    var upcalls = try EventLogs(context: context).upcalls(of: state, after: number)
    upcalls.conflicts = try inbox.conflictCount(of: state)
    return upcalls
  }

  /// Somebody begins to listen.
  package func tellAgain(_ table: TableID) { context.events.tellNews(table) }

  /// What a write with this intent may rely on.
  /// - Throws: `tableNotFound`; `invalidData` when the intent asks for what the table is not registered for.
  public func promise(
    _ intent: WriteIntent, isInsert: Bool, in table: TableID
  ) throws(CaravanError) -> WritePromise { try tolerances.promise(intent, isInsert: isInsert, in: try state(table)) }

  /// The same, of open writes that end together.
  public func promise(ofWrites handles: [UInt64]) -> WritePromise { openWrites.promise(ofWrites: handles) }

  public func chunksBeingWritten(_ hashes: [ChunkHash]) throws(CaravanError) -> [LocalChunk] {
    try openWrites.chunksBeingWritten(hashes)
  }

  /// Called on the store's thread when damage was found; must return at once.
  public func whenDamaged(_ tell: @escaping @Sendable () -> Void) { damage.tell = tell }

  /// Called on the store's thread when the database itself is found damaged; must return at once. The store has to be
  /// opened again: then it is salvaged.
  public func whenDatabaseDamaged(_ tell: @escaping @Sendable () -> Void) {
    damage.tellOfDatabase = tell
    if damage.isOfDatabase { tell() }
  }

  public var isDatabaseDamaged: Bool { damage.isOfDatabase }
  public func repairDamage() throws(CaravanError) { try repair.repairDamage() }

  // MARK: What arrives

  @discardableResult
  public func apply(
    _ page: [IncomingEntry], with chunks: [LocalChunk] = [], to table: TableID, token: [UInt8], end: PageEnd,
    point: Seq? = nil
  ) throws(CaravanError) -> PullSummary {
    try arrivals.apply(page, with: chunks, to: table, token: token, end: end, point: point)
  }

  @discardableResult
  public func stage(_ chunks: [LocalChunk], for table: TableID) throws(CaravanError) -> PullSummary {
    try arrivals.stage(chunks, for: table)
  }

  public func isDamaged(atCloud rows: [CloudDamage], of table: TableID) throws(CaravanError) {
    try cloudDamage.note(rows, of: table)
  }

  /// - Throws: `serverBusy` while a push of the table has no answer.
  public func reset(_ table: TableID, lost: [LostRange] = [], token: [UInt8] = []) throws(CaravanError) {
    try arrivals.reset(table, lost: lost, token: token)
  }

  /// Ends the table's fault and starts over, with what is dirty here kept or not (REC-27, UNI-19).
  /// - Throws: `serverBusy` while a push of the table has no answer; `invalidData` when changes that the cloud does not
  ///   have would be forgotten and are not to be discarded.
  public func reset(
    _ table: TableID, _ choice: ResetChoice, discardingUnsent: Bool = false
  ) throws(CaravanError) {
    if choice == .takeServer, !discardingUnsent { try catalog.requireNothingUnsent(in: try state(table)) }
    if let plan = catalog.takePlan(of: table) { try abort(plan.op) }
    try arrivals.reset(table, choice)
  }

  // MARK: What is sent

  public func collect(
    _ table: TableID, maximumRows: Int, maximumBytes: Int, onlyDeletions: Bool = false, room: Int? = nil,
    retriesRefused: Bool = true
  ) async throws(CaravanError) -> PushPlan? {
    try await pushLog.collect(
      table, maximumRows: maximumRows, maximumBytes: maximumBytes, onlyDeletions: onlyDeletions, room: room,
      retriesRefused: retriesRefused)
  }

  public func planAtOnce(_ tables: Set<TableID>) throws(CaravanError) { try pushLog.planAtOnce(tables) }
  public func plansInFlight() throws(CaravanError) -> [PushPlan] { try pushLog.plansInFlight() }

  @discardableResult
  public func record(
    _ outcomes: [Outcome], of op: UInt64, by stamp: CommitStamp? = nil
  ) throws(CaravanError) -> PushSummary { try pushLog.record(outcomes, of: op, by: stamp) }

  public func abort(_ op: UInt64) throws(CaravanError) { try pushLog.abort(op) }

  public func unsentChunks(of op: UInt64) throws(CaravanError) -> [ChunkNeed] { try pushLog.unsentChunks(of: op) }
  public func held(_ hashes: [ChunkHash]) throws(CaravanError) -> [ChunkHash] { try objectChunks.held(hashes) }
  public func chunks(_ hashes: [ChunkHash], maximumBytes: Int) throws(CaravanError) -> [LocalChunk] {
    try objectChunks.bytes(of: hashes, maximumBytes: maximumBytes)
  }

  // MARK: Conflicts

  private var conflictStore: ConflictStore { ConflictStore(pushLog: pushLog) }

  /// Opens conflict resolution; until it ends, what arrives for the table waits (SIM-25). A reset of the table ends it.
  /// - Throws: `serverBusy` while another session resolves this table.
  public func beginResolution(_ table: TableID, owner: UInt64) throws(CaravanError) {
    try conflictStore.begin(table, owner: owner)
  }

  /// Rows in conflict whose cloud copy is here, ordered by their ids, from behind `after` on (SIM-26).
  public func conflicts(
    _ table: TableID, after: String = "", limit: Int = StoreLimits.conflictsPerPage
  ) throws(CaravanError) -> [ConflictView] { try conflictStore.views(of: table, after: after, limit: limit) }

  /// Notes a decision; it takes effect with `endResolution`. A later one for the same row replaces it.
  /// - Throws: `notInConflictResolution` outside of begin and end, `noSuchObject` when the row is in no conflict.
  public func resolve(
    _ table: TableID, row id: String, _ resolution: Resolution, cells: [CellValue] = [], fromTheirs: [String] = [],
    owner: UInt64
  ) throws(CaravanError) {
    try conflictStore.resolve(table, row: id, resolution, cells: cells, fromTheirs: fromTheirs, owner: owner)
  }

  /// Ends conflict resolution: all rows decided leave their conflict in one transaction (SIM-28).
  /// - Parameter isAbandoned: forgets what was decided.
  /// - Returns: how many rows left their conflict.
  @discardableResult
  public func endResolution(
    _ table: TableID, isAbandoned: Bool = false, owner: UInt64
  ) throws(CaravanError) -> Int { try conflictStore.end(table, isAbandoned: isAbandoned, owner: owner) }

  // MARK: What may be lost

  @discardableResult
  public func loseTolerated(of table: TableID, to place: LossPlace) throws(CaravanError) -> UInt64 {
    try lossQueue.lose(of: table, to: place)
  }

  // MARK: What is missing

  /// What a read lacks comes with the table's next way down.
  public func want(
    _ table: TableID, row id: String, object name: String, offset: UInt64, length: Int
  ) throws(CaravanError) {
    try wanted.want(table, row: id, object: name, offset: offset, length: length)
  }

  public func missingChunks(of table: TableID, limit: Int) throws(CaravanError) -> [ChunkNeed] {
    try inbox.missingChunks(of: table, limit: limit)
  }

  public func missingChunks(of table: TableID, limit: Int, room: Int) async throws(CaravanError) -> [ChunkNeed] {
    try await inbox.missingChunks(of: table, limit: limit, room: room)
  }

  public func chunks(lackedBy page: [IncomingEntry], of table: TableID) throws(CaravanError) -> [ChunkNeed] {
    try inbox.chunks(lackedBy: page, of: table)
  }

  // MARK: Checks

  private var checks: StoreChecks { StoreChecks(inbox: inbox, openWrites: openWrites) }

  private func recover(after report: PageRecoveryReport?) throws(CaravanError) {
    try Recovery(arrivals: arrivals, refusals: refusals, checks: checks).run(after: report)
  }

  /// Looks for what must never be: chunks counted wrongly, objects whose bytes are missing, flags without their plan
  /// (invariants I2 and I3). Takes time in proportion to the store.
  /// - Returns: one line each; none in a sound store.
  public func problems() throws(CaravanError) -> [String] { try checks.problems() }

  /// Chunks whose bytes are in the store.
  public func storedChunks() throws(CaravanError) -> Int {
    try database.first("SELECT count(*) FROM chunks WHERE present > 0") { row in Int(row.integer(0)) } ?? 0
  }

  /// Bytes of the chunks beside the database, those of open writes among them.
  public func chunkFileBytes() -> Int { context.chunkFile.usedBytes }

  /// Bytes that the store takes of the disk, its log aside.
  public func fileBytes() throws(CaravanError) -> Int {
    let pages = try database.prepare("PRAGMA page_count").first { row in Int(row.integer(0)) } ?? 0
    let size = try database.prepare("PRAGMA page_size").first { row in Int(row.integer(0)) } ?? 0
    return pages * size + (try context.chunkFile.allocatedBytes())
  }
}

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
  private let lock: DirectoryLock

  let openWrites: OpenWrites
  var cursors: [UInt64: ReadCursor] = [:] { didSet { context.isBeingRead = !cursors.isEmpty } }
  /// Rings when a cursor may have been idle for too long; without cursors nobody wakes.
  let idleSignal = Signal()
  let idleAlarm: Alarm
  var idleReaders: [Reader] = []
  var selectionTurns = SelectionTurns()
  let touched = TouchedRows()
  /// Of an object that is being read in pieces, which mostly end in the middle of a chunk.
  var readLast: PartReader.Current?
  var resolutions: [TableID: ResolutionSession] = [:]
  var deletions = RecentDeletions()
  /// Rows whose copies at the cloud are damaged, with the versions of those.
  var cloudDamage: [TableID: [String: Seq]] = [:]
  /// Tables whose changes are planned with the change itself.
  var plannedTables: Set<TableID> = []

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
    let report = try Salvage.ifNeeded(directory, host: host, options: options)
    do throws(CaravanError) { return try await opened(directory, host, options, report) } catch {
      guard report == nil, Salvage.helps(against: error) else { throw error }
      let report = try Salvage.whenOpenFailed(directory, error, host: host, options: options)
      return try await opened(directory, host, options, report)
    }
  }

  private static func opened(
    _ directory: String, _ host: Host, _ options: LocalStoreOptions, _ report: SalvageReport?
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
    idleAlarm = Alarm(clock: host.clock, ring: idleSignal)
    lock = try DirectoryLock(directory)
    let files = SalvageFiles(directory: directory)
    let database = try Connection(.file("\(directory)/agent.db"), Self.connectionOptions(options))
    guard try database.userVersion > 0 || !files.exists(files.head) else {
      throw CaravanError(.internalError, "the database file is empty, and was not")
    }
    try StoreSchema.install(in: database)
    KeptRoots.write(directory, database, options)
    let damage = DamageLog()
    database.whenDamaged = { damage.noteDatabase(files) }
    // In the upper bits the time, so that epochs grow; in the lower ones chance, so that no two stores share one.
    let time = UInt64(max(0, host.clock.wallTime.milliseconds))
    let meta = try StoreMeta(database, newEpoch: time << 16 & UInt64(Int64.max) | host.random.below(1 << 16))
    context = try StoreContext(
      directory, host: host, options: options, damage: damage, meta: meta, connection: database)
    batches = Batches(context)
    ancestors = Ancestors(context)
    tolerances = Tolerances(context)
    openWrites = OpenWrites(context)
    catalog = TableCatalog(context, batches: batches, tolerances: tolerances)
    refusals = Refusals(context: context, batches: batches)
    objectChunks = ObjectChunks(context: context)
    inbox = Inbox(catalog: catalog)
    writer = RowWriter(inbox: inbox, ancestors: ancestors, refusals: refusals)
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
    selectionTurns.stopAll()
    for cursor in cursors.values where !cursor.isLent { cursor.reader.close() }
    for reader in idleReaders { reader.close() }
    (cursors, idleReaders, openWrites.all) = ([:], [], [:])
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
  func tellAgain(_ table: TableID) { context.events.tellNews(table) }

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

  // MARK: What is missing

  public func missingChunks(of table: TableID, limit: Int) throws(CaravanError) -> [ChunkNeed] {
    try inbox.missingChunks(of: table, limit: limit)
  }

  public func missingChunks(of table: TableID, limit: Int, room: Int) async throws(CaravanError) -> [ChunkNeed] {
    try await inbox.missingChunks(of: table, limit: limit, room: room)
  }

  public func chunks(lackedBy page: [IncomingEntry], of table: TableID) throws(CaravanError) -> [ChunkNeed] {
    try inbox.chunks(lackedBy: page, of: table)
  }
}

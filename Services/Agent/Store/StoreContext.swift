internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// What every part of the store works on: the one connection that writes, the file of chunks, the clock, the limits,
/// and who is told of what happens. Belongs to the store's thread.
final class StoreContext {
  let host: Host
  let options: LocalStoreOptions
  let directory: String
  let chunkFile: ChunkFile
  let reserve: DiskReserve
  /// Names chunks and waits for the disk beside the store's thread.
  let helper: any Helper
  let damage: DamageLog
  let events = StoreEvents()
  let touched = TouchedRows()
  /// Nil once closed.
  private(set) var connection: Connection?

  var meta: StoreMeta
  /// Number of the newest local change.
  var lastChange: Int64 = 0
  /// A cursor is open: what is deleted may still be read in its snapshot.
  var isBeingRead = false
  /// The lowest op whose end is recorded and not yet on the disk: a power cut would bring it back.
  var settledLater: UInt64?
  /// Of writes and cursors.
  private var lastHandle: UInt64 = 0

  /// Opens the files of a store, which are made if absent.
  init(_ directory: String, host: Host, options: LocalStoreOptions) throws(CaravanError) {
    (self.directory, self.host, self.options) = (directory, host, options)
    let files = PageRecoveryFiles(directory: directory)
    let database = try Connection(.file("\(directory)/agent.db"), LocalStore.connectionOptions(options))
    guard try database.userVersion > 0 || !files.exists(files.head) else {
      throw CaravanError(.internalError, "the database file is empty, and was not")
    }
    try StoreSchema.install(in: database)
    KeptRoots.write(directory, database, options)
    let damage = DamageLog()
    database.whenDamaged = { damage.noteDatabase(files) }
    // In the upper bits the time, so that epochs grow; in the lower ones chance, so that no two stores share one.
    let time = UInt64(max(0, host.clock.wallTime.milliseconds))
    meta = try StoreMeta(database, newEpoch: time << 16 & UInt64(Int64.max) | host.random.below(1 << 16))
    (self.damage, connection) = (damage, database)
    helper = host.executors.makeHelper("store")
    chunkFile = try ChunkFile(
      "\(directory)/chunks.dat", isDurable: options.isDurable, maximumBytes: options.maximumBytes, tap: options.tap)
    reserve = try DiskReserve("\(directory)/reserve.dat", bytes: options.reserveBytes, tap: options.tap)
  }

  func close() {
    connection?.close()
    connection = nil
    chunkFile.close()
    reserve.close()
  }

  var database: Connection {
    get throws(CaravanError) {
      if let connection { return connection }
      throw CaravanError(.unavailable, "the local store is closed: the agent is stopping")
    }
  }

  var chunkTable: ChunkTable {
    get throws(CaravanError) {
      ChunkTable(
        database: try database, file: chunkFile, reserve: reserve, damage: damage, inlineBytes: options.inlineBytes,
        helper: helper)
    }
  }

  func chunkReader(_ connection: Connection) -> ChunkReader {
    ChunkReader(database: connection, file: chunkFile, damage: damage)
  }

  // MARK: Transactions

  /// One transaction. Chunks written in it are on the disk before it is.
  func transaction<Result>(
    _ durability: TransactionDurability = .atOnce, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    let mark = chunkFile.mark
    let before = try database.pagesWritten
    // What is gone makes room once a power cut does not bring it back: where there is none, nobody waits for that.
    let isAtOnce = durability == .atOnce || reserve.isSpent
    do {
      let result = try database.committing(durably: isAtOnce) { () throws(CaravanError) in
        try database.transaction { () throws(CaravanError) in
          let result = try body()
          try chunkFile.sync()
          return result
        }
      }
      // A commit of nothing waits for no disk.
      if isAtOnce, try database.pagesWritten != before {
        settledLater = nil
        chunkFile.settleFreed()
      }
      if !isBeingRead { reserve.isSpent ? chunkFile.giveBack() : chunkFile.releaseFreed() }
      if reserve.isSpent { try? reserve.hold() }
      return result
    } catch {
      chunkFile.rewind(to: mark)
      if error.code == .storageFull {
        reserve.release()
        // The log can begin anew then, and needs no more of the disk.
        _ = try? database.checkpoint(.passive)
      }
      throw error
    }
  }

  /// What frees space: once more when the first refusal of the disk has made room for it.
  /// - Parameter body: changes nothing when it throws.
  func freeing<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    let hadReserve = !reserve.isSpent
    do { return try body() } catch {
      guard error.code == .storageFull, hadReserve, reserve.isSpent else { throw error }
      return try body()
    }
  }

  // MARK: Numbers

  /// A hybrid timestamp: the time of the change, and later than all changes before it whatever became of the clock.
  func nextChange() -> Int64 {
    let now = HybridStamp(milliseconds: host.clock.wallTime.milliseconds)
    lastChange = max(lastChange + 1, Int64(clamping: now.rawValue))
    return lastChange
  }

  func newHandle() -> UInt64 {
    lastHandle += 1
    return lastHandle
  }
}

/// A room of the store, with state and tables of its own: it works on the context that all of them share.
protocol StorePart {
  var context: StoreContext { get }
}

extension StorePart {
  var host: Host { context.host }
  var options: LocalStoreOptions { context.options }
  var database: Connection { get throws(CaravanError) { try context.database } }
  var chunkTable: ChunkTable { get throws(CaravanError) { try context.chunkTable } }
  func chunkReader(_ connection: Connection) -> ChunkReader { context.chunkReader(connection) }
  var damage: DamageLog { context.damage }
  func nextChange() -> Int64 { context.nextChange() }
}

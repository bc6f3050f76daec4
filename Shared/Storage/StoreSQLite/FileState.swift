internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// The writer of one file: its parts, which remember rows they have seen, and the transactions over all of them. The
/// writer is the only one that writes, so what is remembered is true until a write of its own is rolled back: then it
/// forgets everything.
final class FileState: FilePart {
  let context: FileContext
  let writers: WriterEpochs
  let accounts: FileAccounts
  let log: FileLog
  let zones: FileZones
  let chunks: FileChunks
  let compaction: FileCompaction
  let entries: FileEntries
  let devices: FileDevices
  let objects: FileObjects
  let leases: FileLeases
  let snapshots: FileSnapshots
  let groups: FileGroups
  /// How the file of long chunks was when the open transaction began.
  var mark: ChunkFile.Mark?
  /// And where maintenance went on then.
  var turnsBefore = FileContext.Turns()

  /// Opens the files, or makes them.
  init(
    _ place: FilePlace, _ connection: ConnectionOptions, number: Int, _ options: StoreOptions, host: Host,
    metrics: FileMetrics, wantsChanges: Bool, spread: SpreadAccounts? = nil
  ) throws(CaravanError) {
    let db = try Connection(place.database, connection)
    let life = try FileSchema.prepare(db, number: number, files: options.files, host: host) {
      (db) throws(CaravanError) in try place.registeredDevices(beside: db, number: number, files: options.files)
    }
    try DamageTables.prepare(db)
    try FileStagers.prepare(db)
    let longChunks = try place.openChunks(options)
    let reads = FileReads(db: db, life: life, chunkFile: try place.readChunks())
    context = FileContext(db: db, reads: reads, longChunks: longChunks, clock: host.clock, metrics: metrics)
    writers = WriterEpochs(context)
    accounts = FileAccounts(context, options.quotas, spread)
    log = FileLog(context, wantsChanges: wantsChanges)
    zones = FileZones(context, log: log, accounts: accounts)
    chunks = FileChunks(context, zones: zones, accounts: accounts)
    compaction = FileCompaction(context)
    entries = FileEntries(context, chunks: chunks, compaction: compaction)
    devices = FileDevices(context)
    objects = FileObjects(context: context, writers: writers, queues: options.queuesObjects)
    leases = FileLeases(context: context)
    snapshots = FileSnapshots(context: context, zones: zones, devices: devices, chunks: chunks)
    groups = FileGroups(context: context, writers: writers, zones: zones, chunks: chunks)
    try chunks.adoptChunkFile()
    try context.showNumbers()
    if objects.queues { try objects.queueRestored() }
  }

  func close() {
    db.close()
    context.longChunks?.file.close()
  }

  func forget() {
    zones.forget()
    writers.forget()
    log.forget()
    accounts.forget()
    devices.forget()
    chunks.forget()
  }
}

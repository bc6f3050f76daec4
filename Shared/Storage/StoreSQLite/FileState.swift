internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// What the writer of one file holds: its connection, and what it remembers of rows it has seen. The writer is the only
/// one that writes, so what it remembers is true until a write of its own is rolled back: then it forgets everything.
final class FileState {
  let db: Connection
  let reads: FileReads
  /// nil: of a store in memory, which has all chunks in the database.
  let longChunks: LongChunks?
  let clock: any Clock
  let metrics: FileMetrics
  private let wantsChanges: Bool
  let queuesObjects: Bool
  private var zoneRows: [ZoneID: ZoneRecord] = [:]
  private var databaseRows: [DatabaseID: Int64] = [:]
  var writerRows: [WriterKey: WriterRow] = [:]
  private var nextPositions: [UInt32: UInt64] = [:]
  var accounts: KnownAccounts
  /// Nil: nobody has a limit.
  let spread: SpreadAccounts?
  var footprints: [ReadPositionKey: ReadPosition] = [:]
  var knowledge = ChunkKnowledge()
  var writerNames = WriterNames()
  var compaction = Compaction()
  var turns = Turns()
  /// Committed by the open transaction, for the observer.
  var changes: [CommittedChange] = []
  /// How the file of long chunks was when the open transaction began.
  var mark: ChunkFile.Mark?
  /// And where upkeep went on then.
  var turnsBefore = Turns()

  /// Where upkeep goes on.
  struct Turns {
    /// The zone whose tombstones are looked at next.
    var purge: Int64 = 0
    /// The zone whose snapshots were looked at last.
    var snapshots: Int64 = 0
    /// Zones up to this one have been looked at for burial.
    var burial: Int64 = 0
  }

  struct ZoneRecord {
    var id: Int64
    var database: Int64
    var incarnation: Incarnation
    var seq: Seq
    var records: Int64
    /// What its account is charged for them, without chunks.
    var bytes: Int64
    /// The newest snapshot that somebody may read; 0: none.
    var snapshot: Seq = 0
    /// Records of it refer to others, or once did.
    var isLinked = false
    /// When it was last written to; 0: before the store kept that.
    var time: Int64 = 0
  }

  struct WriterKey: Hashable {
    var name: String
    var epoch: UInt64
  }

  struct WriterRow {
    var id: Int64
    var floor: UInt64
    /// No outcome of a higher number is kept: such an op is new, without looking.
    var highest: UInt64
    /// Outcomes that are kept.
    var outcomes: Int
  }

  /// Opens the files, or makes them.
  init(
    _ place: FilePlace, _ connection: ConnectionOptions, number: Int, _ options: StoreOptions, host: Host,
    metrics: FileMetrics, wantsChanges: Bool, spread: SpreadAccounts? = nil
  ) throws(CaravanError) {
    db = try Connection(place.database, connection)
    let life = try FileSchema.prepare(db, number: number, files: options.files, host: host) {
      (db) throws(CaravanError) in try place.registeredDevices(beside: db, number: number, files: options.files)
    }
    try DamageTables.prepare(db)
    longChunks = try place.openChunks(options)
    reads = FileReads(db: db, life: life, chunkFile: try place.readChunks())
    accounts = KnownAccounts(options.quotas)
    clock = host.clock
    self.spread = spread
    self.metrics = metrics
    self.wantsChanges = wantsChanges
    queuesObjects = options.queuesObjects
    try adoptChunkFile()
    try showNumbers()
    if queuesObjects { try queueRestoredObjects() }
  }

  func close() {
    db.close()
    longChunks?.file.close()
  }

  var now: Int64 { clock.wallTime.milliseconds }

  // MARK: What is remembered

  func forget() {
    zoneRows = [:]
    databaseRows = [:]
    writerRows = [:]
    nextPositions = [:]
    accounts.forget()
    footprints = [:]
    knowledge = ChunkKnowledge()
    writerNames = WriterNames()
  }

  /// What the transaction committed, once.
  func takeChanges() -> [CommittedChange] {
    defer { changes = [] }
    return changes
  }

  // MARK: Databases

  func databaseID(of database: DatabaseID) throws(CaravanError) -> Int64? {
    if let known = databaseRows[database] { return known }
    guard let id = try reads.database(database) else { return nil }
    remember(&databaseRows, database, id)
    return id
  }

  func makeDatabase(_ database: DatabaseID) throws(CaravanError) -> Int64 {
    if let known = try databaseID(of: database) { return known }
    try db.run(
      "INSERT INTO databases(partition, container, environment, owner) VALUES (?, ?, ?, ?)",
      Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText
    )
    let id = db.lastInsertedRow
    remember(&databaseRows, database, id)
    return id
  }

  // MARK: Zones

  /// The zone of this name, if it is alive.
  func zone(_ zone: ZoneID) throws(CaravanError) -> ZoneRecord? {
    if let known = zoneRows[zone] { return known }
    guard let database = try databaseID(of: zone.database) else { return nil }
    let row = try db.first(
      """
      SELECT id, seq, records, bytes, snapshot, linked, incarnation, time FROM zones
      WHERE database = ? AND name = ? AND state = 0
      """, database, zone.name,
      read: {
        ZoneRecord(
          id: $0.integer(0), database: database, incarnation: reads.incarnation($0.integer(0), $0.unsigned(6)),
          seq: $0.unsigned(1), records: $0.integer(2), bytes: $0.integer(3), snapshot: $0.unsigned(4),
          isLinked: $0.flag(5), time: $0.integer(7))
      })
    if let row { remember(&zoneRows, zone, row) }
    return row
  }

  /// A new life of the zone: another id, and versions that continue those of the life before.
  func makeZone(_ zone: ZoneID, seq: Seq) throws(CaravanError) -> ZoneRecord {
    let database = try makeDatabase(zone.database)
    try db.run("UPDATE databases SET made = made + 1 WHERE id = ?", database)
    try db.run(
      "INSERT INTO zones(database, name, seq, records, bytes, state) VALUES (?, ?, ?, 0, 0, 0)", database, zone.name,
      seq)
    let id = db.lastInsertedRow
    let row = ZoneRecord(
      id: id, database: database, incarnation: reads.incarnation(id, 0), seq: seq, records: 0, bytes: 0)
    try checkRoom(for: id, .zones)
    remember(&zoneRows, zone, row)
    return row
  }

  /// A life of the zone that goes on behind the last one, as far as any is known here.
  /// - Throws: `limitExceeded` when its owner has too many.
  func beginZone(_ zone: ZoneID) throws(CaravanError) -> ZoneRecord {
    try checkZones(of: zone.database)
    if let last = try reads.zone(zone) { return try makeZone(zone, seq: last.seq) }
    let lives = try reads.pastIncarnations(of: zone)
    for life in lives { try addPastIncarnation(life, of: zone) }
    return try makeZone(zone, seq: UnknownZone.beginning(after: lives))
  }

  @discardableResult
  func addPastIncarnation(_ life: PastIncarnation, of zone: ZoneID) throws(CaravanError) -> ZoneRecord {
    let row = try makeZone(zone, seq: life.seq)
    try db.run(
      "UPDATE zones SET state = ?, lost_through = ? WHERE id = ?",
      life.isRestored ? ZoneStage.restored : ZoneStage.purged, life.lostThrough, row.id)
    // It goes on in what follows it, and takes nothing of its owner's share.
    if life.isRestored { try db.run("UPDATE databases SET made = made - 1 WHERE id = ?", row.database) }
    zoneRows[zone] = nil
    return row
  }

  /// What the next entry of the log is about.
  func save(_ row: ZoneRecord, of zone: ZoneID) throws(CaravanError) {
    guard row.seq <= StoreLimits.highestNumber else {
      throw CaravanError(.limitExceeded, "zone \(zone) has used up its versions")
    }
    let position = try nextPosition(in: Partition(of: zone.database).number)
    try db.statement("UPDATE zones SET seq = ?, records = ?, bytes = ?, changed = ?, time = ? WHERE id = ?").run {
      (zone) throws(CaravanError) in
      try zone.bind(row.seq, at: 1)
      try zone.bind(row.records, at: 2)
      try zone.bind(row.bytes, at: 3)
      try zone.bind(position, at: 4)
      try zone.bind(row.time, at: 5)
      try zone.bind(row.id, at: 6)
    }
    remember(&zoneRows, zone, row)
  }

  func createZone(_ zone: ZoneID, writer: String) throws(CaravanError) -> ZonePosition {
    let row: ZoneRecord
    if let known = try self.zone(zone) {
      row = known
    } else {
      row = try beginZone(zone)
      try save(row, of: zone)
      try log(zone, row, low: row.seq, high: row.seq, writer: writer, entries: [])
    }
    return ZonePosition(zone: zone, seq: row.seq, incarnation: row.incarnation)
  }

  func remember(_ row: ZoneRecord, of zone: ZoneID) { remember(&zoneRows, zone, row) }

  func deleteZone(_ zone: ZoneID, incarnation: Incarnation?, writer: String) throws(CaravanError) -> Bool {
    guard let row = try self.zone(zone), incarnation ?? row.incarnation == row.incarnation else {
      return false
    }
    let position = try nextPosition(in: Partition(of: zone.database).number)
    try db.run(
      "UPDATE zones SET state = 1, records = 0, bytes = 0, snapshot = 0, changed = ?, time = ? WHERE id = ?", position,
      now, row.id)
    accounts.grow(zone.database, by: Usage(records: -row.records, bytes: -row.bytes))
    zoneRows[zone] = nil
    try log(zone, row, low: row.seq, high: row.seq, writer: writer, isDeletion: true, entries: [])
    return true
  }

  // MARK: Remembering

  func remember<Name: Hashable, Value>(_ rows: inout [Name: Value], _ name: Name, _ value: Value) {
    if rows.count >= FileLimits.rememberedRows, rows[name] == nil { rows = [:] }
    rows[name] = value
  }

  // MARK: The log

  private func nextPosition(in partition: UInt32) throws(CaravanError) -> UInt64 {
    if let known = nextPositions[partition] { return known }
    return try reads.logHead(of: partition) + 1
  }

  /// Appends to the log of the zone's partition, and notes what the observer hears.
  func log(
    _ zone: ZoneID, _ row: ZoneRecord, low: Seq, high: Seq, writer: String, isDeletion: Bool = false,
    hasEntries: Bool = true, entries: @autoclosure () throws(CaravanError) -> [Entry]
  ) throws(CaravanError) {
    let partition = Partition(of: zone.database)
    let position = try nextPosition(in: partition.number)
    let key = Key.make(Int64(partition.number), position)
    try db.statement("INSERT INTO log(key, zone, low, high, deletion, writer) VALUES (?, ?, ?, ?, ?, ?)").run {
      (line) throws(CaravanError) in
      try line.bind(key, at: 1)
      try line.bind(row.id, at: 2)
      try line.bind(low, at: 3)
      try line.bind(high, at: 4)
      try line.bind(Int64(isDeletion ? 1 : 0), at: 5)
      try line.bind(writer, at: 6)
    }
    nextPositions[partition.number] = position + 1
    guard wantsChanges else { return }
    let commit = LoggedCommit(
      position: position, zone: zone, low: low, high: high, incarnation: row.incarnation, writer: writer,
      isDeletion: isDeletion)
    changes.append(
      CommittedChange(partition: partition, log: commit, entries: try entries(), hasEntries: hasEntries))
  }
}

public import CaravanModel
public import CaravanRuntime
internal import CaravanSQLite
public import CaravanStore

/// Fills a directory that holds no store, in one transaction a file.
public final class SQLiteRestore: ArchiveSink {
  private struct OpenZone {
    let id: ZoneID
    var row: ZoneRecord
    let file: Int
    let isAlive: Bool
  }

  private let path: String
  private let lock: DirectoryLock
  private let files: [FileState]
  private let lives: [UInt64]
  private var database: (id: DatabaseID, file: Int, number: Int64)?
  private var zone: OpenZone?
  /// Where each zone is now, by the life it had.
  private var places: [Incarnation: (file: Int, zone: Int64)] = [:]
  private var alive: [OpenZone] = []
  private var heads: [UInt32: UInt64] = [:]
  /// Unix milliseconds.
  private let now: Int64
  private var made: Int64
  /// Of what is in the backup.
  private var reach: Seq = 0
  private let tombstones: TombstoneRule

  /// - Throws: `objectExists` when the directory holds a store with something in it, or something else.
  public init(_ options: StoreOptions, host: Host) throws(CaravanError) {
    guard case .directory(let path) = options.location else {
      throw CaravanError(.invalidData, "a backup is restored into a directory")
    }
    self.path = path
    try Directories.make(path)
    try Self.check(path, files: options.files)
    lock = try DirectoryLock(path)
    try RestoreMark.check(path)
    var files: [FileState] = []
    var lives: [UInt64] = []
    var whole = options
    whole.quotas = .unlimited
    whole.queuesObjects = false
    for number in 0..<options.files {
      let file = try FileState(
        FilePlace(path, number: number), ConnectionOptions(), number: number, whole, host: host,
        metrics: FileMetrics(file: number, host), wantsChanges: false)
      guard try file.db.first("SELECT 1 FROM databases LIMIT 1", read: { _ in true }) == nil else {
        throw CaravanError(.objectExists, "\(path) holds a store already: restore into a new directory")
      }
      try file.begin()
      files.append(file)
      lives.append(file.reads.life)
    }
    self.files = files
    self.lives = lives
    tombstones = options.tombstones
    now = host.clock.wallTime.milliseconds
    made = now
  }

  private static func check(_ path: String, files: Int) throws(CaravanError) {
    let names = try Directories.names(in: path)
    guard names.allSatisfy(FilePlace.isOfStore) else {
      throw CaravanError(
        .objectExists, "\(path) is not empty, and what it holds is no store: restore into a new directory")
    }
    let found = names.count { $0.hasPrefix("store-") && $0.hasSuffix(".db") }
    guard found == 0 || found == files else {
      throw CaravanError(
        .objectExists, "\(path) holds a store of \(found) files already: restore into a new directory")
    }
  }

  public func begin(madeAt made: Int64) { self.made = made }

  public func take(_ item: StoreContent) throws(CaravanError) {
    switch item {
    case .database(let id):
      try endZone()
      let file = Int(Partition(of: id).number) % files.count
      database = (id, file, try files[file].zones.makeDatabase(id))
    case .chunk(let chunk):
      guard let database else { throw Self.disorder }
      try files[database.file].chunks.stage([chunk], in: database.id, as: .all)
    case .damaged(var chunk):
      guard let database else { throw Self.disorder }
      chunk.found = now
      try files[database.file].chunks.adopt(damaged: chunk)
    case .zone(let zone): try begin(zone)
    case .record(let record): try add(record)
    case .op(let op): try add(op)
    case .quota(let account, let quota):
      try endZone()
      guard let named = Account(key: account) else {
        throw CaravanError(.invalidData, "the archive has a quota of '\(account)', which is no account: it is damaged")
      }
      for file in files { try file.accounts.setQuota(quota, of: named) }
    case .head(let partition, let head): heads[partition.number] = head
    case .reach(let known): reach = max(reach, known)
    }
  }

  public func finish() throws(CaravanError) {
    try endZone()
    var logs: [UInt32: UInt64] = [:]
    for zone in alive {
      let partition = Partition(of: zone.id.database).number
      if logs[partition] == nil {
        logs[partition] = try ArchiveLimits.reach(after: heads[partition] ?? 0, madeAt: made, at: now)
      }
      let position = logs[partition, default: 0]
      logs[partition] = position + 1
      try files[zone.file].db.run(
        "INSERT INTO log(key, zone, low, high, deletion, writer) VALUES (?, ?, 0, ?, 0, '')",
        Key.make(Int64(partition), position), zone.row.id, zone.row.seq)
      try files[zone.file].db.run(
        "UPDATE zones SET changed = ?, linked = EXISTS (SELECT 1 FROM refs WHERE zone = zones.id) WHERE id = ?",
        position, zone.row.id)
    }
    reach = try ArchiveLimits.reach(after: reach, madeAt: made, at: now)
    for file in files { try file.db.run("UPDATE meta SET reach = ?", reach) }
    // A crash between two of these would leave half a store: the mark keeps everybody from it.
    try DiskFile.mark(RestoreMark.path(in: path))
    for file in files { try file.commit() }
    for file in files { file.close() }
    DiskFile.remove(RestoreMark.path(in: path))
    lock.release()
  }

  private static let disorder = CaravanError(.invalidData, "the archive's items are not in their order: it is damaged")

  // MARK: Zones

  private func begin(_ archived: ZoneContent) throws(CaravanError) {
    try endZone()
    guard let database else { throw Self.disorder }
    let id = try ZoneID(database.id, archived.name)
    let state = files[database.file]
    guard !archived.past.isRestored else {
      try state.zones.addPastIncarnation(archived.past, of: id)
      return
    }
    let past = try PastIncarnation(
      seq: archived.seq, lostThrough: ArchiveLimits.reach(after: archived.seq, madeAt: made, at: now))
    try state.zones.addPastIncarnation(past, of: id)
    let row: ZoneRecord
    if archived.isAlive {
      row = try state.zones.makeZone(id, seq: past.beginning)
      try keepTombstones(of: row, in: state)
    } else {
      row = try state.zones.addPastIncarnation(PastIncarnation(seq: past.end), of: id)
    }
    places[archived.incarnation] = (database.file, row.id)
    zone = OpenZone(id: id, row: row, file: database.file, isAlive: archived.isAlive)
  }

  /// Until every device that may hold what was lost has had its time to come and offer it, as deletions of before that
  /// would be forgotten otherwise.
  private func keepTombstones(of zone: ZoneRecord, in state: FileState) throws(CaravanError) {
    try state.db.run(
      "INSERT INTO tombstone_ages(zone, aged, mark, marked) VALUES (?, 0, ?, ?)", zone.id, zone.seq,
      tombstones.end(ofWaitFrom: state.now))
  }

  private func endZone() throws(CaravanError) {
    guard let ended = zone else { return }
    zone = nil
    guard ended.isAlive else { return }
    try files[ended.file].zones.save(ended.row, of: ended.id)
    alive.append(ended)
  }

  // MARK: Records

  private func add(_ record: RecordContent) throws(CaravanError) {
    guard var zone, zone.isAlive else { throw Self.disorder }
    guard record.entry.version <= zone.row.seq else { throw Self.disorder }
    let file = files[zone.file]
    try file.entries.restore(record, in: &zone.row, file.writers, file.objects)
    self.zone = zone
  }

  // MARK: Ops

  /// Where its zone is; one that wrote to none, everywhere, so that it is known wherever it may come again.
  private func add(_ archived: OpContent) throws(CaravanError) {
    try endZone()
    let place = archived.incarnation.flatMap { places[$0] }
    for (number, state) in files.enumerated() where place == nil || place?.file == number {
      let writer = try state.writers.writer(archived.op, isCarried: true)
      let outcome = archived.outcome(in: place.map { files[$0.file].reads.incarnation($0.zone, 0) })
      try state.db.run(
        "INSERT OR REPLACE INTO ops(key, outcome) VALUES (?, ?)", Key.make(writer.id, archived.op.number),
        outcome.encoded)
      guard archived.floor > writer.floor else { continue }
      try state.db.run("UPDATE writers SET floor = ? WHERE id = ?", archived.floor, writer.id)
      var known = writer
      known.floor = archived.floor
      state.writers.remember(known, of: archived.op)
    }
  }
}

/// A file that is in a directory while its files get what is restored.
enum RestoreMark {
  static func path(in directory: String) -> String { "\(directory)/restoring" }

  static func check(_ directory: String) throws(CaravanError) {
    guard DiskFile.exists(path(in: directory)) else { return }
    throw CaravanError(
      .invalidData, "\(directory) holds a store whose restore did not end: empty the directory and restore again")
  }
}

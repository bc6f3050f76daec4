internal import CaravanDiffSync
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

/// A client's objects, log and standing in one SQLite file. Every call is one transaction.
struct ReplicaFile {
  private static let format: Int64 = 3

  private let db: Connection
  let epoch: UInt64

  init(_ path: String, isDurable: Bool, newEpoch: UInt64) throws(CaravanError) {
    var options = ConnectionOptions()
    options.durability = isDurable ? .full : .none
    let db = try Connection(.file(path), options)
    let format = try db.first("PRAGMA user_version") { $0.integer(0) } ?? 0
    guard (0...Self.format).contains(format) else {
      throw CaravanError(
        .internalError, "\(path) has format \(format), this release reads \(Self.format): install a newer one")
    }
    let epoch = Int64(bitPattern: newEpoch & UInt64(Int64.max))
    try db.transaction { () throws(CaravanError) in
      if format == 1 { try db.execute(Self.secondFormat) }
      if (1...2).contains(format) { try db.execute(Self.thirdFormat) }
      try db.execute(Self.layout)
      try db.run("INSERT OR IGNORE INTO standing(id, epoch) VALUES (0, ?)", epoch)
    }
    self.epoch = try db.first("SELECT epoch FROM standing") { $0.unsigned(0) } ?? 0
    self.db = db
  }

  private static let layout = """
    CREATE TABLE IF NOT EXISTS standing(
      id INTEGER PRIMARY KEY CHECK (id = 0), epoch INTEGER NOT NULL, height INTEGER NOT NULL DEFAULT 0,
      incarnation INTEGER NOT NULL DEFAULT 0, cursor BLOB NOT NULL DEFAULT x'', complete INTEGER NOT NULL DEFAULT 0,
      restarting INTEGER NOT NULL DEFAULT 0, next_op INTEGER NOT NULL DEFAULT 1,
      clock_offset INTEGER NOT NULL DEFAULT 0, clock_last INTEGER NOT NULL DEFAULT 0,
      attempt BLOB, covers INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE IF NOT EXISTS log(number INTEGER PRIMARY KEY, diff BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS objects(
      uuid TEXT PRIMARY KEY, objtype TEXT NOT NULL, fields BLOB NOT NULL, stale INTEGER NOT NULL, created INTEGER)
      WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS objects_of_type ON objects(objtype);
    CREATE TABLE IF NOT EXISTS types(name TEXT PRIMARY KEY, type BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS lost(after INTEGER PRIMARY KEY, through INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS aside(
      uuid TEXT PRIMARY KEY, objtype TEXT NOT NULL, fields BLOB NOT NULL, edited BLOB NOT NULL) WITHOUT ROWID;
    PRAGMA user_version = 3;
    """

  /// Objects have the heights of their creation: of those that are there it is not known, and they count as old.
  private static let secondFormat = "ALTER TABLE objects ADD COLUMN created INTEGER DEFAULT 0"

  /// Whoever has a height, or goes through everything again, has been complete.
  private static let thirdFormat = """
    ALTER TABLE standing ADD COLUMN complete INTEGER NOT NULL DEFAULT 0;
    UPDATE standing SET complete = height > 0 OR restarting;
    """

  func close() { db.close() }

  // MARK: Reading

  func log() throws(CaravanError) -> [CaravanDiffSync.Diff] {
    try db.all("SELECT diff FROM log ORDER BY number") { (row) throws(CaravanError) in
      try CaravanWire.Diff.decode(row.bytes(0)).model()
    }
  }

  func standing() throws(CaravanError) -> Standing {
    let lost = try db.all("SELECT after, through FROM lost ORDER BY after") { row in
      LostRange(after: row.unsigned(0), through: row.unsigned(1))
    }
    let read = try db.first(
      """
      SELECT height, incarnation, cursor, restarting, next_op, clock_offset, clock_last, attempt, covers, complete
      FROM standing
      """
    ) { (row) throws(CaravanError) in
      var standing = Standing()
      standing.height = row.unsigned(0)
      standing.incarnation = row.unsigned(1)
      standing.cursor = row.bytes(2)
      standing.isRestarting = row.flag(3)
      standing.lost = lost
      standing.isComplete = row.flag(9)
      standing.nextOp = row.unsigned(4)
      standing.clock = StampClock(offset: row.integer(5), last: HybridStamp(rawValue: row.unsigned(6)))
      if !row.isNull(7) {
        standing.attempt = try Attempt(SyncContinue.decode(row.bytes(7)), covers: Int(row.integer(8)))
      }
      return standing
    }
    return read ?? Standing()
  }

  func types() throws(CaravanError) -> [String: CaravanModel.RecordType] {
    let list = try db.all("SELECT type FROM types") { (row) throws(CaravanError) in
      try CaravanWire.RecordType.decode(row.bytes(0)).model()
    }
    return Dictionary(list.map { ($0.name, $0) }) { $1 }
  }

  func objects(_ uuids: Set<String>) throws(CaravanError) -> [String: Object] {
    var objects: [String: Object] = [:]
    for uuid in uuids {
      objects[uuid] = try db.first(
        "SELECT objtype, fields, stale, created FROM objects WHERE uuid = ?", uuid
      ) { (row) throws(CaravanError) in try Self.object(row.text(0), row, at: 1) }
    }
    return objects
  }

  func objects(of objtype: String) throws(CaravanError) -> [String: Object] {
    let list = try db.all(
      "SELECT uuid, fields, stale, created FROM objects WHERE objtype = ?", objtype
    ) { (row) throws(CaravanError) in (row.text(0), try Self.object(objtype, row, at: 1)) }
    return Dictionary(list) { $1 }
  }

  /// Objects that the server has not shown since a restart, and may not have since that height.
  func stale(since height: Seq) throws(CaravanError) -> [String] {
    try db.all("SELECT uuid FROM objects WHERE stale = 1 AND coalesce(created > ?, 1)", height) { $0.text(0) }
  }

  func aside() throws(CaravanError) -> [String: UnsentObject] {
    let list = try db.all("SELECT uuid, objtype, fields, edited FROM aside") { (row) throws(CaravanError) in
      let unknown = HybridStamp(rawValue: 0)
      let fields = try DiffObject.decode(row.bytes(2)).model(at: unknown)
      let edited = try DiffObject.decode(row.bytes(3)).model(at: unknown)
      return (
        row.text(0),
        UnsentObject(objtype: row.text(1), fields: fields.mapValues(\.value), edited: Set(edited.keys))
      )
    }
    return Dictionary(list) { $1 }
  }

  func countAside() throws(CaravanError) -> Int {
    Int(try db.first("SELECT count(*) FROM aside") { $0.integer(0) } ?? 0)
  }

  /// - Parameter first: the column of its fields.
  private static func object(
    _ objtype: String, _ row: CaravanSQLite.Row, at first: Int32
  ) throws(CaravanError) -> Object {
    let fields = try DiffObject.decode(row.bytes(first)).model(at: HybridStamp(rawValue: 0))
    return Object(
      objtype: objtype, fields: fields.mapValues(\.value).filter { $0.value != .null },
      stamps: fields.mapValues(\.timestamp), created: row.isNull(first + 2) ? nil : row.unsigned(first + 2),
      isStale: row.flag(first + 1))
  }

  // MARK: Writing

  func discardAside(_ uuid: String) throws(CaravanError) { try db.run("DELETE FROM aside WHERE uuid = ?", uuid) }

  private func putAside(_ unsent: [String: UnsentObject]) throws(CaravanError) {
    let unknown = HybridStamp(rawValue: 0)
    for (uuid, object) in unsent {
      let edited = object.edited.reduce(into: [String: Stamped]()) { $0[$1] = Stamped(.null, at: unknown) }
      try db.run(
        "INSERT OR REPLACE INTO aside VALUES (?, ?, ?, ?)", uuid, object.objtype,
        DiffObject(object.fields.mapValues { Stamped($0, at: unknown) }, of: unknown).encoded(),
        DiffObject(edited, of: unknown).encoded())
    }
  }

  func save(_ type: CaravanModel.RecordType) throws(CaravanError) {
    try db.run("INSERT OR REPLACE INTO types VALUES (?, ?)", type.name, CaravanWire.RecordType(type).encoded())
  }

  /// After a change of the app's.
  func save(_ replica: Replica, touched: Set<String>, logged: [CaravanDiffSync.Diff]) throws(CaravanError) {
    try db.transaction { () throws(CaravanError) in
      try write(replica.objects, touched)
      try append(logged)
      try write(replica.standing)
    }
  }

  /// After an answer (step 9: objects, log and height at once).
  func save(_ replica: Replica, touched: Set<String>, after before: Replica) throws(CaravanError) {
    try db.transaction { () throws(CaravanError) in
      if replica.restarts != before.restarts { try db.run("UPDATE objects SET stale = 1") }
      try write(replica.objects, touched)
      if before.standing.isRestarting, !replica.standing.isRestarting {
        try db.run("DELETE FROM objects WHERE stale = 1")
      }
      if before.standing.lost != replica.standing.lost {
        try db.run("DELETE FROM lost")
        for range in replica.standing.lost { try db.run("INSERT INTO lost VALUES (?, ?)", range.after, range.through) }
      }
      if before.aside != replica.aside { try putAside(replica.aside) }
      if before.log != replica.log {
        try db.run("DELETE FROM log")
        try append(replica.log)
      }
      try write(replica.standing)
    }
  }

  private func write(_ objects: [String: Object], _ touched: Set<String>) throws(CaravanError) {
    for uuid in touched {
      guard let object = objects[uuid] else {
        try db.run("DELETE FROM objects WHERE uuid = ?", uuid)
        continue
      }
      try db.run(
        "INSERT OR REPLACE INTO objects(uuid, objtype, fields, stale, created) VALUES (?, ?, ?, ?, ?)", uuid,
        object.objtype, DiffObject(object.stamped, of: HybridStamp(rawValue: 0)).encoded(), object.isStale,
        object.created)
    }
  }

  private func append(_ diffs: [CaravanDiffSync.Diff]) throws(CaravanError) {
    for diff in diffs { try db.run("INSERT INTO log(diff) VALUES (?)", CaravanWire.Diff(diff).encoded()) }
  }

  private func write(_ standing: Standing) throws(CaravanError) {
    let attempt = standing.attempt
    try db.run(
      """
      UPDATE standing SET height = ?, incarnation = ?, cursor = ?, restarting = ?, next_op = ?, clock_offset = ?,
        clock_last = ?, attempt = ?, covers = ?, complete = ?
      """, standing.height, standing.incarnation, standing.cursor, standing.isRestarting, standing.nextOp,
      standing.clock.offset, standing.clock.last.rawValue, attempt.map { SyncContinue($0).encoded() },
      attempt?.covers ?? 0, standing.isComplete)
  }
}

extension SyncContinue {
  /// Without its zone.
  init(_ attempt: Attempt) {
    self.init(op: attempt.op, token: attempt.token, diffs: attempt.diffs.map { Diff($0) })
  }
}

extension Attempt {
  init(_ message: SyncContinue, covers: Int) throws(CaravanError) {
    var diffs: [CaravanDiffSync.Diff] = []
    for diff in message.diffs { diffs.append(try diff.model()) }
    self.init(op: message.op, token: message.token, diffs: diffs, covers: covers)
  }
}

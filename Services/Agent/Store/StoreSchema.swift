internal import CaravanModel
internal import CaravanSQLite

/// The tables the store keeps for itself; each app's table is one more (`RowTable`).
enum StoreSchema {
  static let version = 8
  /// How a refusal begins that no salvage helps against.
  static let newerFormat = "the store is of format"
  /// Beyond it, a number is damage.
  private static let farthestVersion: Int64 = 1_000

  static func install(in database: Connection) throws(CaravanError) {
    try installBase(in: database)
    try PartTable.install(in: database)
    try LossTable.install(in: database)
    try NetworkTables.install(in: database)
    try RefusalTable.install(in: database)
    try EventTable.install(in: database)
    try AbsenceTable.install(in: database)
    try SettingsTable.install(in: database)
  }

  private static func installBase(in database: Connection) throws(CaravanError) {
    let found = try database.userVersion
    guard found != version else { return }
    // Nothing but the number tells format 8 from 7: an agent of that time takes a table with a column of a later kind,
    // or of lists, for a damaged one, and would discard it.
    if found == 1 { try addChunkFile(to: database) }
    if (1...2).contains(found) { try addRowSums(to: database) }
    if (1...3).contains(found) { try addPushes(to: database) }
    if (1...4).contains(found) { try addPoints(to: database) }
    if (1...5).contains(found) { try addBatches(to: database) }
    if (1...6).contains(found) { try addAuthorship(to: database) }
    if (1...7).contains(found) { return try database.setUserVersion(version) }
    guard found == 0 else {
      let isNewer = (Int64(version)...farthestVersion).contains(Int64(found))
      throw CaravanError(
        .internalError,
        "\(isNewer ? newerFormat : "the store says it is of format") \(found), this agent knows \(version): use the "
          + "agent that wrote it")
    }
    // Before the first table, so that a dropped table's space can be given back to the file system.
    try database.execute("PRAGMA auto_vacuum=INCREMENTAL; VACUUM;")
    try database.transaction { () throws(CaravanError) in
      try database.execute(statements)
      try database.setUserVersion(version)
    }
  }

  /// Until then all chunks were in the database, and nothing had a checksum.
  private static func addChunkFile(to database: Connection) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      for column in ["place", "length", "sum"] {
        try database.execute("ALTER TABLE chunks ADD COLUMN \(column) INTEGER")
      }
      try database.setUserVersion(2)
    }
  }

  /// Until then only chunks had checksums, and tables were synced in full or not at all. Rows get their sums when they
  /// are next written.
  private static func addRowSums(to database: Connection) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      for name in try database.all("SELECT app || '/' || name FROM tables", read: { row in row.text(0) }) {
        try database.execute("ALTER TABLE \"\(name)\" ADD COLUMN _sum INTEGER")
      }
      try database.execute("ALTER TABLE tables ADD COLUMN properties BLOB NOT NULL DEFAULT x''")
      try database.execute("ALTER TABLE tables ADD COLUMN fault INTEGER NOT NULL DEFAULT 0")
      try database.setUserVersion(3)
    }
  }

  /// Until then what was pushed in vain was forgotten at once.
  private static func addPushes(to database: Connection) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      try database.execute(pushed)
      try database.setUserVersion(4)
    }
  }

  /// Until then every row was shown as soon as it was here, and few waited.
  private static func addPoints(to database: Connection) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      try database.execute("ALTER TABLE tables ADD COLUMN point INTEGER NOT NULL DEFAULT 0")
      try database.execute(incomingIndexes)
      try database.setUserVersion(5)
    }
  }

  /// Until then each row went to the cloud by itself.
  private static func addBatches(to database: Connection) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      try database.execute("ALTER TABLE plans ADD COLUMN batch INTEGER NOT NULL DEFAULT 0")
      try database.execute(BatchTable.statements)
      try database.setUserVersion(6)
    }
  }

  /// Until then nobody asked when and by whom rows were changed.
  private static func addAuthorship(to database: Connection) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      let tables = try database.all("SELECT app || '/' || name FROM tables", read: { row in row.text(0) })
      for name in ["incoming"] + tables {
        for column in RowAuthorship.declarations {
          try database.execute("ALTER TABLE \(RowTable.quoted(name)) ADD COLUMN \(column)")
        }
      }
      try database.setUserVersion(7)
    }
  }

  private static let incomingIndexes = """
    CREATE INDEX incoming_by_version ON incoming (table_id, role, version);
    CREATE INDEX incoming_lacking ON incoming (table_id, version) WHERE lacking > 0;
    """

  /// Hashes of what was sent of dirty rows and came to nothing, as far as is known here.
  private static let pushed = """
    CREATE TABLE pushed (
      id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, row INTEGER NOT NULL, content BLOB NOT NULL,
      UNIQUE (table_id, row, content));
    """

  private static let statements = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE apps (
      app TEXT PRIMARY KEY, uid INTEGER NOT NULL, token BLOB NOT NULL, confirmed INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE tables (
      id INTEGER PRIMARY KEY, app TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE, schema TEXT NOT NULL,
      local_only INTEGER NOT NULL, type BLOB, token BLOB NOT NULL DEFAULT x'', resyncing INTEGER NOT NULL DEFAULT 0,
      last_sync INTEGER NOT NULL DEFAULT 0, bytes_up INTEGER NOT NULL DEFAULT 0, bytes_down INTEGER NOT NULL DEFAULT 0,
      refused TEXT NOT NULL DEFAULT '', news INTEGER NOT NULL DEFAULT 0, properties BLOB NOT NULL DEFAULT x'',
      fault INTEGER NOT NULL DEFAULT 0, point INTEGER NOT NULL DEFAULT 0, UNIQUE (app, name));
    CREATE TABLE registrations (
      table_id INTEGER NOT NULL, direction INTEGER NOT NULL, ordinal INTEGER NOT NULL, period INTEGER NOT NULL,
      tolerance INTEGER NOT NULL, link INTEGER NOT NULL, PRIMARY KEY (table_id, direction)) WITHOUT ROWID;

    -- Chunks by content. Bytes apart from counts: a count changes often, and with it only its own small row. `place` is
    -- where they begin in the file of long chunks; NULL: in chunk_bytes. `sum` is their XXH64.
    CREATE TABLE chunks (
      id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, refs INTEGER NOT NULL, present INTEGER NOT NULL,
      place INTEGER, length INTEGER, sum INTEGER);
    CREATE INDEX chunks_unused ON chunks (id) WHERE refs = 0;
    CREATE TABLE chunk_bytes (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

    -- Content of dirty rows as the cloud last knew it.
    CREATE TABLE ancestors (
      table_id INTEGER NOT NULL, row INTEGER NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL,
      PRIMARY KEY (table_id, row));
    \(pushed)

    -- `batch`: all of its rows are committed, or none; 0: each by itself.
    CREATE TABLE plans (
      op INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, table_id INTEGER NOT NULL, batch INTEGER NOT NULL DEFAULT 0);
    \(BatchTable.statements)
    CREATE TABLE plan_rows (
      op INTEGER NOT NULL, position INTEGER NOT NULL, row INTEGER NOT NULL, id TEXT NOT NULL, base INTEGER NOT NULL,
      type INTEGER NOT NULL, body BLOB, armed INTEGER NOT NULL, PRIMARY KEY (op, position));

    -- Entries from the cloud that wait (role 0), and the cloud's copies of rows in conflict (role 1).
    CREATE TABLE incoming (
      id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, role INTEGER NOT NULL, name TEXT NOT NULL,
      version INTEGER NOT NULL, deleted INTEGER NOT NULL, body BLOB NOT NULL, lacking INTEGER NOT NULL,
      \(RowAuthorship.declarations.joined(separator: ", ")), UNIQUE (table_id, role, name));
    \(incomingIndexes)
    CREATE TABLE wants (
      hash BLOB NOT NULL, incoming INTEGER NOT NULL, PRIMARY KEY (hash, incoming)) WITHOUT ROWID;
    CREATE INDEX wants_by_entry ON wants (incoming);
    """
}

/// Numbers of the store that outlive it, kept in `meta`.
struct StoreMeta {
  private enum Key: String {
    case epoch, nextOp, listGeneration, toldOnlySum, countsAnew
  }

  private(set) var epoch: UInt64
  private(set) var nextOp: UInt64
  private(set) var listGeneration: UInt64
  /// XXH64 of the names of the list's tables whose rows do not come with notifications; 0: there are none.
  private(set) var toldOnlySum: UInt64
  /// Damage took what named some chunks, so that they may be counted more often than they are named: the next start
  /// counts them anew.
  private(set) var countsAnew: Bool

  /// - Parameter newEpoch: taken when the store is new.
  init(_ database: Connection, newEpoch: UInt64) throws(CaravanError) {
    func read(_ key: Key) throws(CaravanError) -> UInt64? {
      try database.first("SELECT value FROM meta WHERE key = ?", key.rawValue) { row in row.unsigned(0) }
    }
    epoch = try read(.epoch) ?? newEpoch
    nextOp = try read(.nextOp) ?? 1
    listGeneration = try read(.listGeneration) ?? 0
    toldOnlySum = try read(.toldOnlySum) ?? 0
    countsAnew = try read(.countsAnew) == 1
    if try read(.epoch) == nil { try Self.write(.epoch, newEpoch, database) }
  }

  mutating func takeOp(_ database: Connection) throws(CaravanError) -> UInt64 {
    defer { nextOp += 1 }
    try Self.write(.nextOp, nextOp + 1, database)
    return nextOp
  }

  mutating func bumpListGeneration(_ database: Connection) throws(CaravanError) {
    listGeneration += 1
    try Self.write(.listGeneration, listGeneration, database)
  }

  mutating func note(toldOnlySum sum: UInt64, _ database: Connection) throws(CaravanError) {
    try Self.write(.toldOnlySum, sum, database)
    toldOnlySum = sum
  }

  mutating func note(countsAnew: Bool, _ database: Connection) throws(CaravanError) {
    try Self.write(.countsAnew, countsAnew ? 1 : 0, database)
    self.countsAnew = countsAnew
  }

  mutating func begin(epoch: UInt64, _ database: Connection) throws(CaravanError) {
    try Self.write(.epoch, epoch, database)
    self.epoch = epoch
  }

  private static func write(_ key: Key, _ value: UInt64, _ database: Connection) throws(CaravanError) {
    try database.run(
      "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", key.rawValue, value)
  }
}

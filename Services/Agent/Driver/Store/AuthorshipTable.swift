internal import AgentCore
internal import Model
internal import SQLite

/// When and by whom rows were made and last changed, as the cloud has told: of the version that a row is at, and of a
/// newer one that it waits to become or is in conflict with. What is left over tells nothing false, as it is of another
/// version; so a release that does not know this table does no harm.
enum AuthorshipTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      -- `writer` made this version; `creator` made the row: NULL where it was the writer, and `created` is 0 where
      -- nobody knows.
      CREATE TABLE IF NOT EXISTS authorships (
        table_id INTEGER NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, modified INTEGER NOT NULL,
        created INTEGER NOT NULL, writer TEXT NOT NULL, creator TEXT,
        PRIMARY KEY (table_id, name, version)) WITHOUT ROWID;
      """)
  }

  /// - Returns: nil: nobody knows.
  static func find(
    _ row: String, at version: Seq, of table: Int64, _ database: Connection
  ) throws(CaravanError) -> RowAuthorship? {
    try database.first(
      """
      SELECT modified, created, writer, coalesce(creator, writer) FROM authorships
      WHERE table_id = ? AND name = ? AND version = ?
      """, table, row, version
    ) { row in
      let created = row.integer(1)
      return RowAuthorship(
        modified: row.integer(0), writer: row.text(2), created: created, creator: created == 0 ? "" : row.text(3))
    }
  }
}

/// What the cloud says of an accepted push: when it was, and who the device is to those who read what it wrote.
public struct CommitStamp: Sendable, Hashable {
  public var time: Int64
  public var writer: String

  /// - Returns: nil: a cloud of a release before does not say.
  public init?(time: UInt64, writer: String) {
    guard time > 0, !writer.isEmpty else { return nil }
    (self.time, self.writer) = (Int64(clamping: time), writer)
  }
}

/// When and by whom a row was made and last changed; times are Unix milliseconds on the cloud's clock.
public struct RowAuthorship: Sendable, Hashable {
  public var modified: Int64
  public var writer: String
  /// 0: nobody knows.
  public var created: Int64
  public var creator: String

  public init(modified: Int64, writer: String, created: Int64, creator: String) {
    self.modified = modified
    self.writer = writer
    self.created = created
    self.creator = creator
  }

  /// - Returns: nil: nobody knows, or the entry has no row.
  init?(of entry: Entry) {
    let known = entry.authorship
    guard known.modified > 0, !entry.isDeleted else { return nil }
    self.init(modified: known.modified, writer: entry.writer, created: known.created, creator: known.creator)
  }
}

extension LocalStore {
  /// Of an entry that a row is now.
  /// - Parameter isNew: there was no row of that name.
  func noteAuthorship(of entry: Entry, isNew: Bool = false, in state: TableState) throws(CaravanError) {
    guard let authorship = RowAuthorship(of: entry) else { return }
    if !isNew { try forgetAuthorship(of: entry.name, before: entry.version, in: state) }
    try note(authorship, of: entry.name, at: entry.version, in: state)
  }

  /// Of an entry that waits: what is known of the version that its row is at stays.
  func noteAuthorship(ofWaiting entry: Entry, in state: TableState) throws(CaravanError) {
    guard let authorship = RowAuthorship(of: entry) else { return }
    try database.statement(
      text: """
        DELETE FROM authorships WHERE table_id = ? AND name = ? AND version < ?
          AND version NOT IN (SELECT _version FROM \(state.rows.quotedName) WHERE _id = ?)
        """
    ).run(state.number, entry.name, entry.version, entry.name)
    try note(authorship, of: entry.name, at: entry.version, in: state)
  }

  /// Of a row that the cloud has accepted at `version`.
  func noteAuthorship(
    of row: String, _ stamp: CommitStamp, at version: Seq, over base: Base, in state: TableState
  ) throws(CaravanError) {
    var new = RowAuthorship(modified: stamp.time, writer: stamp.writer, created: stamp.time, creator: stamp.writer)
    switch base {
    case .absent: break
    case .any: (new.created, new.creator) = (0, "")
    case .version(let base):
      let before = try AuthorshipTable.find(row, at: base, of: state.number, try database)
      (new.created, new.creator) = (before?.created ?? 0, before?.creator ?? "")
    }
    try forgetAuthorship(of: row, before: version, in: state)
    try note(new, of: row, at: version, in: state)
  }

  private func note(
    _ authorship: RowAuthorship, of row: String, at version: Seq, in state: TableState
  ) throws(CaravanError) {
    let creator = authorship.creator == authorship.writer || authorship.created == 0 ? nil : authorship.creator
    try database.run(
      """
      INSERT INTO authorships (table_id, name, version, modified, created, writer, creator)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET version = excluded.version, modified = excluded.modified, created = excluded.created,
        writer = excluded.writer, creator = excluded.creator
      """, state.number, row, version, authorship.modified, authorship.created, authorship.writer, creator)
  }

  func forgetAuthorship(
    of row: String, before version: Seq = Seq(Int64.max), in state: TableState
  ) throws(CaravanError) {
    try database.run(
      "DELETE FROM authorships WHERE table_id = ? AND name = ? AND version < ?", state.number, row, version)
  }

  func forgetAuthorships(of state: TableState) throws(CaravanError) {
    try database.run("DELETE FROM authorships WHERE table_id = ?", state.number)
  }
}

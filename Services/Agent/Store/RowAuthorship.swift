internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

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

/// What every row has and rows are ordered by; the names are CloudKit's. No column is called so, as names of columns
/// begin with a letter.
enum SystemField: String {
  case created = "___createTime"
  case modified = "___modTime"

  /// NULL, which comes first, where nobody knows it of the version that the row is at.
  var orderText: String {
    switch self {
    case .created: "CASE WHEN _authored = _version AND _created > 0 THEN _created END"
    case .modified: "CASE WHEN _authored = _version THEN _modified END"
    }
  }
}

extension RowAuthorship {
  /// NULL where it was the writer.
  fileprivate var otherCreator: String? { creator == writer || created == 0 ? nil : creator }

  /// - Parameters:
  ///   - first: where `columns` of a row begin.
  ///   - version: that the row is at.
  /// - Returns: nil: what is known is of another version, or nothing is.
  init?(_ row: Row, first: Int32, at version: Seq) {
    guard !row.isNull(first), row.unsigned(first) == version else { return nil }
    let (created, writer) = (row.integer(first + 2), row.text(first + 3))
    let creator = created == 0 ? "" : row.isNull(first + 4) ? writer : row.text(first + 4)
    self.init(modified: row.integer(first + 1), writer: writer, created: created, creator: creator)
  }

  /// The version that the others are of, when it was made, when its row was (0: nobody knows), by whom each.
  /// `_creator` is NULL where it was the writer. What is of another version than the row is at tells nothing of it.
  static let columns = ["_authored", "_modified", "_created", "_writer", "_creator"]
  static let declarations = [
    "_authored INTEGER", "_modified INTEGER", "_created INTEGER", "_writer TEXT", "_creator TEXT",
  ]

  /// Binds `columns`, all NULL where nobody knows.
  static func bind(
    _ authorship: RowAuthorship?, at version: Seq, to statement: Statement, from first: Int32
  ) throws(CaravanError) {
    guard let authorship else {
      for offset in 0..<Int32(columns.count) { try SQLValue.null.bind(to: statement, at: first + offset) }
      return
    }
    try statement.bind(Int64(bitPattern: version), at: first)
    try statement.bind(authorship.modified, at: first + 1)
    try statement.bind(authorship.created, at: first + 2)
    try statement.bind(authorship.writer, at: first + 3)
    try authorship.otherCreator.bind(to: statement, at: first + 4)
  }
}

extension RowTable {
  /// When and by whom the row was made what it is at `version`.
  /// - Parameter isMissing: only where nobody has said it of this version.
  func note(
    _ authorship: RowAuthorship, ofRow key: Int64, at version: Seq, isMissing: Bool = false, _ database: Connection
  ) throws(CaravanError) {
    try database.statement(
      text: """
        UPDATE \(quotedName) SET _authored = ?1, _modified = ?, _created = ?, _writer = ?, _creator = ? WHERE _row = ?
        \(isMissing ? "AND _authored IS NOT ?1" : "")
        """
    ).run(version, authorship.modified, authorship.created, authorship.writer, authorship.otherCreator, key)
  }

  /// The row's next version, made from `base`: who made the row stays as it is known of that.
  func note(
    _ stamp: CommitStamp, ofRow key: Int64, at version: Seq, over base: Base, _ database: Connection
  ) throws(CaravanError) {
    switch base {
    case .absent:
      let made = RowAuthorship(modified: stamp.time, writer: stamp.writer, created: stamp.time, creator: stamp.writer)
      try note(made, ofRow: key, at: version, database)
    case .any:
      let changed = RowAuthorship(modified: stamp.time, writer: stamp.writer, created: 0, creator: "")
      try note(changed, ofRow: key, at: version, database)
    case .version(let base):
      try database.statement(
        text: """
          UPDATE \(quotedName) SET _created = CASE WHEN _authored = ?1 THEN _created ELSE 0 END,
            _creator = CASE WHEN _authored = ?1 THEN coalesce(_creator, _writer) END,
            _authored = ?2, _modified = ?3, _writer = ?4 WHERE _row = ?5
          """
      ).run(base, version, stamp.time, stamp.writer, key)
    }
  }
}

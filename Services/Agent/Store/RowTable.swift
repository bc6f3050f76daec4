internal import CaravanAgentCore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanSQLite

/// One row as it is stored.
struct StoredRow {
  /// Its place in the table, ascending with its creation.
  var key: Int64
  var id: String
  var head: RowHead
  /// When it was last changed here, a `HybridStamp`: the order of collection.
  var change: Int64
  var extra: [UInt8]
  /// By column of the schema.
  var cells: [SQLValue]

  /// Of its body, about.
  var bodyBytes: Int { cells.reduce(extra.count) { $0 + $1.bodyBytes } }

  var sum: UInt64 { Self.sum(id: id, extra: extra, cells: cells) }

  /// Whether a row holds what `sum` was made of. Columns that were added since it was written have no value, and are
  /// not in its sum.
  static func isSound(_ sum: UInt64, id: String, extra: [UInt8], cells: [SQLValue]) -> Bool {
    var cells = cells
    while true {
      if Self.sum(id: id, extra: extra, cells: cells) == sum { return true }
      guard cells.last == .null else { return false }
      cells.removeLast()
    }
  }

  /// Most rows are no larger.
  private static let summedAtOnce = 512

  /// XXH64 of what a row holds, its flags and versions aside.
  static func sum(id: String, extra: [UInt8], cells: [SQLValue]) -> UInt64 {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(summedAtOnce)
    bytes += id.utf8
    func add(_ tag: UInt8, _ number: UInt64) {
      bytes.append(tag)
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    add(0, UInt64(extra.count))
    bytes += extra
    for cell in cells {
      switch cell {
      case .null: add(1, 0)
      case .integer(let number): add(2, UInt64(bitPattern: number))
      // SQLite keeps NaN as NULL, and no sign of zero.
      case .real(let number) where number.isNaN: add(1, 0)
      case .real(let number): add(3, number == 0 ? 0 : number.bitPattern)
      case .text(let text):
        add(4, UInt64(text.utf8.count))
        bytes += text.utf8
      case .blob(let blob):
        add(5, UInt64(blob.count))
        bytes += blob
      }
    }
    return XXHash64.hash(bytes)
  }
}

/// An app's table in SQLite: its columns under their own names, ours before them with a leading `_`. Its name is the
/// app's and the table's, which no other pair can spell.
struct RowTable {
  let quotedName: String
  /// As the authorizer reports it.
  let name: String
  let columns: [SchemaText.Column]
  let table: TableID
  let damage: DamageLog
  private let insertText: String
  private let updateText: String
  private let updateHeadText: String
  private let selectText: String
  private let summaryText: String
  private let censusText: String

  static let visible = "_presence IN (0, 3, 4, 5)"
  /// As `RowFlags.isCollectable`.
  static let isCollectable = "_flags IN (1, 2, 3) AND _flags <> 0"
  /// The cloud does not have its last change, as far as is known here.
  static let isUnsent = "_flags <> 0 AND _flags & 15 <> 0"
  static let isTorn = "_presence = 2 AND _presence <> 0"

  init(_ table: TableID, columns: [SchemaText.Column], damage: DamageLog) {
    self.table = table
    self.columns = columns
    self.damage = damage
    name = "\(table.app)/\(table.name)"
    quotedName = "\"\(name)\""
    let own = ["_id", "_version", "_flags", "_change", "_presence", "_extra", "_sum"]
    let all = own + columns.map(Self.stored)
    let inserted = all + RowAuthorship.columns
    let marks = Array(repeating: "?", count: inserted.count).joined(separator: ", ")
    insertText = "INSERT INTO \(quotedName) (\(inserted.joined(separator: ", "))) VALUES (\(marks))"
    updateText = "UPDATE \(quotedName) SET \(all.map { "\($0) = ?" }.joined(separator: ", ")) WHERE _row = ?"
    updateHeadText =
      "UPDATE \(quotedName) SET _version = ?, _flags = ?, _change = ?, _presence = ? WHERE _row = ?"
    selectText = "SELECT _row, \(all.joined(separator: ", ")) FROM \(quotedName)"
    summaryText = """
      SELECT EXISTS (SELECT 1 FROM incoming WHERE table_id = ?1 AND lacking > 0),
        EXISTS (
          SELECT 1 FROM \(quotedName) WHERE \(Self.isTorn) AND _version = 0 AND _flags = 0
          AND _id NOT IN (SELECT name FROM incoming WHERE table_id = ?1 AND role = 0)),
        (SELECT count(*) FROM \(quotedName) WHERE \(Self.isCollectable))
      """
    let count = "SELECT count(*) FROM \(quotedName)"
    let counts = [
      "1", "_presence IN (1, 2, 6, 7) AND _presence <> 0", "_flags <> 0 AND _flags & 3", "_flags <> 0 AND _flags & 4",
      "_flags <> 0 AND _flags & 8", Self.isTorn,
    ]
    censusText = "SELECT " + counts.map { "(\(count) WHERE \($0))" }.joined(separator: ", ")
  }

  static func quoted(_ column: String) -> String { "\"\(column)\"" }

  // MARK: The table itself

  func create(_ database: Connection) throws(CaravanError) {
    let declared = columns.flatMap(Self.declarations)
    try database.execute(
      """
      CREATE TABLE \(quotedName) (
        _row INTEGER PRIMARY KEY, _id TEXT NOT NULL, _version INTEGER NOT NULL, _flags INTEGER NOT NULL,
        _change INTEGER NOT NULL, _presence INTEGER NOT NULL, _extra BLOB NOT NULL, _sum INTEGER,
        \((RowAuthorship.declarations + declared).joined(separator: ", ")));
      CREATE UNIQUE INDEX "\(name)/id" ON \(quotedName) (_id);
      CREATE INDEX "\(name)/state" ON \(quotedName) (_flags, _change) WHERE _flags <> 0;
      CREATE INDEX "\(name)/hidden" ON \(quotedName) (_presence) WHERE _presence <> 0;
      """)
  }

  /// Rows that are there have no value in it.
  func add(_ column: SchemaText.Column, _ database: Connection) throws(CaravanError) {
    for declaration in Self.declarations(of: column) {
      try database.execute("ALTER TABLE \(quotedName) ADD COLUMN \(declaration)")
    }
  }

  func drop(_ database: Connection) throws(CaravanError) { try database.execute("DROP TABLE \(quotedName)") }

  // MARK: Columns

  /// Where the column's cells lie. Those of references lie in a column of ours, beside the app's.
  static func stored(_ column: SchemaText.Column) -> String {
    quoted(column.isReference ? "_of_\(column.name)" : column.name)
  }

  /// What an app's SQL sees of a cell that is kept as `cell`: of a reference the name of its target
  /// (`CellCodec`).
  static func seen(_ cell: String, of column: SchemaText.Column) -> String {
    column.isReference ? "substr(\(cell), 2)" : cell
  }

  private static func declarations(of column: SchemaText.Column) -> [String] {
    let (place, affinity) = (stored(column), affinity(column))
    guard column.isReference else { return ["\(place) \(affinity)"] }
    // Computed when it is read: it takes no room, and the two are never at odds.
    let name = "GENERATED ALWAYS AS (\(seen(place, of: column))) VIRTUAL"
    return ["\(place) \(affinity)", "\(quoted(column.name)) \(affinity) \(name)"]
  }

  static func affinity(_ column: SchemaText.Column) -> String {
    if column.isList { return "BLOB" }
    return switch column.kind {
    case .text, .reference: "TEXT"
    case .integer, .date: "INTEGER"
    case .real: "REAL"
    case .data, .object, .location: "BLOB"
    }
  }

  // MARK: Rows

  /// - Throws: `rowTorn` when the row is not as it was written; then `damage` has it.
  func row(key: Int64, _ database: Connection) throws(CaravanError) -> StoredRow? {
    try database.statement(text: "\(selectText) WHERE _row = ?").first(key) { (row) throws(CaravanError) in
      try sound(row)
    }
  }

  /// - Throws: as `row(key:)`.
  func row(id: String, _ database: Connection) throws(CaravanError) -> StoredRow? {
    try database.statement(text: "\(selectText) WHERE _id = ?").first(id) { (row) throws(CaravanError) in
      try sound(row)
    }
  }

  /// Whatever is there.
  func unverified(key: Int64, _ database: Connection) throws(CaravanError) -> (row: StoredRow, isSound: Bool)? {
    try database.statement(text: "\(selectText) WHERE _row = ?").first(key) { row in stored(row) }
  }

  /// Nil: there is none, or it is damaged and `damage` has it.
  func soundRow(key: Int64, _ database: Connection) throws(CaravanError) -> StoredRow? {
    do { return try row(key: key, database) } catch {
      guard error.code == .rowTorn else { throw error }
      return nil
    }
  }

  /// As `soundRow(key:)`.
  func soundRow(id: String, _ database: Connection) throws(CaravanError) -> StoredRow? {
    do { return try row(id: id, database) } catch {
      guard error.code == .rowTorn else { throw error }
      return nil
    }
  }

  private func sound(_ row: Row) throws(CaravanError) -> StoredRow {
    let found = stored(row)
    guard found.isSound else {
      damage.note(row: found.row.key, of: table)
      throw CaravanError(.rowTorn, "a row of '\(table.name)' is damaged in the local store: it is being restored")
    }
    return found.row
  }

  /// A dirty row's among those that may go upstream.
  struct Place {
    var change: Int64
    var key: Int64

    init(_ row: StoredRow) { (change, key) = (row.change, row.key) }
    private init(change: Int64, key: Int64) { (self.change, self.key) = (change, key) }

    /// Before all of them.
    static let first = Place(change: .min, key: .min)
  }

  /// Dirty rows that may go upstream, oldest change first, until `body` answers false. Those that were refused as they
  /// are, each by itself, are passed over without being read.
  /// - Parameter number: the table's, where some of its rows were refused.
  func visitCollectable(
    _ database: Connection, after place: Place, refusedOf number: Int64?,
    _ body: (StoredRow) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    let passesOver =
      number == nil
      ? "AND ?3 IS NULL"
      : """
      AND (NOT EXISTS (SELECT 1 FROM refusals WHERE table_id = ?3 AND refusals.row = _row AND change = _change)
        OR EXISTS (SELECT 1 FROM batch_rows WHERE table_id = ?3 AND batch_rows.row = _row))
      """
    let keys = [1, 2, 3].map {
      """
      SELECT _row, _change AS changed FROM \(quotedName)
      WHERE _flags = \($0) AND _flags <> 0 AND (_change, _row) > (?1, ?2) \(passesOver)
      """
    }
    let text = keys.joined(separator: " UNION ALL ") + " ORDER BY changed, _row"
    var wanted = true
    try database.statement(text: text).visit(place.change, place.key, number) { (row) throws(CaravanError) in
      guard let stored = try soundRow(key: row.integer(0), database), !stored.head.presence.isUnconfirmed else {
        return true
      }
      wanted = try body(stored)
      return wanted
    }
  }

  /// What the engine asks of a table before and after each round of sync.
  struct Summary {
    /// Something that came waits for chunks.
    var lacksChunks = false
    /// A row is torn, and nothing that came restores it.
    var lacksRows = false
    /// Dirty rows that nothing keeps from going upstream but others of their batch.
    var collectable = 0
  }

  /// - Parameter number: the table's, in `incoming`.
  func summary(of number: Int64, _ database: Connection) throws(CaravanError) -> Summary {
    try database.statement(text: summaryText).first(number) { row in
      Summary(lacksChunks: row.flag(0), lacksRows: row.flag(1), collectable: Int(row.integer(2)))
    } ?? Summary()
  }

  /// How many rows there are of each kind.
  struct Census {
    var visible = 0
    var dirty = 0
    var pending = 0
    var conflicts = 0
    var torn = 0
  }

  func census(_ database: Connection) throws(CaravanError) -> Census {
    try database.statement(text: censusText).first { row in
      Census(
        visible: Int(row.integer(0) - row.integer(1)), dirty: Int(row.integer(2)), pending: Int(row.integer(3)),
        conflicts: Int(row.integer(4)), torn: Int(row.integer(5)))
    } ?? Census()
  }

  func count(where condition: String, _ database: Connection) throws(CaravanError) -> Int {
    let text = "SELECT count(*) FROM \(quotedName) WHERE \(condition)"
    return try database.statement(text: text).first { row in Int(row.integer(0)) } ?? 0
  }

  /// The last of all ids; empty: there is no row.
  func newestID(_ database: Connection) throws(CaravanError) -> String {
    try database.statement(text: "SELECT max(_id) FROM \(quotedName)").first { row in row.text(0) } ?? ""
  }

  /// The key of the row of this id, if the cloud does not have it and is to get it.
  func unsentKey(id: String, _ database: Connection) throws(CaravanError) -> Int64? {
    let text = """
      SELECT _row FROM \(quotedName) WHERE _id = ? AND (_version = 0 OR _presence IN (4, 5))
      AND \(Self.visible) AND \(Self.isUnsent) AND _flags & 8 = 0
      """
    return try database.statement(text: text).first(id) { row in row.integer(0) }
  }

  func keys(where condition: String, _ database: Connection) throws(CaravanError) -> [Int64] {
    try database.statement(text: "SELECT _row FROM \(quotedName) WHERE \(condition)").all { row in row.integer(0) }
  }

  func ids(where condition: String, limit: Int64, _ database: Connection) throws(CaravanError) -> [String] {
    try database.statement(text: "SELECT _id FROM \(quotedName) WHERE \(condition) ORDER BY _row LIMIT ?").all(limit) {
      row in row.text(0)
    }
  }

  /// - Parameter authorship: of the version that it is at; nil: nobody knows.
  /// - Returns: the row's key.
  @discardableResult
  func insert(
    _ row: StoredRow, by authorship: RowAuthorship? = nil, _ database: Connection
  ) throws(CaravanError) -> Int64 {
    let statement = try database.statement(text: insertText)
    let last = try bind(row, to: statement)
    try RowAuthorship.bind(authorship, at: row.head.version, to: statement, from: last + 1)
    try finish(statement)
    return database.lastInsertedRow
  }

  func update(_ row: StoredRow, _ database: Connection) throws(CaravanError) {
    let statement = try database.statement(text: updateText)
    let last = try bind(row, to: statement)
    try statement.bind(row.key, at: last + 1)
    try finish(statement)
  }

  func updateHead(_ row: StoredRow, _ database: Connection) throws(CaravanError) {
    try database.statement(text: updateHeadText).run(
      row.head.version, row.head.flags.packed, row.change, row.head.presence.rawValue, row.key)
  }

  func delete(key: Int64, _ database: Connection) throws(CaravanError) {
    try database.statement(text: "DELETE FROM \(quotedName) WHERE _row = ?").run(key)
  }

  // MARK: Parts

  private func bind(_ row: StoredRow, to statement: Statement) throws(CaravanError) -> Int32 {
    try statement.bind(row.id, at: 1)
    try statement.bind(Int64(bitPattern: row.head.version), at: 2)
    try statement.bind(row.head.flags.packed, at: 3)
    try statement.bind(row.change, at: 4)
    try statement.bind(row.head.presence.rawValue, at: 5)
    try statement.bind(row.extra, at: 6)
    try statement.bind(Int64(bitPattern: row.sum), at: 7)
    var index: Int32 = 7
    for cell in row.cells {
      index += 1
      try cell.bind(to: statement, at: index)
    }
    return index
  }

  private func finish(_ statement: Statement) throws(CaravanError) {
    defer { statement.reset() }
    while try statement.next() != nil {}
  }

  private func stored(_ row: Row) -> (row: StoredRow, isSound: Bool) {
    let stored = StoredRow(
      key: row.integer(0), id: row.text(1),
      head: RowHead(
        flags: RowFlags(packed: row.integer(3)), version: row.unsigned(2),
        presence: RowHead.Presence(rawValue: row.integer(5)) ?? .torn),
      change: row.integer(4), extra: row.bytes(6), cells: (0..<columns.count).map { row.value(Int32($0) + 8) })
    let isSound = StoredRow.isSound(row.unsigned(7), id: stored.id, extra: stored.extra, cells: stored.cells)
    return (stored, row.isNull(7) || isSound)
  }
}

internal import CaravanAgentCore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire

/// Carries what can be read of a damaged database over to a new one (SIM-78…82). Rows whose content is not as it was
/// written come along, and are then seen to like any other damage; what is not there any more comes again from the
/// cloud, for every table starts over in a new epoch. Dirty rows stay dirty.
struct PageRecovery {
  private let files: PageRecoveryFiles
  private let host: Host
  private let options: LocalStoreOptions
  private var report: PageRecoveryReport
  private var roots: [String: TableRoot] = [:]
  private var kept: KeptRoots?

  // MARK: When

  /// A swap that was cut off is finished, and a database that was found to be damaged is salvaged.
  static func ifNeeded(
    _ directory: String, host: Host, options: LocalStoreOptions
  ) throws(CaravanError) -> PageRecoveryReport? {
    let files = PageRecoveryFiles(directory: directory)
    guard files.exists(files.successor) || files.exists(files.mark) else { return nil }
    let lock = try DirectoryLock(directory)
    defer { lock.release() }
    if files.exists(files.successor) {
      try files.swap()
      return PageRecoveryReport(file: files.database, reason: "cut off when it was complete")
    }
    return try run(directory, because: "it was found damaged in use", host: host, options: options)
  }

  /// Whether the store could not be opened because of what is in its file.
  static func helps(against error: CaravanError) -> Bool {
    switch error.code {
    case .unavailable, .storageFull, .serverBusy, .cancelled: false
    default: !error.message.hasPrefix(StoreSchema.newerFormat)
    }
  }

  static func whenOpenFailed(
    _ directory: String, _ error: CaravanError, host: Host, options: LocalStoreOptions
  ) throws(CaravanError) -> PageRecoveryReport {
    let lock = try DirectoryLock(directory)
    defer { lock.release() }
    return try run(directory, because: error.message, host: host, options: options)
  }

  private static func run(
    _ directory: String, because reason: String, host: Host, options: LocalStoreOptions
  ) throws(CaravanError) -> PageRecoveryReport {
    let files = PageRecoveryFiles(directory: directory)
    let aside = files.aside(host.clock.wallTime)
    var recovery = PageRecovery(
      files: files, host: host, options: options, report: PageRecoveryReport(file: aside, reason: reason))
    try recovery.carryOver()
    try files.link(files.database, to: aside)
    try files.link("\(files.database)-wal", to: "\(aside)-wal")
    let told = (try? TextFile.tail(files.report, bytes: 64 << 10)) ?? ""
    try files.write(Array("\(told)\(host.clock.wallTime) \(recovery.report)\n".utf8), to: files.report)
    try files.rename(files.draft, to: files.successor)
    try files.swap()
    return recovery.report
  }

  // MARK: What

  private mutating func carryOver() throws(CaravanError) {
    for suffix in ["", "-wal", "-shm"] { files.remove(files.draft + suffix) }
    let file = try PageFile(files.database, pageBytes: options.pageBytes)
    defer { file.close() }
    let database = try Connection(.file(files.draft), LocalStore.connectionOptions(options))
    defer { database.close() }
    try StoreSchema.install(in: database)
    try findRoots(in: file)
    let tree = try TreeReader(file)
    try database.transaction { () throws(CaravanError) in
      try carryTables(tree, database)
      // A page of chance may look like one that has nothing.
      let isLacking = report.tables.isEmpty || tree.lostPages + tree.lostRows + report.lostRows > 0
      if isLacking, let root = roots["tables"], let kept {
        // As they were when the newest one was made; those that have been carried over stay as they are.
        file.put(kept.tables, for: root.page)
        try carryTables(tree, database)
      }
      for name in try names(in: database) where name != "tables" { try carry(name, tree, database) }
      for state in try TableState.loadAll(database, damage: DamageLog()) { try carryRows(of: state, tree, database) }
      try findChunksAgain(in: database)
      try settle(database)
    }
    (report.lostPages, report.lostRows) = (tree.lostPages, report.lostRows + tree.lostRows)
    try database.checkpoint(.truncate)
  }

  /// From the schema table, which begins in the first page; where that is damaged, as it was when the schema last
  /// changed.
  private mutating func findRoots(in file: PageFile) throws(CaravanError) {
    let (roots, isWhole) = try Self.roots(in: file)
    self.roots = roots
    let page = try file.page(1)
    kept = try KeptRoots(files)
    guard let kept else { return }
    let isSound = page.starts(with: "SQLite format 3\0".utf8)
    guard !isWhole || !isSound || page.bigEndian(40, 4) == kept.schemaVersion else { return }
    self.roots.merge(kept.roots.filter { (2...max(2, file.pageCount)).contains($0.value.page) }) { _, new in new }
  }

  private static func roots(
    in file: PageFile
  ) throws(CaravanError) -> (roots: [String: TableRoot], isWhole: Bool) {
    var roots: [String: TableRoot] = [:]
    let tree = try TreeReader(file)
    try tree.visit(root: 1) { (found) throws(CaravanError) in
      guard found.values.count == 5, found.values[0] == .text("table"), case .text(let name) = found.values[1],
        case .integer(let page) = found.values[3], (2...Int64(max(2, file.pageCount))).contains(page),
        case .text(let sql) = found.values[4]
      else { return }
      roots[name] = TableRoot(page: Int(page), sql: sql)
    }
    return (roots, tree.lostPages + tree.lostRows == 0)
  }

  // MARK: The store's own tables

  private func names(in database: Connection) throws(CaravanError) -> [String] {
    // Plans are void with their epoch.
    try database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('plans', 'plan_rows') ORDER BY name"
    ).all { row in row.text(0) }
  }

  private mutating func carryTables(_ tree: TreeReader, _ database: Connection) throws(CaravanError) {
    guard let root = roots["tables"] else { return }
    var lost = 0
    try tree.visit(root: root.page) { (found) throws(CaravanError) in
      var values = found.values
      guard values.count >= 5, case .text(let app) = values[1], case .text(let name) = values[2],
        case .text(let schema) = values[3], let columns = try? SchemaText(parsing: schema).columns, !columns.isEmpty,
        (try? ContainerID(app)) != nil
      else { return lost += 1 }
      values[0] = .integer(found.key)
      if values.count > 5, case .blob(let type) = values[5], (try? CaravanWire.RecordType.decode(type).model()) == nil {
        values[5] = .null
      }
      if values.count > 13, !Self.isReadable(properties: values[13]) { values[13] = .blob([]) }
      try Self.insert(values, into: "tables", database)
      let text = "\(app)/\(name)"
      report.tables[text] = 0
    }
    report.lostRows += lost
  }

  private static func isReadable(properties value: SQLValue) -> Bool {
    guard case .blob(let bytes) = value else { return false }
    return bytes.isEmpty || (try? CaravanWire.TableProperties.decode(bytes).model()) != nil
  }

  private mutating func carry(_ name: String, _ tree: TreeReader, _ database: Connection) throws(CaravanError) {
    guard let root = roots[name] else { return }
    let body: Int? =
      switch name {
      case "ancestors": 3
      case "incoming": 6
      default: nil
      }
    var lost = 0
    try tree.visit(root: root.page) { (found) throws(CaravanError) in
      var values = found.values
      guard !values.isEmpty else { return lost += 1 }
      if root.isKeyedByNumber { values[0] = .integer(found.key) }
      if let body {
        guard values.count > body, case .blob(let bytes) = values[body], (try? RowCodec.chunks(inBody: bytes)) != nil
        else { return lost += 1 }
      }
      try Self.insert(values, into: name, database)
    }
    report.lostRows += lost
  }

  private static func insert(
    _ values: [SQLValue], into table: String, _ database: Connection
  ) throws(CaravanError) {
    let columns = try database.statement(text: "SELECT name FROM pragma_table_info('\(table)')").all { row in
      "\"\(row.text(0))\""
    }
    let count = min(columns.count, values.count)
    let marks = Array(repeating: "?", count: count).joined(separator: ", ")
    let statement = try database.statement(
      text: "INSERT OR IGNORE INTO \(table) (\(columns.prefix(count).joined(separator: ", "))) VALUES (\(marks))")
    defer { statement.reset() }
    for (index, value) in values.prefix(count).enumerated() { try value.bind(to: statement, at: Int32(index) + 1) }
    while try statement.next() != nil {}
  }

  // MARK: Apps' tables

  /// Where a table's rows have their checksum. Until format 3 there was none: it was added behind the columns there
  /// were, and columns that a table gained are behind it.
  private static func placeOfSum(in sql: String) -> Int { places(of: ["_sum INTEGER"], in: sql).first ?? 7 }

  private static func places(of declarations: [String], in sql: String) -> [Int] {
    sql.split(separator: ",").enumerated().filter { _, column in
      declarations.contains { column.drop { $0 == " " || $0 == "\n" }.hasPrefix($0) }
    }.map(\.offset)
  }

  private mutating func carryRows(
    of state: TableState, _ tree: TreeReader, _ database: Connection
  ) throws(CaravanError) {
    try state.rows.create(database)
    guard let root = roots[state.rows.name] else { return report.lostTables.append(state.rows.name) }
    let columns = state.schema.columns.count
    let sumPlace = Self.placeOfSum(in: root.sql)
    // The cloud says it again; always behind the sum.
    let authorship = Self.places(of: RowAuthorship.declarations, in: root.sql)
    var (kept, lost) = (0, 0)
    try tree.visit(root: root.page) { (found) throws(CaravanError) in
      var values = found.values
      for place in authorship.reversed() where place < values.count { values.remove(at: place) }
      let sum = values.indices.contains(sumPlace) ? values.remove(at: sumPlace) : .null
      values.insert(sum, at: min(7, values.count))
      // A row that was written before its table gained columns ends before them.
      while values.count < 8 + columns, values.count >= 8 { values.append(.null) }
      guard values.count == 8 + columns, let row = StoredRow(salvaged: values, key: found.key) else {
        return lost += 1
      }
      let known: UInt64? = if case .integer(let sum) = values[7] { UInt64(bitPattern: sum) } else { nil }
      if try state.rows.add(row, sum: known, database) { kept += 1 } else { lost += 1 }
    }
    report.tables[state.rows.name] = kept
    report.lostRows += lost
  }

  /// Of chunks that lie in the database what was said of them may be lost: their bytes say it again, also that they
  /// list others, which is when they read as a list does.
  private func findChunksAgain(in database: Connection) throws(CaravanError) {
    let unknown = "SELECT id FROM chunk_bytes WHERE id NOT IN (SELECT id FROM chunks)"
    for id in try database.statement(text: unknown).all(read: { row in row.integer(0) }) {
      let bytes = try database.first("SELECT bytes FROM chunk_bytes WHERE id = ?", id) { row in row.bytes(0) } ?? []
      let object = (try? CaravanWire.Asset.decode(bytes)).flatMap { try? StoredObject($0) }
      let isList = object.map { $0.list == nil && !$0.parts.isEmpty && $0.listBytes == bytes } ?? false
      let presence = isList ? ChunkTable.Presence.opened : .here
      try database.run(
        "INSERT OR IGNORE INTO chunks (id, hash, refs, present, length, sum) VALUES (?, ?, 0, ?, ?, ?)", id,
        ChunkHash(of: bytes), presence.rawValue, bytes.count, XXHash64.hash(bytes))
    }
  }

  /// What is left fits together again: nothing refers to what is not there, and everything is asked of the cloud anew.
  private func settle(_ database: Connection) throws(CaravanError) {
    let generation = UInt64(max(0, host.clock.wallTime.milliseconds))
    try database.execute(
      """
      DELETE FROM ancestors WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM pushed WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM batch_rows WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM events WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM event_logs WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM absences WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM incoming WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM registrations WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM tolerances WHERE table_id NOT IN (SELECT id FROM tables);
      DELETE FROM tolerated WHERE table_id NOT IN (SELECT table_id FROM tolerances);
      DELETE FROM wants WHERE incoming NOT IN (SELECT id FROM incoming);
      UPDATE incoming SET lacking = (SELECT count(*) FROM wants WHERE wants.incoming = incoming.id);
      UPDATE chunks SET present = 0, place = NULL, length = NULL, sum = NULL
        WHERE present > 0 AND place IS NULL AND id NOT IN (SELECT id FROM chunk_bytes);
      DELETE FROM chunk_bytes WHERE id NOT IN (SELECT id FROM chunks WHERE present > 0 AND place IS NULL);
      UPDATE tables SET resyncing = 2, token = x'' WHERE local_only = 0;
      DELETE FROM meta;
      INSERT INTO meta VALUES ('listGeneration', \(generation));
      """)
  }
}

/// What became of a damaged database.
struct PageRecoveryReport: CustomStringConvertible {
  /// Where it is now.
  let file: String
  let reason: String
  /// Rows that were carried over.
  var tables: [String: Int] = [:]
  /// Those of which nothing is left but their description.
  var lostTables: [String] = []
  var lostPages = 0
  /// Found, and not readable; nobody knows how many were on lost pages.
  var lostRows = 0

  init(file: String, reason: String) {
    self.file = file
    self.reason = reason
  }

  var description: String {
    let kept = tables.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    let lost = lostTables.isEmpty ? "" : "; nothing was left of \(lostTables.sorted().joined(separator: ", "))"
    return """
      the local store was damaged (\(reason)); kept as \(file); rows carried over: \(kept.isEmpty ? "none" : kept); \
      lost: \(lostPages) pages and \(lostRows) rows\(lost); what the cloud has comes again
      """
  }
}

extension StoredRow {
  /// - Parameter values: `_row`, our columns, the checksum among them, and the app's.
  /// - Returns: nil: this was no row.
  fileprivate init?(salvaged values: [SQLValue], key: Int64) {
    guard case .text(let id) = values[1], !id.isEmpty, case .integer(let version) = values[2],
      case .integer(let packed) = values[3], case .integer(let change) = values[4],
      case .integer(let presence) = values[5], case .blob(let extra) = values[6]
    else { return nil }
    var flags = RowFlags(packed: packed)
    if flags.inConflict { flags.syncPending = false }
    self.init(
      key: key, id: id,
      head: RowHead(
        flags: flags, version: UInt64(bitPattern: version), presence: RowHead.Presence(rawValue: presence) ?? .torn),
      change: change, extra: extra, cells: Array(values[8...]))
  }
}

extension RowTable {
  /// A row with the place and the checksum that it had.
  /// - Returns: false: there is one of its name or at its place.
  fileprivate func add(_ row: StoredRow, sum: UInt64?, _ database: Connection) throws(CaravanError) -> Bool {
    let own = ["_row", "_id", "_version", "_flags", "_change", "_presence", "_extra", "_sum"]
    let all = own + columns.map(Self.stored)
    let marks = Array(repeating: "?", count: all.count).joined(separator: ", ")
    let statement = try database.statement(
      text: "INSERT OR IGNORE INTO \(quotedName) (\(all.joined(separator: ", "))) VALUES (\(marks))")
    defer { statement.reset() }
    let ours: [any Bindable] = [
      row.key, row.id, row.head.version, row.head.flags.packed, row.change, row.head.presence.rawValue, row.extra, sum,
    ]
    for (index, value) in (ours + row.cells.map { $0 as any Bindable }).enumerated() {
      try value.bind(to: statement, at: Int32(index) + 1)
    }
    while try statement.next() != nil {}
    return database.changedRows > 0
  }
}

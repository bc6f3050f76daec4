internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Where a table of the database begins, and how it was made.
struct TableRoot {
  let page: Int
  let sql: String

  /// Its first column is the key of the table's rows, and not kept with them.
  var isKeyedByNumber: Bool {
    sql.utf8.indices.contains { sql.utf8[$0...].starts(with: "INTEGER PRIMARY KEY".utf8) }
  }
}

/// What everything in the database hangs on, as of its newest change of schema, in a file beside it: where each table
/// begins, and the beginning of the table of tables.
struct KeptRoots {
  /// Of SQLite: counts the changes of the schema.
  private(set) var schemaVersion: UInt64 = 0
  private(set) var roots: [String: TableRoot] = [:]
  /// The page in which the table of tables begins.
  private(set) var tables: [UInt8] = []

  private static let sumBytes = 8
  private static let longest = 64 << 20

  /// - Returns: nil: there are none, or they are not as they were written.
  init?(_ files: PageRecoveryFiles) throws(CaravanError) {
    guard files.exists(files.head) else { return nil }
    let file = try DiskFile(files.head, isReadOnly: true)
    defer { file.close() }
    let bytes = try file.read(at: 0, count: min(file.usage().size, Self.longest))
    let content = Array(bytes.dropLast(Self.sumBytes))
    guard bytes.suffix(Self.sumBytes).elementsEqual(Self.sum(content)) else { return nil }
    var place = 0
    guard let version = content.varint(&place), let page = content.piece(&place) else { return nil }
    (schemaVersion, tables) = (version, page)
    while place < content.count {
      guard let root = content.varint(&place), let name = content.piece(&place), let sql = content.piece(&place)
      else { return nil }
      roots[String(decoding: name, as: UTF8.self)] = TableRoot(
        page: Int(clamping: root), sql: String(decoding: sql, as: UTF8.self))
    }
  }

  private init(_ database: Connection, pageBytes: Int) throws(CaravanError) {
    schemaVersion = try Self.version(database)
    let found = try database.prepare("SELECT name, rootpage, sql FROM sqlite_schema WHERE type = 'table'").all { row in
      (row.text(0), TableRoot(page: Int(row.integer(1)), sql: row.text(2)))
    }
    roots = Dictionary(found) { first, _ in first }
    let size = try database.prepare("PRAGMA page_size").first { row in Int(row.integer(0)) } ?? pageBytes
    if let root = roots["tables"] { tables = try database.fileBytes(at: (root.page - 1) * size, count: size) }
  }

  private var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: schemaVersion)
    bytes.append(piece: tables)
    for (name, root) in roots.sorted(by: { $0.key < $1.key }) {
      bytes.append(varint: UInt64(root.page))
      bytes.append(piece: Array(name.utf8))
      bytes.append(piece: Array(root.sql.utf8))
    }
    return bytes + Self.sum(bytes)
  }

  private static func sum(_ bytes: [UInt8]) -> [UInt8] {
    let sum = XXHash64.hash(bytes)
    return (0..<sumBytes).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
  }

  private static func version(_ database: Connection) throws(CaravanError) -> UInt64 {
    try database.prepare("PRAGMA schema_version").first { row in row.unsigned(0) } ?? 0
  }

  /// Keeps them as they are now, unless they are kept already.
  static func write(_ directory: String, _ database: Connection, _ options: LocalStoreOptions) {
    guard options.isDurable else { return }
    let files = PageRecoveryFiles(directory: directory)
    do throws(CaravanError) {
      if let kept = try KeptRoots(files), kept.schemaVersion == (try version(database)) { return }
      try database.checkpoint(.passive)
      try files.write(KeptRoots(database, pageBytes: options.pageBytes).encoded, to: files.head)
    } catch {
      // They are a help for bad days only; the next change of schema brings others.
      return
    }
  }
}

extension [UInt8] {
  /// As SQLite does, up to eight bytes.
  fileprivate mutating func append(varint value: UInt64) {
    precondition(value < 1 << 56, "a number of more than 56 bits")
    var shift = 49
    while shift > 0, value >> UInt64(shift) == 0 { shift -= 7 }
    while shift > 0 {
      append(UInt8(truncatingIfNeeded: value >> UInt64(shift)) | 0x80)
      shift -= 7
    }
    append(UInt8(truncatingIfNeeded: value) & 0x7f)
  }

  fileprivate mutating func append(piece bytes: [UInt8]) {
    append(varint: UInt64(bytes.count))
    self += bytes
  }

  fileprivate func piece(_ place: inout Int) -> [UInt8]? {
    guard let size = varint(&place), size <= UInt64(count - place) else { return nil }
    defer { place += Int(size) }
    return Array(self[place..<place + Int(size)])
  }
}

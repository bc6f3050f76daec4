internal import Encoding
internal import Model
internal import Runtime
internal import SQLite

/// Two pages of the database that everything hangs on, as of its newest change of schema, in a file beside it: the
/// first one, where all tables begin, and the beginning of the table of tables.
struct KeptPages {
  let first: [UInt8]
  let tables: [UInt8]

  private static let sumBytes = 8
  private static let longestPage = 64 << 10

  /// - Returns: nil: there are none, or they are not as they were written.
  init?(_ files: SalvageFiles) throws(CaravanError) {
    guard files.exists(files.head) else { return nil }
    let file = try DiskFile(files.head, isReadOnly: true)
    defer { file.close() }
    let bytes = try file.read(at: 0, count: 2 * Self.longestPage + Self.sumBytes)
    let pages = Array(bytes.dropLast(Self.sumBytes))
    guard pages.count >= 200, pages.count % 2 == 0, bytes.suffix(Self.sumBytes).elementsEqual(Self.sum(pages)) else {
      return nil
    }
    first = Array(pages.prefix(pages.count / 2))
    tables = Array(pages.suffix(pages.count / 2))
  }

  private static func sum(_ bytes: [UInt8]) -> [UInt8] {
    let sum = XXHash64.hash(bytes)
    return (0..<sumBytes).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
  }

  /// Keeps the pages as they are now, unless they are kept already.
  static func write(_ directory: String, _ database: Connection, _ options: LocalStoreOptions) {
    guard options.isDurable else { return }
    let files = SalvageFiles(directory: directory)
    do throws(CaravanError) {
      let version = try database.prepare("PRAGMA schema_version").first { row in row.unsigned(0) } ?? 0
      if let kept = try KeptPages(files), kept.first.bigEndian(40, 4) == version { return }
      try database.checkpoint(.passive)
      let size = try database.prepare("PRAGMA page_size").first { row in Int(row.integer(0)) } ?? options.pageBytes
      let root = try database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tables'").first { row in
        Int(row.integer(0))
      }
      let first = try database.fileBytes(at: 0, count: size)
      let tables = try database.fileBytes(at: ((root ?? 1) - 1) * size, count: size)
      guard first.bigEndian(40, 4) == version else { return }
      try files.write(first + tables + sum(first + tables), to: files.head)
    } catch {
      // They are a help for bad days only; the next change of schema brings others.
      return
    }
  }
}

internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// When entries are moved together, and how far that has come.
struct Compaction {
  /// Since the last pass began, about.
  private var removed: Int64 = 0
  /// The key after which the pass goes on; nil: none is under way.
  private(set) var position: Int64?

  var isWorthCounting: Bool { position == nil && removed >= FileLimits.removalsWorthCompacting }

  mutating func noteRemoval() { removed += 1 }

  /// A pass, if enough has gone of so many records.
  mutating func begin(ofRecords live: Int64) {
    if removed >= live / FileLimits.removedShare { (removed, position) = (0, .min) }
  }

  mutating func advance(to key: Int64?) { position = key }

  /// Whether keys lie so far apart that a quarter or more of the room they once had is likely to be empty.
  static func isThin(_ keys: [Int64]) -> Bool {
    let places = zip(keys, keys.dropFirst()).reduce(Int64(1)) { sum, pair in
      sum + (pair.0 >> 40 == pair.1 >> 40 ? pair.1 - pair.0 : 1)
    }
    return Int64(keys.count) * 4 < places * 3
  }
}

/// A record that is written again leaves its place in `entries`, and SQLite joins pages only once they are two thirds
/// empty: after many updates a file would be half again as large as what it holds (BEN-16). So entries of thin
/// stretches are moved together, and pages that nobody uses go back to the file system, in steps that no commit waits
/// long behind.
final class FileCompaction: FilePart {
  let context: FileContext
  private var compaction = Compaction()

  init(_ context: FileContext) { self.context = context }

  func noteRemoval() { compaction.noteRemoval() }

  /// - Returns: whether there is more to do now.
  func compact() throws(CaravanError) -> Bool {
    if compaction.isWorthCounting {
      let records = try db.first("SELECT coalesce(sum(records), 0) FROM zones", read: { $0.integer(0) }) ?? 0
      compaction.begin(ofRecords: records)
    }
    guard let position = compaction.position else { return try shrink() }
    let keys = try stretch(after: position)
    if Compaction.isThin(keys) { try moveTogether(keys) }
    compaction.advance(to: keys.last)
    return true
  }

  private func stretch(after position: Int64) throws(CaravanError) -> [Int64] {
    var keys: [Int64] = []
    var bytes: Int64 = 0
    let next = try db.statement("SELECT key, length(body) FROM entries WHERE key > ? ORDER BY key LIMIT ?")
    try next.visit(position, FileLimits.movedRows) { row in
      keys.append(row.integer(0))
      bytes += row.integer(1)
      return bytes < FileLimits.movedBytes
    }
    return keys
  }

  /// Taken out and put back in the order of their keys, they fill page after page.
  private func moveTogether(_ keys: [Int64]) throws(CaravanError) {
    guard let first = keys.first, let last = keys.last else { return }
    try db.execute("CREATE TEMP TABLE IF NOT EXISTS moving AS SELECT * FROM entries WHERE false")
    try db.run("INSERT INTO moving SELECT * FROM entries WHERE key BETWEEN ? AND ?", first, last)
    try db.run("DELETE FROM entries WHERE key BETWEEN ? AND ?", first, last)
    try db.run("INSERT INTO entries SELECT * FROM moving ORDER BY key")
    try db.run("DELETE FROM moving")
    context.metrics.moved(entries: keys.count)
  }

  /// Some of the pages that nobody uses; a few stay for what comes next.
  private func shrink() throws(CaravanError) -> Bool {
    let (free, pages) = (try freePages(), try db.first("PRAGMA page_count", read: { $0.integer(0) }) ?? 0)
    guard free > max(FileLimits.sparePages, pages / FileLimits.spareShare) else { return false }
    try db.run("PRAGMA incremental_vacuum(64)")
    // A file that was made to keep its pages keeps them.
    return try freePages() < free
  }

  private func freePages() throws(CaravanError) -> Int64 {
    try db.first("PRAGMA freelist_count", read: { $0.integer(0) }) ?? 0
  }
}

internal import CaravanAgentCore
internal import CaravanModel

/// Versions of the deletions that the cloud took lately, and of the rows that were left to it. A change page that was
/// read before one of them still shows its row as it was, and must not bring that back (I9).
struct RecentDeletions {
  private var versions: [TableID: [String: Seq]] = [:]
  private var count = 0

  /// Beyond the limit all are forgotten: the next page then takes the row away again.
  mutating func add(_ row: String, of table: TableID, version: Seq) {
    if count == StoreLimits.recentDeletions { (versions, count) = ([:], 0) }
    if versions[table, default: [:]].updateValue(version, forKey: row) == nil { count += 1 }
  }

  /// Whether the row had been deleted when this version of it was the newest.
  func cover(_ row: String, of table: TableID, version: Seq) -> Bool {
    count > 0 && (versions[table]?[row]).map { version < $0 } ?? false
  }

  /// Versions of the table mean nothing any more.
  mutating func forget(_ table: TableID) { count -= versions.removeValue(forKey: table)?.count ?? 0 }
}

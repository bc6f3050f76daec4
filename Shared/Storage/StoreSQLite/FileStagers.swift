internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Who has staged which chunks in public databases, and may name them for it until the staging lease ends. A table
/// beside those of the layout: who is not in it stages anew, so a file without it is whole.
struct FileStagers: FilePart {
  let context: FileContext
  private var known: StagerReads { StagerReads(reads: reads) }

  /// `charge`: what the account is charged for it besides the chunk itself (`StagerRules.charge`).
  private static let tables = """
    CREATE TABLE IF NOT EXISTS stagers(
      database INTEGER NOT NULL, author TEXT NOT NULL, hash BLOB NOT NULL, charge INTEGER NOT NULL,
      until INTEGER NOT NULL, PRIMARY KEY (database, author, hash)) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS stagers_by_end ON stagers(until);
    """

  static func prepare(_ db: Connection) throws(CaravanError) { try db.execute(tables) }

  /// Notes who stages chunks, before they are staged.
  /// - Returns: bytes that the account is charged besides the chunks.
  /// - Throws: `limitExceeded` when the user has staged too much.
  func note(_ chunks: [ChunkBytes], in database: Int64, as view: ChunkView) throws(CaravanError) -> Int64 {
    guard let author = view.stager else { return 0 }
    precondition(!author.isEmpty, "nobody stages chunks in a public database")
    let sizes = Dictionary(chunks.map { ($0.hash, $0.bytes.count) }, uniquingKeysWith: { first, _ in first })
    let there = try known.staged(Set(sizes.keys), in: database, by: author)
    var charged: Int64 = 0
    for (hash, size) in sizes where !there.contains(hash) {
      let charge = StagerRules.charge(bytes: size, isThere: try reads.chunk(hash, in: database) != nil)
      try db.run(
        "INSERT INTO stagers(database, author, hash, charge, until) VALUES (?, ?, ?, ?, ?)", database, author, hash,
        charge, keepUntil)
      charged += charge
    }
    for hash in there { try keep(hash, in: database, by: author) }
    if there.count < sizes.count {
      let held = try db.first(
        "SELECT count(*) FROM stagers WHERE database = ? AND author = ?", database, author, read: { $0.integer(0) })
      try StagerRules.check(held: Int(held ?? 0) - (sizes.count - there.count), adding: sizes.count - there.count)
    }
    return charged
  }

  /// - Returns: whether the chunk is in the view, where it stays for the staging lease.
  func keep(_ hash: ChunkHash, in database: Int64, as view: ChunkView) throws(CaravanError) -> Bool {
    switch view {
    case .all: return true
    case .record: preconditionFailure("a record's chunks are kept by the record")
    case .staged(let author):
      guard try known.staged([hash], in: database, by: author).contains(hash) else { return false }
      try keep(hash, in: database, by: author)
      return true
    }
  }

  private func keep(_ hash: ChunkHash, in database: Int64, by author: String) throws(CaravanError) {
    try db.run(
      "UPDATE stagers SET until = ? WHERE database = ? AND author = ? AND hash = ? AND until < ?", keepUntil, database,
      author, hash, keepUntil)
  }

  /// Forgets those whose lease has ended, and those of a time to come (TRU-12).
  /// - Returns: how many.
  func collect() throws(CaravanError) -> Int {
    try db.run(
      """
      DELETE FROM stagers WHERE (database, author, hash) IN
        (SELECT database, author, hash FROM stagers WHERE until < ? OR until > ? LIMIT ?)
      """, now - StoreLimits.stagingGrace.components.seconds * 1_000, keepUntil + FileLimits.clockStep,
      FileLimits.collectedChunks)
    return db.changedRows
  }
}

/// What can be read of who has staged chunks, and of which chunks somebody sees.
struct StagerReads {
  let reads: FileReads
  private var db: Connection { reads.db }

  /// Those of the chunks that a user has staged.
  func staged(
    _ hashes: some Collection<ChunkHash>, in database: Int64, by author: String
  ) throws(CaravanError) -> Set<ChunkHash> {
    var staged: Set<ChunkHash> = []
    for hash in hashes {
      let isStaged = try db.first(
        "SELECT 1 FROM stagers WHERE database = ? AND author = ? AND hash = ?", database, author, hash,
        read: { _ in true })
      if isStaged ?? false { staged.insert(hash) }
    }
    return staged
  }

  /// What a container is charged for those who have staged what its public database had.
  func stagerCharges(
    of container: ContainerID, in environment: Environment, _ partitions: ClosedRange<UInt32>
  ) throws(CaravanError) -> Usage {
    let bytes = try db.first(
      """
      SELECT coalesce(sum(s.charge), 0) FROM databases d JOIN stagers s ON s.database = d.id
      WHERE (d.owner = '' OR d.owner > '#' AND d.owner < '$') AND d.container = ? AND d.environment = ?
        AND d.partition BETWEEN ? AND ?
      """, container.text, environment.rawValue, partitions.lowerBound, partitions.upperBound,
      read: { $0.integer(0) })
    return Usage(bytes: bytes ?? 0)
  }

  /// Those of the chunks that are in a view.
  func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView, now: Int64
  ) throws(CaravanError) -> Set<ChunkHash> {
    switch view {
    case .all: return Set(hashes)
    case .staged(let author):
      guard let id = try reads.database(database) else { return [] }
      return try staged(hashes, in: id, by: author)
    case .record(let record):
      guard record.zone.database == database, let zone = try reads.zone(record.zone), zone.isAlive,
        zone.incarnation == record.incarnation,
        let head = try reads.head(of: record.name, in: zone.id), head.version == record.version, head.isLive(at: now),
        head.holdsChunks
      else { return [] }
      let held = try db.first("SELECT chunks FROM entries WHERE key = ?", Key.make(zone.id, head.version)) { row in
        row.bytes(0)
      }
      return Set(try ChunkHash.list(held ?? [])).intersection(hashes)
    }
  }
}

internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

extension FileReads {
  // MARK: Chunks

  struct ChunkRow {
    /// Where its bytes are: a row of chunk_bytes, or an offset in the file.
    var row: Int64?
    var place: Int?
    var size: Int
    var sum: UInt64
  }

  func chunk(_ hash: ChunkHash, in database: Int64) throws(CaravanError) -> ChunkRow? {
    try db.first(
      "SELECT id, place, size, sum FROM chunks WHERE database = ? AND hash = ?", database, hash,
      read: { ChunkRow($0, from: 0) })
  }

  func chunks(_ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int) throws(CaravanError) -> [FoundChunk] {
    // Taken before the transaction's snapshot, which is that of its first statement.
    chunkFile?.share()
    defer { chunkFile?.unlock() }
    guard let database = try self.database(database) else { return hashes.map { FoundChunk(hash: $0, bytes: nil) } }
    var found: [FoundChunk] = []
    var size = 0
    for hash in hashes {
      guard let row = try chunk(hash, in: database) else {
        found.append(FoundChunk(hash: hash, bytes: nil))
        continue
      }
      size += row.size
      if size > maxBytes, size > row.size { return found }
      let bytes = try content(of: row).bytes
      found.append(FoundChunk(hash: hash, bytes: bytes, isDamaged: bytes == nil))
    }
    return found
  }

  /// nil: the database does not have it, or has it damaged.
  func bytes(of hash: ChunkHash, in database: Int64) throws(CaravanError) -> [UInt8]? {
    guard let row = try chunk(hash, in: database) else { return nil }
    return try content(of: row).bytes
  }

  // MARK: The log

  func logHead(of partition: UInt32) throws(CaravanError) -> UInt64 {
    let end = Key.make(Int64(partition), StoreLimits.highestNumber)
    return try db.first(
      "SELECT key FROM log WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1", Key.make(Int64(partition), 0), end,
      read: { Key.counter($0.integer(0)) }) ?? 0
  }

  /// Of all logs that are not empty: from the last key down, a step for each.
  func logHeads() throws(CaravanError) -> [Partition: UInt64] {
    var heads: [Partition: UInt64] = [:]
    var end = Key.make(Int64(Partition.count), 0)
    while let key = try db.first(
      "SELECT key FROM log WHERE key < ? ORDER BY key DESC LIMIT 1", end, read: { $0.integer(0) })
    {
      heads[try Partition(UInt32(Key.owner(key)))] = Key.counter(key)
      end = Key.make(Key.owner(key), 0)
    }
    return heads
  }

  func log(of partition: UInt32, after position: UInt64, atMost count: Int) throws(CaravanError) -> LogPage {
    let head = try logHead(of: partition)
    guard position < head else { return LogPage(head: head, isTrimmed: position > head) }
    let entries = try db.all(
      """
      SELECT l.key, l.low, l.high, l.deletion, l.writer, l.zone, z.name, d.container, d.environment, d.owner,
        z.incarnation
      FROM log l JOIN zones z ON z.id = l.zone JOIN databases d ON d.id = z.database
      WHERE l.key > ? AND l.key <= ? ORDER BY l.key LIMIT ?
      """, Key.make(Int64(partition), position), Key.make(Int64(partition), head), count
    ) { (row) throws(CaravanError) in
      LoggedCommit(
        position: Key.counter(row.integer(0)), zone: try zoneID(row, from: 6), low: row.unsigned(1),
        high: row.unsigned(2), incarnation: incarnation(row.integer(5), row.unsigned(10)), writer: row.text(4),
        isDeletion: row.flag(3))
    }
    return LogPage(entries: entries, head: head, isTrimmed: entries.first.map { $0.position != position + 1 } ?? true)
  }

  // MARK: Ownership

  /// With their shards.
  func databases(of owner: UserID) throws(CaravanError) -> [(Int64, DatabaseID)] {
    try db.all(
      """
      SELECT id, container, environment, owner FROM databases WHERE owner = ? OR owner > ? AND owner < ? ORDER BY id
      """, owner.text, "\(owner)#", "\(owner)$"
    ) { (row) throws(CaravanError) in (row.integer(0), try databaseID(row, from: 1)) }
  }

  func lease(_ name: String) throws(CaravanError) -> LeaseHolder? {
    try db.first(
      "SELECT holder, token, expires FROM leases WHERE name = ?", name,
      read: { LeaseHolder(holder: $0.text(0), token: $0.unsigned(1), expires: $0.integer(2)) })
  }

  /// `now` is Unix time in milliseconds.
  func leases(beginning prefix: String, now: Int64) throws(CaravanError) -> [Lease] {
    // Every UTF-8 text that begins with the prefix sorts below the prefix with this behind it.
    try db.all(
      """
      SELECT name, holder, token, expires FROM leases
      WHERE name >= ? AND name < ? AND expires > ? AND expires <= ? ORDER BY name
      """, prefix, prefix + "\u{10FFFF}", now, now + StoreLimits.longestLease.components.seconds * 1_000,
      read: {
        Lease(
          name: $0.text(0), isGranted: true, token: $0.unsigned(2), holder: $0.text(1),
          remaining: .milliseconds($0.integer(3) - now))
      })
  }

  func cursor(of consumer: String, in partition: UInt32) throws(CaravanError) -> UInt64 {
    try db.first(
      "SELECT position FROM cursors WHERE consumer = ? AND partition = ?", consumer, partition, read: { $0.unsigned(0) }
    )
      ?? 0
  }
}

extension StoreStatus {
  /// What the file behind a connection has.
  init(of db: Connection) throws(CaravanError) {
    let zones = try db.first(
      "SELECT count(*), coalesce(sum(records), 0), coalesce(sum(bytes), 0) FROM zones WHERE state = 0",
      read: { ($0.unsigned(0), $0.unsigned(1), $0.unsigned(2)) })
    let chunks = try db.first(
      "SELECT coalesce(sum(chunks), 0), coalesce(sum(chunk_bytes), 0) FROM databases",
      read: { ($0.unsigned(0), $0.unsigned(1)) })
    let damaged = try db.first("SELECT count(*) FROM damage", read: { $0.unsigned(0) })
    let bodies = try db.first(
      """
      SELECT count(*) FROM damaged_entries m JOIN entries e ON e.key = m.key JOIN zones z ON z.id = m.key >> 40
      WHERE z.state = 0
      """, read: { $0.unsigned(0) })
    self.init(
      zones: zones?.0 ?? 0, records: zones?.1 ?? 0, chunks: chunks?.0 ?? 0, chunkBytes: chunks?.1 ?? 0,
      recordBytes: zones?.2 ?? 0, damagedChunks: damaged ?? 0, damagedRecords: bodies ?? 0)
  }
}

internal import CaravanChunkFiles
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Damaged chunks: they keep their rows and references, are absent for whoever asks, and take new bytes when somebody
/// brings them. The old bytes stay where they are until then: a file that is being copied back looks damaged, too.
extension FileChunks {
  /// What the writer remembers of chunks.
  struct ChunkKnowledge {
    var checked = CheckedChunks<ChunkKey>()
    /// Chunks that a reader has read for the write that is being done.
    var read: Set<ChunkHash> = []
    /// Whether any chunk is known to be damaged; nil: to be read.
    var hasDamage: Bool?
  }

  struct ChunkKey: Hashable {
    let database: Int64
    let hash: ChunkHash
  }

  /// The row of a chunk that is not known to be damaged.
  func readableChunk(_ hash: ChunkHash, in database: Int64) throws(CaravanError) -> FileReads.ChunkRow? {
    try isKnownDamaged(hash, in: database) ? nil : try reads.chunk(hash, in: database)
  }

  func isKnownDamaged(_ hash: ChunkHash, in database: Int64) throws(CaravanError) -> Bool {
    if knowledge.hasDamage == nil {
      knowledge.hasDamage = try db.first("SELECT 1 FROM damage LIMIT 1", read: { _ in true }) ?? false
    }
    guard knowledge.hasDamage ?? true else { return false }
    return try db.first("SELECT 1 FROM damage WHERE database = ? AND hash = ?", database, hash, read: { _ in true })
      ?? false
  }

  // MARK: Checking

  /// Reads those of the chunks that nobody has read or written lately, if they are not too many for a transaction, and
  /// notes those that are damaged.
  /// - Returns: the damaged ones; nil: they are too many, a reader has to read them.
  func check(_ hashes: [ChunkHash], in database: Int64) throws(CaravanError) -> [ChunkHash]? {
    var rows: [(hash: ChunkHash, row: FileReads.ChunkRow)] = []
    var bytes = 0
    for hash in hashes where !isTrusted(hash, in: database) {
      guard let row = try reads.chunk(hash, in: database) else { continue }
      rows.append((hash, row))
      bytes += row.size
      guard bytes <= FileLimits.checkedBytes else { return nil }
    }
    var damaged: [ChunkHash] = []
    for (hash, row) in rows {
      switch try reads.content(of: row) {
      case .damaged: damaged.append(hash)
      case .whole: knowledge.checked.note(ChunkKey(database: database, hash: hash), at: now)
      }
    }
    try noteDamage(damaged, in: database)
    return damaged
  }

  func isTrusted(_ hash: ChunkHash, in database: Int64) -> Bool {
    knowledge.read.contains(hash) || knowledge.checked.contains(ChunkKey(database: database, hash: hash), at: now)
  }

  /// Runs `work` after a reader has read these chunks for it, and found some of them damaged.
  func trusting<Value>(
    _ read: [ChunkHash], but damaged: [ChunkHash], in database: DatabaseID,
    _ work: () throws(CaravanError) -> Value
  ) throws(CaravanError) -> Value {
    try noteDamage(damaged, in: database)
    knowledge.read = Set(read)
    defer { knowledge.read = [] }
    return try work()
  }

  /// Chunks of the commit that have to be read before it is decided: none that the records it changes name already, and
  /// none of a commit in parts, whose chunks were read as its parts came.
  func unread(of commit: Commit, in zone: ZoneRecord?, _ facts: ZoneFacts) throws(CaravanError) -> [ChunkHash] {
    guard commit.parts == nil, let database = try number(of: commit.zone.database) else { return [] }
    var unread: Set<ChunkHash> = []
    for mutation in commit.mutations {
      for hash in mutation.chunks where !isTrusted(hash, in: database) { unread.insert(hash) }
    }
    guard !unread.isEmpty, let zone else { return unread.sorted() }
    for mutation in commit.mutations {
      guard let head = facts.heads[mutation.name], head.holdsChunks else { continue }
      unread.subtract(try chunks(ofEntry: Key.make(zone.id, head.version)))
    }
    return unread.sorted()
  }

  /// Damaged chunks of the commit are lacking, as its sender may have them.
  /// - Returns: chunks that a reader has to read first.
  func lookForDamage(
    _ commit: Commit, in zone: ZoneRecord?, _ facts: inout ZoneFacts
  ) throws(CaravanError) -> [ChunkHash]? {
    let unread = try unread(of: commit, in: zone, facts)
    guard !unread.isEmpty, let database = try number(of: commit.zone.database) else { return nil }
    guard let damaged = try check(unread, in: database) else { return unread }
    facts.lacking.formUnion(damaged)
    return nil
  }

  // MARK: Noting

  /// A reader has found these damaged.
  func noteDamage(_ hashes: [ChunkHash], in database: DatabaseID) throws(CaravanError) {
    guard let number = try number(of: database) else { return }
    try noteDamage(hashes, in: number)
  }

  /// Only what is damaged now: it may have come again since it was read.
  func noteDamage(_ hashes: [ChunkHash], in database: Int64) throws(CaravanError) {
    for hash in hashes {
      guard let row = try reads.chunk(hash, in: database), case .damaged = try reads.content(of: row) else { continue }
      knowledge.checked.use(ChunkKey(database: database, hash: hash))
      try db.run("INSERT OR IGNORE INTO damage(database, hash, found) VALUES (?, ?, ?)", database, hash, now)
      knowledge.hasDamage = nil
    }
  }

  /// Notes what a step of scrubbing has found, and where it ended.
  func note(_ scrubbed: ChunkScrub.Progress) throws(CaravanError) {
    for chunk in scrubbed.damaged { try noteDamage([chunk.hash], in: chunk.database) }
    for chunk in scrubbed.recovered {
      guard let row = try reads.chunk(chunk.hash, in: chunk.database), case .whole = try reads.content(of: row) else {
        continue
      }
      try forgetDamage(of: chunk.hash, in: chunk.database)
    }
    guard let end = scrubbed.end else { return try db.run("DELETE FROM scrubbing") }
    try db.run("INSERT OR REPLACE INTO scrubbing(id, database, hash) VALUES (0, ?, ?)", end.database, end.hash)
  }

  func forgetDamage(of hash: ChunkHash, in database: Int64) throws(CaravanError) {
    try db.run("DELETE FROM damage WHERE database = ? AND hash = ?", database, hash)
    knowledge.hasDamage = nil
  }

  // MARK: New bytes

  /// Puts the bytes in the place of those that the store has, if those are damaged.
  func heal(_ chunk: ChunkBytes, _ row: FileReads.ChunkRow, in database: Int64) throws(CaravanError) {
    let key = ChunkKey(database: database, hash: chunk.hash)
    let isKnown = try isKnownDamaged(chunk.hash, in: database)
    if !isKnown {
      if knowledge.checked.contains(key, at: now) { return }
      if case .whole = try reads.content(of: row) {
        knowledge.checked.note(key, at: now)
        return
      }
    }
    let place = try put(chunk.bytes)
    try db.run(
      "UPDATE chunks SET id = ?, place = ?, size = ?, sum = ? WHERE database = ? AND hash = ?", place.row,
      place.offset, chunk.bytes.count, XXHash64.hash(chunk.bytes), database, chunk.hash)
    if let old = row.place { context.longChunks?.file.free(old..<old + row.size) }
    if let old = row.row { try removeBytes(old) }
    try forgetDamage(of: chunk.hash, in: database)
    knowledge.checked.note(key, at: now)
  }

  /// A row on damaged pages stays where it is, and nothing names it any more: who removes it may damage others.
  func removeBytes(_ row: Int64) throws(CaravanError) {
    do throws(CaravanError) {
      _ = try db.first("SELECT bytes FROM chunk_bytes WHERE id = ?", row, read: { $0.bytes(0) })
    } catch {
      guard db.lastFailure?.kind == .corrupt else { throw error }
      return
    }
    try db.run("DELETE FROM chunk_bytes WHERE id = ?", row)
  }

  /// Notes a chunk of which there are no bytes, unless it is here.
  func adopt(damaged chunk: DamagedChunk) throws(CaravanError) {
    let database = try makeNumber(of: chunk.database)
    guard try reads.chunk(chunk.hash, in: database) == nil else { return }
    try db.run(
      "INSERT INTO chunks(database, hash, id, place, size, sum, refs, staged) VALUES (?, ?, NULL, NULL, ?, 0, 0, ?)",
      database, chunk.hash, chunk.size, keepUntil)
    try db.run(
      "INSERT OR IGNORE INTO damage(database, hash, found) VALUES (?, ?, ?)", database, chunk.hash, chunk.found)
    try count(chunks: 1, bytes: chunk.size, in: database)
    accounts.grow(chunk.database, by: Usage(bytes: Int64(chunk.size)))
    knowledge.hasDamage = nil
  }
}

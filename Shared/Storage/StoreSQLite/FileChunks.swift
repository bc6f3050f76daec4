internal import CaravanChunkFiles
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Chunks: their bytes once a database, counted references from records, and a time until which they are kept without.
final class FileChunks: FilePart {
  let context: FileContext
  private let zones: FileZones
  let accounts: FileAccounts
  let stagers: FileStagers
  var knowledge = ChunkKnowledge()

  init(_ context: FileContext, zones: FileZones, accounts: FileAccounts) {
    self.context = context
    stagers = FileStagers(context: context)
    self.zones = zones
    self.accounts = accounts
  }

  func forget() { knowledge = ChunkKnowledge() }

  func number(of database: DatabaseID) throws(CaravanError) -> Int64? { try zones.databaseID(of: database) }
  func makeNumber(of database: DatabaseID) throws(CaravanError) -> Int64 { try zones.makeDatabase(database) }

  func stage(_ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView) throws(CaravanError) {
    let id = try makeNumber(of: database)
    let charged = try stagers.note(chunks, in: id, as: view)
    let until = keepUntil
    var added = 0
    var bytes = 0
    for chunk in chunks {
      if let row = try reads.chunk(chunk.hash, in: id) {
        try heal(chunk, row, in: id)
        try keep(chunk.hash, in: id, until: until)
        continue
      }
      let place = try put(chunk.bytes)
      try db.run(
        "INSERT INTO chunks(database, hash, id, place, size, sum, refs, staged) VALUES (?, ?, ?, ?, ?, ?, 0, ?)", id,
        chunk.hash, place.row, place.offset, chunk.bytes.count, XXHash64.hash(chunk.bytes), until)
      knowledge.checked.note(ChunkKey(database: id, hash: chunk.hash), at: now)
      added += 1
      bytes += chunk.bytes.count
    }
    let growth = Usage(bytes: Int64(bytes) + charged)
    if let refusal = try accounts.limited(of: database)?.refusal(of: growth) { throw refusal }
    try count(chunks: added, bytes: bytes, in: id)
    accounts.grow(database, by: growth)
  }

  /// Short chunks go into the database, for one commit is less than a commit and a file's sync; the others into the
  /// file.
  func put(_ bytes: [UInt8]) throws(CaravanError) -> (row: Int64?, offset: Int?) {
    if let longChunks = context.longChunks, bytes.count >= longChunks.inlineBytes {
      return (nil, try longChunks.file.add(bytes))
    }
    try db.statement("INSERT INTO chunk_bytes(id, bytes) VALUES (?, ?)").run(Int64?.none, borrowing: bytes)
    return (db.lastInsertedRow, nil)
  }

  /// Those of `hashes` that the database lacks or cannot read, or that are not in the view; the others are kept for the
  /// staging lease.
  func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) throws(CaravanError) -> Checked<[ChunkHash]> {
    guard let id = try number(of: database) else { return .done(hashes) }
    guard let damaged = try check(hashes, in: id) else { return .mustRead(hashes) }
    let until = keepUntil
    var missing: [ChunkHash] = []
    for hash in hashes {
      let isStaged = try stagers.keep(hash, in: id, as: view)
      let row = damaged.contains(hash) || !isStaged ? nil : try readableChunk(hash, in: id)
      if row == nil { missing.append(hash) } else { try keep(hash, in: id, until: until) }
    }
    return .done(missing)
  }

  /// Only what no record holds: a chunk that loses its last record gets its own grace then.
  private func keep(_ hash: ChunkHash, in database: Int64, until: Int64) throws(CaravanError) {
    try db.run(
      "UPDATE chunks SET staged = ? WHERE database = ? AND hash = ? AND refs = 0 AND staged <> ?", until, database,
      hash, until)
  }

  func count(chunks: Int, bytes: Int, in database: Int64) throws(CaravanError) {
    guard chunks != 0 else { return }
    try db.run(
      "UPDATE databases SET chunks = chunks + ?, chunk_bytes = chunk_bytes + ? WHERE id = ?", chunks, bytes, database)
  }

  // MARK: References

  func refer(to hash: ChunkHash, in database: Int64) throws(CaravanError) {
    knowledge.checked.use(ChunkKey(database: database, hash: hash))
    try db.run("UPDATE chunks SET refs = refs + 1 WHERE database = ? AND hash = ?", database, hash)
    guard db.changedRows == 1 else {
      throw CaravanError(.internalError, "chunk \(hash) vanished between its check and its use")
    }
  }

  func release(_ hash: ChunkHash, in database: Int64) throws(CaravanError) {
    try db.run(
      "UPDATE chunks SET refs = refs - 1, staged = ? WHERE database = ? AND hash = ?", keepUntil, database, hash)
  }

  /// Moves references from the entry that goes to the one that comes; what both name is not touched, so an edit of one
  /// byte of a large object costs two counts.
  func exchangeChunks(
    of old: Int64, held: Bool, _ new: [ChunkHash], in database: Int64
  ) throws(CaravanError) {
    let before = held ? try chunks(ofEntry: old) : []
    let kept = Set(before).intersection(new)
    for hash in new where !kept.contains(hash) { try refer(to: hash, in: database) }
    for hash in before where !kept.contains(hash) { try release(hash, in: database) }
  }

  func chunks(ofEntry key: Int64) throws(CaravanError) -> [ChunkHash] {
    try ChunkHash.list(db.first("SELECT chunks FROM entries WHERE key = ?", key) { row in row.bytes(0) } ?? [])
  }

  /// Finds out which part of the file of long chunks is in use, after who knows what.
  func adoptChunkFile() throws(CaravanError) {
    let used = try db.first(
      "SELECT ifnull(max(place + size), 0), ifnull(sum(size), 0), count(*) FROM chunks WHERE place IS NOT NULL"
    ) { row in (bound: Int(row.integer(0)), bytes: Int(row.integer(1)), chunks: Int(row.integer(2))) }
    guard let file = context.longChunks?.file, let used,
      try !file.adopt(bound: used.bound, bytes: used.bytes, chunks: used.chunks)
    else { return }
    file.keepOnly(
      try db.all("SELECT place, size FROM chunks WHERE place IS NOT NULL ORDER BY place") { row in
        Int(row.integer(0))..<Int(row.integer(0) + row.integer(1))
      })
  }

  /// What is to be kept for longer than anything is was staged before the time went back (TRU-12): it is kept for
  /// as long as if it came now, and not for the years between.
  /// - Returns: whether there may be more.
  private func redateChunks() throws(CaravanError) -> Bool {
    try db.run(
      """
      UPDATE chunks SET staged = ? WHERE (database, hash) IN
        (SELECT database, hash FROM chunks WHERE refs = 0 AND staged > ? LIMIT ?)
      """, keepUntil, keepUntil + FileLimits.clockStep, FileLimits.collectedChunks)
    return db.changedRows == FileLimits.collectedChunks
  }

  /// Removes chunks that no record holds and nobody waits for.
  /// - Returns: whether there may be more.
  func collect() throws(CaravanError) -> Bool {
    let isRedating = try redateChunks()
    let dead = try db.all(
      "SELECT database, hash, id, place, size FROM chunks WHERE refs = 0 AND staged < ? LIMIT ?",
      now - StoreLimits.stagingGrace.components.seconds * 1_000, FileLimits.collectedChunks,
      read: {
        (
          database: $0.integer(0), hash: $0.bytes(1), row: $0.isNull(2) ? nil : $0.integer(2),
          place: $0.isNull(3) ? nil : Int($0.integer(3)), size: Int($0.integer(4))
        )
      })
    for chunk in dead {
      try db.run("DELETE FROM damage WHERE database = ? AND hash = ?", chunk.database, chunk.hash)
      try db.run("DELETE FROM chunks WHERE database = ? AND hash = ?", chunk.database, chunk.hash)
      if let row = chunk.row { try removeBytes(row) }
      if let place = chunk.place { context.longChunks?.file.free(place..<place + chunk.size) }
      try count(chunks: -1, bytes: -chunk.size, in: chunk.database)
    }
    let ended = try stagers.collect()
    if !dead.isEmpty || ended > 0 { accounts.forget() }
    if !dead.isEmpty { knowledge.hasDamage = nil }
    return isRedating || max(dead.count, ended) == FileLimits.collectedChunks
  }
}

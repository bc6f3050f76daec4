internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

extension FileReads {
  /// The bytes of a chunk, or that they are lost.
  enum ChunkContent {
    case whole([UInt8])
    case damaged

    var bytes: [UInt8]? {
      switch self {
      case .whole(let bytes): bytes
      case .damaged: nil
      }
    }
  }

  func content(of chunk: ChunkRow) throws(CaravanError) -> ChunkContent {
    guard let bytes = try stored(chunk), bytes.count == chunk.size, XXHash64.hash(bytes) == chunk.sum else {
      return .damaged
    }
    return .whole(bytes)
  }

  /// nil: nothing of it is there, or the pages that it lies on are damaged.
  private func stored(_ chunk: ChunkRow) throws(CaravanError) -> [UInt8]? {
    if let place = chunk.place { return try chunkFile?.read(at: place, count: chunk.size) }
    guard let row = chunk.row else { return nil }
    do throws(CaravanError) {
      return try db.first("SELECT bytes FROM chunk_bytes WHERE id = ?", row) { row in row.bytes(0) }
    } catch {
      guard db.lastFailure?.kind == .corrupt else { throw error }
      return nil
    }
  }

  /// Reads the bytes of some chunks.
  /// - Returns: those that are damaged.
  func damaged(among hashes: [ChunkHash], in database: DatabaseID) throws(CaravanError) -> [ChunkHash] {
    chunkFile?.share()
    defer { chunkFile?.unlock() }
    guard let database = try self.database(database) else { return [] }
    var damaged: [ChunkHash] = []
    for hash in hashes {
      guard let row = try chunk(hash, in: database) else { continue }
      if case .damaged = try content(of: row) { damaged.append(hash) }
    }
    return damaged
  }

  // MARK: Scrubbing

  /// Where scrubbing has come to: the chunk that was read last.
  struct ScrubPosition: Sendable, Hashable {
    var database: Int64
    var hash: ChunkHash
  }

  struct Scrubbed: Sendable {
    var step: ScrubStep
    var end: ScrubPosition?
    var damaged: [ScrubPosition] = []
    /// Known to be damaged, and whole after all: they could not be read for a while.
    var recovered: [ScrubPosition] = []
  }

  /// Reads the chunks behind the position, until about so many bytes have been read.
  func scrub(bytes limit: Int) throws(CaravanError) -> Scrubbed {
    chunkFile?.share()
    defer { chunkFile?.unlock() }
    let last = try db.first(
      "SELECT database, hash FROM scrubbing WHERE id = 0", read: { (database: $0.integer(0), hash: $0.bytes(1)) })
    let rows = try db.all(
      """
      SELECT database, hash, id, place, size, sum FROM chunks WHERE (database, hash) > (?, ?)
      ORDER BY database, hash LIMIT ?
      """, last?.database ?? 0, last?.hash ?? [], FileLimits.scrubbedChunks
    ) { (row) throws(CaravanError) in
      (
        position: ScrubPosition(database: row.integer(0), hash: try Self.hash(row.bytes(1))),
        chunk: ChunkRow(row, from: 2)
      )
    }
    var scrubbed = Scrubbed(step: ScrubStep())
    for row in rows where scrubbed.step.bytes < limit {
      scrubbed.step.chunks += 1
      scrubbed.step.bytes += row.chunk.size
      scrubbed.end = row.position
      if case .damaged = try content(of: row.chunk) { scrubbed.damaged.append(row.position) }
    }
    if let end = scrubbed.end {
      let known = try damage(after: last?.database ?? 0, last?.hash ?? [], upTo: end)
      scrubbed.recovered = known.filter { !scrubbed.damaged.contains($0) }
    }
    scrubbed.step.damaged = scrubbed.damaged.count
    if scrubbed.step.chunks == rows.count, rows.count < FileLimits.scrubbedChunks {
      scrubbed.step.isRoundOver = true
      scrubbed.end = nil
    }
    return scrubbed
  }

  private func damage(
    after database: Int64, _ hash: [UInt8], upTo end: ScrubPosition
  ) throws(CaravanError) -> [ScrubPosition] {
    try db.all(
      "SELECT database, hash FROM damage WHERE (database, hash) > (?, ?) AND (database, hash) <= (?, ?)", database,
      hash, end.database, end.hash
    ) { (row) throws(CaravanError) in ScrubPosition(database: row.integer(0), hash: try Self.hash(row.bytes(1))) }
  }

  private static func hash(_ bytes: [UInt8]) throws(CaravanError) -> ChunkHash {
    guard let hash = ChunkHash(bytes) else {
      throw CaravanError(.internalError, "a chunk's hash has \(bytes.count) bytes: restore the file")
    }
    return hash
  }

  // MARK: What is known

  func damage(_ filter: DamageFilter, atMost count: Int) throws(CaravanError) -> [DamagedChunk] {
    var found: [DamagedChunk] = []
    for databases in try numbers(of: filter) {
      found += try db.all(
        """
        SELECT m.hash, c.size, m.found, d.container, d.environment, d.owner, c.refs > 0 FROM damage m
        JOIN chunks c ON c.database = m.database AND c.hash = m.hash JOIN databases d ON d.id = m.database
        WHERE m.database BETWEEN ? AND ? ORDER BY c.refs = 0, m.database, m.hash LIMIT ?
        """, databases.lowerBound, databases.upperBound, count
      ) { (row) throws(CaravanError) in
        DamagedChunk(
          database: try databaseID(row, from: 3), hash: try Self.hash(row.bytes(0)), size: Int(row.integer(1)),
          found: row.integer(2), isHeld: row.flag(6))
      }
    }
    return found.heldFirst(atMost: count)
  }

  /// Of the databases that are asked for.
  func numbers(of filter: DamageFilter) throws(CaravanError) -> [ClosedRange<Int64>] {
    switch filter {
    case .everything: [0...Int64.max]
    case .database(let database): try self.database(database).map { [$0...$0] } ?? []
    case .owner(let owner): try databases(of: owner).map { $0.0...$0.0 }
    }
  }

  func records(
    naming hashes: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) throws(CaravanError) -> [DamagedRecord] {
    guard let number = try self.database(database) else { return [] }
    let zones = try db.all(
      "SELECT id, name FROM zones WHERE database = ? AND state = 0 ORDER BY id", number,
      read: { (id: $0.integer(0), name: $0.text(1)) })
    var found: [DamagedRecord] = []
    for zone in zones where found.count < count {
      let name = try ZoneID(database, zone.name)
      try db.statement("SELECT name, chunks FROM entries WHERE key BETWEEN ? AND ? AND chunks IS NOT NULL").visit(
        Key.make(zone.id, 0), Key.make(zone.id, StoreLimits.highestNumber)
      ) { (row) throws(CaravanError) in
        let named = try ChunkHash.list(row.bytes(1)).filter(hashes.contains)
        if !named.isEmpty { found.append(DamagedRecord(zone: name, name: row.text(0), chunks: named)) }
        return found.count < count
      }
    }
    return found
  }
}

extension FileReads.ChunkRow {
  /// From columns id, place, size, sum.
  init(_ row: Row, from column: Int32) {
    self.init(
      row: row.isNull(column) ? nil : row.integer(column),
      place: row.isNull(column + 1) ? nil : Int(row.integer(column + 1)), size: Int(row.integer(column + 2)),
      sum: row.unsigned(column + 3))
  }
}

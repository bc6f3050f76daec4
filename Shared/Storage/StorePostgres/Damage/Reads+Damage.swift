internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

extension Reads {
  /// As many chunks as fit, with those marked whose bytes are not what they were.
  func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int, _ isWhole: (ChunkBytes) -> Bool
  ) throws(PostgresError) -> [FoundChunk] {
    let found: [FoundChunk]
    do throws(PostgresError) { found = try stored(hashes, in: database, maxBytes: maxBytes) } catch {
      guard error.isDamage else { throw error }
      found = try singly(hashes, in: database, maxBytes: maxBytes)
    }
    return found.map { chunk in
      guard let bytes = chunk.bytes, !isWhole(ChunkBytes(hash: chunk.hash, bytes: bytes)) else { return chunk }
      return FoundChunk(hash: chunk.hash, bytes: nil, isDamaged: true)
    }
  }

  private func stored(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) throws(PostgresError) -> [FoundChunk] {
    try db.run(
      Statements.chunkBytes, Int32(Partition(of: database).number), database.key, hashes, Int64(maxBytes)
    ).map { FoundChunk(hash: hashes[$0.ordinal], bytes: $0.isNull(1) ? nil : $0.bytes(1)) }
  }

  /// The server cannot read one of them, and says nothing of the others.
  private func singly(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) throws(PostgresError) -> [FoundChunk] {
    var found: [FoundChunk] = []
    var bytes = 0
    for hash in hashes {
      var chunk = FoundChunk(hash: hash, bytes: nil, isDamaged: true)
      do throws(PostgresError) {
        if let read = try stored([hash], in: database, maxBytes: .max).first { chunk = read }
      } catch {
        guard error.isDamage else { throw error }
      }
      let count = chunk.bytes?.count ?? 0
      bytes += count
      if bytes > maxBytes, bytes > count { return found }
      found.append(chunk)
    }
    return found
  }

  // MARK: What is known

  func damage(_ filter: DamageFilter, atMost count: Int) throws(PostgresError) -> [DamagedChunk] {
    var rows: [Row] = []
    if let ranges = Self.ranges(of: filter) {
      for range in ranges { rows += try db.run(DamageStatements.listBetween, Int64(count), range.from, range.below) }
    } else {
      rows = Array(try db.run(DamageStatements.list, Int64(count)))
    }
    return try rows.map { (row) throws(PostgresError) in
      guard let database = DatabaseID(key: row.text(0)), let hash = ChunkHash(row.bytes(1)) else {
        throw Reads.damaged("a damaged chunk's name")
      }
      return DamagedChunk(
        database: database, hash: hash, size: Int(row.integer(3)), found: row.integer(2), isHeld: row.integer(4) > 0)
    }.heldFirst(atMost: count)
  }

  func records(
    naming hashes: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) throws(PostgresError) -> [DamagedRecord] {
    var found: [DamagedRecord] = []
    for row in try db.run(DamageStatements.namers, Int32(Partition(of: database).number), database.key) {
      guard let chunks = try? ChunkHash.list(row.bytes(2)), let zone = try? ZoneID(database, row.text(0)) else {
        throw Reads.damaged("a record's list of chunks")
      }
      let named = chunks.filter(hashes.contains)
      if !named.isEmpty { found.append(DamagedRecord(zone: zone, name: row.text(1), chunks: named)) }
      if found.count >= count { break }
    }
    return found
  }

  // MARK: Scrubbing

  struct ScrubPosition: Sendable, Hashable {
    var partition: Int32 = 0
    var database: String = ""
    var hash: [UInt8] = []
  }

  struct Scrubbed: Sendable {
    var step = ScrubStep()
    var end = ScrubPosition()
    var damaged: [DatabaseID: [ChunkHash]] = [:]
    /// Known to be damaged, and whole after all.
    var recovered: [DatabaseID: [ChunkHash]] = [:]
  }

  /// Reads the chunks behind the position, until about so many bytes have been read.
  func scrub(bytes limit: Int, _ isWhole: (ChunkBytes) -> Bool) throws(PostgresError) -> Scrubbed {
    var scrubbed = Scrubbed()
    if let row = try db.run(DamageStatements.scrubbed).first {
      scrubbed.end = ScrubPosition(partition: Int32(row.integer(0)), database: row.text(1), hash: row.bytes(2))
    }
    while scrubbed.step.bytes < limit, scrubbed.step.chunks < PostgresLimits.scrubbedChunks {
      let rows = try db.run(
        DamageStatements.scrub, scrubbed.end.partition, scrubbed.end.database, Bytes(scrubbed.end.hash),
        Int64(PostgresLimits.readTogether))
      for row in rows where scrubbed.step.bytes < limit {
        guard let database = DatabaseID(key: row.text(0)), let hash = ChunkHash(row.bytes(1)) else {
          throw Reads.damaged("a chunk's name")
        }
        let found = try chunks([hash], in: database, maxBytes: .max, isWhole)
        scrubbed.step.chunks += 1
        scrubbed.step.bytes += Int(row.integer(2))
        scrubbed.end.database = row.text(0)
        scrubbed.end.hash = row.bytes(1)
        if found.first?.isDamaged ?? false { scrubbed.damaged[database, default: []].append(hash) }
      }
      guard rows.isEmpty else { continue }
      scrubbed.end = ScrubPosition(partition: scrubbed.end.partition + 1)
      guard scrubbed.end.partition == Int32(Partition.count) else { continue }
      scrubbed.end = ScrubPosition()
      scrubbed.step.isRoundOver = true
      scrubbed.recovered = try recovered(isWhole)
      break
    }
    scrubbed.step.damaged = scrubbed.damaged.values.reduce(0) { $0 + $1.count }
    return scrubbed
  }

  private func recovered(_ isWhole: (ChunkBytes) -> Bool) throws(PostgresError) -> [DatabaseID: [ChunkHash]] {
    var recovered: [DatabaseID: [ChunkHash]] = [:]
    for chunk in try damage(.everything, atMost: PostgresLimits.scrubbedChunks) {
      let found = try chunks([chunk.hash], in: chunk.database, maxBytes: .max, isWhole)
      if found.first?.bytes != nil { recovered[chunk.database, default: []].append(chunk.hash) }
    }
    return recovered
  }
}

extension PostgresError {
  /// Class XX: the server has read something that it did not write
  /// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
  var isDamage: Bool { ["XX001", "XX002", "XX000"].contains(state) }
}

extension PartitionMaintenance {
  func noteDamage(_ hashes: [ChunkHash], in database: DatabaseID, clock: Int64?) throws(PostgresError) {
    let partition = Partition(of: database)
    let now = try now(clock)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      pipeline.add(DamageStatements.note, Int32(partition.number), database.key, hashes, now)
      return pipeline
    }
  }

  func forgetDamage(of hashes: [ChunkHash], in database: DatabaseID) throws(PostgresError) {
    let partition = Partition(of: database)
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      pipeline.add(DamageStatements.forget, Int32(partition.number), database.key, hashes)
      return pipeline
    }
  }

  func saveScrub(_ end: Reads.ScrubPosition) throws(PostgresError) {
    _ = try db.run(DamageStatements.saveScrub, end.partition, end.database, Bytes(end.hash))
  }

  /// Notes a chunk of which there are no bytes, unless it is here.
  func adopt(damaged chunk: DamagedChunk) throws(PostgresError) {
    let partition = Partition(of: chunk.database)
    let (key, database) = (Int32(partition.number), chunk.database.key)
    let until = try now(nil) + StoreLimits.stagingLease.components.seconds * 1_000
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      guard try db.run(Statements.chunks, key, [database], [chunk.hash]).isEmpty else { return pipeline }
      pipeline.add(damaged: chunk, until: until)
      pipeline.add(MaintenanceStatements.countChunks, key, Int64(-1), Int64(-chunk.size))
      if let account = Account(of: chunk.database) { pipeline.add([account: Usage(bytes: Int64(chunk.size))], key) }
      return pipeline
    }
  }
}

extension Pipeline {
  mutating func add(damaged chunk: DamagedChunk, until: Int64) {
    let (key, database) = (Int32(Partition(of: chunk.database).number), chunk.database.key)
    add(DamageStatements.adopt, key, database, chunk.hash, Int64(chunk.size), until, Bytes([]))
    add(DamageStatements.note, key, database, [chunk.hash], chunk.found)
  }
}

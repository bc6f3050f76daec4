public import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
public import CaravanStore

extension StorePostgres {
  // MARK: Writes that depend on chunks

  public func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    let database = commit.zone.database
    let named = Set(commit.mutations.flatMap(\.chunks))
    let result = try await trusting(named, in: database) { trusted throws(CaravanError) in
      try await write(to: Partition(of: database), bytes: commit.byteCount) {
        $0.add(commit)
      } _: { (state) throws(CaravanError) in
        try state.commit(commit, trusting: trusted)
      }
    }
    if case .applied = result {
      checked.withLock { checked in named.forEach { checked.use(Wants.Chunk(database: database, hash: $0)) } }
    }
    if result.hasMetDamage { _ = try? await fetch(commit.mutations.map(\.name), fields: nil, in: commit.zone) }
    return result
  }

  public func stage(
    _ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) {
    let bytes = chunks.reduce(0) { $0 + $1.bytes.count }
    let hashes = chunks.map(\.hash)
    let _: Bool = try await trusting(Set(hashes), in: database) { trusted throws(CaravanError) in
      try await write(to: Partition(of: database), bytes: bytes) {
        $0.add(hashes, in: database, as: view)
        $0.add(chargedFor: database)
      } _: { (state) throws(CaravanError) in
        let unread = state.unread(hashes, in: database, trusting: trusted)
        guard unread.isEmpty else { return { _ throws(CaravanError) in .mustRead(unread) } }
        try state.stage(chunks, in: database, as: view)
        return { _ throws(CaravanError) in .done(true) }
      }
    }
    note(hashes, in: database)
  }

  public func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkHash] {
    try await trusting(Set(hashes), in: database) { trusted throws(CaravanError) in
      try await write(to: Partition(of: database)) {
        $0.add(hashes, in: database, as: view)
      } _: { (state) throws(CaravanError) in
        let unread = state.unread(hashes, in: database, trusting: trusted)
        guard unread.isEmpty else { return { _ throws(CaravanError) in .mustRead(unread) } }
        let missing = state.missing(hashes, in: database, as: view)
        return { _ throws(CaravanError) in .done(missing) }
      }
    }
  }

  public func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> Set<ChunkHash> {
    guard view != .all else { return Set(hashes) }
    let clock = clock
    return try await read { (reads) throws(PostgresError) in
      try reads.visible(hashes, in: database, as: view, clock: clock)
    }
  }

  /// Repeats a write until all chunks have been read that it depends on.
  func trusting<Value: Sendable>(
    _ hashes: Set<ChunkHash>, in database: DatabaseID,
    _ write: (Set<ChunkHash>) async throws(CaravanError) -> Checked<Value>
  ) async throws(CaravanError) -> Value {
    let now = host.clock.wallTime.milliseconds
    var trusted = checked.withLock { checked in
      hashes.filter { checked.contains(Wants.Chunk(database: database, hash: $0), at: now) }
    }
    while true {
      switch try await write(trusted) {
      case .done(let value): return value
      case .mustRead(let unread):
        let damaged = try await damaged(among: unread, in: database)
        try await noteDamage(damaged, in: database)
        note(Array(Set(unread).subtracting(damaged)), in: database)
        trusted.formUnion(unread)
      }
    }
  }

  private func note(_ hashes: [ChunkHash], in database: DatabaseID) {
    let now = host.clock.wallTime.milliseconds
    checked.withLock { checked in
      for hash in hashes { checked.note(Wants.Chunk(database: database, hash: hash), at: now) }
    }
  }

  // MARK: Reading

  public func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    let isWhole = options.isWhole
    let found = try await read { (reads) throws(PostgresError) in
      try reads.chunks(hashes, in: database, maxBytes: maxBytes, isWhole)
    }
    try await noteDamage(found.filter(\.isDamaged).map(\.hash), in: database)
    return found
  }

  private func damaged(among hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) -> [ChunkHash] {
    let isWhole = options.isWhole
    var damaged: [ChunkHash] = []
    for start in stride(from: 0, to: hashes.count, by: PostgresLimits.readTogether) {
      let some = Array(hashes[start..<min(start + PostgresLimits.readTogether, hashes.count)])
      damaged += try await read { (reads) throws(PostgresError) in
        try reads.chunks(some, in: database, maxBytes: .max, isWhole).filter(\.isDamaged).map(\.hash)
      }
    }
    return damaged
  }

  // MARK: Damage

  func noteDamage(_ hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) {
    guard !hashes.isEmpty else { return }
    let clock = clock
    try await perform(in: Partition(of: database)) { (maintenance) throws(PostgresError) in
      try maintenance.noteDamage(hashes, in: database, clock: clock)
    }
    checked.withLock { checked in hashes.forEach { checked.use(Wants.Chunk(database: database, hash: $0)) } }
  }

  public func damage(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] {
    try await read { (reads) throws(PostgresError) in try reads.damage(filter, atMost: count) }
  }

  public func records(
    naming chunks: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) async throws(CaravanError) -> [DamagedRecord] {
    try await read { (reads) throws(PostgresError) in try reads.records(naming: chunks, in: database, atMost: count) }
  }

  /// One process at a time, whichever: where it went on lies in the database. First all chunks, then all records.
  public func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep {
    let position = try await read { (reads) throws(PostgresError) in try reads.scrubbedRecord() }
    if let position { return try await scrubRecords(after: position, bytes: bytes) }
    let step = try await scrubChunks(bytes: bytes)
    guard step.isRoundOver else { return step }
    return step + (try await scrubRecords(after: Reads.RecordPosition(), bytes: max(1, bytes - step.bytes)))
  }

  private func scrubChunks(bytes: Int) async throws(CaravanError) -> ScrubStep {
    let isWhole = options.isWhole
    let scrubbed = try await read { (reads) throws(PostgresError) in try reads.scrub(bytes: bytes, isWhole) }
    for (database, hashes) in scrubbed.damaged { try await noteDamage(hashes, in: database) }
    for (database, hashes) in scrubbed.recovered {
      try await perform(in: Partition(of: database)) { (maintenance) throws(PostgresError) in
        try maintenance.forgetDamage(of: hashes, in: database)
      }
    }
    try await perform(in: Partition.all[0]) { (maintenance) throws(PostgresError) in
      try maintenance.saveScrub(scrubbed.end)
    }
    return scrubbed.step
  }

  public func adopt(damaged chunks: [DamagedChunk]) async throws(CaravanError) {
    for chunk in chunks {
      try await perform(in: Partition(of: chunk.database)) { (maintenance) throws(PostgresError) in
        try maintenance.adopt(damaged: chunk)
      }
    }
  }
}

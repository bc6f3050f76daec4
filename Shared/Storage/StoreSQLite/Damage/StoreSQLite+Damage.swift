public import CaravanModel
public import CaravanStore

extension StoreSQLite {
  /// A write that depends on chunks: those that nobody has read lately are read before it, by a reader.
  func checked<Value: Sendable>(
    in database: DatabaseID, bytes: Int = 0,
    _ work: @escaping @Sendable (FileState) throws(CaravanError) -> Checked<Value>
  ) async throws(CaravanError) -> Value {
    let file = file(database)
    var read: [ChunkHash] = []
    while true {
      let (known, damaged) = (read, try await self.damaged(among: read, in: database))
      let answer = try await file.write(bytes: bytes) { (state) throws(CaravanError) in
        try state.chunks.trusting(known, but: damaged, in: database) { () throws(CaravanError) in try work(state) }
      }
      switch answer {
      case .done(let value): return value
      case .mustRead(let hashes): read = hashes
      }
    }
  }

  private func damaged(among hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) -> [ChunkHash] {
    var damaged: [ChunkHash] = []
    for start in stride(from: 0, to: hashes.count, by: FileLimits.readTogether) {
      let some = Array(hashes[start..<min(start + FileLimits.readTogether, hashes.count)])
      damaged += try await file(database).read { (file) throws(CaravanError) in
        try file.damaged(among: some, in: database)
      }
    }
    return damaged
  }

  // MARK: What is known, and how it is found

  public func damage(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] {
    var damage: [DamagedChunk] = []
    for file in files(of: filter) {
      damage += try await file.read { (file) throws(CaravanError) in
        try DamageReads(file: file).chunks(filter, atMost: count)
      }
    }
    return damage.heldFirst(atMost: count)
  }

  public func damagedBodies(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedBody] {
    var damage: [DamagedBody] = []
    for file in files(of: filter) where damage.count < count {
      damage += try await file.read { (file) throws(CaravanError) in
        try DamageReads(file: file).bodies(filter, atMost: count)
      }
    }
    return Array(damage.prefix(count))
  }

  /// Shards of an owner's databases may lie in any.
  private func files(of filter: DamageFilter) -> [StoreFile] {
    switch filter {
    case .database(let database): [file(database)]
    case .everything, .owner: files
    }
  }

  /// Readers have left these out of what they answered.
  func note(damaged entries: [DamagedVersion], in zone: ZoneID) async throws(CaravanError) {
    guard !entries.isEmpty else { return }
    try await file(zone.database).write { (file) throws(CaravanError) in
      try file.entries.noteDamage(entries, in: file.zones.zone(zone))
    }
  }

  /// An answer that shows no damaged record is as it is; else the record is noted.
  func noting(_ result: CommitResult, of commit: Commit) async throws(CaravanError) -> CommitResult {
    if result.hasMetDamage { _ = try? await fetch(commit.mutations.map(\.name), fields: nil, in: commit.zone) }
    return result
  }

  public func records(
    naming chunks: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) async throws(CaravanError) -> [DamagedRecord] {
    try await file(database).read { (file) throws(CaravanError) in
      try DamageReads(file: file).records(naming: chunks, in: database, atMost: count)
    }
  }

  public func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep {
    var step = ScrubStep(isRoundOver: true)
    for file in files {
      step = step + (try await scrub(file, bytes: bytes))
    }
    return step
  }

  /// First all chunks, then all records.
  private func scrub(_ file: StoreFile, bytes: Int) async throws(CaravanError) -> ScrubStep {
    var step = ScrubStep()
    var key = try await file.read { (file) throws(CaravanError) in try EntryScrub(db: file.db).position }
    if key == nil {
      let scrubbed = try await file.read { (file) throws(CaravanError) in try ChunkScrub(file: file).read(bytes: bytes)
      }
      try await file.write { (file) throws(CaravanError) in try file.chunks.note(scrubbed) }
      step = scrubbed.step
      guard step.isRoundOver else { return step }
      (step.isRoundOver, key) = (false, 0)
    }
    let (last, left) = (key ?? 0, bytes - step.bytes)
    let scrubbed =
      left > 0
      ? try await file.read { (file) throws(CaravanError) in try EntryScrub(db: file.db).read(after: last, bytes: left)
      }
      : EntryScrub.Progress(end: last)
    try await file.write { (file) throws(CaravanError) in try file.entries.note(scrubbed) }
    return ScrubStep(
      chunks: step.chunks, records: scrubbed.step.records, bytes: step.bytes + scrubbed.step.bytes,
      damaged: step.damaged + scrubbed.step.damaged, isRoundOver: scrubbed.step.isRoundOver)
  }

  public func adopt(damaged chunks: [DamagedChunk]) async throws(CaravanError) {
    for chunk in chunks {
      try await file(chunk.database).write { (file) throws(CaravanError) in try file.chunks.adopt(damaged: chunk) }
    }
  }
}

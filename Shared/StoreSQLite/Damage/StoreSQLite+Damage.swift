public import Model
public import Store

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
        try state.trusting(known, but: damaged, in: database, work)
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

  public func damage(in database: DatabaseID?, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] {
    var damage: [DamagedChunk] = []
    for file in database.map({ [self.file($0)] }) ?? files where damage.count < count {
      damage += try await file.read { (file) throws(CaravanError) in try file.damage(in: database, atMost: count) }
    }
    return Array(damage.prefix(count))
  }

  public func records(
    naming chunks: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) async throws(CaravanError) -> [DamagedRecord] {
    try await file(database).read { (file) throws(CaravanError) in
      try file.records(naming: chunks, in: database, atMost: count)
    }
  }

  public func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep {
    var step = ScrubStep(isRoundOver: true)
    for file in files {
      let scrubbed = try await file.read { (file) throws(CaravanError) in try file.scrub(bytes: bytes) }
      try await file.write { (file) throws(CaravanError) in try file.note(scrubbed) }
      step = step + scrubbed.step
    }
    return step
  }

  public func adopt(damaged chunks: [DamagedChunk]) async throws(CaravanError) {
    for chunk in chunks {
      try await file(chunk.database).write { (file) throws(CaravanError) in try file.adopt(damaged: chunk) }
    }
  }
}

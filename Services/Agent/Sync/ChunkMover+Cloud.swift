internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

// Chunks of objects of records of the cloud, of which nothing is kept here.
extension ChunkMover {
  /// Chunks of objects that an app is writing.
  /// - Throws: `chunkDamaged` when one of them is not here any more.
  func send(written hashes: [ChunkHash], through linkGuard: LinkGuard) async throws(CaravanError) {
    var rest = hashes[...]
    let store = store
    try await pipelined(width: width) { () async throws(CaravanError) -> [LocalChunk]? in
      guard !rest.isEmpty else { return nil }
      let window = Array(rest.prefix(EngineLimits.writtenChunksTogether))
      let chunks = try await store.chunksBeingWritten(window)
      guard chunks.map(\.hash) == window else {
        throw CaravanError(.chunkDamaged, "bytes of an object are not here any more: open it, and write it again")
      }
      rest = rest.dropFirst(window.count)
      return chunks
    } work: { chunks throws(CaravanError) in
      try await self.put(chunks, [:], through: linkGuard)
    }
  }

  /// The bytes of the first of these chunks, as many as one answer has.
  /// - Throws: `chunksMissing` when the cloud has lost the first; what it says of the record where that has changed, or
  ///   cannot be seen any more.
  func read(_ hashes: [ChunkHash], through linkGuard: LinkGuard) async throws(CaravanError) -> [[UInt8]] {
    do throws(CaravanError) { return try await readOnce(hashes, through: linkGuard) } catch {
      guard error.code == .chunksMissing else { throw error }
    }
    // A ticket is for one version of a record that may have changed since: the next one says so.
    forgetTicket(of: linkGuard)
    return try await readOnce(hashes, through: linkGuard)
  }

  private func readOnce(_ hashes: [ChunkHash], through linkGuard: LinkGuard) async throws(CaravanError) -> [[UInt8]] {
    guard let first = hashes.first else { return [] }
    // Parts of it are all that may pass.
    guard exchanger.fragment.isUnbroken, exchanger.meter.budget == nil else {
      let bytes = try await fetch(first, through: linkGuard)
      forget([first])
      return [bytes]
    }
    let needs = hashes.prefix(EngineLimits.chunksPerRequest).map { ChunkNeed(hash: $0) }
    let reply = try await ask(for: needs, through: linkGuard)
    var chunks: [[UInt8]] = []
    for (chunk, hash) in zip(reply.chunks, hashes) {
      guard chunk.hash == hash.bytes, chunk.bases.isEmpty, !chunk.data.isEmpty, ChunkHash(of: chunk.data) == hash else {
        break
      }
      chunks.append(chunk.data)
    }
    guard !chunks.isEmpty else {
      throw CaravanError(
        .chunksMissing, "the cloud has lost bytes of an object of the record: whoever has them can save it again")
    }
    metrics.chunksDown.add(chunks.count)
    return chunks
  }
}

extension LinkGuard {
  func scope(isUpload: Bool) -> Tickets<Ticket>.Scope {
    Tickets<Ticket>.Scope(app: table.app, isUpload: isUpload, record: record)
  }
}

extension RequestTicket {
  init(_ scope: Tickets<Ticket>.Scope) {
    self.init(container: scope.app.text, upload: scope.isUpload)
    guard let record = scope.record else { return }
    (database, self.record, version) = (.public, record.name, record.version)
  }
}

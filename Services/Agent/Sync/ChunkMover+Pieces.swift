internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanCompression
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

// Chunks over a link that does not let a whole one pass (MOB-23).
extension ChunkMover {
  // MARK: Up

  /// A piece of a chunk is a chunk of its own at the cloud, and the chunk a patch of its pieces. So whatever has
  /// arrived is kept there, by the rules for staged chunks, named by what it is: nothing need be remembered here.
  func putInPieces(_ chunk: LocalChunk, through linkGuard: LinkGuard) async throws(CaravanError) {
    let pieces = Self.pieces(of: chunk.bytes)
    guard !pieces.isEmpty else {
      _ = try await send(
        [Chunk(hash: chunk.hash.bytes, data: chunk.bytes)], plain: [chunk.bytes.count], through: linkGuard)
      return
    }
    let whole = try Self.patch(chunk, of: pieces)
    // What is there already, from before a loss or a restart: each is a patch of itself.
    var probe = [whole]
    for piece in pieces { probe.append(try Self.patch(piece, of: [piece])) }
    let plain = ([chunk] + pieces).map(\.bytes.count)
    let there = try await send(probe, plain: plain, through: linkGuard)
    if there.contains(chunk.hash) { return }
    for piece in pieces where !there.contains(piece.hash) { try await putPiece(piece, through: linkGuard) }
    guard try await send([whole], plain: [chunk.bytes.count], through: linkGuard).contains(chunk.hash) else {
      throw CaravanError(.unavailable, "pieces of a chunk are not at the cloud any more: they go again")
    }
  }

  func putPiece(_ piece: LocalChunk, through linkGuard: LinkGuard) async throws(CaravanError) {
    if piece.bytes.count <= exchanger.fragment.bytes {
      do throws(CaravanError) {
        let whole = Chunk(hash: piece.hash.bytes, data: piece.bytes)
        _ = try await send([whole], plain: [piece.bytes.count], through: linkGuard)
        return
      } catch {
        guard error.code == .timedOut, piece.bytes.count > exchanger.fragment.bytes else { throw error }
      }
    }
    try await putInPieces(piece, through: linkGuard)
  }

  /// The largest that a patch can be made of; none: it is as small as can be.
  private static func pieces(of bytes: [UInt8]) -> [LocalChunk] {
    guard let size = EngineLimits.pieceBytes.first(where: { $0 < bytes.count }) else { return [] }
    return stride(from: 0, to: bytes.count, by: size).map { start in
      LocalChunk(containing: Array(bytes[start..<min(start + size, bytes.count)]))
    }
  }

  private static func patch(_ chunk: LocalChunk, of pieces: [LocalChunk]) throws(CaravanError) -> Chunk {
    var compressor = try Compressor()
    // Joined, not the chunk's own array: zstd gives up what overlaps with its input.
    let data = try compressor.patch(chunk.bytes, from: pieces.flatMap { $0.bytes })
    return Chunk(hash: chunk.hash.bytes, data: data, bases: ChunkHash.joined(pieces.map(\.hash)))
  }

  // MARK: Down

  /// As many as fit into so many bytes, or the next part of the first. Parts are kept in the store until they make a
  /// chunk, and not asked for again.
  func getInParts(_ needs: [ChunkNeed], most: Int, through linkGuard: LinkGuard) async throws(CaravanError) -> Int {
    let held = try await store.part(of: needs[0].hash)
    let bases = held.isEmpty && needs.contains { !$0.bases.isEmpty } ? needs.map { ChunkHash.joined($0.bases) } : []
    let reply = try await message(most, isUpload: false, through: linkGuard) {
      ChunkRequest(
        ticket: $0, get: ChunkHash.joined(needs.map(\.hash)), bases: bases, offset: UInt32(held.count),
        most: UInt32(most))
    }
    guard reply.size > 0 else { return try await take(reply, isPatched: !bases.isEmpty, through: linkGuard) }
    return try await take(part: reply, after: held, of: needs[0].hash, for: linkGuard.table)
  }

  private func take(
    part reply: ChunkReply, after held: [UInt8], of hash: ChunkHash, for table: TableID
  ) async throws(CaravanError) -> Int {
    guard let part = reply.chunks.first, reply.chunks.count == 1, part.hash == hash.bytes, part.bases.isEmpty,
      !part.data.isEmpty, reply.size <= Limits.chunkBytes, held.count + part.data.count <= reply.size
    else {
      try await store.dropPart(of: hash)
      throw CaravanError(.internalError, "the cloud answered with what is no part of the chunk asked for")
    }
    guard held.count + part.data.count == reply.size else {
      try await store.keep(part: part.data, of: hash, from: held.count)
      return 1
    }
    try await store.dropPart(of: hash)
    metrics.chunksDown.add()
    try await stage([LocalChunk(hash: hash, bytes: held + part.data)], for: table)
    return 1
  }
}

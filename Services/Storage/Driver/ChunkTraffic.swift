import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore
import CaravanWire

/// Chunks as they travel, whole or as patches of chunks the store has (BEN-10), and as the store keeps them. Holds one
/// chunk and its bases at a time besides what the request is allowed to bring or take.
struct ChunkTraffic: Sendable {
  let store: any Store
  let metrics: StorageMetrics

  // MARK: In

  /// Chunks that came along with a commit, or with a part of one.
  func stage(_ chunks: [Chunk], in database: DatabaseID, as view: ChunkView) async throws(CaravanError) {
    let opened = try await opened(coming: chunks, in: database, as: view)
    if !opened.isEmpty { try await store.stage(opened, in: database, as: view) }
  }

  /// The same, still to be staged.
  func opened(
    coming chunks: [Chunk], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkBytes] {
    guard !chunks.isEmpty else { return [] }
    try ChunkRules.check(chunks.loads())
    let opened = try await opened(chunks, in: database, as: view)
    metrics.chunkBytesIn.add(chunks.reduce(0) { $0 + $1.data.count })
    return opened
  }

  /// The chunks, their hashes checked. A patch whose base is not here, or that does not make its chunk, is left out:
  /// its sender has the bytes.
  /// - Parameter view: bases outside of it are not here: a patch would tell what is in them.
  /// - Throws: `chunkDamaged` when whole bytes are not those the hash names; `invalidData`.
  func opened(
    _ chunks: [Chunk], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkBytes] {
    var opened: [ChunkBytes] = []
    for chunk in chunks {
      guard let hash = ChunkHash(chunk.hash), chunk.hash.count == ChunkHash.byteCount else {
        throw CaravanError(.invalidData, "a chunk's hash has \(chunk.hash.count) bytes: send \(ChunkHash.byteCount)")
      }
      if chunk.bases.isEmpty {
        guard SHA256.hash(chunk.data).bytes == chunk.hash else {
          throw CaravanError(.chunkDamaged, "the bytes of chunk \(hash) do not have this hash: send it again")
        }
        opened.append(ChunkBytes(hash: hash, bytes: chunk.data))
      } else if let bytes = try await patched(chunk, in: database, as: view) {
        metrics.patchesIn.add()
        opened.append(ChunkBytes(hash: hash, bytes: bytes))
      } else {
        metrics.patchesRefused.add()
      }
    }
    return opened
  }

  private func patched(
    _ chunk: Chunk, in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [UInt8]? {
    let wanted = try ChunkHash.list(chunk.bases)
    let bases = try await self.bases(wanted, in: database, as: view)
    guard bases.count == wanted.count else { return nil }
    let base = bases.flatMap(\.bytes)
    guard let bytes = Self.apply(chunk.data, to: base), SHA256.hash(bytes).bytes == chunk.hash else { return nil }
    return bytes
  }

  private static func apply(_ patch: [UInt8], to base: [UInt8]) -> [UInt8]? {
    do {
      var decompressor = try Decompressor()
      return try decompressor.apply(patch, to: base, limit: Limits.chunkBytes)
    } catch {
      return nil
    }
  }

  // MARK: Out

  /// - Parameter bases: for each chunk, what its receiver holds; may end early.
  func closed(
    _ chunks: [FoundChunk], bases: [[ChunkHash]], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [Chunk] {
    var closed: [Chunk] = []
    for (index, chunk) in chunks.enumerated() {
      let whole = Chunk(hash: chunk.hash.bytes, data: chunk.bytes ?? [])
      guard let bytes = chunk.bytes, index < bases.count, !bases[index].isEmpty else {
        closed.append(whole)
        continue
      }
      let held = try await self.bases(bases[index], in: database, as: view)
      closed.append(try Self.patch(chunk.hash, bytes, from: held) ?? whole)
    }
    metrics.patchesOut.add(closed.count { !$0.bases.isEmpty })
    return closed
  }

  /// Nil: the bytes are no more.
  private static func patch(
    _ hash: ChunkHash, _ bytes: [UInt8], from bases: [ChunkBytes]
  ) throws(CaravanError) -> Chunk? {
    guard !bases.isEmpty else { return nil }
    var compressor = try Compressor()
    let data = try compressor.patch(bytes, from: bases.flatMap(\.bytes))
    let names = ChunkHash.joined(bases.map(\.hash))
    return data.count + names.count < bytes.count ? Chunk(hash: hash.bytes, data: data, bases: names) : nil
  }

  /// Those of the chunks that are here and in the view.
  private func bases(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkBytes] {
    let room = Limits.basesPerPatch * Limits.chunkBytes
    return try await chunks(hashes, in: database, as: view, maxBytes: room).compactMap { found in
      found.bytes.map { ChunkBytes(hash: found.hash, bytes: $0) }
    }
  }

  /// As `Store.chunks`, where what is not in the view is not there.
  func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    guard view != .all else { return try await store.chunks(hashes, in: database, maxBytes: maxBytes) }
    let visible = try await store.visible(hashes, in: database, as: view)
    let shown = hashes.filter(visible.contains)
    let bytes = shown.isEmpty ? [] : try await store.chunks(shown, in: database, maxBytes: maxBytes)
    let found = Dictionary(bytes.map { ($0.hash, $0) }, uniquingKeysWith: { first, _ in first })
    // Up to the first that had no room.
    let fitting = hashes.prefix { !visible.contains($0) || found[$0] != nil }
    return fitting.map { found[$0] ?? FoundChunk(hash: $0, bytes: nil) }
  }
}

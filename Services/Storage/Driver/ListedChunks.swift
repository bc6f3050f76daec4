import CaravanModel
import CaravanStorageCore
import CaravanStore
import CaravanWire

/// Completes commits whose objects have lists: a record refers to the chunks that a list names as it does to the list.
struct ListedChunks: Sendable {
  let traffic: ChunkTraffic

  enum Completion: Sendable {
    case complete([CaravanWire.Mutation])
    /// Lists that are not here: what they name cannot be told.
    case missing([ChunkHash])
  }

  /// - Parameter view: of who commits: a list that is not in it is missing, whatever is in it.
  /// - Throws: `invalidData` when a chunk is no list of such an object; `limitExceeded`.
  func complete(
    _ mutations: [CaravanWire.Mutation], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> Completion {
    var mutations = mutations
    var missing: [ChunkHash] = []
    var named = mutations.reduce(0) { $0 + $1.chunks.count / ChunkHash.byteCount }
    for index in mutations.indices where mutations[index].kind == .save {
      for asset in mutations[index].lists {
        let hash = try required(asset.listHash(), "list")
        let found = try await traffic.chunks([hash], in: database, as: view, maxBytes: Limits.chunkBytes)
        guard let bytes = found.first?.bytes else {
          missing.append(hash)
          continue
        }
        let manifest = try Asset.listed(bytes, size: asset.size)
        named += manifest.parts.count
        guard named <= StorageLimits.chunksPerCommit else {
          throw CaravanError(
            .limitExceeded,
            "a commit names more than \(StorageLimits.chunksPerCommit) chunks: send rows with fewer or smaller objects")
        }
        for part in manifest.parts { part.hash.append(to: &mutations[index].chunks) }
      }
    }
    return missing.isEmpty ? .complete(mutations) : .missing(missing)
  }
}

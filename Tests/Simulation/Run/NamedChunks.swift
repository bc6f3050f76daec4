internal import CaravanModel
internal import CaravanStore
internal import CaravanWire

// Objects as the cloud's rows name them, with their lists looked into.
extension Store {
  /// Nil: the value is no object, or its list is not here.
  func manifest(_ value: Value, in database: DatabaseID) async throws -> AssetManifest? {
    switch value {
    case .asset(let manifest): return manifest
    case .assetList(let list, let size):
      let found = try await chunks([list], in: database, maxBytes: Limits.chunkBytes)
      return try found.first?.bytes.map { try Asset.listed($0, size: size) }
    case .null, .text, .integer, .real, .data, .location, .reference, .list: return nil
    }
  }

  /// Every chunk that a row needs.
  func chunks(of entry: CaravanModel.Entry, in database: DatabaseID) async throws -> Set<ChunkHash> {
    let record = try RecordFields(body: entry.body)
    var hashes = Set(record.chunks)
    for (_, value) in record.ascending {
      hashes.formUnion(try await manifest(value, in: database)?.parts.map(\.hash) ?? [])
    }
    return hashes
  }
}

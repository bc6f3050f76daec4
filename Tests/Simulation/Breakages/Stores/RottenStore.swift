internal import CaravanModel
internal import CaravanStore

/// A store some of whose chunks have rotted, and that gives them out as it reads them, whatever their checksums say.
struct RottenStore: StoreWrapper {
  let store: any Store
  /// Of so many chunks one is rotten, always the same.
  private static let rarity: UInt8 = 4

  init(_ store: any Store) { self.store = store }

  func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    try await store.chunks(hashes, in: database, maxBytes: maxBytes).map { found in
      guard found.hash.bytes[0] % Self.rarity == 0, var bytes = found.bytes, !bytes.isEmpty else { return found }
      bytes[bytes.count / 2] ^= 1
      return FoundChunk(hash: found.hash, bytes: bytes)
    }
  }
}

/// A store that keeps to itself what it has found damaged.
struct SilentStore: StoreWrapper {
  let store: any Store

  func damage(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] { [] }
}

/// A store that finds all of its chunks whole, without a look at them.
final class UnreadStore: StoreWrapper {
  let store: any Store

  init(_ store: any Store) { self.store = store }

  func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep { ScrubStep(isRoundOver: true) }
}

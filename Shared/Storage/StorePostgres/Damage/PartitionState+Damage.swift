internal import CaravanModel
internal import CaravanStore

/// Damaged chunks: they keep their rows and references, are absent for whoever asks, and take new bytes when somebody
/// brings them.
extension PartitionState {
  func isReadable(_ key: Wants.Chunk) -> Bool {
    guard let chunk = chunks[key] else { return false }
    return !chunk.isDamaged
  }

  /// Those that are here, and that nobody has read or written lately.
  func unread(
    _ hashes: [ChunkHash], in database: DatabaseID, trusting trusted: Set<ChunkHash>
  ) -> [ChunkHash] {
    hashes.filter { hash in
      let key = Wants.Chunk(database: database, hash: hash)
      return !trusted.contains(hash) && staged[key] == nil && healed[key] == nil && isReadable(key)
    }
  }

  /// Of a commit: none that the records it changes name already, and none of a commit in parts, whose chunks were read
  /// as its parts came.
  func unread(of commit: Commit, in zone: Zone?, trusting trusted: Set<ChunkHash>) -> [ChunkHash] {
    guard commit.parts == nil else { return [] }
    let named = Set(commit.mutations.flatMap(\.chunks))
    var unread = Set(self.unread(Array(named), in: commit.zone.database, trusting: trusted))
    guard !unread.isEmpty, let zone else { return unread.sorted() }
    for mutation in commit.mutations {
      unread.subtract(heads[RecordKey(zone: zone.id, name: mutation.name)]?.chunks ?? [])
    }
    return unread.sorted()
  }

  func heal(_ key: Wants.Chunk, _ bytes: [UInt8]) {
    chunks[key]?.isDamaged = false
    healed[key] = bytes
  }
}

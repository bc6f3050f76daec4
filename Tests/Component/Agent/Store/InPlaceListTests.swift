import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: what comes while a chunk is overwritten in place does not take that chunk for whole. Method: a version of
/// another device, whose list names it, and a write that is given up.
extension InPlaceTests {
  /// What another device sends of a row `a` with this photo.
  private static func sent(
    _ photo: [UInt8], _ options: LocalStoreOptions
  ) async throws -> (body: [UInt8], chunks: [LocalChunk]) {
    var (body, chunks): ([UInt8], [LocalChunk]) = ([], [])
    try await F.with(options: options) { f in
      try await f.agree()
      try await f.write("a", photo: photo)
      let plan = try #require(try await f.collect())
      if case .save(_, let saved, _) = plan.mutations[0].change { body = saved }
      let hashes = try await f.store.unsentChunks(of: plan.op).map(\.hash)
      chunks = try await f.store.chunks(hashes, maximumBytes: 64 << 20)
    }
    return (body, chunks)
  }

  @Test("I2, SIM-78: a version whose list comes while its chunk is overwritten waits for that chunk")
  func listedWhileOverwritten() async throws {
    var options = FragileStore.options
    options.chunksInRow = 3
    options.inlineBytes = 0
    try await F.with(options: options) { f in
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      try await f.agree()
      let old = F.noise(20_000, seed: 1)
      let row = try await Self.synced(f, "a", old, version: 1)
      let handle = try await Self.open(f, "a", at: 0, [1, 2, 3])
      // Another device has changed the end; what is at the front both versions have.
      let new = Self.edited(old, at: 19_000, [4, 5, 6])
      let (body, chunks) = try await Self.sent(new, options)
      let entry = Entry(name: row.id, version: 7, created: 1, type: 42, body: body, writer: "elsewhere")
      try await f.apply([IncomingEntry(entry: entry)])
      let front = chunks.first { old.starts(with: $0.bytes) }
      let first = try #require(front)
      // The list comes first; then it is known what else is wanted.
      for _ in 1...2 { try await f.store.stage(chunks.filter { $0.hash != first.hash }, for: F.photos) }
      try await f.store.abandonWrite(handle, owner: f.owner)
      let lacking = try await f.store.missingChunks(of: F.photos, limit: 99).map(\.hash)
      #expect(lacking == [first.hash])
      #expect(try await f.names() == [])
      try await f.store.stage([first], for: F.photos)
      #expect(try await f.photo(row.id) == new)
      #expect(try await f.rows()[0].version == 7)
      #expect(try await f.store.problems() == [])
    }
  }
}

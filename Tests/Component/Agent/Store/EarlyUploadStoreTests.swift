import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: chunks travel beside the work that needs them, and nothing depends on it. Method: a store, by hand.
@Suite("Chunks that go ahead of their row, and that come with their page")
struct EarlyUploadStoreTests {
  private typealias F = StoreFixture

  /// What the store said goes ahead.
  private final class Told: Sendable {
    let chunks = Mutex<[ChunkHash]>([])
  }

  private static func open(_ f: StoreFixture, goesAtOnce: Bool = true) async throws -> (Told, UInt64) {
    try await f.agree()
    if goesAtOnce { try await f.store.planAtOnce([F.photos]) }
    let told = Told()
    await f.store.whenChunksAreCut { _, chunks in told.chunks.withLock { $0 += chunks } }
    let write = try await f.store.openWrite(
      F.photos, cells: [CellValue("name", .text("a"))], objects: ["photo"], owner: f.owner)
    return (told, write.handle)
  }

  private static func put(_ f: StoreFixture, _ write: UInt64, _ bytes: [UInt8], at offset: Int = 0) async throws {
    try await f.store.writeObject(
      write, row: 0, object: "photo", offset: UInt64(offset), bytes: bytes, owner: f.owner)
  }

  @Test("chunks of a new row are told of while it is written, each once")
  func told() async throws {
    try await F.with { f in
      let (told, write) = try await Self.open(f)
      let photo = F.noise(1 << 20)
      try await Self.put(f, write, Array(photo[..<(1 << 19)]))
      let early = told.chunks.withLock { $0 }
      #expect(!early.isEmpty)
      let bytes = try await f.store.chunksBeingWritten(early)
      #expect(Array(photo.prefix(bytes.reduce(0) { $0 + $1.bytes.count })) == bytes.flatMap(\.bytes))
      try await Self.put(f, write, Array(photo[(1 << 19)...]), at: 1 << 19)
      #expect(try await f.rows().isEmpty, "nobody sees it yet")
      let all = told.chunks.withLock { $0 }
      #expect(Set(all).count == all.count && all.count > early.count)
      let row = try await f.store.closeWrite(write, owner: f.owner)[0]
      #expect(try await f.photo(row) == photo)
      let later = try await f.store.chunksBeingWritten(all).flatMap(\.bytes)
      #expect(later == Array(photo.prefix(later.count)) && later.count > 1 << 19, "they are in the database now")
    }
  }

  @Test("an abandoned write's chunks are left out, and nothing is damaged")
  func abandoned() async throws {
    try await F.with { f in
      let (told, write) = try await Self.open(f)
      try await Self.put(f, write, F.noise(1 << 19))
      try await f.store.abandonWrite(write, owner: f.owner)
      #expect(try await f.store.chunksBeingWritten(told.chunks.withLock { $0 }).isEmpty)
    }
  }

  @Test("what is small, of a table that waits, or of a row that exists goes with its row")
  func others() async throws {
    try await F.with { f in
      let (told, write) = try await Self.open(f)
      try await Self.put(f, write, F.noise(50_000))
      try await f.store.closeWrite(write, owner: f.owner)
      try await f.edit("a", at: 0, F.noise(1 << 20, seed: 8))
      #expect(told.chunks.withLock { $0 }.isEmpty)
      let (later, other) = try await Self.open(f, goesAtOnce: false)
      try await f.store.planAtOnce([])
      try await Self.put(f, other, F.noise(1 << 20, seed: 9))
      #expect(later.chunks.withLock { $0 }.isEmpty)
    }
  }

  @Test("SIM-67: a page that comes with its chunks is taken in at once; of a damaged chunk nothing is kept")
  func page() async throws {
    try await F.with { f in
      try await f.agree()
      let photo = F.noise(250_000)
      let page = [F.entry("row-1", 5, "a", photo: photo)]
      let chunks = F.chunks(photo)
      #expect(try await f.store.chunks(lackedBy: page, of: F.photos).map(\.hash) == chunks.map(\.hash))
      let broken = LocalChunk(hash: chunks[0].hash, bytes: chunks[1].bytes)
      let summary = try await f.store.apply(
        page, with: [broken] + chunks[1...], to: F.photos, token: [1], end: .more)
      #expect(summary.applied == 0 && summary.staged == 1)
      #expect(try await f.store.missingChunks(of: F.photos, limit: 9).map(\.hash) == [chunks[0].hash])
      let whole = try await f.store.apply(
        [F.entry("row-1", 6, "a", photo: photo)], with: chunks, to: F.photos, token: [2], end: .more)
      #expect(whole.applied == 1 && whole.staged == 0)
      #expect(try await f.photo("row-1") == photo)
      #expect(try await f.store.chunks(lackedBy: page, of: F.photos).isEmpty)
    }
  }

  @Test("SIM-67: a page with a row that could be taken in is not held up for another one's chunks, nor for many")
  func mixed() async throws {
    try await F.with { f in
      try await f.agree()
      let big = F.entry("row-1", 5, "a", photo: F.noise(250_000))
      #expect(try await f.store.chunks(lackedBy: [big, F.entry("row-2", 6, "b")], of: F.photos).isEmpty)
      let huge = F.entry("row-3", 7, "c", photo: F.noise(3 << 20))
      #expect(try await f.store.chunks(lackedBy: [big, huge], of: F.photos).isEmpty)
    }
  }
}

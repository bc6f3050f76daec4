import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import Testing

/// Goal: what is left of a budget goes to whatever it has room for. Method: a store of large and small rows, asked for
/// what to move within some bytes.
@Suite struct RoomTests {
  @Test("MOB-47: rows that are too large are passed over, however many they are")
  func rows() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let large = String(repeating: "x", count: 3_000)
      for _ in 0..<EngineLimits.passedOverAtOnce + 50 { try await f.write(large) }
      let small = try await f.write("small")
      func collect(_ room: Int) async throws -> [String] {
        let plan = try await f.store.collect(StoreFixture.photos, maximumRows: 10, maximumBytes: 1 << 20, room: room)
        if let plan { try await f.store.abort(plan.op) }
        return plan?.mutations.map(\.name) ?? []
      }
      #expect(try await collect(2_000) == [small])
      #expect(try await collect(100) == [])
      #expect(try await collect(50_000).count == 7)
    }
  }

  @Test("MOB-47: an object comes when there is room for all that is missing of it, whatever is too large before it")
  func objects() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let photos = [StoreFixture.noise(300_000, seed: 1), StoreFixture.noise(20_000, seed: 2)]
      _ = try await f.apply([
        StoreFixture.entry("large", 1, "large", photo: photos[0]),
        StoreFixture.entry("small", 2, "small", photo: photos[1]),
      ])
      func missing(_ room: Int) async throws -> Set<ChunkHash> {
        Set(try await f.store.missingChunks(of: StoreFixture.photos, limit: 99, room: room).map(\.hash))
      }
      let chunks = photos.map { Set(StoreFixture.chunks($0).map(\.hash)) }
      #expect(try await missing(20_000).isEmpty)
      #expect(try await missing(50_000) == chunks[1])
      #expect(try await missing(310_000) == chunks[0])
      #expect(try await missing(330_000) == chunks[0].union(chunks[1]))
      let come = StoreFixture.chunks(photos[0]).dropLast()
      for chunk in come {
        try await f.store.stage([chunk], for: StoreFixture.photos)
      }
      #expect(try await missing(290_000) == chunks[0].subtracting(come.map(\.hash)).union(chunks[1]))
    }
  }
}

import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanTestKit
import Testing

/// Goal: pages of shards are pages of the whole, and a cursor is read as it was written or not at all. Method: random
/// records beside a plain sort; random values and noise.
@Suite struct RandomCourseTests {
  private static let seeds: Range<UInt64> = 1..<201

  private static func key(_ chance: inout SplitMix64) -> IndexKey {
    switch Int.random(in: 0..<3, using: &chance) {
    case 0: .null
    case 1: IndexKey(bytes: [1] + Array((["", "a", "ä", "b"].randomElement(using: &chance) ?? "").utf8))
    default: IndexKey(bytes: [UInt8](repeating: 7, count: Int.random(in: 0..<3, using: &chance)))
    }
  }

  @Test("CK-10: whatever the shards hold, page after page is the whole, in order, each record once")
  func merging() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let sort = (0..<Int.random(in: 0...2, using: &chance)).map { _ in
        SortKey("n", isDescending: Bool.random(using: &chance))
      }
      let merge = ShardMerge(sort)
      let records = (0..<Int.random(in: 0...40, using: &chance)).map { number in
        ShardMerge.Placed(
          number,
          at: PageCursor(
            fingerprint: 1, keys: sort.map { _ in Self.key(&chance) }, zone: "z", name: "r\(number)"))
      }
      func sorted(_ records: [ShardMerge.Placed<Int>]) -> [ShardMerge.Placed<Int>] {
        merge.merge([ShardMerge.Page(records, hasMore: false)], limit: max(1, records.count)).hits
      }
      let whole = sorted(records)
      let places = Dictionary(uniqueKeysWithValues: whole.enumerated().map { ($1.hit, $0) })
      let shards = (0..<3).map { shard in sorted(records.filter { $0.hit % 3 == shard }) }
      var found: [Int] = []
      var hasMore = true
      while hasMore, found.count <= records.count {
        let limit = Int.random(in: 1...6, using: &chance)
        let reached = found.last.flatMap { places[$0] } ?? -1
        let pages = shards.map { shard in
          let rest = shard.filter { places[$0.hit] ?? 0 > reached }
          // A shard may end its page early, for its bytes, but not before its first record.
          let count = min(rest.count, Int.random(in: 1...limit, using: &chance))
          return ShardMerge.Page(Array(rest.prefix(count)), hasMore: count < rest.count)
        }
        let page = merge.merge(pages, limit: limit)
        found += page.hits.map(\.hit)
        hasMore = page.hasMore
      }
      #expect(found == whole.map(\.hit), "seed \(seed)")
    }
  }

  @Test("a cursor reads as it was written, of its own query alone, and noise is refused")
  func cursors() throws {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let keys = (0..<Int.random(in: 0...4, using: &chance)).map { _ in Self.key(&chance) }
      let cursor = PageCursor(fingerprint: chance.next(), keys: keys, zone: "photos", name: "r\(seed)")
      let bytes = cursor.bytes
      #expect(try PageCursor(bytes, fingerprint: cursor.fingerprint, keys: keys.count) == cursor)
      #expect(throws: CaravanError.self) {
        try PageCursor(bytes, fingerprint: cursor.fingerprint &+ 1, keys: keys.count)
      }
      #expect(throws: CaravanError.self) {
        try PageCursor(Array(bytes.dropLast()), fingerprint: cursor.fingerprint, keys: keys.count)
      }
      for _ in 0..<50 {
        var noise = bytes
        noise[Int.random(in: noise.indices, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
        let read = try? PageCursor(noise, fingerprint: cursor.fingerprint, keys: keys.count)
        #expect(read.map { $0.bytes == noise } ?? true, "seed \(seed)")
      }
    }
  }
}

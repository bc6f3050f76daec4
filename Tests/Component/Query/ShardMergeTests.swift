import CaravanModel
import CaravanQuery
import CaravanQueryCore
import Testing

@Suite struct ShardMergeTests {
  private static func page(_ numbers: [Int64], hasMore: Bool) -> ShardMerge.Page<Int64> {
    ShardMerge.Page(
      numbers.map { number in
        ShardMerge.Placed(
          number,
          at: PageCursor(fingerprint: 1, keys: [IndexKey(.integer(number)) ?? .null], zone: "z", name: "r\(number)"))
      }, hasMore: hasMore)
  }

  private static func merged(
    _ pages: [ShardMerge.Page<Int64>], descending: Bool = false, limit: Int = 10
  ) -> (numbers: [Int64], hasMore: Bool) {
    let page = ShardMerge([SortKey("n", isDescending: descending)]).merge(pages, limit: limit)
    return (page.hits.map(\.hit), page.hasMore)
  }

  @Test("CK-10: pages of shards become one, in order, up and down")
  func order() {
    let up = Self.merged([Self.page([1, 4, 9], hasMore: false), Self.page([2, 3], hasMore: false)])
    #expect(up.numbers == [1, 2, 3, 4, 9] && !up.hasMore)
    let down = Self.merged(
      [Self.page([9, 4, 1], hasMore: false), Self.page([3, 2], hasMore: false)], descending: true, limit: 2)
    #expect(down.numbers == [9, 4] && down.hasMore)
  }

  @Test("Beyond the end of a page that goes on nothing is certain: its shard may have what comes before")
  func ends() {
    let cut = Self.merged([Self.page([1, 2], hasMore: true), Self.page([1, 5, 6], hasMore: false)])
    #expect(cut.numbers == [1, 1, 2] && cut.hasMore)
    let both = Self.merged([Self.page([1, 8], hasMore: true), Self.page([3, 4], hasMore: true)], limit: 2)
    #expect(both.numbers == [1, 3] && both.hasMore)
  }
}

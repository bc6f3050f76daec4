package import CaravanModel
import CaravanQuery

/// Makes one page of the pages that the shards of a default zone gave for one query (CK-10): every page holds the
/// first of its shard's records in one and the same order, so the whole's first are among them.
package struct ShardMerge: Sendable {
  /// A record in a page, and its place in the order.
  package struct Placed<Hit: Sendable>: Sendable {
    package let place: PageCursor
    package let hit: Hit

    package init(_ hit: Hit, at place: PageCursor) {
      self.hit = hit
      self.place = place
    }
  }

  package struct Page<Hit: Sendable>: Sendable {
    package var hits: [Placed<Hit>]
    /// Records follow after the last.
    package var hasMore: Bool

    package init(_ hits: [Placed<Hit>], hasMore: Bool) {
      self.hits = hits
      self.hasMore = hasMore
    }
  }

  private let order: PlaceOrder

  package init(_ sort: [SortKey]) { order = PlaceOrder(sort.map(\.isDescending)) }

  /// The first `limit` of all. What lies beyond the end of a page that goes on is left out: its shard may hold records
  /// that come before.
  package func merge<Hit>(_ pages: [Page<Hit>], limit: Int) -> Page<Hit> {
    precondition(limit > 0, "a page of no records never ends")
    let offered = pages.reduce(0) { $0 + $1.hits.count }
    let ends = pages.compactMap { $0.hasMore ? $0.hits.last?.place : nil }
    let end = ends.min(by: order.precedes)
    var hits = pages.flatMap(\.hits).sorted { order.precedes($0.place, $1.place) }
    if let end { hits.removeAll { order.precedes(end, $0.place) } }
    let hasMore = hits.count > limit || pages.contains(where: \.hasMore)
    let page = Page(Array(hits.prefix(limit)), hasMore: hasMore)
    precondition(page.hits.count == offered || page.hasMore, "what was left out could not be asked for")
    precondition(!page.hits.isEmpty || end == nil, "a page that goes on holds nothing to go on from")
    return page
  }
}

package import CaravanModel

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

  private let isDescending: [Bool]

  package init(_ sort: [SortKey]) { isDescending = sort.map(\.isDescending) }

  /// The first `limit` of all. What lies beyond the end of a page that goes on is left out: its shard may hold records
  /// that come before.
  package func merge<Hit>(_ pages: [Page<Hit>], limit: Int) -> Page<Hit> {
    precondition(limit > 0, "a page of no records never ends")
    let offered = pages.reduce(0) { $0 + $1.hits.count }
    let ends = pages.compactMap { $0.hasMore ? $0.hits.last?.place : nil }
    let end = ends.min(by: precedes)
    var hits = pages.flatMap(\.hits).sorted { precedes($0.place, $1.place) }
    if let end { hits.removeAll { precedes(end, $0.place) } }
    let hasMore = hits.count > limit || pages.contains(where: \.hasMore)
    let page = Page(Array(hits.prefix(limit)), hasMore: hasMore)
    precondition(page.hits.count == offered || page.hasMore, "what was left out could not be asked for")
    precondition(!page.hits.isEmpty || end == nil, "a page that goes on holds nothing to go on from")
    return page
  }

  /// In the order of `Order`: the keys, then zone and name in the direction of the last key.
  func precedes(_ a: PageCursor, _ b: PageCursor) -> Bool {
    precondition(
      a.keys.count == isDescending.count && b.keys.count == isDescending.count, "a place has one value a sort key")
    for (index, isDescending) in isDescending.enumerated() {
      let difference = Self.compare(a.keys[index], b.keys[index])
      if difference != 0 { return (difference < 0) != isDescending }
    }
    let places = [(a.zone, b.zone), (a.name, b.name)].map { Self.compare(Array($0.utf8), Array($1.utf8)) }
    guard let difference = places.first(where: { $0 != 0 }) else { return false }
    return (difference < 0) != (isDescending.last ?? false)
  }

  // MARK: The order of values, which is SQLite's (https://sqlite.org/datatype3.html §4.1)

  private static func compare(_ a: Value, _ b: Value) -> Int {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): sign(a, b)
    case (.real(let a), .real(let b)): sign(a, b)
    case (.integer(let a), .real(let b)): sign(Double(a), b)
    case (.real(let a), .integer(let b)): sign(a, Double(b))
    case (.text(let a), .text(let b)): compare(Array(a.utf8), Array(b.utf8))
    case (.data(let a), .data(let b)): compare(a, b)
    case (_, _): sign(rank(a), rank(b))
    }
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null, .asset, .assetList, .location, .reference, .list: 0
    case .integer, .real: 1
    case .text: 2
    case .data: 3
    }
  }

  private static func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  private static func sign<Number: Comparable>(_ a: Number, _ b: Number) -> Int { a == b ? 0 : a < b ? -1 : 1 }
}

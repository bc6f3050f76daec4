package import CaravanQuery

/// Which of two places in the answers to one query comes first, as `Order` has it: by the keys, then by zone and name
/// in the direction of the last key.
struct PlaceOrder: Sendable {
  private let isDescending: [Bool]

  /// - Parameter isDescending: of each key.
  init(_ isDescending: [Bool]) { self.isDescending = isDescending }

  func precedes(_ a: PageCursor, _ b: PageCursor) -> Bool {
    precondition(
      a.keys.count == isDescending.count && b.keys.count == isDescending.count, "a place has one value a sort key")
    if let isFirst = precedes(a.keys, b.keys) { return isFirst }
    guard let isFirst = Self.precedes(a.zone, b.zone) ?? Self.precedes(a.name, b.name) else { return false }
    return isFirst != (isDescending.last ?? false)
  }

  /// By bytes, as engines compare texts.
  /// - Returns: nil: they are equal.
  private static func precedes(_ a: String, _ b: String) -> Bool? {
    var (a, b) = (a.utf8.makeIterator(), b.utf8.makeIterator())
    while let x = a.next() {
      guard let y = b.next() else { return false }
      if x != y { return x < y }
    }
    return b.next() == nil ? nil : true
  }

  /// - Returns: nil: as far as one of them goes, they are equal.
  func precedes(_ a: some Collection<IndexKey>, _ b: some Collection<IndexKey>) -> Bool? {
    assert(a.count <= isDescending.count && b.count <= isDescending.count, "more keys than the order has")
    for ((a, b), isDescending) in zip(zip(a, b), isDescending) where a != b {
      return a.bytes.lexicographicallyPrecedes(b.bytes) != isDescending
    }
    return nil
  }
}

/// The first records of an answer, found among all that belong to it in any order.
package struct FirstPlaces {
  /// A record's id in the index.
  package typealias Found = (place: PageCursor, id: Int64)

  private let order: PlaceOrder
  private let most: Int
  package private(set) var found: [Found] = []

  init(_ order: PlaceOrder, atMost most: Int) {
    precondition(most > 0, "a page of no records never ends")
    (self.order, self.most) = (order, most)
  }

  package var isFull: Bool { found.count == most }

  /// Whether a record that begins with these keys comes after all that there is room for.
  package func isBeyond(_ keys: some Collection<IndexKey>) -> Bool {
    guard isFull, let last = found.last else { return false }
    return order.precedes(last.place.keys, keys) ?? false
  }

  package mutating func insert(_ place: PageCursor, _ id: Int64) {
    if isFull, let last = found.last {
      guard order.precedes(place, last.place) else { return }
      found.removeLast()
    }
    var (low, high) = (0, found.count)
    while low < high {
      let middle = (low + high) / 2
      if order.precedes(found[middle].place, place) { low = middle + 1 } else { high = middle }
    }
    found.insert((place, id), at: low)
    assert(found.count <= most, "more than there is room for")
  }
}

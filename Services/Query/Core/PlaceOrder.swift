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
    let places = [(a.zone, b.zone), (a.name, b.name)].map { (Array($0.utf8), Array($1.utf8)) }
    guard let (x, y) = places.first(where: { $0 != $1 }) else { return false }
    return x.lexicographicallyPrecedes(y) != (isDescending.last ?? false)
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
  /// Bytes of names and keys that are kept.
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

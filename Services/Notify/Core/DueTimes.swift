internal import CaravanModel

/// When devices, by their places, are due on one clock. What is scheduled later than before, or not at
/// all any more, leaves its entry behind; it comes up once, for nothing.
struct DueTimes: Sendable {
  private struct Entry: Comparable {
    let due: Int64
    let place: Int

    static func < (a: Entry, b: Entry) -> Bool { (a.due, a.place) < (b.due, b.place) }
  }

  private var heap = Heap<Entry>()
  /// By place, the earliest entry; `.max`: none.
  private var earliest: [Int64] = []

  /// The entry that comes up first.
  var first: (due: Int64, place: Int)? { heap.first.map { ($0.due, $0.place) } }

  mutating func schedule(_ place: Int, at due: Int64?) {
    guard let due else { return }
    precondition(place >= 0, "there is no place \(place)")
    while earliest.count <= place { earliest.append(.max) }
    guard due < earliest[place] else { return }
    earliest[place] = due
    heap.insert(Entry(due: due, place: place))
    precondition(heap.first?.due ?? .max <= due, "place \(place) comes up after its time")
  }

  /// The place whose entry comes up first, if that is at `now` or before. Whoever is still to be looked at later has to
  /// be scheduled again.
  mutating func popDue(_ now: Int64) -> Int? {
    guard let first = heap.first, first.due <= now else { return nil }
    heap.removeFirst()
    precondition(heap.first?.due ?? .max >= first.due, "what is due later came up first")
    if earliest[first.place] == first.due { earliest[first.place] = .max }
    return first.place
  }
}

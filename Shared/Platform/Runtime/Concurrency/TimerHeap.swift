internal import CaravanModel

package typealias TimerID = UInt64

/// Sleepers by the time at which they wake; those of the same time in the order in which they came. Lives inside a
/// lock: whoever takes sleepers out wakes them after leaving it.
package struct TimerHeap<Sleeper> {
  package typealias ID = TimerID

  private struct Entry: Comparable {
    let due: Instant
    let id: ID

    static func < (a: Entry, b: Entry) -> Bool { (a.due, a.id) < (b.due, b.id) }
  }

  /// Entries of cancelled sleepers stay until they come up or are too many.
  private var heap = Heap<Entry>()
  private var sleepers: [ID: Sleeper] = [:]

  package init() {}

  package var count: Int { sleepers.count }

  package mutating func add(_ sleeper: Sleeper, id: ID, due: Instant) {
    sleepers[id] = sleeper
    heap.insert(Entry(due: due, id: id))
  }

  package mutating func remove(_ id: ID) -> Sleeper? {
    let sleeper = sleepers.removeValue(forKey: id)
    if heap.count > 64 + 2 * sleepers.count { heap.removeAll { sleepers[$0.id] == nil } }
    return sleeper
  }

  /// When the next sleeper wakes.
  package var next: Instant? {
    mutating get {
      while let first = heap.first, sleepers[first.id] == nil { heap.removeFirst() }
      return heap.first?.due
    }
  }

  /// Those who wake at `now` or before.
  package mutating func popDue(_ now: Instant) -> [Sleeper] {
    var due: [Sleeper] = []
    while let first = heap.first, first.due <= now {
      if let sleeper = sleepers.removeValue(forKey: first.id) { due.append(sleeper) }
      heap.removeFirst()
    }
    return due
  }
}

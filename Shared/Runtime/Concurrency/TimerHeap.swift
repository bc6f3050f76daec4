package typealias TimerID = UInt64

/// Sleepers by the time at which they wake; those of the same time in the order in which they came. Lives inside a
/// lock: whoever takes sleepers out wakes them after leaving it.
package struct TimerHeap<Sleeper> {
  package typealias ID = TimerID

  private struct Entry {
    let due: Instant
    let id: ID

    static func < (a: Entry, b: Entry) -> Bool { (a.due, a.id) < (b.due, b.id) }
  }

  /// A binary heap. Entries of cancelled sleepers stay until they come up or are too many.
  private var heap: [Entry] = []
  private var sleepers: [ID: Sleeper] = [:]

  package init() {}

  package var count: Int { sleepers.count }

  package mutating func add(_ sleeper: Sleeper, id: ID, due: Instant) {
    sleepers[id] = sleeper
    heap.append(Entry(due: due, id: id))
    siftUp(heap.count - 1)
  }

  package mutating func remove(_ id: ID) -> Sleeper? {
    let sleeper = sleepers.removeValue(forKey: id)
    if heap.count > 64 + 2 * sleepers.count { compact() }
    return sleeper
  }

  /// When the next sleeper wakes.
  package var next: Instant? {
    mutating get {
      while let first = heap.first, sleepers[first.id] == nil { removeFirst() }
      return heap.first?.due
    }
  }

  /// Those who wake at `now` or before.
  package mutating func popDue(_ now: Instant) -> [Sleeper] {
    var due: [Sleeper] = []
    while let first = heap.first, first.due <= now {
      if let sleeper = sleepers.removeValue(forKey: first.id) { due.append(sleeper) }
      removeFirst()
    }
    return due
  }

  // MARK: The heap

  /// An array in order is a heap.
  private mutating func compact() {
    heap.removeAll { sleepers[$0.id] == nil }
    heap.sort(by: <)
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown(0)
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0, heap[child] < heap[(child - 1) / 2] {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
        least = child
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}

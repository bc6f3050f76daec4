/// First in, first out, in one array that grows as needed up to the bound.
struct Ring<Element> {
  let capacity: Int
  private var slots: [Element?] = []
  private var head = 0
  private(set) var count = 0

  init(capacity: Int) {
    precondition(capacity > 0, "a ring needs room for one element")
    self.capacity = capacity
  }

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count == capacity }

  mutating func append(_ element: Element) {
    precondition(!isFull, "append to a full ring")
    if count == slots.count { grow() }
    slots[(head + count) % slots.count] = element
    count += 1
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    defer {
      head = (head + 1) % slots.count
      count -= 1
    }
    return slots[head].take()
  }

  private mutating func grow() {
    let size = min(capacity, max(8, slots.count * 2))
    var larger: [Element?] = []
    larger.reserveCapacity(size)
    for k in 0..<count { larger.append(slots[(head + k) % slots.count]) }
    larger.append(contentsOf: repeatElement(nil, count: size - count))
    slots = larger
    head = 0
  }
}

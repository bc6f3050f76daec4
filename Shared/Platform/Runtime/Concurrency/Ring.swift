/// First in, first out, at constant cost; grows as needed.
package struct Ring<Element> {
  private var slots: [Element?] = []
  private var head = 0
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[(head + count) % slots.count] = element
    count += 1
  }

  package mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let first = slots[head].take()
    head = (head + 1) % slots.count
    count -= 1
    return first
  }

  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(max(8, 2 * slots.count))
    for offset in 0..<count { larger.append(slots[(head + offset) % slots.count]) }
    larger.append(contentsOf: repeatElement(nil, count: max(8, 2 * slots.count) - count))
    slots = larger
    head = 0
  }
}

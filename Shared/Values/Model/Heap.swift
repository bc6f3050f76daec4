/// A binary heap: the least element comes out first.
public struct Heap<Element: Comparable & Sendable>: Sendable {
  @usableFromInline var elements: [Element] = []

  /// Holds nothing.
  public init() {}

  @inlinable public var count: Int { elements.count }
  @inlinable public var first: Element? { elements.first }

  @inlinable
  public mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @inlinable
  @discardableResult
  public mutating func removeFirst() -> Element {
    elements.swapAt(0, elements.count - 1)
    defer { sink() }
    return elements.removeLast()
  }

  @inlinable
  public mutating func removeAll(where isOut: (Element) -> Bool) {
    elements.removeAll(where: isOut)
    // An array in order is a heap.
    elements.sort()
  }

  /// Puts the first element where it belongs.
  @inlinable
  mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in 2 * parent + 1...2 * parent + 2 where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      if least == parent { return }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}

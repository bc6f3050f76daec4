/// A set of bits over a device's subscriptions, in the order of its list (MOB-41).
package struct Bitmap: Sendable, Hashable {
  package let count: Int
  private var words: [UInt64]

  package init(count: Int) {
    precondition(count >= 0, "a bitmap has no bits or some")
    self.count = count
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  package init(all count: Int) {
    self.init(count: count)
    for bit in 0..<count { self[bit] = true }
  }

  package subscript(bit: Int) -> Bool {
    get {
      precondition((0..<count).contains(bit), "bit \(bit) of \(count)")
      return words[bit / 64] >> UInt64(bit % 64) & 1 == 1
    }
    set {
      precondition((0..<count).contains(bit), "bit \(bit) of \(count)")
      let mask: UInt64 = 1 << UInt64(bit % 64)
      if newValue { words[bit / 64] |= mask } else { words[bit / 64] &= ~mask }
    }
  }

  package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
  package var set: [Int] { (0..<count).filter { self[$0] } }

  package mutating func formUnion(_ other: Bitmap) {
    precondition(count == other.count, "bitmaps over lists of \(count) and \(other.count)")
    for i in words.indices { words[i] |= other.words[i] }
  }

  package mutating func subtract(_ other: Bitmap) {
    precondition(count == other.count, "bitmaps over lists of \(count) and \(other.count)")
    for i in words.indices { words[i] &= ~other.words[i] }
  }

  package mutating func removeAll() { for i in words.indices { words[i] = 0 } }

  /// As a notification carries it: bit i is bit i mod 8 of byte i / 8.
  package var bytes: [UInt8] {
    (0..<(count + 7) / 8).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (8 * UInt64($0 % 8))) }
  }
}

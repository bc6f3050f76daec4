/// A set of bits over a device's subscriptions, in the order of its list (MOB-41).
package struct Bitmap: Sendable, Hashable {
  package let count: Int
  /// Bits 0 to 63: most devices have no more.
  private var first: UInt64 = 0
  private var rest: [UInt64]

  package init(count: Int) {
    precondition(count >= 0, "a bitmap has no bits or some")
    self.count = count
    rest = count <= 64 ? [] : Array(repeating: 0, count: (count - 1) / 64)
  }

  package init(all count: Int) {
    self.init(count: count)
    for bit in 0..<count { self[bit] = true }
    assert(set.count == count, "\(set.count) bits of \(count) are set")
  }

  package subscript(bit: Int) -> Bool {
    get {
      precondition((0..<count).contains(bit), "bit \(bit) of \(count)")
      return word(bit / 64) >> UInt64(bit % 64) & 1 == 1
    }
    set {
      precondition((0..<count).contains(bit), "bit \(bit) of \(count)")
      let mask: UInt64 = 1 << UInt64(bit % 64)
      let word = newValue ? word(bit / 64) | mask : word(bit / 64) & ~mask
      if bit < 64 { first = word } else { rest[bit / 64 - 1] = word }
    }
  }

  private func word(_ index: Int) -> UInt64 { index == 0 ? first : rest[index - 1] }

  package var isEmpty: Bool { first == 0 && rest.allSatisfy { $0 == 0 } }

  /// Ascending.
  package var set: [Int] {
    var bits: [Int] = []
    for index in 0...rest.count {
      var left = word(index)
      while left != 0 {
        bits.append(index * 64 + left.trailingZeroBitCount)
        left &= left - 1
      }
    }
    precondition(bits.last ?? -1 < count, "bit \(bits.last ?? 0) is set of \(count)")
    return bits
  }

  package mutating func formUnion(_ other: Bitmap) {
    precondition(count == other.count, "bitmaps over lists of \(count) and \(other.count)")
    first |= other.first
    for i in rest.indices { rest[i] |= other.rest[i] }
    assert(other.set.allSatisfy { self[$0] }, "a bit of a union is lost")
  }

  package mutating func removeAll() {
    first = 0
    for i in rest.indices { rest[i] = 0 }
  }

  /// As a notification carries it: bit i is bit i mod 8 of byte i / 8.
  package var bytes: [UInt8] {
    (0..<(count + 7) / 8).map { UInt8(truncatingIfNeeded: word($0 / 8) >> (8 * UInt64($0 % 8))) }
  }
}

internal import CaravanTestKit

/// Choices of one part of the simulation, from the seed and the part's name, so that a choice more in one place changes
/// nothing in another.
struct Dice: Sendable {
  private var source: SplitMix64

  init(seed: UInt64, _ name: String) {
    var digest = Digest()
    digest.add(seed)
    digest.add(name)
    source = SplitMix64(seed: digest.value)
  }

  mutating func word() -> UInt64 { source.next() }

  mutating func below(_ bound: Int) -> Int { Int(source.next() % UInt64(max(1, bound))) }

  mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

  /// True so many times in a thousand.
  mutating func happens(_ perMille: Int) -> Bool { below(1_000) < perMille }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// One of the elements, each as likely as its weight says.
  mutating func pick<Element>(weighted elements: [(weight: Int, element: Element)]) -> Element {
    var left = below(elements.reduce(0) { $0 + $1.weight })
    for (weight, element) in elements {
      if left < weight { return element }
      left -= weight
    }
    preconditionFailure("a choice among nothing")
  }

  mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(within(range)) }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let word = word()
      for k in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(k)))) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}

/// 64-bit FNV-1a of what is added, with the upper half folded down after every number.
struct Digest: Sendable, Hashable {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x100_0000_01b3
    value ^= value >> 32
  }

  mutating func add(_ text: String) { add(Array(text.utf8)) }

  mutating func add(_ bytes: [UInt8]) {
    add(UInt64(bytes.count))
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}

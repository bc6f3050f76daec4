/// Seeded random values for property tests: the same seed gives the same case.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

  /// Random bytes with stretches of zeros between: zeros have no content to cut at, so maximal chunks occur, too.
  mutating func contents(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let length = Int.random(in: 1...4000, using: &self)
      bytes += Int.random(in: 0..<5, using: &self) == 0 ? [UInt8](repeating: 0, count: length) : self.bytes(length)
    }
    return Array(bytes.prefix(count))
  }
}

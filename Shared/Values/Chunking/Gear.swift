/// The random table behind the gear hash: one 64-bit word for each byte value.
enum Gear {
  /// The words are the first 256 outputs of SplitMix64 (Steele, Lea, Flood 2014) from this seed, the ASCII letters
  /// "caravan1". Changing it changes every chunk boundary, so it never changes.
  static let seed: UInt64 = 0x6361_7261_7661_6E31

  static let table: InlineArray<256, UInt64> = {
    var state = seed
    var table = InlineArray<256, UInt64>(repeating: 0)
    for index in 0..<256 { table[index] = splitMix64(&state) }
    return table
  }()

  static func splitMix64(_ state: inout UInt64) -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

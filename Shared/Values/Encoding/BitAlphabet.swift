/// A power-of-two alphabet: the shared half of base32 and base64 (RFC 4648 §3–6), without padding.
struct BitAlphabet: Sendable {
  let format: String
  /// Bits one character carries.
  let bits: Int
  private let symbols: [UInt8]
  /// Value of a character, or `BitAlphabet.invalid`.
  private let values: [UInt8]

  private static let invalid: UInt8 = 0xFF

  init(format: String, bits: Int, symbols: String) {
    self.format = format
    self.bits = bits
    self.symbols = Array(symbols.utf8)
    precondition(self.symbols.count == 1 << bits, "\(format) needs \(1 << bits) symbols")
    var values = [UInt8](repeating: Self.invalid, count: 256)
    for (value, symbol) in self.symbols.enumerated() { values[Int(symbol)] = UInt8(value) }
    self.values = values
  }

  /// Characters for `bytes`, the last one filled up with zero bits.
  func encode(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count * 8 + bits - 1) / bits + 4)
    let mask = UInt32(1 << bits) - 1
    var pending: UInt32 = 0
    var pendingBits = 0
    for byte in bytes {
      pending = (pending << 8) | UInt32(byte)
      pendingBits += 8
      while pendingBits >= bits {
        pendingBits -= bits
        output.append(symbols[Int((pending >> UInt32(pendingBits)) & mask)])
      }
    }
    if pendingBits > 0 {
      output.append(symbols[Int((pending << UInt32(bits - pendingBits)) & mask)])
    }
    return output
  }

  /// Bytes of unpadded characters. Refuses characters outside the alphabet, lengths no encoder produces and
  /// unused bits that are not zero, so every value has exactly one spelling.
  func decode(_ characters: ArraySlice<UInt8>) throws(EncodingError) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(characters.count * bits / 8)
    var pending: UInt32 = 0
    var pendingBits = 0
    for (offset, character) in characters.enumerated() {
      let value = values[Int(character)]
      guard value != Self.invalid else {
        throw EncodingError(
          .invalidCharacter, format: format, offset: offset, "byte 0x\(Hex.encode([character])) is not in the alphabet")
      }
      pending = (pending << UInt32(bits)) | UInt32(value)
      pendingBits += bits
      if pendingBits >= 8 {
        pendingBits -= 8
        output.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
      }
    }
    guard pendingBits < bits else {
      throw EncodingError(
        .invalidLength, format: format, offset: characters.count, "\(characters.count) characters end inside a byte")
    }
    guard pending & (UInt32(1 << pendingBits) - 1) == 0 else {
      throw EncodingError(
        .notCanonical, format: format, offset: characters.count - 1, "unused bits of the last character are not zero")
    }
    return output
  }
}

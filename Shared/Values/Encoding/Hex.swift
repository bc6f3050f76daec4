/// Two hexadecimal digits per byte: written in lower case, read in either.
public enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  public static func encode(_ bytes: [UInt8]) -> String {
    var characters: [UInt8] = []
    characters.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      characters.append(digits[Int(byte >> 4)])
      characters.append(digits[Int(byte & 0x0F)])
    }
    return String(decoding: characters, as: UTF8.self)
  }

  public static func decode(_ text: String) throws(EncodingError) -> [UInt8] {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 2) else {
      throw EncodingError(
        .invalidLength, format: "hex", offset: characters.count, "an odd number of digits (\(characters.count))")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 2)
    for offset in stride(from: 0, to: characters.count, by: 2) {
      bytes.append(try digit(characters, at: offset) << 4 | digit(characters, at: offset + 1))
    }
    return bytes
  }

  private static func digit(_ characters: [UInt8], at offset: Int) throws(EncodingError) -> UInt8 {
    guard let value = value(of: characters[offset]) else {
      throw EncodingError(.invalidCharacter, format: "hex", offset: offset, "not a hexadecimal digit")
    }
    return value
  }

  static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

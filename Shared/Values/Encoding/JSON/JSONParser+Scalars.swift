extension JSONParser {
  // MARK: Numbers

  /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`; with neither fraction nor exponent it is an integer.
  mutating func number() throws(EncodingError) -> JSON {
    let start = position
    var isInteger = true
    _ = skip(UInt8(ascii: "-"))
    let firstDigit = position
    try digits()
    guard bytes[firstDigit] != UInt8(ascii: "0") || position == firstDigit + 1 else {
      throw error(.notCanonical, at: firstDigit, "a number with a leading zero")
    }
    if skip(UInt8(ascii: ".")) {
      isInteger = false
      try digits()
    }
    if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
      isInteger = false
      if !skip(UInt8(ascii: "-")) { _ = skip(UInt8(ascii: "+")) }
      try digits()
    }
    let spelling = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger {
      guard let value = Int64(spelling) else { throw error(.outOfRange, at: start, "an integer beyond 64 bits") }
      return .int(value)
    }
    guard let value = Double(spelling), value.isFinite else {
      throw error(.outOfRange, at: start, "a number beyond a double")
    }
    return .double(value)
  }

  private mutating func digits() throws(EncodingError) {
    let start = position
    while let byte = current, UInt8(ascii: "0") <= byte, byte <= UInt8(ascii: "9") { position += 1 }
    guard position > start else { throw unexpected("a digit") }
  }

  // MARK: Strings

  /// From quote to quote, escapes resolved.
  mutating func string() throws(EncodingError) -> String {
    let start = position
    try expect(UInt8(ascii: "\""), "a string")
    var content: [UInt8] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        guard let text = String(validating: content, as: UTF8.self) else {
          throw error(.invalidCharacter, at: start, "a string that is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"):
        try escape(into: &content)
      case 0x00..<0x20:
        throw error(.invalidCharacter, at: position, "a control character that is not escaped")
      default:
        content.append(byte)
        position += 1
      }
    }
    throw unexpected("'\"'")
  }

  private mutating func escape(into content: inout [UInt8]) throws(EncodingError) {
    position += 1
    switch current {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(bytes[position])
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"):
      content.append(contentsOf: String(Character(try codePoint())).utf8)
      return
    default: throw unexpected("an escape")
    }
    position += 1
  }

  /// What follows the backslash: `u` and four hexadecimal digits, or a surrogate pair `uD83D\uDE00` as one scalar.
  private mutating func codePoint() throws(EncodingError) -> Unicode.Scalar {
    let start = position - 1
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(first), skip(UInt8(ascii: "\\")), current == UInt8(ascii: "u") else {
      throw error(.outOfRange, at: start, "a lone surrogate")
    }
    let second = try codeUnit()
    guard UTF16.isTrailSurrogate(second) else { throw error(.outOfRange, at: start, "a lone surrogate") }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  /// `u` and four hexadecimal digits.
  private mutating func codeUnit() throws(EncodingError) -> UInt16 {
    position += 1
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Hex.value(of: byte) else { throw unexpected("a hexadecimal digit") }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}

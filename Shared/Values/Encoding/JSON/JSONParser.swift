extension JSON {
  /// What the parser accepts from a stranger.
  public struct Limits: Hashable, Sendable {
    /// UTF-8 bytes of the whole text.
    public var bytes: Int
    /// Nested arrays and objects; also bounds the parser's stack.
    public var depth: Int

    public static let standard = Limits(bytes: 1 << 20, depth: 32)

    public init(bytes: Int, depth: Int) {
      precondition(bytes > 0 && depth > 0, "JSON limits must be positive")
      self.bytes = bytes
      self.depth = depth
    }
  }

  /// Reads exactly one value (RFC 8259). Refuses what the RFC leaves open: repeated names, lone surrogates, integers
  /// beyond 64 bits, numbers beyond a double, invalid UTF-8, anything after the value.
  public static func parse(_ text: String, limits: Limits = .standard) throws(EncodingError) -> JSON {
    try parse(Array(text.utf8), limits: limits)
  }

  /// `parse(_:limits:)` of UTF-8 bytes.
  public static func parse(_ bytes: [UInt8], limits: Limits = .standard) throws(EncodingError) -> JSON {
    guard bytes.count <= limits.bytes else {
      throw EncodingError(
        .limitExceeded, format: "JSON", offset: limits.bytes, "\(bytes.count) bytes are more than \(limits.bytes)")
    }
    var parser = JSONParser(bytes: bytes, depthLeft: limits.depth)
    return try parser.document()
  }
}

/// A recursive-descent reader; its depth is bounded by `depthLeft`.
struct JSONParser {
  let bytes: [UInt8]
  var position = 0
  var depthLeft: Int

  init(bytes: [UInt8], depthLeft: Int) {
    self.bytes = bytes
    self.depthLeft = depthLeft
  }

  var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func document() throws(EncodingError) -> JSON {
    skipSpace()
    let value = try value()
    skipSpace()
    guard position == bytes.count else { throw unexpected("the end of the text") }
    return value
  }

  private mutating func value() throws(EncodingError) -> JSON {
    switch current {
    case UInt8(ascii: "{"): try object()
    case UInt8(ascii: "["): try array()
    case UInt8(ascii: "\""): .string(try string())
    case UInt8(ascii: "t"): try word("true", .bool(true))
    case UInt8(ascii: "f"): try word("false", .bool(false))
    case UInt8(ascii: "n"): try word("null", .null)
    case UInt8(ascii: "-"): try number()
    case let byte? where UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9"): try number()
    default: throw unexpected("a value")
    }
  }

  private mutating func array() throws(EncodingError) -> JSON {
    try descend()
    var elements: [JSON] = []
    if !skip(UInt8(ascii: "]")) {
      repeat {
        skipSpace()
        elements.append(try value())
        skipSpace()
      } while skip(UInt8(ascii: ","))
      try expect(UInt8(ascii: "]"), "',' or ']'")
    }
    depthLeft += 1
    return .array(elements)
  }

  private mutating func object() throws(EncodingError) -> JSON {
    try descend()
    var members: [JSON.Object.Member] = []
    var names: Set<String> = []
    if !skip(UInt8(ascii: "}")) {
      repeat {
        skipSpace()
        let start = position
        guard current == UInt8(ascii: "\"") else { throw unexpected("a member's name") }
        let name = try string()
        guard names.insert(name).inserted else { throw error(.notCanonical, at: start, "a repeated name") }
        skipSpace()
        try expect(UInt8(ascii: ":"), "':'")
        skipSpace()
        members.append(JSON.Object.Member(name, try value()))
        skipSpace()
      } while skip(UInt8(ascii: ","))
      try expect(UInt8(ascii: "}"), "',' or '}'")
    }
    depthLeft += 1
    return .object(JSON.Object(distinct: members))
  }

  /// Past the opening bracket and any space behind it.
  private mutating func descend() throws(EncodingError) {
    guard depthLeft > 0 else { throw error(.limitExceeded, at: position, "nested too deeply") }
    depthLeft -= 1
    position += 1
    skipSpace()
  }

  private mutating func word(_ spelling: String, _ value: JSON) throws(EncodingError) -> JSON {
    for byte in spelling.utf8 { try expect(byte, "'\(spelling)'") }
    return value
  }
}

// MARK: Single characters

extension JSONParser {
  mutating func skip(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  mutating func expect(_ byte: UInt8, _ what: String) throws(EncodingError) {
    guard skip(byte) else { throw unexpected(what) }
  }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  func unexpected(_ expected: String) -> EncodingError {
    position < bytes.count
      ? error(.invalidCharacter, at: position, "\(expected) expected, found byte 0x\(Hex.encode([bytes[position]]))")
      : error(.invalidLength, at: position, "\(expected) expected, the text ends")
  }

  func error(_ code: EncodingError.Code, at offset: Int, _ problem: String) -> EncodingError {
    EncodingError(code, format: "JSON", offset: offset, problem)
  }
}

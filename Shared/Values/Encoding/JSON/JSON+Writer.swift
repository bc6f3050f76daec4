extension JSON {
  /// Compact and deterministic: no white space, members in their order, the shortest escapes, doubles by their
  /// shortest round-trip spelling. A double that is not finite has no JSON spelling and becomes `null`.
  public func encoded() -> String { String(decoding: encodedBytes(), as: UTF8.self) }

  /// `encoded()` as UTF-8.
  public func encodedBytes() -> [UInt8] {
    var output: [UInt8] = []
    write(into: &output)
    return output
  }

  private func write(into output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .int(let value): output.append(contentsOf: String(value).utf8)
    case .double(let value): output.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
    case .string(let value): Self.write(value, into: &output)
    case .array(let elements): Self.write(elements, into: &output)
    case .object(let object): Self.write(object, into: &output)
    }
  }

  private static func write(_ elements: [JSON], into output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      element.write(into: &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private static func write(_ object: Object, into output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in object.members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      write(member.name, into: &output)
      output.append(UInt8(ascii: ":"))
      member.value.write(into: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  private static func write(_ text: String, into output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): output.append(contentsOf: #"\""#.utf8)
      case UInt8(ascii: "\\"): output.append(contentsOf: #"\\"#.utf8)
      case 0x08: output.append(contentsOf: #"\b"#.utf8)
      case 0x09: output.append(contentsOf: #"\t"#.utf8)
      case 0x0A: output.append(contentsOf: #"\n"#.utf8)
      case 0x0C: output.append(contentsOf: #"\f"#.utf8)
      case 0x0D: output.append(contentsOf: #"\r"#.utf8)
      case 0x00..<0x20: output.append(contentsOf: (#"\u00"# + Hex.encode([byte])).utf8)
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }
}

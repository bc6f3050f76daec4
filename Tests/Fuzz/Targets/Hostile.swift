import CaravanCompression
import CaravanWire

/// Bytes that are cheap to send and dear to read, for whatever decoder: each is a pattern, again and again.
public enum Hostile {
  public static func inputs(bytes count: Int) -> [(name: String, bytes: [UInt8])] {
    patterns.map { ($0.name, repeated($0.bytes, count)) } + [
      ("nested lists", [UInt8](repeating: UInt8(ascii: "["), count: count)),
      ("empty lists", Array("[".utf8) + repeated(Array("[],".utf8), count - 4) + Array("[]]".utf8)),
      ("empty objects", Array("[".utf8) + repeated(Array("{},".utf8), count - 4) + Array("{}]".utf8)),
      ("numbers", Array("[".utf8) + repeated(Array("0,".utf8), count - 3) + Array("0]".utf8)),
      ("parentheses", [UInt8](repeating: UInt8(ascii: "("), count: count)),
    ]
  }

  static func repeated(_ pattern: [UInt8], _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count + pattern.count <= count { bytes += pattern }
    return bytes
  }

  /// Fields 1 to 15 of a message: empty, with one empty field in it, of numbers, packed; and fields nobody knows.
  private static let patterns: [(name: String, bytes: [UInt8])] = {
    var patterns: [(name: String, bytes: [UInt8])] = [
      ("unknown numbers", [0xf8, 0xff, 0x03, 1]), ("unknown bytes", [0xfa, 0xff, 0x03, 0]), ("zeros", [0]),
      ("ones", [0xff]), ("quotes", [UInt8(ascii: "\"")]), ("letters", [UInt8(ascii: "a")]),
      ("commas", [UInt8(ascii: "a"), UInt8(ascii: ",")]), ("percent", Array("%41".utf8)), ("lines", Array("a\n".utf8)),
      ("queries", Array("/?a=b&".utf8)),
    ]
    for field in 1...15 as ClosedRange<UInt8> {
      let (number, bytes, fixed) = (field << 3, field << 3 | 2, field << 3 | 1)
      patterns.append(("empty field \(field)", [bytes, 0]))
      patterns.append(("number \(field)", [number, 1]))
      patterns.append(("fixed \(field)", [fixed, 0, 0, 0, 0, 0, 0, 0, 0]))
      patterns.append(("packed \(field)", [bytes, 120] + [UInt8](repeating: 1, count: 120)))
      for inner in 1...9 as ClosedRange<UInt8> {
        patterns.append(("\(inner) in \(field)", [bytes, 2, inner << 3 | 2, 0]))
        let many = repeated([inner << 3 | 2, 0], 120)
        patterns.append(("many \(inner) in \(field)", [bytes, 120] + many))
        patterns.append(("many in \(inner) in \(field)", [bytes, 122, inner << 3 | 2, 120] + many))
      }
    }
    return patterns
  }()

  static func compressed(_ plain: [UInt8]) -> [UInt8] {
    Frame(compression: .zstd, plainBytes: UInt32(plain.count), body: Samples.compressed(plain)).encoded()
  }
}

extension FuzzTarget {
  /// For this decoder alone, beside those for all.
  public func hostile(bytes count: Int) -> [(name: String, bytes: [UInt8])] {
    switch name {
    case "frame":
      let floods: [(String, [UInt8])] = [
        ("operations", [0x12, 0]), ("pushes of nothing", [0x12, 4, 0x1a, 2, 0x2a, 0]), ("numbers", [0x08, 1]),
        ("zeros", [0]), ("unknown", [0xf8, 0xff, 0x03, 1]),
      ]
      return floods.map { ("compressed \($0.0)", Hostile.compressed(Hostile.repeated($0.1, count))) }
    case "zstd", "patch": return [("bomb", Samples.compressed([UInt8](repeating: 0, count: count)))]
    case "wire":
      // Each message in turn: the first two bytes choose it.
      return (0..<WireMessages.all.count).map { number in
        let head = [UInt8(number & 0xff), UInt8(number >> 8)]
        let pattern = [UInt8(1 + number % 15) << 3 | 2, 0]
        return ("message \(number)", head + Hostile.repeated(pattern, count >> 4))
      }
    default: return []
    }
  }
}

import Foundation

/// Pictures for who has none at hand: colour gradients as PNG files.
enum SamplePictures {
  static func make(in folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (index, name) in ["dawn", "meadow", "harbour", "dusk"].enumerated() {
      let url = URL(fileURLWithPath: folder).appendingPathComponent("\(name).png")
      try picture(number: index, side: 320).write(to: url)
    }
  }

  private static func picture(number: Int, side: Int) -> Data {
    var pixels: [UInt8] = []
    for y in 0..<side {
      pixels.append(0)  // no filter
      for x in 0..<side {
        let values = [x * 255 / side, y * 255 / side, (x * y / side + number * 64) & 255]
        pixels += (0..<3).map { UInt8(values[($0 + number) % 3]) }
      }
    }
    return png(side: side, pixels)
  }

  /// PNG (RFC 2083) of 8-bit RGB rows, each behind its filter byte; the data is stored, not deflated.
  private static func png(side: Int, _ pixels: [UInt8]) -> Data {
    var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    file += chunk("IHDR", bigEndian(UInt32(side)) + bigEndian(UInt32(side)) + [8, 2, 0, 0, 0])
    file += chunk("IDAT", zlibStored(pixels))
    file += chunk("IEND", [])
    return Data(file)
  }

  private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    return bigEndian(UInt32(data.count)) + body + bigEndian(crc(body))
  }

  /// RFC 1950 and 1951, stored blocks.
  private static func zlibStored(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: bytes.count, by: 65_535) {
      let block = bytes[start..<min(start + 65_535, bytes.count)]
      let length = UInt16(block.count)
      out.append(start + block.count == bytes.count ? 1 : 0)
      for word in [length, ~length] { out += [UInt8(word & 255), UInt8(word >> 8)] }
      out += block
    }
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return out + bigEndian(b << 16 | a)
  }

  /// CRC-32 of ISO 3309, as PNG has it.
  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    var sum = ~UInt32(0)
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
    return ~sum
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }
}

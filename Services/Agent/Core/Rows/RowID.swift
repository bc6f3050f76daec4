/// Ids of rows: 16 bytes in lower-case base32 with the extended hex alphabet (RFC 4648 §7), whose text sorts as the
/// bytes do. Without a primary key they are 48 bits of wall-clock milliseconds and 80 random ones, so new rows come in
/// ascending order; with one, they are derived from the key (SIM-33).
public enum RowID {
  public static let byteCount = 16
  public static let textCount = 26
  private static let symbols = Array("0123456789abcdefghijklmnopqrstuv".utf8)

  /// - Parameters:
  ///   - milliseconds: Unix time.
  ///   - random: 10 bytes or more.
  public static func make(milliseconds: Int64, random: [UInt8]) -> String {
    precondition(random.count >= 10, "a row id needs 80 random bits")
    let time = UInt64(bitPattern: max(0, milliseconds))
    let head = (0..<6).map { UInt8(truncatingIfNeeded: time >> UInt64(8 * (5 - $0))) }
    return text(head + random.prefix(10))
  }

  /// - Parameter digest: of the key; the first 16 bytes count.
  public static func make(digest: [UInt8]) -> String {
    precondition(digest.count >= byteCount, "a digest of \(digest.count) bytes is too short for a row id")
    return text(Array(digest.prefix(byteCount)))
  }

  private static func text(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(textCount)
    var (pending, bits): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        out.append(symbols[Int(pending >> bits & 31)])
      }
    }
    out.append(symbols[Int(pending << (5 - bits) & 31)])
    return String(decoding: out, as: UTF8.self)
  }
}

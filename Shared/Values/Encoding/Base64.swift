/// Base64 of RFC 4648: §4 with padding (`encode`, `decode`), §5 URL-safe without padding (`encodeURL`, `decodeURL`).
public enum Base64 {
  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  private static let standard = BitAlphabet(format: "base64", bits: 6, symbols: letters + "+/")
  private static let urlSafe = BitAlphabet(format: "base64url", bits: 6, symbols: letters + "-_")
  private static let padding = UInt8(ascii: "=")

  public static func encode(_ bytes: [UInt8]) -> String {
    var characters = standard.encode(bytes)
    while !characters.count.isMultiple(of: 4) { characters.append(padding) }
    return String(decoding: characters, as: UTF8.self)
  }

  /// Padding is required; white space and the URL-safe alphabet are refused.
  public static func decode(_ text: String) throws(EncodingError) -> [UInt8] {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 4) else {
      throw EncodingError(
        .invalidLength, format: standard.format, offset: characters.count,
        "length \(characters.count) is not a multiple of 4: padding is missing")
    }
    var end = characters.count
    while end > 0, end > characters.count - 2, characters[end - 1] == padding { end -= 1 }
    return try standard.decode(characters[..<end])
  }

  public static func encodeURL(_ bytes: [UInt8]) -> String {
    String(decoding: urlSafe.encode(bytes), as: UTF8.self)
  }

  /// Padding and the standard alphabet's `+` and `/` are refused.
  public static func decodeURL(_ text: String) throws(EncodingError) -> [UInt8] {
    try urlSafe.decode(Array(text.utf8)[...])
  }
}

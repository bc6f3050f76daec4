/// Base32 of RFC 4648 §6: upper case, no padding. The spelling of nkeys and of JWT ids.
public enum Base32 {
  private static let alphabet = BitAlphabet(format: "base32", bits: 5, symbols: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

  public static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: alphabet.encode(bytes), as: UTF8.self)
  }

  /// Refuses lower case, padding, impossible lengths and unused bits that are set.
  public static func decode(_ text: String) throws(EncodingError) -> [UInt8] {
    try alphabet.decode(Array(text.utf8)[...])
  }
}

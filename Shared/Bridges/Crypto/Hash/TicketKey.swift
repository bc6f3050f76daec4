/// The secret behind a ticket's MAC: whoever holds it can issue and check tickets, nobody else can do either.
public struct TicketKey: Hashable, Sendable {
  public static let byteCount = 32
  /// Bytes of a MAC: HMAC-SHA256 cut to its left half (RFC 2104 §5).
  public static let macByteCount = 16

  /// The secret itself, for whoever stores it.
  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.byteCount else {
      throw CryptoError(.invalidKey, "a ticket key has 32 bytes, found \(bytes.count)")
    }
    self.bytes = bytes
  }

  public static func generate() throws(CryptoError) -> TicketKey {
    try TicketKey(SecureRandom.bytes(byteCount))
  }

  /// 16 bytes.
  public func mac(over message: [UInt8]) -> [UInt8] {
    Array(HMACSHA256.authenticate(message, key: bytes).bytes.prefix(Self.macByteCount))
  }

  /// In constant time; a MAC of any other length is refused.
  public func verify(_ mac: [UInt8], over message: [UInt8]) -> Bool {
    constantTimeEqual(mac, self.mac(over: message))
  }
}

extension TicketKey: CustomStringConvertible {
  /// Never the secret.
  public var description: String { "TicketKey(secret)" }
}

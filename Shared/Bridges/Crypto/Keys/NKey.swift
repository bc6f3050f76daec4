internal import CaravanEncoding

/// An Ed25519 key in NATS dress: a kind, and base32 texts with a checksum. This one can sign.
///
/// Layout (nats-io/nkeys): public = base32(kind byte, key, CRC-16 little-endian); seed = base32('S' and kind folded
/// into two bytes, seed, CRC-16 little-endian).
public struct NKey: Hashable, Sendable {
  public let publicKey: PublicNKey
  private let key: Ed25519PrivateKey

  public var kind: NKeyKind { publicKey.kind }

  public init(_ kind: NKeyKind, _ key: Ed25519PrivateKey) {
    self.key = key
    publicKey = PublicNKey(kind, key.publicKey)
  }

  public static func generate(_ kind: NKeyKind) throws(CryptoError) -> NKey {
    try NKey(kind, Ed25519PrivateKey.generate())
  }

  /// Reads a seed text ("SO…", "SA…", "SU…").
  public init(seed text: String) throws(CryptoError) {
    let bytes = try NKeyText.decode(text, byteCount: 2 + Ed25519PrivateKey.seedByteCount, what: "seed")
    guard bytes[0] & 0xF8 == NKeyText.seedPrefix else {
      throw CryptoError(.invalidKey, "nkey seed: must start with 'S'; is this a public key?")
    }
    guard let kind = NKeyKind(rawValue: bytes[0] << 5 | bytes[1] >> 3), bytes[1] & 0x07 == 0 else {
      throw CryptoError(.invalidKey, "nkey seed: must be of an operator (SO), account (SA) or user (SU)")
    }
    try self.init(kind, Ed25519PrivateKey(seed: Array(bytes[2...])))
  }

  /// The secret as text.
  public var seedText: String {
    NKeyText.encode([NKeyText.seedPrefix | kind.rawValue >> 5, kind.rawValue << 3] + key.seed)
  }

  /// 64 bytes.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] { try key.sign(message) }
}

extension NKey: CustomStringConvertible {
  /// The public key, never the seed.
  public var description: String { "NKey(secret of \(publicKey))" }
}

/// Whose key it is; the raw value is the prefix byte that makes the text start with O, A or U.
public enum NKeyKind: UInt8, Hashable, Sendable, CaseIterable {
  case `operator` = 112
  case account = 0
  case user = 160
}

extension NKeyKind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .operator: "operator"
    case .account: "account"
    case .user: "user"
    }
  }
}

/// The public half of an `NKey`: what is written into tokens and configurations. Its description is its text.
public struct PublicNKey: Hashable, Sendable {
  public let kind: NKeyKind
  public let key: Ed25519PublicKey

  public init(_ kind: NKeyKind, _ key: Ed25519PublicKey) {
    self.kind = kind
    self.key = key
  }

  /// Reads a public text ("O…", "A…", "U…"), of that kind if one is given.
  public init(_ text: String, kind expected: NKeyKind? = nil) throws(CryptoError) {
    let bytes = try NKeyText.decode(text, byteCount: 1 + Ed25519PublicKey.byteCount, what: "public key")
    guard let kind = NKeyKind(rawValue: bytes[0]) else {
      throw CryptoError(.invalidKey, "nkey public key: must be of an operator (O), account (A) or user (U)")
    }
    guard expected == nil || expected == kind else {
      throw CryptoError(.invalidKey, "nkey public key: expected \(expected ?? kind), found \(kind)")
    }
    try self.init(kind, Ed25519PublicKey(Array(bytes[1...])))
  }

  public var text: String { NKeyText.encode([kind.rawValue] + key.bytes) }

  public func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool { key.verify(signature, over: message) }
}

extension PublicNKey: CustomStringConvertible {
  public var description: String { text }
}

/// Base32 with a CRC-16 behind the bytes.
enum NKeyText {
  static let seedPrefix: UInt8 = 18 << 3

  static func encode(_ bytes: [UInt8]) -> String {
    let crc = CRC16.xmodem(bytes)
    return Base32.encode(bytes + [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)])
  }

  /// The bytes before the checksum. The text itself stays out of errors: it may be a secret.
  static func decode(_ text: String, byteCount: Int, what: String) throws(CryptoError) -> [UInt8] {
    let bytes: [UInt8]
    do { bytes = try Base32.decode(text) } catch { throw CryptoError(.invalidKey, "nkey \(what): \(error)") }
    guard bytes.count == byteCount + 2 else {
      throw CryptoError(.invalidKey, "nkey \(what): \(byteCount + 2) bytes expected, found \(bytes.count)")
    }
    let content = Array(bytes[..<byteCount])
    guard CRC16.xmodem(content) == UInt16(bytes[byteCount]) | UInt16(bytes[byteCount + 1]) << 8 else {
      throw CryptoError(.invalidKey, "nkey \(what): wrong checksum; a character was changed")
    }
    return content
  }
}

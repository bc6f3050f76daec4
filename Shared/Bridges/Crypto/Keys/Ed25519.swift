internal import CCaravanOpenSSL
internal import CaravanEncoding

/// A signing key of RFC 8032, kept as its seed. libcrypto's handle lives for one call only.
public struct Ed25519PrivateKey: Hashable, Sendable {
  public static let seedByteCount = 32

  public let seed: [UInt8]
  public let publicKey: Ed25519PublicKey

  public init(seed: [UInt8]) throws(CryptoError) {
    guard seed.count == Self.seedByteCount else {
      throw CryptoError(.invalidKey, "an Ed25519 seed has 32 bytes, found \(seed.count)")
    }
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
      throw .library("EVP_PKEY_new_raw_private_key")
    }
    defer { EVP_PKEY_free(key) }
    var publicBytes = [UInt8](repeating: 0, count: Ed25519PublicKey.byteCount)
    var count = publicBytes.count
    guard EVP_PKEY_get_raw_public_key(key, &publicBytes, &count) == 1 else {
      throw .library("EVP_PKEY_get_raw_public_key")
    }
    self.seed = seed
    publicKey = try Ed25519PublicKey(publicBytes)
  }

  public static func generate() throws(CryptoError) -> Ed25519PrivateKey {
    try Ed25519PrivateKey(seed: SecureRandom.bytes(seedByteCount))
  }

  /// 64 bytes; the same message always gets the same signature.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
      throw .library("EVP_PKEY_new_raw_private_key")
    }
    defer { EVP_PKEY_free(key) }
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureByteCount)
    var count = signature.count
    guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { throw .library("EVP_DigestSign") }
    return signature
  }
}

extension Ed25519PrivateKey: CustomStringConvertible {
  /// Never the seed.
  public var description: String { "Ed25519PrivateKey(secret of \(publicKey))" }
}

/// A verification key of RFC 8032: its 32 bytes.
public struct Ed25519PublicKey: Hashable, Sendable {
  public static let byteCount = 32
  public static let signatureByteCount = 64

  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.byteCount else {
      throw CryptoError(.invalidKey, "an Ed25519 public key has 32 bytes, found \(bytes.count)")
    }
    self.bytes = bytes
  }

  /// False for a signature that does not hold, whatever the reason.
  public func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool {
    guard signature.count == Self.signatureByteCount,
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
    else { return false }
    defer { EVP_PKEY_free(key) }
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    let holds =
      EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    ERR_clear_error()
    return holds
  }
}

extension Ed25519PublicKey: CustomStringConvertible {
  public var description: String { Hex.encode(bytes) }
}

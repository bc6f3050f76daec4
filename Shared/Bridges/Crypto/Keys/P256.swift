internal import CCaravanOpenSSL

/// A key of the curve P-256 (FIPS 186-5), kept as its number. libcrypto's handle lives for one call only.
public struct P256PrivateKey: Hashable, Sendable {
  public static let byteCount = 32

  /// The secret itself, big-endian, for whoever stores it.
  public let bytes: [UInt8]
  public let publicKey: P256PublicKey

  /// - Throws: `invalidKey` for what is no number of the curve.
  public init(_ bytes: [UInt8]) throws(CryptoError) {
    let handle = try Self.handle(bytes)
    defer { EVP_PKEY_free(handle) }
    self.bytes = bytes
    publicKey = try P256PublicKey(handle)
  }

  /// A new one, from the system's entropy.
  public static func generate() throws(CryptoError) -> P256PrivateKey {
    while true {
      // Fewer than one in 2³² numbers of 256 bits is none of the curve.
      if let key = try? P256PrivateKey(SecureRandom.bytes(byteCount)) { return key }
    }
  }

  /// ECDSA over SHA-256 as JSON Web Signature has it (RFC 7518 §3.4): r and s, of 32 bytes each.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let handle = try Self.handle(bytes)
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      EVP_PKEY_free(handle)
    }
    var der = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(handle)))
    var count = der.count
    guard EVP_DigestSignInit(context, nil, SHA256.algorithm, nil, handle) == 1,
      EVP_DigestSign(context, &der, &count, message, message.count) == 1
    else { throw .library("EVP_DigestSign") }
    let signature = der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &start, count)
    }
    guard let signature else { throw .library("d2i_ECDSA_SIG") }
    defer { ECDSA_SIG_free(signature) }
    var numbers = [UInt8](repeating: 0, count: 2 * Self.byteCount)
    let areWritten = numbers.withUnsafeMutableBufferPointer { buffer in
      BN_bn2binpad(ECDSA_SIG_get0_r(signature), buffer.baseAddress, Int32(Self.byteCount)) >= 0
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), buffer.baseAddress! + Self.byteCount, Int32(Self.byteCount)) >= 0
    }
    guard areWritten else { throw .library("BN_bn2binpad") }
    return numbers
  }

  /// The secret that this key and another's public key agree on (ECDH, NIST SP 800-56A): 32 bytes.
  public func sharedSecret(with other: P256PublicKey) throws(CryptoError) -> [UInt8] {
    let own = try Self.handle(bytes)
    defer { EVP_PKEY_free(own) }
    let peer = try other.handle()
    defer { EVP_PKEY_free(peer) }
    let context = EVP_PKEY_CTX_new(own, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var secret = [UInt8](repeating: 0, count: Self.byteCount)
    var count = secret.count
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1,
      EVP_PKEY_derive(context, &secret, &count) == 1, count == Self.byteCount
    else { throw .library("EVP_PKEY_derive") }
    return secret
  }

  /// The caller frees it. ECPrivateKey of RFC 5915, of the curve by name, without the public key.
  private static func handle(_ bytes: [UInt8]) throws(CryptoError) -> OpaquePointer {
    guard bytes.count == byteCount else {
      throw CryptoError(.invalidKey, "a key of P-256 has 32 bytes, found \(bytes.count)")
    }
    let head: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    let der = head + bytes + [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    let key = der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, buffer.count)
    }
    guard let key else { throw .library("d2i_PrivateKey", code: .invalidKey) }
    let context = EVP_PKEY_CTX_new(key, nil)
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_private_check(context) == 1 else {
      EVP_PKEY_free(key)
      throw .library("EVP_PKEY_private_check", code: .invalidKey)
    }
    return key
  }
}

extension P256PrivateKey: CustomStringConvertible {
  /// Never the secret.
  public var description: String { "P256PrivateKey(secret)" }
}

/// A point of the curve P-256.
public struct P256PublicKey: Hashable, Sendable {
  public static let byteCount = 65

  /// Uncompressed: 4, x, y.
  public let bytes: [UInt8]

  /// SubjectPublicKeyInfo of RFC 5480, up to the point.
  private static let head: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// - Throws: `invalidKey` for what is no point of the curve.
  public init(_ bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.byteCount, bytes[0] == 4 else {
      throw CryptoError(.invalidKey, "a public key of P-256 has 65 bytes that begin with 4, found \(bytes.count)")
    }
    self.bytes = bytes
    EVP_PKEY_free(try handle())
  }

  init(_ handle: OpaquePointer) throws(CryptoError) {
    var start: UnsafeMutablePointer<UInt8>?
    let count = Int(i2d_PUBKEY(handle, &start))
    guard count == Self.head.count + Self.byteCount, let start else { throw .library("i2d_PUBKEY") }
    defer { CRYPTO_free(start, #file, #line) }
    bytes = Array(UnsafeBufferPointer(start: start + Self.head.count, count: Self.byteCount))
  }

  /// Whether the key of this point signed the message; `signature` as `P256PrivateKey.sign` gives it.
  public func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool {
    guard signature.count == 2 * P256PrivateKey.byteCount, let key = try? handle(), let numbers = ECDSA_SIG_new()
    else { return false }
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ECDSA_SIG_free(numbers)
      EVP_PKEY_free(key)
      ERR_clear_error()
    }
    let half = Int32(P256PrivateKey.byteCount)
    let (r, s) = signature.withUnsafeBufferPointer { buffer in
      (BN_bin2bn(buffer.baseAddress, half, nil), BN_bin2bn(buffer.baseAddress! + Int(half), half, nil))
    }
    guard ECDSA_SIG_set0(numbers, r, s) == 1 else { return false }
    var der: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(numbers, &der)
    guard count > 0, let der else { return false }
    defer { CRYPTO_free(der, #file, #line) }
    return EVP_DigestVerifyInit(context, nil, SHA256.algorithm, nil, key) == 1
      && EVP_DigestVerify(context, der, Int(count), message, message.count) == 1
  }

  /// The caller frees it.
  func handle() throws(CryptoError) -> OpaquePointer {
    let der = Self.head + bytes
    let key = der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_PUBKEY(nil, &start, buffer.count)
    }
    guard let key else { throw .library("d2i_PUBKEY", code: .invalidKey) }
    return key
  }
}

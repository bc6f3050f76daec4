internal import CCaravanOpenSSL

/// AES of 128 bits in Galois/Counter Mode (NIST SP 800-38D), with a tag of 16 bytes at the end.
public enum AES128GCM {
  public static let keyByteCount = 16
  public static let nonceByteCount = 12
  public static let tagByteCount = 16

  /// - Parameter nonce: never used twice with a key.
  /// - Returns: as many bytes as the text, and the tag.
  public static func seal(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
    try check(key, nonce)
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: text.count + tagByteCount)
    var count: Int32 = 0
    var rest: Int32 = 0
    guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      EVP_EncryptUpdate(context, &sealed, &count, text, Int32(text.count)) == 1,
      EVP_EncryptFinal_ex(context, nil, &rest) == 1, Int(count + rest) == text.count
    else { throw .library("EVP_EncryptFinal_ex") }
    let hasTag = sealed.withUnsafeMutableBufferPointer { buffer in
      EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), buffer.baseAddress! + text.count) == 1
    }
    guard hasTag else { throw .library("EVP_CIPHER_CTX_ctrl") }
    return sealed
  }

  /// - Returns: the text; nil: it was sealed with another key or nonce, or has been changed.
  public static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8]? {
    try check(key, nonce)
    guard sealed.count >= tagByteCount else { return nil }
    let context = EVP_CIPHER_CTX_new()
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    var tag = Array(sealed.suffix(tagByteCount))
    let length = sealed.count - tagByteCount
    var text = [UInt8](repeating: 0, count: length + 1)
    var count: Int32 = 0
    var rest: Int32 = 0
    guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      EVP_DecryptUpdate(context, &text, &count, sealed, Int32(length)) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag) == 1,
      EVP_DecryptFinal_ex(context, nil, &rest) == 1
    else { return nil }
    return Array(text.prefix(length))
  }

  private static func check(_ key: [UInt8], _ nonce: [UInt8]) throws(CryptoError) {
    guard key.count == keyByteCount, nonce.count == nonceByteCount else {
      throw CryptoError(.invalidKey, "AES-128-GCM takes a key of 16 bytes and a nonce of 12")
    }
  }
}

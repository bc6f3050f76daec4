internal import CCaravanOpenSSL

/// What a key, token or certificate operation can fail with. Nothing here is worth a retry.
public struct CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Hashable, Sendable {
    /// A key, seed or nkey text that is malformed or of the wrong kind.
    case invalidKey
    /// A token, creds file or claim that is malformed or breaks a rule of its kind.
    case invalidToken
    /// A well-formed token whose signature does not hold.
    case invalidSignature
    /// A token outside its time.
    case expired
    /// A certificate, its key or a name for it that is malformed.
    case invalidCertificate
    /// libcrypto refused something it should never refuse: out of memory, no entropy, a broken build.
    case library
  }

  public let code: Code
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}

extension CryptoError {
  /// The failed call with libcrypto's own reason, whose per-thread queue is emptied.
  static func library(_ call: String, code: Code = .library) -> CryptoError {
    let reason = ERR_peek_last_error()
    ERR_clear_error()
    guard reason != 0 else { return CryptoError(code, "\(call) failed") }
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(reason, &text, text.count)
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return CryptoError(code, "\(call) failed: \(String(decoding: bytes, as: UTF8.self))")
  }
}

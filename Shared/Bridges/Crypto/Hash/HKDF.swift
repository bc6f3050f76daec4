/// Keys derived from a secret (RFC 5869), with SHA-256.
public enum HKDFSHA256 {
  /// - Parameter count: of bytes, up to 32: one block is all that is needed here.
  public static func derive(secret: [UInt8], salt: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
    precondition((1...SHA256Digest.byteCount).contains(count), "\(count) bytes are not one block")
    let pseudorandom = HMACSHA256.authenticate(secret, key: salt).bytes
    return Array(HMACSHA256.authenticate(info + [1], key: pseudorandom).bytes.prefix(count))
  }
}

internal import CCaravanOpenSSL

/// libcrypto's generator: for keys and secrets only. What a simulation must replay draws from the host's source.
public enum SecureRandom {
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    precondition(count >= 0 && count <= Int(Int32.max), "\(count) random bytes")
    var output = [UInt8](repeating: 0, count: count)
    guard RAND_bytes(&output, Int32(count)) == 1 else { throw .library("RAND_bytes") }
    return output
  }
}

/// Equality that takes the same time wherever the inputs differ. Their lengths are not secret.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}

internal import CCaravanOpenSSL

/// SHA-256 (FIPS 180-4), incremental. Feed with `update`, end with `finalize`; or `SHA256.hash` for bytes at hand.
///
/// `@unchecked Sendable` is safe because the value is the context's only owner and cannot be copied, so two threads can
/// never use it at once: "most objects are not safe for simultaneous use" (openssl-threads(7)), one after the other is.
public struct SHA256: ~Copyable, @unchecked Sendable {
  /// Fetched once: looking the algorithm up costs more than hashing a short text. `nonisolated(unsafe)` is safe because
  /// it is only ever passed as `const EVP_MD *`: "Objects are thread-safe as long as the API's being invoked don't
  /// modify the object; in this case the parameter is usually marked in the API as const" (openssl-threads(7)).
  nonisolated(unsafe) static let algorithm: OpaquePointer = {
    guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else {
      preconditionFailure("libcrypto has no SHA256: its default provider is not loaded")
    }
    return algorithm
  }()

  private let context: OpaquePointer

  public init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, Self.algorithm, nil) == 1 else {
      preconditionFailure("libcrypto cannot allocate a digest context")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    // Fails only for a finalised context, and `finalize` consumes it.
    precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "EVP_DigestUpdate failed")
  }

  public mutating func update(_ bytes: RawSpan) { bytes.withUnsafeBytes { update($0) } }
  public mutating func update(_ bytes: Span<UInt8>) { update(bytes.bytes) }
  public mutating func update(_ bytes: [UInt8]) { update(bytes.span.bytes) }
  public mutating func update(_ bytes: ArraySlice<UInt8>) { update(bytes.span.bytes) }

  public consuming func finalize() -> SHA256Digest {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SHA256Digest.byteCount) { output in
      precondition(EVP_DigestFinal_ex(context, output.baseAddress, nil) == 1, "EVP_DigestFinal_ex failed")
      return SHA256Digest(exactly: output)
    }
  }
}

extension SHA256 {
  public static func hash(_ bytes: UnsafeRawBufferPointer) -> SHA256Digest {
    var hasher = SHA256()
    hasher.update(bytes)
    return hasher.finalize()
  }

  public static func hash(_ bytes: RawSpan) -> SHA256Digest { bytes.withUnsafeBytes { hash($0) } }
  public static func hash(_ bytes: Span<UInt8>) -> SHA256Digest { hash(bytes.bytes) }
  public static func hash(_ bytes: [UInt8]) -> SHA256Digest { hash(bytes.span.bytes) }
  public static func hash(_ bytes: ArraySlice<UInt8>) -> SHA256Digest { hash(bytes.span.bytes) }
}

/// HMAC-SHA256 (RFC 2104).
public enum HMACSHA256 {
  public static func authenticate(_ message: [UInt8], key: [UInt8]) -> SHA256Digest {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SHA256Digest.byteCount) { output in
      let mac = HMAC(
        SHA256.algorithm, key, Int32(key.count), message, message.count, output.baseAddress, nil)
      precondition(mac != nil, "libcrypto cannot compute an HMAC")
      return SHA256Digest(exactly: output)
    }
  }
}

import CCaravanMicroHTTPD
public import CaravanModel

/// A server's certificate and its key.
///
/// `@unchecked Sendable` is safe because nothing changes the pair after it was read: "Read-only access to objects, for
/// example the credentials holding structures, is also thread-safe" (GnuTLS manual, Thread safety). Each connection
/// that was shown it keeps a reference (`Link`), so it is freed after the last of them.
public final class HTTPCertificate: @unchecked Sendable {
  let pair: UnsafeMutablePointer<CMicroHTTPD_Pair>

  /// - Parameters:
  ///   - certificate: PEM; those that lead to its authority follow it.
  ///   - key: PEM, not encrypted.
  /// - Throws: `invalidData` when they cannot be read or do not belong together.
  public init(certificate: String, key: String) throws(CaravanError) {
    var problem: UnsafePointer<CChar>?
    let (first, second) = (Array(certificate.utf8CString), Array(key.utf8CString))
    guard let pair = CMicroHTTPD_read_pair(first, first.count - 1, second, second.count - 1, &problem) else {
      let reason = problem.map { String(cString: $0) } ?? "no reason is known"
      throw CaravanError(.invalidData, "a certificate and its key in PEM are needed: \(reason)")
    }
    self.pair = pair
  }

  deinit { CMicroHTTPD_free_pair(pair) }
}

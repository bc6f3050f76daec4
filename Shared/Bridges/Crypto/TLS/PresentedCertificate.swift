internal import CCaravanOpenSSL

/// The certificate that a server shows to whoever speaks TLS with it, and whether it is to be trusted: for people who
/// look for what is wrong. Nothing is sent over the connection.
public struct PresentedCertificate: Hashable, Sendable {
  public let validity: CertificateValidity
  /// Why it is not trusted, in the library's words; nil: it is.
  public let complaint: String?

  /// - Parameters:
  ///   - descriptor: a connection whose server waits for TLS to begin; blocking. It is of no use afterwards.
  ///   - server: the name or numeric address the certificate should be for.
  ///   - authorityFile: of who may have signed it (PEM); nil: the system's.
  ///   - certificateFile: the client's own, with its key, where the server asks for one.
  /// - Throws: `invalidCertificate` when TLS does not begin, or a file cannot be used.
  public init(
    on descriptor: Int32, server: String, authorityFile: String?, certificateFile: String?, keyFile: String?
  ) throws(CryptoError) {
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw .library("SSL_CTX_new") }
    defer { SSL_CTX_free(context) }
    if let authorityFile {
      guard SSL_CTX_load_verify_locations(context, authorityFile, nil) == 1 else {
        throw .library("reading '\(authorityFile)'", code: .invalidCertificate)
      }
    } else {
      SSL_CTX_set_default_verify_paths(context)
    }
    if let certificateFile, let keyFile {
      guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1,
        SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1
      else { throw .library("reading '\(certificateFile)' and '\(keyFile)'", code: .invalidCertificate) }
    }
    guard let connection = SSL_new(context) else { throw .library("SSL_new") }
    defer { SSL_free(connection) }
    guard COpenSSL_expect_server(connection, server) == 1, SSL_set_fd(connection, descriptor) == 1 else {
      throw .library("SSL_set_fd")
    }
    // What is wrong with the certificate is wanted, not the end of the connection.
    SSL_set_verify(connection, SSL_VERIFY_NONE, nil)
    guard SSL_connect(connection) == 1 else { throw .library("beginning TLS", code: .invalidCertificate) }
    guard let certificate = SSL_get1_peer_certificate(connection) else {
      throw CryptoError(.invalidCertificate, "the server shows no certificate")
    }
    defer { X509_free(certificate) }
    validity = CertificateValidity(
      notBefore: COpenSSL_unix_time(X509_get0_notBefore(certificate)),
      notAfter: COpenSSL_unix_time(X509_get0_notAfter(certificate))
    )
    let verdict = SSL_get_verify_result(connection)
    complaint = verdict == Int(X509_V_OK) ? nil : String(cString: X509_verify_cert_error_string(verdict))
  }
}

internal import CCaravanOpenSSL

/// Owner of an EVP_PKEY.
struct X509Key: ~Copyable {
  let handle: OpaquePointer

  private init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { EVP_PKEY_free(handle) }

  static func generate() throws(CryptoError) -> X509Key {
    guard let handle = COpenSSL_generate_p256() else { throw .library("EVP_EC_gen") }
    return X509Key(handle)
  }

  init(pem: String) throws(CryptoError) {
    let memory = try MemoryBIO.holding(pem)
    // The empty pass phrase keeps libcrypto from asking a terminal for one.
    var noPassPhrase: CChar = 0
    guard let handle = PEM_read_bio_PrivateKey(memory.handle, nil, nil, &noPassPhrase) else {
      throw .library("private key: reading PEM", code: .invalidCertificate)
    }
    self.init(handle)
  }

  /// PKCS #8, not encrypted.
  func pem() throws(CryptoError) -> String {
    let memory = try MemoryBIO()
    guard PEM_write_bio_PKCS8PrivateKey(memory.handle, handle, nil, nil, 0, nil, nil) == 1 else {
      throw .library("PEM_write_bio_PKCS8PrivateKey")
    }
    return memory.text()
  }
}

/// Owner of an X509, being built or read.
struct X509Certificate: ~Copyable {
  let handle: OpaquePointer

  private static let serialByteCount = 16
  /// X.520's upper bound on a common name.
  private static let commonNameByteCount = 64

  private init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { X509_free(handle) }

  init(pem: String) throws(CryptoError) {
    let memory = try MemoryBIO.holding(pem)
    guard let handle = PEM_read_bio_X509(memory.handle, nil, nil, nil) else {
      throw .library("certificate: reading PEM", code: .invalidCertificate)
    }
    self.init(handle)
  }

  /// Version 3, a random serial, no issuer and no signature yet.
  static func draft(
    subject: String, key: borrowing X509Key, validity: CertificateValidity
  ) throws(CryptoError) -> X509Certificate {
    guard (1...commonNameByteCount).contains(subject.utf8.count) else {
      throw CryptoError(
        .invalidCertificate, "certificate '\(subject)': a common name has 1 to \(commonNameByteCount) bytes")
    }
    guard validity.notBefore < validity.notAfter else {
      throw CryptoError(.invalidCertificate, "certificate '\(subject)': it ends before it begins")
    }
    guard let handle = X509_new() else { throw .library("X509_new") }
    let certificate = X509Certificate(handle)
    let name = X509_get_subject_name(handle)
    guard X509_set_version(handle, Int(X509_VERSION_3)) == 1,
      X509_NAME_add_entry_by_NID(
        name, NID_commonName, MBSTRING_UTF8, Array(subject.utf8), Int32(subject.utf8.count), -1, 0) == 1,
      ASN1_TIME_set(X509_getm_notBefore(handle), Int(validity.notBefore)) != nil,
      ASN1_TIME_set(X509_getm_notAfter(handle), Int(validity.notAfter)) != nil,
      X509_set_pubkey(handle, key.handle) == 1
    else { throw .library("certificate '\(subject)'", code: .invalidCertificate) }
    try certificate.setSerial()
    return certificate
  }

  private func setSerial() throws(CryptoError) {
    var bytes = try SecureRandom.bytes(Self.serialByteCount)
    bytes[0] = bytes[0] & 0x7F | 0x40  // positive, and of full length
    let number = BN_bin2bn(bytes, Int32(bytes.count), nil)
    defer { BN_free(number) }
    guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle)) != nil else { throw .library("BN_to_ASN1_INTEGER") }
  }

  /// An extension in the syntax of x509v3_config(5).
  func add(_ kind: Int32, _ value: String, issuer: borrowing X509Certificate) throws(CryptoError) {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer.handle, handle, nil, nil, 0)
    guard let addition = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
      throw .library("certificate extension '\(value)'", code: .invalidCertificate)
    }
    defer { X509_EXTENSION_free(addition) }
    guard X509_add_ext(handle, addition, -1) == 1 else { throw .library("X509_add_ext") }
  }

  /// Whether `key` is the private half of the key in it.
  func matches(_ key: borrowing X509Key) -> Bool {
    defer { ERR_clear_error() }
    return X509_check_private_key(handle, key.handle) == 1
  }

  func sign(issuer: borrowing X509Certificate, key: borrowing X509Key) throws(CryptoError) {
    guard X509_set_issuer_name(handle, X509_get_subject_name(issuer.handle)) == 1,
      X509_sign(handle, key.handle, EVP_sha256()) > 0
    else { throw .library("X509_sign") }
  }

  func pem() throws(CryptoError) -> String {
    let memory = try MemoryBIO()
    guard PEM_write_bio_X509(memory.handle, handle) == 1 else { throw .library("PEM_write_bio_X509") }
    return memory.text()
  }
}

/// Owner of a BIO over memory: how PEM goes in and out.
private struct MemoryBIO: ~Copyable {
  let handle: OpaquePointer

  init() throws(CryptoError) {
    guard let handle = BIO_new(BIO_s_mem()) else { throw .library("BIO_new") }
    self.handle = handle
  }

  deinit { BIO_free(handle) }

  static func holding(_ text: String) throws(CryptoError) -> MemoryBIO {
    let memory = try MemoryBIO()
    let bytes = Array(text.utf8)
    // Writing nothing counts as a failure.
    guard bytes.isEmpty || BIO_write(memory.handle, bytes, Int32(bytes.count)) == bytes.count else {
      throw .library("BIO_write")
    }
    return memory
  }

  /// All that was written.
  func text() -> String {
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(handle))
    let count = BIO_read(handle, &bytes, Int32(bytes.count))
    return String(decoding: bytes.prefix(Int(max(count, 0))), as: UTF8.self)
  }
}

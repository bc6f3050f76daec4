internal import CCaravanOpenSSL

/// A certificate and its private key, PEM (X.509; PKCS #8, not encrypted): what a TLS server or client loads.
public struct CertificatePair: Hashable, Sendable, CustomStringConvertible {
  public let certificate: String
  /// A secret: mode 0600.
  public let privateKey: String

  public init(certificate: String, privateKey: String) {
    self.certificate = certificate
    self.privateKey = privateKey
  }

  /// Never the private key.
  public var description: String { "CertificatePair(\(certificate.utf8.count) bytes of PEM, secret key)" }
}

/// From when until when a certificate counts, in Unix seconds.
public struct CertificateValidity: Hashable, Sendable {
  public var notBefore: Int64
  public var notAfter: Int64

  public init(notBefore: Int64, notAfter: Int64) {
    self.notBefore = notBefore
    self.notAfter = notAfter
  }
}

/// What a certificate is for; it serves nothing else.
public enum CertificateUsage: String, Hashable, Sendable {
  case server = "serverAuth"
  case client = "clientAuth"
}

/// A name a certificate answers to.
public enum CertificateName: Hashable, Sendable {
  /// "nats.example.org", "*.example.org".
  case dns(String)
  /// "127.0.0.1", "::1".
  case ip(String)
}

/// A deployment's own authority: a self-signed EC P-256 certificate that signs servers' and clients' certificates,
/// and nothing below those.
public struct CertificateAuthority: Hashable, Sendable {
  public let pair: CertificatePair

  /// What is trusted: the certificate's PEM.
  public var certificate: String { pair.certificate }

  /// Of PEM made by `create`; it is read when something is issued.
  public init(_ pair: CertificatePair) { self.pair = pair }

  public static func create(
    commonName: String, validity: CertificateValidity
  ) throws(CryptoError) -> CertificateAuthority {
    let key = try X509Key.generate()
    let certificate = try X509Certificate.draft(subject: commonName, key: key, validity: validity)
    try certificate.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: certificate)
    try certificate.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: certificate)
    try certificate.add(NID_subject_key_identifier, "hash", issuer: certificate)
    try certificate.sign(issuer: certificate, key: key)
    return CertificateAuthority(CertificatePair(certificate: try certificate.pem(), privateKey: try key.pem()))
  }

  /// A new key and its certificate. `names` are the only names a client checks; a client certificate needs none.
  public func issue(
    _ usage: CertificateUsage, commonName: String, names: [CertificateName], validity: CertificateValidity
  ) throws(CryptoError) -> CertificatePair {
    guard usage == .client || !names.isEmpty else {
      throw CryptoError(.invalidCertificate, "certificate '\(commonName)': a server needs at least one DNS name or IP")
    }
    let authority = try X509Certificate(pem: pair.certificate)
    let authorityKey = try X509Key(pem: pair.privateKey)
    guard authority.matches(authorityKey) else {
      throw CryptoError(.invalidCertificate, "certificate authority: its private key belongs to another certificate")
    }
    let key = try X509Key.generate()
    let certificate = try X509Certificate.draft(subject: commonName, key: key, validity: validity)
    try certificate.add(NID_basic_constraints, "critical,CA:FALSE", issuer: authority)
    try certificate.add(NID_key_usage, "critical,digitalSignature", issuer: authority)
    try certificate.add(NID_ext_key_usage, usage.rawValue, issuer: authority)
    try certificate.add(NID_subject_key_identifier, "hash", issuer: authority)
    try certificate.add(NID_authority_key_identifier, "keyid:always", issuer: authority)
    if !names.isEmpty {
      let alternatives = try names.map { (name) throws(CryptoError) in try name.extensionValue }
      try certificate.add(NID_subject_alt_name, alternatives.joined(separator: ","), issuer: authority)
    }
    try certificate.sign(issuer: authority, key: authorityKey)
    return CertificatePair(certificate: try certificate.pem(), privateKey: try key.pem())
  }
}

extension CertificateName {
  /// Spelled for libcrypto's extension parser, to which ',' and ':' are syntax: so DNS names may not contain them.
  fileprivate var extensionValue: String {
    get throws(CryptoError) {
      switch self {
      case .dns(let name):
        guard !name.isEmpty, name.utf8.count <= 253, name.utf8.allSatisfy(Self.isNameCharacter) else {
          throw CryptoError(.invalidCertificate, "certificate: '\(name)' is not a DNS name")
        }
        return "DNS:\(name)"
      case .ip(let address):
        guard let octets = a2i_IPADDRESS(address) else {
          throw .library("certificate: IP address '\(address)'", code: .invalidCertificate)
        }
        ASN1_OCTET_STRING_free(octets)
        return "IP:\(address)"
      }
    }
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"): true
    default: false
    }
  }
}

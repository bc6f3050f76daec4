internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// The certificates of a deployment, signed by an authority of its own, in `tls` below the keys.
extension KeyDirectory {
  private static let secondsOfTLS: Int64 = 3650 * 86_400

  /// A certificate and its key, as files.
  struct PairFiles: Sendable, Hashable {
    let certificate: String
    let key: String
  }

  /// Of who signed all others.
  var authorityFile: String { folder.file("tls/ca.pem") }

  /// What the broker shows, under these names.
  func ensureBrokerCertificate(_ names: [String], at seconds: Int64) throws(CaravanError) -> PairFiles {
    try ensureServerCertificate("nats", names, at: seconds)
  }

  /// What the gateway shows, under these names.
  func ensureHTTPCertificate(_ names: [String], at seconds: Int64) throws(CaravanError) -> PairFiles {
    try ensureServerCertificate("http", names, at: seconds)
  }

  private func ensureServerCertificate(
    _ server: String, _ names: [String], at seconds: Int64
  ) throws(CaravanError) -> PairFiles {
    let (tls, authority) = try ensureAuthority(at: seconds)
    let files = PairFiles(certificate: tls.file("\(server)-cert.pem"), key: tls.file("\(server)-key.pem"))
    // Which names the certificate has: with others it is issued again.
    let record = server == "nats" ? "names" : "\(server)-names"
    let list = names.joined(separator: "\n") + "\n"
    if try tls.text(record) == list { return files }
    let pair = try crypto { () throws(CryptoError) in
      try authority.issue(
        .server, commonName: names[0], names: names.map { Self.isAddress($0) ? .ip($0) : .dns($0) },
        validity: Self.validity(at: seconds))
    }
    try tls.write(pair.certificate, to: "\(server)-cert.pem")
    try tls.write(pair.privateKey, to: "\(server)-key.pem")
    try tls.write(list, to: record)
    return files
  }

  /// What a holder of credentials shows to a broker that asks for a certificate.
  func ensureClientCertificate(of holder: Holder, at seconds: Int64) throws(CaravanError) -> PairFiles {
    let files = Self.clientFiles(of: holder, in: folder.path)
    let tls = try ensureAuthority(at: seconds).tls
    let clients = try Folder(making: tls.file("clients"))
    if !clients.contains("\(holder.rawValue)-cert.pem") {
      try issueClientCertificate(named: holder.userName, to: files, at: seconds)
    }
    return files
  }

  /// Whether the broker of these keys asks for certificates.
  static func demandsClients(_ path: String) -> Bool {
    Folder(existing: path).contains("tls/clients")
  }

  static func clientFiles(of holder: Holder, in path: String) -> PairFiles {
    let stem = "\(path)/tls/clients/\(holder.rawValue)"
    return PairFiles(certificate: "\(stem)-cert.pem", key: "\(stem)-key.pem")
  }

  /// The certificate comes last: where it is, its key is too.
  func issueClientCertificate(named name: String, to files: PairFiles, at seconds: Int64) throws(CaravanError) {
    let authority = try ensureAuthority(at: seconds).authority
    let pair = try crypto { () throws(CryptoError) in
      try authority.issue(.client, commonName: name, names: [], validity: Self.validity(at: seconds))
    }
    try TextFile.writeSecret(pair.privateKey, to: files.key)
    try TextFile.writeSecret(pair.certificate, to: files.certificate)
  }

  private func ensureAuthority(at seconds: Int64) throws(CaravanError) -> (tls: Folder, authority: CertificateAuthority)
  {
    let tls = try Folder(making: folder.file("tls"))
    if let certificate = try tls.text("ca.pem"), let key = try tls.text("ca-key.pem") {
      return (tls, CertificateAuthority(CertificatePair(certificate: certificate, privateKey: key)))
    }
    let authority = try crypto { () throws(CryptoError) in
      try CertificateAuthority.create(commonName: "Caravan's authority", validity: Self.validity(at: seconds))
    }
    try tls.write(authority.pair.privateKey, to: "ca-key.pem")
    try tls.write(authority.certificate, to: "ca.pem")
    // Certificates of an earlier authority are void.
    for record in ["names", "http-names"] { try tls.write("", to: record) }
    return (tls, authority)
  }

  private static func validity(at seconds: Int64) -> CertificateValidity {
    CertificateValidity(notBefore: seconds - 3_600, notAfter: seconds + secondsOfTLS)
  }

  private static func isAddress(_ name: String) -> Bool {
    name.contains(":") || name.allSatisfy { $0.isWholeNumber || $0 == "." }
  }
}

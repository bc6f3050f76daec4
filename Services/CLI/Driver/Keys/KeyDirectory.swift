internal import Crypto
internal import Encoding
internal import Launch
internal import Model
internal import Runtime

/// Every key and token of a deployment, as files (architecture §4): made where they are missing, never made anew. What
/// is derived from keys, the tokens, is signed again when this release means something else by it.
struct KeyDirectory: Sendable {
  let folder: Folder
  let operatorKey: NKey
  let systemKey: NKey
  let accountKey: NKey
  /// Signs devices, and nothing but devices.
  let deviceKey: NKey

  static let adminTokenBytes = 24
  private static let secondsOfTLS: Int64 = 3650 * 86_400

  /// - Parameter seconds: Unix time.
  /// - Throws: `invalidData` naming the file that cannot be read or written, or holds something else.
  static func ensure(_ path: String, at seconds: Int64) throws(CaravanError) -> KeyDirectory {
    let folder = try Folder(making: path)
    let keys = KeyDirectory(
      folder: folder, operatorKey: try key("operator.nk", .operator, folder),
      systemKey: try key("system.nk", .account, folder), accountKey: try key("account.nk", .account, folder),
      deviceKey: try key("device-signing.nk", .account, folder))
    try keys.ensureTokens(at: seconds)
    let credentials = try Folder(making: folder.file("creds"))
    for holder in Holder.allCases { try keys.ensureCredentials(of: holder, in: credentials, at: seconds) }
    if !folder.contains("ticket.key") {
      let key = try crypto { () throws(CryptoError) in try TicketKey.generate() }
      try folder.write(key.fileText, to: "ticket.key")
    }
    if !folder.contains("admin.token") {
      let secret = try crypto { () throws(CryptoError) in try SecureRandom.bytes(adminTokenBytes) }
      try folder.write(Base64.encodeURL(secret) + "\n", to: "admin.token")
    }
    return keys
  }

  /// What a directory made earlier holds.
  static func open(_ path: String) throws(CaravanError) -> KeyDirectory {
    func key(_ name: String) throws(CaravanError) -> NKey { try NKey.reading("\(path)/\(name)") }
    return KeyDirectory(
      folder: Folder(existing: path), operatorKey: try key("operator.nk"), systemKey: try key("system.nk"),
      accountKey: try key("account.nk"), deviceKey: try key("device-signing.nk"))
  }

  static func credentialsFile(_ holder: Holder, in path: String) -> String {
    "\(path)/creds/\(holder.rawValue).creds"
  }

  func credentialsFile(_ holder: Holder) -> String { Self.credentialsFile(holder, in: folder.path) }

  // MARK: The broker's configuration

  /// - Parameter directory: where the broker keeps what it is told of accounts.
  func brokerOperator(directory: String) throws(CaravanError) -> NATSConfiguration.Operator {
    guard let root = try token("operator.jwt"), let system = try token("system.jwt"),
      let account = try token("account.jwt")
    else { throw CaravanError(.invalidData, "'\(folder.path)' lacks a token: run caravan keys init again") }
    return NATSConfiguration.Operator(
      token: root, systemAccount: systemKey.publicKey, accounts: [system, account], directory: directory)
  }

  /// A certificate for the broker under these names, signed by an authority of this deployment's own.
  func ensureCertificate(_ names: [String], at seconds: Int64) throws(CaravanError) -> Folder {
    let tls = try Folder(making: folder.file("tls"))
    let validity = CertificateValidity(notBefore: seconds - 3_600, notAfter: seconds + Self.secondsOfTLS)
    let authority: CertificateAuthority
    if let certificate = try tls.text("ca.pem"), let key = try tls.text("ca-key.pem") {
      authority = CertificateAuthority(CertificatePair(certificate: certificate, privateKey: key))
    } else {
      authority = try crypto { () throws(CryptoError) in
        try CertificateAuthority.create(commonName: "Caravan's authority", validity: validity)
      }
      try tls.write(authority.pair.privateKey, to: "ca-key.pem")
      try tls.write(authority.certificate, to: "ca.pem")
      try tls.write("", to: "names")
    }
    // Which names the certificate has: with others it is issued again.
    let list = names.joined(separator: "\n") + "\n"
    if try tls.text("names") == list { return tls }
    let pair = try crypto { () throws(CryptoError) in
      try authority.issue(
        .server, commonName: names[0], names: names.map { Self.isAddress($0) ? .ip($0) : .dns($0) }, validity: validity)
    }
    try tls.write(pair.certificate, to: "nats-cert.pem")
    try tls.write(pair.privateKey, to: "nats-key.pem")
    try tls.write(list, to: "names")
    return tls
  }

  private static func isAddress(_ name: String) -> Bool {
    name.contains(":") || name.allSatisfy { $0.isWholeNumber || $0 == "." }
  }

  // MARK: Making

  private static func key(_ name: String, _ kind: NKeyKind, _ folder: Folder) throws(CaravanError) -> NKey {
    if folder.contains(name) {
      let key = try NKey.reading(folder.file(name))
      guard key.kind == kind else {
        throw CaravanError(.invalidData, "'\(folder.file(name))' holds the key of a \(key.kind), not of an \(kind)")
      }
      return key
    }
    let key = try crypto { () throws(CryptoError) in try NKey.generate(kind) }
    try folder.write(key.seedText + "\n", to: name)
    return key
  }

  private func ensureTokens(at seconds: Int64) throws(CaravanError) {
    try ensureToken(
      "operator.jwt",
      JWTClaims(
        subject: operatorKey.publicKey, name: "caravan", issuedAt: seconds,
        .operator(OperatorClaims(systemAccount: systemKey.publicKey))))
    try ensureToken(
      "system.jwt",
      JWTClaims(subject: systemKey.publicKey, name: "SYS", issuedAt: seconds, .account(AccountClaims())))
    try ensureToken("account.jwt", accountClaims(revoking: try revocations(), at: seconds))
  }

  private func accountClaims(revoking revocations: [PublicNKey: Int64], at seconds: Int64) -> JWTClaims {
    let scope = UserScope(key: deviceKey.publicKey, role: "device", permissions: .device)
    return JWTClaims(
      subject: accountKey.publicKey, name: "caravan", issuedAt: seconds,
      .account(AccountClaims(signingKeys: [.scoped(scope)], revocations: revocations)))
  }

  private func ensureToken(_ name: String, _ claims: JWTClaims) throws(CaravanError) {
    if let known = try token(name), known.claims.body == claims.body, known.claims.subject == claims.subject,
      known.isIssued(by: [operatorKey.publicKey])
    {
      return
    }
    try folder.write(try sign(claims, with: operatorKey).text + "\n", to: name)
  }

  private func ensureCredentials(
    of holder: Holder, in creds: Folder, at seconds: Int64
  ) throws(CaravanError) {
    let name = "\(holder.rawValue).creds"
    let known = creds.contains(name) ? try Credentials.reading(creds.file(name)) : nil
    let key = if let known { known.key } else { try crypto { () throws(CryptoError) in try NKey.generate(.user) } }
    let issuer = holder == .system ? systemKey : accountKey
    let claims = JWTClaims(
      subject: key.publicKey, name: holder.userName, issuedAt: seconds, .user(UserClaims(.explicit(holder.permissions)))
    )
    if let known, known.jwt.claims.body == claims.body, known.jwt.claims.name == claims.name,
      known.jwt.isIssued(by: [issuer.publicKey])
    {
      return
    }
    let token = try sign(claims, with: issuer)
    let credentials = try crypto { () throws(CryptoError) in try Credentials(jwt: token, key: key) }
    try creds.write(credentials.rendered, to: name)
  }

  /// Credentials for somebody new, whom the keys of this deployment vouch for.
  func credentials(
    named name: String, _ claims: UserClaims, at seconds: Int64
  ) throws(CaravanError) -> Credentials {
    let key = try crypto { () throws(CryptoError) in try NKey.generate(.user) }
    let token = try sign(
      JWTClaims(subject: key.publicKey, name: name, issuedAt: seconds, .user(claims)), with: accountKey)
    return try crypto { () throws(CryptoError) in try Credentials(jwt: token, key: key) }
  }

  private func sign(_ claims: JWTClaims, with key: NKey) throws(CaravanError) -> JWT {
    try crypto { () throws(CryptoError) in try claims.sign(with: key) }
  }

  // MARK: Revocations

  func token(_ name: String) throws(CaravanError) -> JWT? {
    guard folder.contains(name) else { return nil }
    let line = try TextFile.firstLine(folder.file(name))
    do { return try JWT(verifying: line) } catch {
      throw CaravanError(.invalidData, "'\(folder.file(name))': \(error.message)")
    }
  }

  func revocations() throws(CaravanError) -> [PublicNKey: Int64] {
    guard let token = try token("account.jwt"), case .account(let account) = token.claims.body else { return [:] }
    return account.revocations
  }

  /// The account's token with one more user out: everything signed for the key until now is void.
  func accountToken(revoking key: PublicNKey, at seconds: Int64) throws(CaravanError) -> JWT {
    var revocations = try revocations()
    revocations[key] = seconds
    return try sign(accountClaims(revoking: revocations, at: seconds), with: operatorKey)
  }

  /// What the next start of a broker begins with.
  func save(account token: JWT) throws(CaravanError) {
    let earlier = try self.token("account.jwt")
    try folder.write(token.text + "\n", to: "account.jwt")
    // A container's broker has its configuration here, and in it the token it begins with.
    guard let earlier, let configuration = try folder.text("nats.conf") else { return }
    try folder.write(configuration.replacing(earlier.text, with: token.text), to: "nats.conf")
  }
}

/// Runs what may fail for reasons of cryptography.
func crypto<R>(_ body: () throws(CryptoError) -> R) throws(CaravanError) -> R {
  do { return try body() } catch { throw CaravanError(.internalError, error.message) }
}

internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Every key and token of a deployment, as files (architecture §4): made where they are missing, never made anew. What
/// is derived from keys, the tokens, is signed again when this release means something else by it.
struct KeyDirectory: Sendable {
  let folder: Folder
  let operatorKey: NKey
  let systemKey: NKey
  let accountKey: NKey
  /// Signs devices, and nothing but devices.
  let deviceKey: NKey

  private static let tokenBytes = 24

  /// - Parameters:
  ///   - connections: of the account, all together; nil: as it was.
  ///   - seconds: Unix time.
  /// - Throws: `invalidData` naming the file that cannot be read or written, or holds something else.
  static func ensure(
    _ path: String, connections: Int? = nil, at seconds: Int64
  ) throws(CaravanError) -> KeyDirectory {
    let folder = try Folder(making: path)
    let keys = KeyDirectory(
      folder: folder, operatorKey: try key("operator.nk", .operator, folder),
      systemKey: try key("system.nk", .account, folder), accountKey: try key("account.nk", .account, folder),
      deviceKey: try key("device-signing.nk", .account, folder))
    // Whoever revokes meanwhile writes tokens too.
    let lock = try DirectoryLock(path)
    defer { lock.release() }
    try keys.ensureTokens(connections: connections, at: seconds)
    let credentials = try Folder(making: folder.file("creds"))
    for holder in Holder.allCases { try keys.ensureCredentials(of: holder, in: credentials, at: seconds) }
    try keys.ensureAliasKey()
    try keys.ensureRings()
    try keys.ensureVAPIDKey()
    for token in ["admin.token", "metrics.token"] where !folder.contains(token) {
      let secret = try crypto { () throws(CryptoError) in try SecureRandom.bytes(tokenBytes) }
      try folder.write(Base64.encodeURL(secret) + "\n", to: token)
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

  /// Who sends Web Push messages: browsers subscribe to what it signs, so it is never made anew.
  private func ensureVAPIDKey() throws(CaravanError) {
    guard !folder.contains(P256PrivateKey.vapidFile) else { return }
    let key = try crypto { () throws(CryptoError) in try P256PrivateKey.generate() }
    try folder.write(key.fileText, to: P256PrivateKey.vapidFile)
  }

  private func ensureTokens(connections: Int?, at seconds: Int64) throws(CaravanError) {
    try ensureToken(
      "operator.jwt",
      JWTClaims(
        subject: operatorKey.publicKey, name: "caravan", issuedAt: seconds,
        .operator(OperatorClaims(systemAccount: systemKey.publicKey))))
    try ensureToken(
      "system.jwt",
      JWTClaims(subject: systemKey.publicKey, name: "SYS", issuedAt: seconds, .account(AccountClaims())))
    let connections = if let connections { connections } else { try self.connections() }
    try ensureToken(
      "account.jwt", accountClaims(revoking: try revocations(), connections: connections, at: seconds))
  }

  private func accountClaims(
    revoking revocations: [PublicNKey: Int64], connections: Int, at seconds: Int64
  ) -> JWTClaims {
    JWTClaims(
      subject: accountKey.publicKey, name: "caravan", issuedAt: seconds,
      .account(
        AccountClaims(
          limits: AccountLimits(connections: Int64(connections)),
          signingKeys: [.scoped(.devices(signedBy: deviceKey.publicKey))],
          revocations: revocations)))
  }

  /// How many connections the account may have.
  func connections() throws(CaravanError) -> Int {
    guard let token = try token("account.jwt"), case .account(let account) = token.claims.body,
      account.limits.connections > 0
    else { return ConnectionLimits.standardAll }
    return Int(clamping: account.limits.connections)
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
  /// - Parameter key: theirs; nil: they have none yet.
  func credentials(
    named name: String, _ claims: UserClaims, for key: NKey? = nil, at seconds: Int64
  ) throws(CaravanError) -> Credentials {
    let key = if let key { key } else { try crypto { () throws(CryptoError) in try NKey.generate(.user) } }
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

  /// The account's token with more users out: everything signed for the keys until now is void.
  func accountToken(revoking keys: [PublicNKey], at seconds: Int64) throws(CaravanError) -> JWT {
    var list = try revocationList()
    try list.revoke(keys, isEnding: false, at: seconds)
    return try accountToken(list, at: seconds)
  }

  func accountToken(_ list: RevocationList, at seconds: Int64) throws(CaravanError) -> JWT {
    try sign(accountClaims(revoking: list.times, connections: connections(), at: seconds), with: operatorKey)
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

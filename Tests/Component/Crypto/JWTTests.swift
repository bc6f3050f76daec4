import CaravanCrypto
import CaravanEncoding
import Testing

@Suite("NATS tokens")
struct JWTTests {
  let operatorKey: NKey
  let accountKey: NKey
  let scopeKey: NKey
  let userKey: NKey

  init() throws {
    operatorKey = try NKey.generate(.operator)
    accountKey = try NKey.generate(.account)
    scopeKey = try NKey.generate(.account)
    userKey = try NKey.generate(.user)
  }

  func device(name: String = "dev42", tags: [String] = ["user:alice"], expires: Int64? = 2_000) -> JWTClaims {
    JWTClaims(
      subject: userKey.publicKey, name: name, issuedAt: 1_000, expires: expires,
      .user(UserClaims(.scoped, issuerAccount: accountKey.publicKey, tags: tags)))
  }

  @Test("Operator, account and user claims survive signing and reading")
  func roundTrip() throws {
    let permissions = Permissions(
      publish: Permissions.Rules(allow: ["a.>", "b.*"], deny: ["a.secret"]), subscribe: .nothing,
      responses: Permissions.Responses(count: 1, lifetime: 5_000_000_000))
    let bodies: [(JWTClaims, NKey)] = [
      (
        JWTClaims(
          subject: operatorKey.publicKey, name: "caravan", issuedAt: 1,
          .operator(
            OperatorClaims(
              systemAccount: accountKey.publicKey, signingKeys: [try NKey.generate(.operator).publicKey]))), operatorKey
      ),
      (
        JWTClaims(
          subject: accountKey.publicKey, name: "app", issuedAt: 2,
          .account(
            AccountClaims(
              limits: AccountLimits(connections: 10, subscriptions: 20, payload: 30),
              signingKeys: [
                .plain(try NKey.generate(.account).publicKey),
                .scoped(UserScope(key: scopeKey.publicKey, role: "device", permissions: permissions)),
              ], revocations: [userKey.publicKey: 7, try NKey.generate(.user).publicKey: 8], allUsersRevokedUntil: 5,
              defaultPermissions: permissions))), operatorKey
      ),
      (device(), scopeKey),
      (
        JWTClaims(
          subject: userKey.publicKey, name: "service", issuedAt: 3,
          .user(UserClaims(.explicit(permissions), tags: ["role:sync"]))), accountKey
      ),
      (
        JWTClaims(
          subject: userKey.publicKey, name: "any name", issuedAt: 3, .user(UserClaims(.explicit(Permissions())))),
        accountKey
      ),
    ]
    for (claims, issuer) in bodies {
      let token = try claims.sign(with: issuer)
      let read = try JWT(verifying: token.text)
      #expect(read == token)
      #expect(read.claims == claims)
      #expect(read.isIssued(by: [issuer.publicKey]))
      #expect(try !read.isIssued(by: [NKey.generate(issuer.kind).publicKey]))
      #expect(try claims.sign(with: issuer).text == token.text)
    }
  }

  @Test("The token's text: header, no permissions for a scoped user, id over the claims without it")
  func shape() throws {
    let token = try device().sign(with: scopeKey)
    let parts = token.text.split(separator: ".").map(String.init)
    #expect(try String(decoding: Base64.decodeURL(parts[0]), as: UTF8.self) == #"{"typ":"JWT","alg":"ed25519-nkey"}"#)
    var claims = try #require(try JSON.parse(Base64.decodeURL(parts[1])).objectValue)
    #expect(
      claims["nats"] == [
        "issuer_account": .string(accountKey.publicKey.text), "tags": ["user:alice"], "type": "user", "version": 2,
      ])
    claims["jti"] = nil
    #expect(token.id == Base32.encode(SHA256.hash(JSON.object(claims).encodedBytes()).bytes))
  }

  /// Made with Python's json, hashlib and PyNaCl from seeds 0…31 (account) and 1…32 (user).
  static let foreign = """
    eyJ0eXAiOiAiSldUIiwgImFsZyI6ICJlZDI1NTE5LW5rZXkifQ.\
    eyJpYXQiOiAxNzAwMDAwMDAwLCAiaXNzIjogIkFBQjJDQjU3NlBIQkJQUTVPRE9SUloyTFlDTVdQWkdXR0NOMktESzdEWE9JTVpBU0tVWTNRUFpWIi\
    wgIm5hbWUiOiAiZGV2NDIiLCAic3ViIjogIlVCNDNLVlJPUjdURko2S0FQQ1lSRjJGSlJPVFpBSDRGSExUSkxQV1g0RFJaQ0M1TkFTTEdKQkZFIiwg\
    Im5hdHMiOiB7InR5cGUiOiAidXNlciIsICJ2ZXJzaW9uIjogMiwgImlzc3Vlcl9hY2NvdW50IjogIkFCQjQzUUJEMklXVjdIUVFQVU5BTkUyRlBVMj\
    VEVUlPVzdKQlk0UVJTTDJXNlhQRUFaUzVHQURKIiwgInRhZ3MiOiBbInVzZXI6YWxpY2UiXX0sICJleHAiOiAxNzAwMDAzNjAwLCAianRpIjogIkY1\
    QUxGS0ZGNUJLSjROVkg2QUpVQzdRNlpEUTNCSUVXSEZMWDRIV0hMTkZKWklOM0NBQkEifQ.\
    sG-D5P0MR2sAtvxjHFNYPsk-W9Zgw5sM7pJ0FY_TwZCqKVRiwpzcn1O2pfxLQu-kYj89wKWmCsq_xKA94ZNyCg
    """

  @Test("A token made elsewhere is read: name, tags, expiry, issuer")
  func foreignToken() throws {
    let token = try JWT(verifying: Self.foreign)
    #expect(token.claims.name == "dev42")
    #expect(token.claims.subject.text == "UB43KVROR7TFJ6KAPCYRF2FJROTZAH4FHLTJLPWX4DRZCC5NASLGJBFE")
    #expect(token.issuer.text == "AAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3QPZV")
    guard case .user(let user) = token.claims.body else {
      Issue.record("user claims expected")
      return
    }
    #expect(user.authority == .scoped)
    #expect(user.tag("user") == "alice")
    #expect(user.tag("use") == nil)
    #expect(user.issuerAccount?.text == "ABB43QBD2IWV7HQQPUNANE2FPU25DUIOW7JBY4QRSL2W6XPEAZS5GADJ")
    try token.requireCurrent(at: 1_700_003_599)
    let error = #expect(throws: CryptoError.self) { try token.requireCurrent(at: 1_700_003_600) }
    #expect(error?.code == .expired)
  }

  @Test("Any one changed character of a token is refused")
  func tampered() throws {
    let text = try device().sign(with: scopeKey).text
    for index in text.indices {
      let changed = text.replacingCharacter(at: index, with: text[index] == "A" ? "Q" : "A")
      #expect(throws: CryptoError.self) { try JWT(verifying: changed) }
    }
  }

  @Test("Claims swapped under another token's signature are refused as a bad signature")
  func swapped() throws {
    let parts = try device().sign(with: scopeKey).text.split(separator: ".")
    let other = try device(name: "dev43").sign(with: scopeKey).text.split(separator: ".")
    let error = #expect(throws: CryptoError.self) {
      try JWT(verifying: [other[0], other[1], parts[2]].joined(separator: "."))
    }
    #expect(error?.code == .invalidSignature)
  }

  @Test(
    "What is no token is refused",
    arguments: [
      "", ".", "..", "a.b", "a.b.c.d", "e30.e30.", "bnVsbA.e30.", " . . ", String(repeating: "A", count: 1 << 21),
    ])
  func malformed(text: String) {
    #expect(throws: CryptoError.self) { try JWT(verifying: text) }
  }

  @Test("Another algorithm is refused, even signed")
  func algorithm() throws {
    let claims = try device().sign(with: scopeKey).text.split(separator: ".")[1]
    let header = JSON.object(["typ": "JWT", "alg": "none"])
    let signed = "\(Base64.encodeURL(header.encodedBytes())).\(claims)"
    let signature = try scopeKey.sign(Array(signed.utf8))
    #expect(throws: CryptoError.self) { try JWT(verifying: "\(signed).\(Base64.encodeURL(signature))") }
  }

  @Test("Only the right kind of key may sign, and only about the right kind")
  func kinds() throws {
    #expect(throws: CryptoError.self) { try device().sign(with: operatorKey) }
    #expect(throws: CryptoError.self) { try device().sign(with: userKey) }
    let account = JWTClaims(subject: accountKey.publicKey, name: "app", issuedAt: 1, .account(AccountClaims()))
    #expect(throws: CryptoError.self) { try account.sign(with: accountKey) }
    var confused = account
    confused.subject = userKey.publicKey
    #expect(throws: CryptoError.self) { try confused.sign(with: operatorKey) }
  }

  @Test(
    "A scoped user's name and tags cannot widen its subjects",
    arguments: ["", ">", "*", "a.b", "a.>", "a b", "{{name()}}", "é"])
  func injection(token: String) {
    #expect(throws: CryptoError.self) { try device(name: token).sign(with: scopeKey) }
    #expect(throws: CryptoError.self) { try device(tags: ["user:\(token)"]).sign(with: scopeKey) }
  }

  @Test(
    "TRU-01: a scoped user has one user: the broker grants what each of two tags says, and ends without any",
    arguments: [
      [], ["role:camera"], ["user:ann", "user:bob"], ["user:ann", "USER:bob"], ["User:bob"], ["user:Ann"], ["user"],
      ["user:"], ["user:ann", "role:a", "Role:b"],
    ])
  func oneUser(tags: [String]) {
    #expect(throws: CryptoError.self) { try device(tags: tags).sign(with: scopeKey) }
  }

  @Test("Without an expiry a token is always current")
  func unlimited() throws {
    try device(expires: nil).sign(with: scopeKey).requireCurrent(at: .max)
  }

  @Test("Credentials survive their file; a foreign seed, a torn or an empty file is refused")
  func credentials() throws {
    let credentials = try Credentials(jwt: device().sign(with: scopeKey), key: userKey)
    #expect(try Credentials(parsing: credentials.rendered) == credentials)
    #expect(
      try Credentials(parsing: "\n" + credentials.rendered.split(separator: "\n").joined(separator: "\r\n"))
        == credentials)
    #expect(!"\(credentials)".contains(userKey.seedText))
    #expect(throws: CryptoError.self) { try Credentials(jwt: credentials.jwt, key: NKey.generate(.user)) }
    #expect(throws: CryptoError.self) { try Credentials(parsing: "") }
    for count in stride(from: 0, to: credentials.rendered.count - 40, by: 7) {
      #expect(throws: CryptoError.self) { try Credentials(parsing: String(credentials.rendered.prefix(count))) }
    }
  }
}

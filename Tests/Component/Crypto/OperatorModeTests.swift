import CaravanCrypto
import Foundation
import Testing

/// nats-server itself says whether our keys, tokens and certificates are what it takes.
@Suite("nats-server in operator mode", .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct OperatorModeTests {
  let folder: TemporaryFolder
  let operatorKey: NKey
  let systemKey: NKey
  let accountKey: NKey
  let scopeKey: NKey
  let userKey: NKey
  /// Unix seconds: the server reads the real clock.
  let now: Int64

  init() throws {
    folder = try TemporaryFolder()
    operatorKey = try NKey.generate(.operator)
    systemKey = try NKey.generate(.account)
    accountKey = try NKey.generate(.account)
    scopeKey = try NKey.generate(.account)
    userKey = try NKey.generate(.user)
    now = Int64(Date().timeIntervalSince1970)
  }

  func configuration(revocations: [PublicNKey: Int64] = [:]) throws -> String {
    let root = try JWTClaims(
      subject: operatorKey.publicKey, name: "caravan", issuedAt: now,
      .operator(OperatorClaims(systemAccount: systemKey.publicKey))
    ).sign(with: operatorKey)
    let system = try JWTClaims(
      subject: systemKey.publicKey, name: "SYS", issuedAt: now, .account(AccountClaims())
    ).sign(with: operatorKey)
    let device = UserScope(
      key: scopeKey.publicKey, role: "device",
      permissions: Permissions(
        publish: Permissions.Rules(allow: ["edge.{{tag(user)}}.{{name()}}.>"]),
        subscribe: Permissions.Rules(allow: ["inbox.{{name()}}.>"])))
    let account = try JWTClaims(
      subject: accountKey.publicKey, name: "APP", issuedAt: now,
      .account(AccountClaims(signingKeys: [.scoped(device)], revocations: revocations))
    ).sign(with: operatorKey)
    return """
      operator: \(root.text)
      system_account: \(systemKey.publicKey)
      resolver: MEMORY
      resolver_preload: { \(systemKey.publicKey): \(system.text), \(accountKey.publicKey): \(account.text) }

      """
  }

  func device(expires: Int64? = nil) throws -> JWT {
    try JWTClaims(
      subject: userKey.publicKey, name: "dev42", issuedAt: now - 10, expires: expires,
      .user(UserClaims(.scoped, issuerAccount: accountKey.publicKey, tags: ["user:alice"]))
    ).sign(with: scopeKey)
  }

  func service(_ permissions: Permissions) throws -> JWT {
    try JWTClaims(subject: userKey.publicKey, name: "service", issuedAt: now, .user(UserClaims(.explicit(permissions))))
      .sign(with: accountKey)
  }

  /// What the server says to a connection that sends `lines`.
  func answers(_ server: NATSServer, _ token: JWT, _ lines: [String] = []) throws -> [String] {
    try NATSConnection(port: server.port, token: token.text, key: userKey).answers(to: lines)
  }

  @Test("The configuration test of nats-server accepts our operator and accounts, and refuses a tampered one")
  func configurationTest() throws {
    let text = try configuration()
    let good = try run(NATSServer.program, ["-t", "-c", folder.write("good.conf", text)])
    #expect(good.status == 0, "\(good.output)")
    let tampered = text.replacingOccurrences(of: "operator: eyJ", with: "operator: eyK")
    #expect(try run(NATSServer.program, ["-t", "-c", folder.write("bad.conf", tampered)]).status != 0)
  }

  @Test("A scoped device gets the template's subjects under its own name and tag, and no others")
  func scopedDevice() throws {
    let server = try NATSServer(configuration: configuration(), in: folder)
    let token = try device(expires: now + 3600)
    #expect(try answers(server, token) == [])
    #expect(
      try answers(server, token, ["SUB inbox.dev42.> 1", "PUB edge.alice.dev42.exchange 2\r\nhi"]) == [])
    #expect(
      try answers(server, token, ["PUB edge.bob.dev42.exchange 2\r\nhi"])
        == ["-ERR 'Permissions Violation for Publish to \"edge.bob.dev42.exchange\"'"])
    #expect(
      try answers(server, token, ["SUB inbox.dev43.> 1"])
        == ["-ERR 'Permissions Violation for Subscription to \"inbox.dev43.>\"'"])
  }

  @Test("A service with explicit permissions gets exactly these, and may answer when it may")
  func explicitService() throws {
    let server = try NATSServer(configuration: configuration(), in: folder)
    let token = try service(
      Permissions(
        publish: Permissions.Rules(allow: ["changes.*"]),
        subscribe: Permissions.Rules(allow: ["svc.sync.>"], deny: ["svc.sync.secret"]),
        responses: Permissions.Responses(count: 1, lifetime: 1_000_000_000)))
    #expect(try answers(server, token, ["SUB svc.sync.push 1", "PUB changes.7 2\r\nhi"]) == [])
    #expect(try answers(server, token, ["SUB svc.sync.secret 1"]).count == 1)
    #expect(try answers(server, token, ["PUB svc.sync.push 2\r\nhi"]).count == 1)
    #expect(try answers(server, service(Permissions()), ["PUB any.subject 2\r\nhi", "SUB > 1"]) == [])
    #expect(try answers(server, service(Permissions(publish: .nothing)), ["PUB changes.7 2\r\nhi"]).count == 1)
  }

  @Test("Refused at the door: expired, revoked, signed by a stranger, or with another's key")
  func refused() throws {
    let violation = ["-ERR 'Authorization Violation'"]
    let server = try NATSServer(configuration: configuration(), in: folder)
    #expect(try answers(server, device()) == [])
    #expect(try answers(server, device(expires: now - 5)) == violation)
    let stranger = try NKey.generate(.account)
    let alien = try JWTClaims(
      subject: userKey.publicKey, name: "dev42", issuedAt: now,
      .user(UserClaims(.scoped, issuerAccount: accountKey.publicKey, tags: ["user:alice"]))
    ).sign(with: stranger)
    #expect(try answers(server, alien) == violation)
    let thief = try NATSConnection(port: server.port, token: device().text, key: NKey.generate(.user))
    #expect(try thief.answers(to: []) == violation)
    let revoking = try NATSServer(configuration: configuration(revocations: [userKey.publicKey: now]), in: folder)
    #expect(try answers(revoking, device()) == violation)
  }

  @Test("Our certificates make a TLS listener")
  func tls() throws {
    let validity = CertificateValidity(notBefore: now - 60, notAfter: now + 3600)
    let authority = try CertificateAuthority.create(commonName: "Caravan test authority", validity: validity)
    let pair = try authority.issue(.server, commonName: "nats", names: [.ip("127.0.0.1")], validity: validity)
    let trusted = try folder.write("ca.pem", authority.certificate)
    let listener = """
      tls { cert_file: "\(try folder.write("server.pem", pair.certificate))"
        key_file: "\(try folder.write("server.key", pair.privateKey))", ca_file: "\(trusted)", verify: true }

      """
    let result = try run(NATSServer.program, ["-t", "-c", folder.write("tls.conf", configuration() + listener)])
    #expect(result.status == 0, "\(result.output)")
  }
}

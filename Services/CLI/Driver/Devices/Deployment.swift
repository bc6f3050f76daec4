internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// What an operator's command needs of a deployment: that of `caravan up --dir`, or one whose parts are named.
struct Deployment: Sendable {
  static let gateway = Flag<String?>("gateway", "URL", "a gateway elsewhere: https://HOST:PORT; needs --admin-token")
  static let gatewayAuthority = Flag<String?>(
    "ca", "FILE", "certificate (PEM) of whoever signed the gateway's; without it the system's authorities count",
    environment: "CARAVAN_CA")
  static let adminToken = Flag<String?>("admin-token", "FILE", "what the gateway wants to see")
  static let keys = Flag<String?>("keys", "KEYS", "directory of `caravan keys init`, where there is no --dir")
  static let nats = Flag<String?>("nats", "URL", "the broker, where there is no --dir")

  static let gatewayFlags: FlagList = [
    Flag<String?>.suiteDirectory, gateway, adminToken, gatewayAuthority, Flag<Bool>.insecure,
  ]
  static let brokerFlags: FlagList = broker + [Flag<Bool>.insecure]
  static let allFlags: FlagList = gatewayFlags + broker

  private static let broker: FlagList = [
    keys, nats, Flag<String?>.tlsAuthority, Flag<String?>.tlsCertificate, Flag<String?>.tlsKey,
  ]

  let options: Options
  let host: Host

  func gatewayClient() throws(CaravanError) -> GatewayClient {
    if let url = options[Self.gateway] {
      guard let file = options[Self.adminToken] else {
        throw CaravanError(.invalidData, "--gateway needs --admin-token FILE")
      }
      return try GatewayClient(
        url: url, adminToken: TextFile.firstLine(file), authority: options[Self.gatewayAuthority],
        allowsClear: options[Flag<Bool>.insecure], host: host)
    }
    let directory = try SuiteDirectory(options[Flag<String?>.suiteDirectory])
    let run = try directory.running()
    let token = options[Self.adminToken] ?? "\(directory.keys)/admin.token"
    // What was started in clear was told to: this is its own file.
    return try GatewayClient(
      url: run.http, adminToken: TextFile.firstLine(token), authority: run.httpAuthority, allowsClear: true, host: host)
  }

  /// The suite of `--dir`; nil: a gateway elsewhere is asked.
  func suite() throws(CaravanError) -> RunFile? {
    guard options[Self.gateway] == nil else { return nil }
    return try SuiteDirectory(options[Flag<String?>.suiteDirectory]).running()
  }

  /// Of the suite on this machine.
  func directory() throws(CaravanError) -> String { try SuiteDirectory(options[Flag<String?>.suiteDirectory]).path }

  /// Whose signature the broker of the suite here asks for; nil: it is another machine's, or its keys may not be read.
  func account() throws(CaravanError) -> PublicNKey? {
    guard try suite() != nil else { return nil }
    return try? KeyDirectory.open(SuiteDirectory(options[Flag<String?>.suiteDirectory]).keys).accountKey.publicKey
  }

  /// For commands that also have `brokerFlags`.
  func keyDirectory() throws(CaravanError) -> KeyDirectory { try KeyDirectory.open(keysPath()) }

  private func keysPath() throws(CaravanError) -> String {
    if let path = options[Self.keys] { return path }
    return try SuiteDirectory(options[Flag<String?>.suiteDirectory]).keys
  }

  /// For commands that also have `brokerFlags`: the bus as this holder of credentials.
  func bus(_ holder: Holder) throws(CaravanError) -> BusSession {
    try bus(credentials: KeyDirectory.credentialsFile(holder, in: keysPath()))
  }

  func bus(credentials: String) throws(CaravanError) -> BusSession {
    if let url = options[Self.nats] {
      return try BusSession(
        url: url, tls: NATSOptions.TLS.given(by: options), allowsClear: options[Flag<Bool>.insecure],
        credentials: credentials, name: "caravan")
    }
    let run = try SuiteDirectory(options[Flag<String?>.suiteDirectory]).running()
    return try BusSession(url: run.nats, tls: run.tls, credentials: credentials, name: "caravan")
  }

  /// Makes everything void that was signed for this user key, first at the broker, then for its next start; the
  /// registry of devices comes after, and is the caller's.
  func revoke(_ key: PublicNKey, isEnding: Bool = false) async throws(CaravanError) {
    let keys = try keyDirectory()
    try await bus(.system).with(host) { bus throws(CaravanError) in
      try await keys.revoke([key], isEnding: isEnding, over: bus, host)
    }
  }
}

extension RunFile {
  /// How the operator's commands speak to the broker; nil: without TLS.
  var tls: NATSOptions.TLS? {
    authority.map {
      NATSOptions.TLS(authorityFile: $0, certificateFile: client?.certificate, keyFile: client?.key)
    }
  }
}

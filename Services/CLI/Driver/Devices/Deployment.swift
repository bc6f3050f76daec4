internal import Bus
internal import CLICore
internal import Crypto
internal import Encoding
internal import Launch
internal import Model
internal import Runtime

/// What an operator's command needs of a deployment: that of `caravan up --dir`, or one whose parts are named.
struct Deployment: Sendable {
  static let gateway = Flag<String?>("gateway", "URL", "a gateway elsewhere: http://HOST:PORT; needs --admin-token")
  static let adminToken = Flag<String?>("admin-token", "FILE", "what the gateway wants to see")
  static let keys = Flag<String?>("keys", "KEYS", "directory of `caravan keys init`, where there is no --dir")
  static let nats = Flag<String?>("nats", "URL", "the broker, where there is no --dir")

  static let gatewayFlags: FlagList = [Flag<String?>.suiteDirectory, gateway, adminToken]
  static let brokerFlags: FlagList = [keys, nats, Flag<String?>.tlsAuthority]

  let options: Options
  let host: Host

  func gatewayClient() throws(CaravanError) -> GatewayClient {
    if let url = options[Self.gateway] {
      guard let file = options[Self.adminToken] else {
        throw CaravanError(.invalidData, "--gateway needs --admin-token FILE")
      }
      return try GatewayClient(url: url, adminToken: TextFile.firstLine(file), host: host)
    }
    let directory = try SuiteDirectory(options[Flag<String?>.suiteDirectory])
    let run = try directory.running()
    let token = options[Self.adminToken] ?? "\(directory.keys)/admin.token"
    return try GatewayClient(url: run.http, adminToken: TextFile.firstLine(token), host: host)
  }

  /// The file of who signed the broker's certificate; nil: it speaks no TLS, or is not one of `--dir`.
  func authority() throws(CaravanError) -> String? {
    guard options[Self.gateway] == nil else { return nil }
    return try SuiteDirectory(options[Flag<String?>.suiteDirectory]).running().authority
  }

  /// For commands that also have `brokerFlags`.
  func keyDirectory() throws(CaravanError) -> KeyDirectory { try KeyDirectory.open(keysPath()) }

  private func keysPath() throws(CaravanError) -> String {
    if let path = options[Self.keys] { return path }
    return try SuiteDirectory(options[Flag<String?>.suiteDirectory]).keys
  }

  /// For commands that also have `brokerFlags`: the bus as this holder of credentials.
  func bus(_ holder: Holder) throws(CaravanError) -> BusSession {
    let place: (url: String, authority: String?)
    if let url = options[Self.nats] {
      place = (url, options[Flag<String?>.tlsAuthority])
    } else {
      let run = try SuiteDirectory(options[Flag<String?>.suiteDirectory]).running()
      place = (run.nats, run.authority)
    }
    return try BusSession(
      url: place.url, authority: place.authority,
      credentials: KeyDirectory.credentialsFile(holder, in: keysPath()), name: "caravan")
  }

  /// Makes everything void that was signed for this user key, first at the broker, then for its next start; the
  /// registry of devices comes after, and is the caller's.
  func revoke(_ key: PublicNKey) async throws(CaravanError) {
    let keys = try keyDirectory()
    let token = try keys.accountToken(revoking: key, at: host.clock.wallTime.milliseconds / 1000)
    try await bus(.system).with(host) { bus throws(CaravanError) in
      try Self.check(
        await bus.request(Message(Array(token.text.utf8)), to: .claimsUpdate, deadline: BusSession.connectDeadline))
    }
    try keys.save(account: token)
  }

  /// - Throws: `internalError` when the broker did not take the token.
  private static func check(_ answer: Message) throws(CaravanError) {
    let json: JSON?
    do { json = try JSON.parse(answer.payload) } catch { json = nil }
    guard json?["data"]?["code"]?.intValue == 200 else {
      let reason = json?["error"]?["description"]?.stringValue ?? String(decoding: answer.payload, as: UTF8.self)
      throw CaravanError(.internalError, "the broker does not take the revocation: \(reason.prefix(300))")
    }
  }
}

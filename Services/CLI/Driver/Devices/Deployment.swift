internal import CLICore
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
}

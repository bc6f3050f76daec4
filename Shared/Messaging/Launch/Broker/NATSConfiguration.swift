public import CaravanCrypto
internal import CaravanModel
public import CaravanRuntime

/// The configuration file of a nats-server.
public struct NATSConfiguration: Sendable {
  /// Who may do what: accounts signed by an operator.
  public struct Operator: Sendable {
    public var token: JWT
    public var systemAccount: PublicNKey
    /// What the server begins with; it keeps later versions (revocations) in the directory.
    public var accounts: [JWT]
    public var directory: String

    public init(token: JWT, systemAccount: PublicNKey, accounts: [JWT], directory: String) {
      self.token = token
      self.systemAccount = systemAccount
      self.accounts = accounts
      self.directory = directory
    }
  }

  /// Files in PEM.
  public struct TLS: Sendable {
    public var certificateFile: String
    public var keyFile: String
    /// Given: clients must show a certificate that it signed.
    public var clientAuthorityFile: String?

    public init(certificateFile: String, keyFile: String, clientAuthorityFile: String? = nil) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
      self.clientAuthorityFile = clientAuthorityFile
    }
  }

  public var host: String
  public var port: UInt16
  public var name: String
  /// nil: everybody may do everything; for tests.
  public var `operator`: Operator?
  public var tls: TLS?
  /// Where the server tells of itself over HTTP (`/healthz`); nil: nowhere.
  public var monitor: HostPort?

  public init(
    host: String = "127.0.0.1", port: UInt16, name: String = "caravan", operator: Operator? = nil, tls: TLS? = nil
  ) {
    self.host = host
    self.port = port
    self.name = name
    self.operator = `operator`
    self.tls = tls
  }

  public var url: String { "\(tls == nil ? "nats" : "tls")://\(host):\(port)" }

  /// What a connection may send at once: beside the payload, nats-server counts a message's headers.
  public static let messageBytes = Limits.messageBytes + (16 << 10)
  /// Of one connection: services have some hundred; a device has fewer by the template of its scope.
  static let subscriptions = 4_096
  /// What the broker keeps for a connection that does not read.
  static let pendingBytes = 64 << 20
  /// How soon a connection whose other end has gone without a word ends: after three of them. Until then it counts
  /// among those of its device.
  static let pingSeconds = 60

  public var text: String {
    var lines = [
      "host: \(quoted(host))", "port: \(port)", "server_name: \(quoted(name))",
      "max_payload: \(Self.messageBytes)", "max_subscriptions: \(Self.subscriptions)",
      "max_pending: \(Self.pendingBytes)", "ping_interval: \"\(Self.pingSeconds)s\"", "ping_max: 2",
    ]
    if let monitor { lines.append("http: \(quoted(monitor.description))") }
    if let tls {
      var parts = ["cert_file: \(quoted(tls.certificateFile))", "key_file: \(quoted(tls.keyFile))"]
      if let authority = tls.clientAuthorityFile { parts += ["ca_file: \(quoted(authority))", "verify: true"] }
      lines.append("tls { \(parts.joined(separator: ", ")) }")
    }
    if let `operator` { lines += `operator`.lines }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension NATSConfiguration.Operator {
  fileprivate var lines: [String] {
    let preload = accounts.map { "\($0.claims.subject.text): \($0.text)" }
    return [
      "operator: \(token.text)", "system_account: \(systemAccount.text)",
      "resolver { type: full, dir: \(quoted(directory)), allow_delete: true, interval: \"2m\" }",
      "resolver_preload { \(preload.joined(separator: ", ")) }",
    ]
  }
}

private func quoted(_ text: String) -> String {
  "\"\(text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }.map(String.init).joined())\""
}

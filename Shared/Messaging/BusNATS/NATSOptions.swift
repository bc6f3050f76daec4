public import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime

/// How to reach the broker, and as whom.
public struct NATSOptions: Sendable {
  /// Files in PEM.
  public struct TLS: Sendable, Equatable {
    /// Who signed the broker's certificate; nil: one of those that the system trusts.
    public var authorityFile: String?
    /// The client's own, where the broker asks for one.
    public var certificateFile: String?
    public var keyFile: String?

    public init(authorityFile: String?, certificateFile: String? = nil, keyFile: String? = nil) {
      precondition((certificateFile == nil) == (keyFile == nil), "a client certificate and its key come together")
      self.authorityFile = authorityFile
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  /// `nats://host:port` or `tls://host:port`; tried in random order.
  public var urls: [String]
  /// nil only where the broker asks for none.
  public var credentials: Credentials?
  /// Asked at each connection for the same holder's credentials as they are now, for they may have been renewed; nil:
  /// they never are.
  public var renewed: (@Sendable () -> Credentials?)?
  /// nil: TLS is spoken where an address says `tls://`, or the broker asks for it, and the system's authorities are
  /// trusted.
  public var tls: TLS?
  /// Whether all may go in clear to a broker on another machine.
  public var allowsClear = false
  /// What the broker's tools show.
  public var name: String
  /// Answers come below `<inbox>.r.<connection>`; the credentials must allow to subscribe to it.
  public var inbox: String
  /// Reconnecting goes on for ever, with waits that double from the first to the last, and jitter.
  public var firstRetry: Duration = .milliseconds(100)
  public var lastRetry: Duration = .seconds(10)
  /// How soon a broker that is there but hangs is noticed; one that has gone, the kernel notices
  /// (`NATSLimits.keepAlive`).
  public var pingInterval: Duration = .seconds(30)

  /// Whether a broker that speaks no TLS is another's: it must not see the credentials, nor anything else.
  var demandsTLS: Bool { tls != nil || urls.contains { $0.hasPrefix("tls://") } }

  /// - Throws: `invalidData` when what is said to a broker could be read on the way to it.
  func requireProtection() throws(CaravanError) {
    guard !demandsTLS, !allowsClear else { return }
    for url in urls where HostPort(brokerURL: url)?.isLoopback != true {
      throw CaravanError(
        .invalidData,
        "\(url) is another machine, and all would go there in clear: write tls://HOST:PORT (with --tls-ca FILE where "
          + "the authority is your own), or say --insecure")
    }
  }

  /// - Parameters:
  ///   - name: of the process.
  public init(urls: [String], credentials: Credentials? = nil, tls: TLS? = nil, name: String) {
    precondition(!urls.isEmpty, "a broker's address is needed")
    self.urls = urls
    self.credentials = credentials
    self.tls = tls
    self.name = name
    inbox = credentials.map(Self.inbox) ?? "inbox.\(name)"
  }

  /// The same as somebody else.
  /// - Parameter renewed: what those credentials are later.
  public func with(_ credentials: Credentials, renewed: (@Sendable () -> Credentials?)? = nil) -> NATSOptions {
    var options = self
    options.credentials = credentials
    options.renewed = renewed
    options.inbox = Self.inbox(of: credentials)
    return options
  }

  /// What the broker is to be shown now. Credentials of another holder are not taken: answers would go astray.
  var current: Credentials? {
    guard let credentials, let later = renewed?(), Self.inbox(of: later) == Self.inbox(of: credentials) else {
      return credentials
    }
    return later
  }

  /// Below which the broker lets the holder listen: a device's has its user before it (`EnrolledDevice.inbox`).
  private static func inbox(of credentials: Credentials) -> String {
    let claims = credentials.jwt.claims
    guard case .user(let user) = claims.body, user.authority == .scoped, let owner = user.tag("user"),
      claims.name.contains("_")
    else { return "inbox.\(claims.name)" }
    return "inbox.\(owner).\(claims.name)"
  }
}

/// Bounds of the bridge beside those of `BusLimits`.
enum NATSLimits {
  /// Threads of the process that hand answers over.
  static let deliveryThreads: Int32 = 1
  /// What waits to be destroyed together.
  static let spentMessages = 512
  static let spentBytes = 256 << 10
  /// Requests whose answers the loop takes itself.
  static let answerLanes = 32
  /// Read at once.
  static let bufferBytes: Int32 = 64 << 10
  /// What may wait to be written; a broker that takes nothing is given up after `pingsUnanswered`.
  static let unsentBytes: Int32 = 64 << 20
  static let connectTimeout: Duration = .seconds(3)
  /// How long `subscribe` waits until the broker has it.
  static let flushTimeout: Duration = .seconds(5)
  /// How long a cancelled subscription waits for what is on its way to it.
  static let drainTimeout: Duration = .seconds(5)
  static let drainCheck: Duration = .milliseconds(2)
  static let pingsUnanswered: Int32 = 2
  /// After how many seconds of silence the kernel asks whether the broker's machine is there, how often it repeats that
  /// each so many seconds, and gives the connection up: after a minute and a half, and no thread wakes meanwhile.
  static let keepAlive: (idle: Int32, interval: Int32, count: Int32) = (60, 10, 3)
  /// libnats takes 0 for its default of 8 MiB; with 1 byte nothing is kept for later while disconnected.
  static let reconnectBufferBytes: Int32 = 1
}

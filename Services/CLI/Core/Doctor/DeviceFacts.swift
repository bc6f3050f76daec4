/// What was seen on a device. `findings` says what it means.
public struct DeviceFacts: Sendable, Hashable {
  /// Unix seconds.
  public var now: Int64
  /// nil: nobody said where the agent's socket is; likewise the others.
  public var agent: AgentFacts?
  public var credentials: CredentialsFacts?
  public var brokers: [BrokerFacts]
  public var data: DataFacts?
  public var files: FileLimitFacts?
  public var cloud: CloudFacts?

  public init(
    now: Int64, agent: AgentFacts? = nil, credentials: CredentialsFacts? = nil, brokers: [BrokerFacts] = [],
    data: DataFacts? = nil, files: FileLimitFacts? = nil, cloud: CloudFacts? = nil
  ) {
    self.now = now
    self.agent = agent
    self.credentials = credentials
    self.brokers = brokers
    self.data = data
    self.files = files
    self.cloud = cloud
  }
}

/// The apps' socket, as an app finds it.
public struct AgentFacts: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// What listens there speaks the apps' protocol.
    case answers
    /// Something listens and says nothing.
    case silent
    /// There is no socket.
    case absent
    /// There is a socket, and nobody listens.
    case deserted
    /// What the system said to whoever connects.
    case refused(String)
  }

  public var socket: String
  public var state: State

  public init(socket: String, state: State) {
    self.socket = socket
    self.state = state
  }
}

public struct CredentialsFacts: Sendable, Hashable {
  public enum Content: Sendable, Hashable {
    case absent
    /// What the system said.
    case unreadable(String)
    /// What is wrong with it.
    case malformed(String)
    case token(Token)
  }

  public struct Token: Sendable, Hashable {
    public var device: String
    /// nil: they are no device's.
    public var user: String?
    /// Unix seconds.
    public var issued: Int64
    public var expires: Int64?
    /// Of the token.
    public var digest: String

    public init(
      device: String, user: String?, issued: Int64, expires: Int64?, digest: String = ""
    ) {
      self.device = device
      self.user = user
      self.issued = issued
      self.expires = expires
      self.digest = digest
    }
  }

  public var file: String
  /// Permission bits; 0 when the file is not there.
  public var mode: UInt32
  public var content: Content

  public init(file: String, mode: UInt32, content: Content) {
    self.file = file
    self.mode = mode
    self.content = content
  }
}

/// How far one came with a broker.
public struct BrokerFacts: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// The address is none.
    case malformed
    /// The name is unknown; what the resolver said.
    case unknownName(String)
    /// No TCP connection; what the system said.
    case unreachable(String)
    /// Somebody accepts, and says nothing or nothing of NATS.
    case noBroker
    /// The system's authorities do not vouch for the broker's certificate, and nobody named another.
    case needsAuthority
    /// The broker asks for a client certificate, and the device has none.
    case needsCertificate
    /// It is another machine, and neither the address nor anything else asks for TLS: the agent does not connect.
    case inClear
    /// TLS is asked for, and the broker has none.
    case lacksTLS
    /// TLS failed; what the library said.
    case tlsFailed(String)
    /// The broker is there and lets nobody in with these credentials.
    case refused
    /// The broker is there, and logging in did not end well for another reason.
    case failed(String)
    case accepted
    /// The broker is there; there were no credentials to show.
    case reached
  }

  public struct Certificate: Sendable, Hashable {
    /// Unix seconds.
    public var notBefore: Int64
    public var notAfter: Int64
    /// Why it is not trusted; nil: it is.
    public var complaint: String?

    public init(notBefore: Int64, notAfter: Int64, complaint: String?) {
      self.notBefore = notBefore
      self.notAfter = notAfter
      self.complaint = complaint
    }
  }

  public var url: String
  public var state: State
  public var certificate: Certificate?

  public init(url: String, state: State, certificate: Certificate? = nil) {
    self.url = url
    self.state = state
    self.certificate = certificate
  }
}

/// The agent's directory and the store in it.
public struct DataFacts: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    case absent
    /// What the system said to a file that was to be written there.
    case unwritable(String)
    /// Of the file system, for whoever is not root.
    case writable(freeBytes: Int64, freeFiles: Int64)
  }

  public enum Store: Sendable, Hashable {
    case absent
    case sound
    /// What is wrong.
    case damaged([String])
    /// It could not be examined.
    case unread(String)
  }

  public var directory: String
  public var state: State
  public var store: Store
  /// What the agent wrote down about the newest time it salvaged a damaged store.
  public var recovery: String?
  public var refusal: Refusal?

  /// The agent wrote down that brokers refuse it, and leaves them alone for an hour at a time.
  public struct Refusal: Sendable, Hashable {
    /// Of the token that is refused.
    public var digest: String
    /// Unix seconds.
    public var since: Int64

    public init(digest: String, since: Int64) {
      self.digest = digest
      self.since = since
    }
  }

  public init(directory: String, state: State, store: Store, recovery: String? = nil, refusal: Refusal? = nil) {
    self.directory = directory
    self.state = state
    self.store = store
    self.recovery = recovery
    self.refusal = refusal
  }
}

/// How many files a process may have open.
public struct FileLimitFacts: Sendable, Hashable {
  public var limit: Int
  /// The agent's own; else that of whoever asks.
  public var isAgents: Bool

  public init(limit: Int, isAgents: Bool) {
    self.limit = limit
    self.isAgents = isAgents
  }
}

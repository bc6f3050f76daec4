/// A request to an HTTP server.
public struct HTTPCall: Sendable {
  public enum Body: Sendable {
    case none
    case bytes([UInt8])
    case file(path: String, size: Int)
  }

  /// Makes libcurl sign the request (AWS Signature Version 4).
  public struct Signature: Sendable {
    /// `aws:amz:REGION:SERVICE`
    public var scope: String
    public var keyID: String
    public var secret: String

    public init(scope: String, keyID: String, secret: String) {
      self.scope = scope
      self.keyID = keyID
      self.secret = secret
    }
  }

  public var method: String
  /// `http://…` or `https://…`
  public var url: String
  /// Each as it travels: `name: value`.
  public var headers: [String]
  public var body: Body
  public var signature: Signature?
  /// Whether an address that the server's name has may be connected to; nil: any. It is asked with the very address of
  /// each connection.
  public var permits: (@Sendable (ServerAddress) -> Bool)?

  public init(
    _ method: String, _ url: String, headers: [String] = [], body: Body = .none, signature: Signature? = nil,
    permits: (@Sendable (ServerAddress) -> Bool)? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.signature = signature
    self.permits = permits
  }
}

/// Where a server listens.
public struct ServerAddress: Sendable, Hashable {
  /// 4 bytes of IPv4 or 16 of IPv6.
  public let bytes: [UInt8]
  public let port: UInt16

  public init(bytes: [UInt8], port: UInt16) {
    self.bytes = bytes
    self.port = port
  }
}

/// What a server answered, whatever its status.
public struct HTTPAnswer: Sendable, Hashable {
  public let status: Int
  /// By their names in small letters; of several with one name, the last.
  public let headers: [String: String]
  public let body: [UInt8]

  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// What a call never exceeds.
public struct HTTPClientLimits: Sendable {
  public var connect: Duration = .seconds(5)
  /// A transfer on which nothing moves for so long is given up.
  public var stallSeconds = 30
  /// For all of a call; nil: as long as something moves.
  public var total: Duration?
  /// Of an answer.
  public var answerBytes = 16 << 20
  /// Of an answer; further ones are not kept.
  public var headers = 64

  public init() {}
}

/// Why there is no answer.
public enum HTTPFailure: Error, Sendable, Hashable {
  /// Nobody is there; what the library said.
  case unreachable(String)
  /// The server's name means addresses that are not permitted, and nothing was sent.
  case forbidden
  /// Somebody is there who does not prove to be who was asked for; what the library said.
  case untrusted(String)
  case timedOut
  /// The connection ended in the middle of the answer, or the answer is none of HTTP; what the library said.
  case broken(String)
  /// The answer has more bytes than are taken.
  case tooLong(Int)
  /// The body's file cannot be read.
  case noBody(String)
}

/// What the server never exceeds. Memory for bodies is at most `connections` times `bodyBytes`.
public struct HTTPLimits: Sendable, Equatable {
  /// Open connections, idle ones included; for more, those go that wait with an unfinished head.
  public var connections = 1024
  /// Open connections of one address (of IPv6: of a /64), more are closed at once; behind a trusted proxy requests in
  /// flight of one, more are answered 429.
  public var connectionsPerAddress = 128
  /// Requests a handler has not answered yet, waiting ones included; more are answered 503.
  public var inFlight = 256
  /// How long a TLS handshake and a request's head may take from the beginning of the connection.
  public var headTimeout: Duration = .seconds(10)
  /// How long a body may take.
  public var bodyTimeout: Duration = .seconds(30)
  /// How long a client may take to read its answer.
  public var answerTimeout: Duration = .seconds(60)
  /// Proxies whose word for whom they serve is believed.
  public var trustedProxies: [NetworkRange] = []
  /// Bytes of a request's body; more are answered 413.
  public var bodyBytes = 16 << 20
  /// Bytes of a request line and its headers together; more are answered 414 or 431.
  public var headBytes = 32 << 10
  /// A connection on which nothing moves for so long is closed, except while a handler works; the next request on one
  /// that has carried some must have come within it.
  public var idleTimeoutSeconds = 60
  /// What a refused client is told to wait, in seconds.
  public var retryAfterSeconds = 1
  /// How long after `shutDown` handlers may go on before their clients are answered 503.
  public var drainTimeout: Duration = .seconds(10)
  /// How long after that the last answers may take to be sent.
  public var flushTimeout: Duration = .seconds(1)

  public init() {}

  /// Connections for which there is room while others are being ended for them.
  static let reserve = 64

  /// How often deadlines are looked at while there are connections: those of tests are short.
  var watchPeriod: Duration { min(.seconds(1), min(headTimeout, min(bodyTimeout, answerTimeout)) / 4) }

  func check() {
    precondition(connections > 0 && inFlight > 0 && bodyBytes >= 0 && headBytes >= 1024, "an HTTP limit is too small")
    precondition(connectionsPerAddress > 0, "an HTTP limit is too small")
    precondition(idleTimeoutSeconds > 0 && retryAfterSeconds >= 0, "an HTTP timeout is negative or missing")
    precondition(
      min(headTimeout, min(bodyTimeout, answerTimeout)) >= .milliseconds(20), "an HTTP timeout is too short")
  }
}

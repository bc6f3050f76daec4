/// What the server never exceeds. Memory for bodies is at most `connections` times `bodyBytes`.
public struct HTTPLimits: Sendable, Equatable {
  /// Open connections, idle ones included; more are closed at once.
  public var connections = 1024
  /// Requests a handler has not answered yet, waiting ones included; more are answered 503.
  public var inFlight = 256
  /// Bytes of a request's body; more are answered 413.
  public var bodyBytes = 16 << 20
  /// Bytes of a request line and its headers together; more are answered 414 or 431.
  public var headBytes = 32 << 10
  /// A connection on which nothing moves for so long is closed, except while a handler works.
  public var idleTimeoutSeconds = 60
  /// What a refused client is told to wait, in seconds.
  public var retryAfterSeconds = 1
  /// How long after `shutDown` handlers may go on before their clients are answered 503.
  public var drainTimeout: Duration = .seconds(10)
  /// How long after that the last answers may take to be sent.
  public var flushTimeout: Duration = .seconds(1)

  public init() {}

  func check() {
    precondition(connections > 0 && inFlight > 0 && bodyBytes >= 0 && headBytes >= 1024, "an HTTP limit is too small")
    precondition(idleTimeoutSeconds > 0 && retryAfterSeconds >= 0, "an HTTP timeout is negative or missing")
  }
}

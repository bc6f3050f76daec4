/// Bounds of the bus, for both of its implementations.
public enum BusLimits {
  /// Requests of one bus that may wait for an answer; more are refused with `unavailable`.
  public static let requestsWaiting = 16_384
  /// Events kept for a reader that is behind; the oldest go first.
  public static let eventsKept = 64
  /// Messages the in-process bus may hold back at once; more are lost.
  public static let messagesDelayed = 65_536
  /// Requests that a connection of the in-process bus may still answer, before it forgets those that are over.
  static let answersOpen = 4_096
  /// Subjects of which such a connection remembers whether it may publish to them.
  static let rightsKnown = 1_024
  /// Answers that `gather` keeps.
  public static let answersGathered = 4_096
  /// Endpoints one host may run at once.
  public static let endpointsPerHost = 4_096
  /// Messages that wait for an endpoint's loop, beside those in flight.
  public static let endpointBacklog = 1_024
  /// Payload bytes that wait in one subscription.
  public static let subscriptionBytes = 64 << 20
  /// Of what an endpoint has in flight, and of what waits for it, one device has an eighth at most and the devices of
  /// one user together half, so that no device and no user keeps others out.
  public static let devicesInWhole = 8
  public static let usersInWhole = 2
  /// When a refused caller may come again.
  public static let busyRetryMilliseconds: UInt32 = 100
  /// How long an instance that starts listens for others of its service; so much later it serves.
  public static let companionWindow: Duration = .milliseconds(200)
  /// For a typed call that says nothing else.
  public static let callDeadline: Duration = .seconds(10)
  /// Longest traceparent, request id or error text taken from a header.
  public static let headerBytes = 1_024
}

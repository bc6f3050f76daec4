internal import CaravanModel

/// Bounds of the app library.
public enum ClientLimits {
  /// Requests that wait for their answer at one time; more are refused with `serverBusy`.
  public static let requestsInFlight = 256
  /// Ids of rows in one upcall that waits for the app; the number of rows counts on. Upcalls of one kind and table wait
  /// as one.
  public static let rowsNamed = 1_000
  /// Events of syncs that wait for the app: two for each table it may listen to.
  public static let syncEvents = 64
  /// Object bytes of one request. Together with its message they fit into a unix socket's usual buffer, so that nobody
  /// has to be woken for the rest.
  public static let objectPieceBytes = 192 << 10
  /// Object pieces sent ahead of their answers. Written ones are answered in runs of half as many.
  public static let piecesInFlight = 4
  /// Rows of one page of a cursor.
  public static let pageRows: UInt32 = 200

  /// Changes of cloud records in one request, and their bytes; more go in others. One record is no larger.
  public static let changesPerRequest = 64
  public static let changeBytes = Limits.appMessageBytes - (4 << 10)
  /// Of these, changes that bring objects: the agent has as many open at once, and those of the request before.
  public static let objectsOpen = 16
  /// Cloud records that one request reads; more go in others.
  public static let fetchedRecords = Limits.recordsPerCommit

  /// The agent is trusted, and may take its time; what waits to be sent is bounded by `requestsInFlight`. An answer can
  /// be longer than a request: three copies of a row in conflict.
  static let socket = FrameSocket.Bounds(
    messageBytes: 4 * Limits.appMessageBytes, backlogBytes: .max, maximumBacklogBytes: .max, stall: nil)
}

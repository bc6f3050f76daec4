public import CaravanModel
internal import CaravanWire

/// What a sync of a table came to, in one direction (REC-28). Progress, not state: who was not there when it happened
/// is not told, and `DeviceStatus` says how things stand.
public struct SyncEvent: Sendable, Hashable {
  /// The name of the app's table.
  public let table: String
  /// To the cloud; else from it.
  public let isWrite: Bool
  /// Rows that the cloud took, deletions apart.
  public let rowsSent: UInt64
  /// Deletions that the cloud took.
  public let deletionsSent: UInt64
  /// Rows that were changed or removed here.
  public let rowsReceived: UInt64
  /// It took up what a sync that was cut off had left.
  public let isResumed: Bool
  /// Nothing is left to send, or to fetch, with all objects that come by themselves.
  public let isComplete: Bool
  /// Syncs that this is about: more than one where the app was slow.
  public let sessions: UInt64

  init(_ event: CaravanWire.SyncEvent) {
    table = event.table
    isWrite = event.write
    rowsSent = event.rowsSent
    deletionsSent = event.deletionsSent
    rowsReceived = event.rowsReceived
    isResumed = event.resumed
    isComplete = event.complete
    sessions = event.sessions
  }
}

/// Events of the syncs of tables that are listened to, until the task is cancelled or the connection ends, which is
/// thrown.
public struct SyncEvents: AsyncSequence, Sendable {
  /// What came of a sync.
  public typealias Element = SyncEvent
  let client: CaravanClient

  /// Waits for events, one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let client: CaravanClient
    /// The next event; nil: the calling task was cancelled.
    public mutating func next() async throws(CaravanError) -> SyncEvent? {
      try await client.connection.nextEvent().map { SyncEvent($0) }
    }
  }

  /// Events from now on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
}

extension CaravanClient {
  /// Of the tables that `Table.listen` was called for. One reader at a time; for who does not read them, at most
  /// `ClientLimits.syncEvents` are kept, and several of one table become one.
  public var syncEvents: SyncEvents { SyncEvents(client: self) }
}

extension Table {
  /// Asks for events of this table's syncs from now on, on this connection (`CaravanClient.syncEvents`).
  /// - Throws: `limitExceeded` when that many tables are listened to, `tableNotFound`.
  public func listen() async throws(CaravanError) {
    try await connection.done(.listen(CaravanWire.TableName(table: name)))
  }
}

public import CaravanModel
internal import CaravanWire

/// Notifications of what the app has subscribed to, each once: those that are on this device already, and, where it is
/// to wait, those that come, until the task is cancelled or the connection ends, which is thrown.
public struct CloudNotifications: AsyncSequence, Sendable {
  /// What has happened, or that notifications were missed.
  public typealias Element = CloudNotification
  let client: CaravanClient
  let cursor: NotificationCursor
  let waits: Bool

  /// Goes over the notifications once.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let client: CaravanClient
    private let waits: Bool
    /// Behind all that was found.
    private var cursor: NotificationCursor
    private var found: [CloudNotification].Iterator = [].makeIterator()
    private var isWatching = false
    private var hasLooked = false

    init(_ notifications: CloudNotifications) {
      (client, waits, cursor) = (notifications.client, notifications.waits, notifications.cursor)
    }

    /// The next notification; nil: there are no more and none is waited for, or the calling task was cancelled.
    public mutating func next() async throws(CaravanError) -> CloudNotification? {
      while !Task.isCancelled {
        if let next = found.next() { return next }
        try await watch()
        if hasLooked {
          guard waits else { return nil }
          try await client.connection.awaitNotifications()
        }
        // What comes from here on wakes the next wait, also while this reads.
        hasLooked = true
        try await look()
      }
      return nil
    }

    private mutating func watch() async throws(CaravanError) {
      guard !isWatching else { return }
      try await client.watchNotifications()
      isWatching = true
    }

    private mutating func look() async throws(CaravanError) {
      var rows: [CloudNotification] = []
      var iterator = client.table(NotificationLog.name).rows(cursor.selection).makeAsyncIterator()
      while let row = try await iterator.next() { if let row = CloudNotification(row) { rows.append(row) } }
      let news = cursor.following(rows)
      if let last = news.last { cursor = last.cursor }
      found = news.makeIterator()
    }
  }

  /// From the first notification behind the cursor on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension CaravanClient {
  /// What has happened of all that the app has subscribed to, on this device or another one of the user. The cloud
  /// keeps the last thousand notifications of each source for 30 days; of those that have gone before the app saw them,
  /// it is told that they were missed. One reader at a time; upcalls of the table are not told to others on this
  /// connection.
  /// - Parameters:
  ///   - cursor: of the last notification that the app has dealt with.
  ///   - waits: goes on when those are told that are here, and waits for more.
  /// - Returns: notifications in the order of their arrival; `networkNotConnected` when the agent has gone is thrown by
  ///   its iteration.
  public func notifications(
    after cursor: NotificationCursor = .start, waits: Bool = true
  ) -> CloudNotifications {
    CloudNotifications(client: self, cursor: cursor, waits: waits)
  }

  /// Has what the cloud has told so far here when it returns: for an app that says how many were missed, or that does
  /// not stay connected.
  /// - Throws: `networkNotConnected`, `networkNotPermitted`; what is here already can be read all the same.
  public func fetchNotifications() async throws(CaravanError) {
    try await watchNotifications()
    try await table(NotificationLog.name).readSyncNow()
  }

  /// Has the agent say when the table changes; it makes the table where there is none yet.
  fileprivate func watchNotifications() async throws(CaravanError) {
    connection.beginNotifications()
    try await connection.done(.watch(CaravanWire.Watch(table: NotificationLog.name, saysTaken: true)))
  }
}

package import CaravanWire

/// Events of syncs (REC-28) that have not been taken: at most so many. When it is full, events of one table and
/// direction become one.
package struct SyncEventQueue: Sendable {
  private let capacity: Int
  private var events: [CaravanWire.SyncEvent] = []

  /// - Parameter capacity: two for each table that is listened to, or the oldest may be lost; positive.
  package init(capacity: Int) {
    precondition(capacity > 0, "a queue of capacity \(capacity) can carry nothing")
    self.capacity = capacity
  }

  package mutating func add(_ event: CaravanWire.SyncEvent) {
    if events.count == capacity { fold() }
    if events.count == capacity {
      if let last = events.firstIndex(where: { $0.isOfTheSame(as: event) }) { return events[last].fold(event) }
      events.removeFirst()
    }
    events.append(event)
  }

  package mutating func next() -> CaravanWire.SyncEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// One of each table and direction, where its first was.
  private mutating func fold() {
    var folded: [CaravanWire.SyncEvent] = []
    for event in events {
      if let first = folded.firstIndex(where: { $0.isOfTheSame(as: event) }) {
        folded[first].fold(event)
      } else {
        folded.append(event)
      }
    }
    events = folded
  }
}

extension CaravanWire.SyncEvent {
  fileprivate func isOfTheSame(as other: CaravanWire.SyncEvent) -> Bool { table == other.table && write == other.write }

  /// Whether it is complete the later one knows.
  fileprivate mutating func fold(_ later: CaravanWire.SyncEvent) {
    rowsSent += later.rowsSent
    deletionsSent += later.deletionsSent
    rowsReceived += later.rowsReceived
    sessions += later.sessions
    resumed = resumed || later.resumed
    complete = later.complete
  }
}

internal import CaravanRuntime

/// Tells every reader what happens to a bus. A reader that is behind loses the oldest events.
package final class EventFeed: Sendable {
  private struct State {
    /// In the order they came.
    var readers: [(id: UInt64, mailbox: Mailbox<BusEvent>)] = []
    var lastReader: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  package init() {}

  package func send(_ event: BusEvent) {
    for reader in state.withLock({ $0.readers }) { reader.mailbox.push(event) }
  }

  package func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      return state.readers
    }
    for reader in readers { reader.mailbox.finish() }
  }

  package func stream() -> any BusEventStream {
    let mailbox = Mailbox<BusEvent>(capacity: BusLimits.eventsKept, overflow: .dropOldest)
    let id = state.withLock { state in
      state.lastReader += 1
      state.readers.append((state.lastReader, mailbox))
      if state.isFinished { mailbox.finish() }
      return state.lastReader
    }
    return EventReader(mailbox: mailbox) { [weak self] in
      self?.state.withLock { $0.readers.removeAll { $0.id == id } }
    }
  }
}

private final class EventReader: BusEventStream {
  private let mailbox: Mailbox<BusEvent>
  private let leave: @Sendable () -> Void

  init(mailbox: Mailbox<BusEvent>, leave: @escaping @Sendable () -> Void) {
    self.mailbox = mailbox
    self.leave = leave
  }

  deinit { leave() }

  func next() async -> BusEvent? {
    while let item = await mailbox.next() {
      if case .element(let event) = item { return event }
    }
    return nil
  }
}

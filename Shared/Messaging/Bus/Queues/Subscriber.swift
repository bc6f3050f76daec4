/// The consumer's end of a subscription; the bus holds the mailbox. Letting go of it cancels.
package final class Subscriber: BusSubscription, Sendable {
  private let mailbox: Mailbox<Incoming>
  private let leave: @Sendable () -> Void

  /// - Parameter leave: tells the bus that nobody reads any more; the bus then finishes the mailbox, when what is on
  ///   its way has come. May be called more than once.
  package init(_ mailbox: Mailbox<Incoming>, leave: @escaping @Sendable () -> Void) {
    self.mailbox = mailbox
    self.leave = leave
  }

  deinit { leave() }

  package func next() async -> Delivery? {
    switch await mailbox.next() {
    case .element(let incoming): .message(incoming)
    case .dropped(let count): .gap(dropped: count)
    case nil: nil
    }
  }

  package func cancel() { leave() }
}

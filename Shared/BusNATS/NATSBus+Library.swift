internal import Bus
internal import CNats
internal import Model

extension NATSBus {
  /// Makes the subscription, and lends `intake` to the library until it is complete.
  static func subscribe(
    _ connection: Handle, _ context: ConnectionContext, _ subject: String, group: String?, capacity: Int,
    _ intake: Intake
  ) throws(CaravanError) -> LibrarySubscription {
    var pointer: OpaquePointer?
    let lent = Unmanaged.passRetained(intake)
    let status =
      if let group {
        natsConnection_QueueSubscribe(
          &pointer, connection.pointer, subject, group, Intake.onMessage, lent.toOpaque())
      } else {
        natsConnection_Subscribe(&pointer, connection.pointer, subject, Intake.onMessage, lent.toOpaque())
      }
    guard status == NATS_OK, let pointer else {
      lent.release()
      throw CaravanError(status, "subscribe to \(subject)")
    }
    let subscription = LibrarySubscription(Handle(pointer: pointer), context)
    context.enter(intake, of: subscription.handle)
    let messages = Int32(clamping: max(capacity, NATSLimits.pendingMessages))
    try check(natsSubscription_SetPendingLimits(pointer, messages, Int32(BusLimits.subscriptionBytes)), "set limits")
    // When this fails, the connection was closed a moment ago: nobody will say when the context is no longer used, so
    // the library keeps it for ever.
    try check(natsSubscription_SetOnCompleteCB(pointer, Intake.onComplete, lent.toOpaque()), "subscribe to \(subject)")
    return subscription
  }

  /// An answer to one of our requests: the id is the last token of the inbox.
  static func accept(_ message: OpaquePointer, for replies: ReplyTable) {
    guard let text = natsMsg_GetSubject(message).map({ String(cString: $0) }),
      let id = text.split(separator: ".").last.flatMap({ UInt64($0) })
    else { return }
    replies.resolve(id, natsMsg_IsNoResponders(message) ? .failure(.noResponders) : .success(Message(message)))
  }

  /// A message of a subscription. Subjects that Caravan does not know are dropped: nobody of ours sends them.
  static func accept(
    _ message: OpaquePointer, of pattern: SubjectPattern, into mailbox: Mailbox<Incoming>, _ events: EventFeed
  ) {
    guard let subject = subject(of: message, pattern) else { return }
    let reply = natsMsg_GetReply(message).map { ReplyAddress(text: String(cString: $0)) }
    switch mailbox.push(Incoming(subject: subject, message: Message(message), reply: reply)) {
    case .droppedFirst: events.send(.slowConsumer(subject: pattern.text, dropped: 1))
    case .accepted, .dropped, .finished: break
    }
  }

  private static func subject(of message: OpaquePointer, _ pattern: SubjectPattern) -> Subject? {
    if case .exact(let subject) = pattern { return subject }
    return natsMsg_GetSubject(message).flatMap { try? Subject(parsing: String(cString: $0)) }
  }
}

extension CaravanError {
  /// From the broker, at once, when nobody subscribes to a request's subject.
  static let noResponders = CaravanError(.unavailable, "nobody serves the subject now: retry later")
}

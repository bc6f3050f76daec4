internal import CCaravanNats
internal import CaravanBus
internal import CaravanModel

extension NATSBus {
  /// Makes a subscription whose messages are taken on the event loop.
  static func subscribe(
    _ connection: Handle, _ subject: String, group: String?, accept: @escaping @Sendable (OpaquePointer) -> Void,
    end: @escaping @Sendable () -> Void
  ) throws(CaravanError) -> Inlet {
    var pointer: OpaquePointer?
    let status =
      if let group {
        natsConnection_QueueSubscribeSync(&pointer, connection.pointer, subject, group)
      } else {
        natsConnection_SubscribeSync(&pointer, connection.pointer, subject)
      }
    guard status == NATS_OK, let pointer else { throw CaravanError(status, "subscribe to \(subject)") }
    let inlet = Inlet(Handle(pointer: pointer), accept: accept, end: end)
    let limits = natsSubscription_SetPendingLimits(pointer, -1, Int32(BusLimits.subscriptionBytes))
    try check(limits, "set limits")
    return inlet
  }

  /// The subscription for answers that come in no lane. A thread of the library hands them over.
  static func subscribeToAnswers(
    _ connection: Handle, _ context: ConnectionContext, _ inbox: String
  ) throws(CaravanError) -> Handle {
    var pointer: OpaquePointer?
    let status = natsConnection_Subscribe(
      &pointer, connection.pointer, "\(inbox).*", ConnectionContext.onAnswer, context.number)
    guard status == NATS_OK, let pointer else { throw CaravanError(status, "subscribe to \(inbox)") }
    let limits = natsSubscription_SetPendingLimits(
      pointer, Int32(BusLimits.requestsWaiting), Int32(BusLimits.subscriptionBytes))
    try check(limits, "set limits")
    return Handle(pointer: pointer)
  }

  /// Why the library closed a connection that was to come back by itself.
  static func end(of connection: Handle, at urls: [String]) -> CaravanError {
    let address = urls.joined(separator: ",")
    var text: UnsafePointer<CChar>?
    switch natsConnection_GetLastError(connection.pointer, &text) {
    case NATS_OK, NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED, NATS_CONNECTION_CLOSED:
      return CaravanError(.notAuthenticated, "the broker at \(address) refuses the connection: check the credentials")
    case let status:
      let reason = text.map { String(cString: $0) } ?? String(cString: natsStatus_GetText(status))
      return CaravanError(.unavailable, "connect to \(address): \(reason)")
    }
  }

  /// An answer to one of our requests: the id is the last token of the inbox.
  /// - Returns: the id.
  @discardableResult
  static func accept(_ message: OpaquePointer, for replies: ReplyTable, _ spent: SpentMessages) -> UInt64? {
    defer { spent.add(message) }
    guard let text = natsMsg_GetSubject(message).map({ String(cString: $0) }),
      let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")), let id = UInt64(text[text.utf8.index(after: dot)...])
    else { return nil }
    replies.resolve(id, natsMsg_IsNoResponders(message) ? .failure(.noResponders) : .success(Message(message)))
    return id
  }

  /// A message of a subscription. Subjects that Caravan does not know are dropped: nobody of ours sends them.
  static func accept(
    _ message: OpaquePointer, of pattern: SubjectPattern, into mailbox: Mailbox<Incoming>, _ context: ConnectionContext
  ) {
    defer { context.spent.add(message) }
    guard let subject = subject(of: message, pattern) else { return }
    let reply = natsMsg_GetReply(message).map { ReplyAddress(text: String(cString: $0)) }
    switch mailbox.push(Incoming(subject: subject, message: Message(message), reply: reply)) {
    case .droppedFirst: context.events.send(.slowConsumer(subject: pattern.text, dropped: 1))
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

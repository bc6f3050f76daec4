internal import CCaravanNats
public import CaravanBus
public import CaravanModel
public import CaravanRuntime

/// The bus over a NATS broker: one connection, which comes back by itself.
///
/// The event loop reads and writes its socket: publishing copies into the library's buffer, which leaves at the end of
/// the loop's turn. Whatever waits for the broker runs on an executor of its own.
public final class NATSBus: MessageBus {
  private let context: ConnectionContext
  private let connection: Handle
  private let blocking: BlockingCalls
  private let clock: any Clock
  private let log: Log
  /// `<inbox>.r.<connection>`
  private let inbox: String
  private let answers: Handle

  /// Returns after the first attempt; when that failed, attempts go on and `events` says when one succeeds.
  /// - Throws: `notAuthenticated` when the broker refuses the credentials; `invalidData` or `unavailable` for options
  ///   that cannot work.
  public static func connect(_ options: NATSOptions, host: Host) async throws(CaravanError) -> NATSBus {
    try options.requireProtection()
    let context = ConnectionContext(options, loop: .main, host: host)
    let blocking = BlockingCalls(host.executors.makeSerial("nats"))
    let connection = try await blocking.run { () throws(CaravanError) in try context.connectBlocking() }
    do throws(CaravanError) {
      return try NATSBus(context, connection, blocking, host)
    } catch {
      let reason = error == .busClosed ? Self.end(of: connection, at: options.urls) : error
      await EventLoop.main.run { natsConnection_Destroy(connection.pointer) }
      throw reason
    }
  }

  private init(
    _ context: ConnectionContext, _ connection: Handle, _ blocking: BlockingCalls, _ host: Host
  ) throws(CaravanError) {
    self.context = context
    self.connection = connection
    self.blocking = blocking
    clock = host.clock
    log = host.log
    inbox = "\(context.options.inbox).r.\(String(host.random.next(), radix: 36))"
    answers = try Self.subscribeToAnswers(connection, context, inbox)
  }

  /// A backstop: `drain` has closed the connection already where shutting down went as it should.
  deinit {
    EventLoop.main.call { [connection, answers] in
      natsSubscription_Destroy(answers.pointer)
      natsConnection_Destroy(connection.pointer)
    }
  }

  public var isConnected: Bool { natsConnection_Status(connection.pointer) == NATS_CONN_STATUS_CONNECTED }

  /// - Throws: `unavailable` when there is no connection within the time, or TLS failed; `notAuthenticated` when there
  ///   was a broker and it refused; `cancelled`.
  public func waitUntilConnected(deadline: Duration) async throws(CaravanError) {
    let events = events()
    let expiry = clock.now + deadline
    let isLate = await withTaskGroup(of: Bool.self) { group in
      group.addTask { (try? await self.clock.sleep(until: expiry)) != nil }
      group.addTask {
        while !self.isConnected, await events.next() != nil {}
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    if Task.isCancelled { throw CaravanError(.cancelled, "waiting for the broker was cancelled") }
    if natsConnection_Status(connection.pointer) == NATS_CONN_STATUS_CLOSED {
      throw Self.end(of: connection, at: context.options.urls)
    }
    if isLate || !isConnected {
      let address = context.options.urls.joined(separator: ",")
      throw CaravanError(
        .unavailable, "no broker at \(address) within \(deadline.wholeMilliseconds) ms: is it running?")
    }
  }

  // MARK: MessageBus

  public func publish(_ message: Message, to subject: Subject) async throws(CaravanError) {
    try send(message.inContext(), to: subject.text, reply: nil)
  }

  public func publish(_ messages: [Outgoing]) async throws(CaravanError) {
    for outgoing in messages { try send(outgoing.message.inContext(), to: outgoing.subject.text, reply: nil) }
    // The broker begins with these while the next are made.
    context.flush()
  }

  public func reply(_ message: Message, to address: ReplyAddress) async throws(CaravanError) {
    try send(message, to: address.text, reply: nil)
  }

  public func request(
    _ message: Message, to subject: Subject, deadline: Duration
  ) async throws(CaravanError) -> Message {
    let text = subject.text
    let message = message.inContext()
    let answer: Message
    var inLane: UInt64?
    defer { if let inLane { context.lanes.leave(inLane) } }
    do {
      answer = try await context.replies.request(deadline: deadline, clock: clock) { id throws(CaravanError) in
        let lane = context.lanes.enter(id, connection, inbox: inbox)
        if lane != nil { inLane = id }
        try send(message, to: text, reply: lane?.address(id, inbox: inbox) ?? "\(inbox).\(id)")
      }
    } catch {
      throw error == .noResponders ? .nobodyServes(text) : error
    }
    return try answer.accepted()
  }

  public func gather(
    _ message: Message, to subject: Subject, within duration: Duration, limit: Int
  ) async throws(CaravanError) -> [Message] {
    try await context.replies.gather(within: duration, limit: limit, clock: clock) { id throws(CaravanError) in
      try send(message.inContext(), to: subject.text, reply: "\(inbox).\(id)")
    }
  }

  public func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription {
    let mailbox = Mailbox<Incoming>.forMessages(capacity: capacity)
    let inlet = try Self.subscribe(
      connection, pattern.text, group: group,
      accept: { [context] in Self.accept($0, of: pattern, into: mailbox, context) }, end: { mailbox.finish() })
    context.inlets.add(inlet)
    if isConnected {
      let timeout = NATSLimits.flushTimeout.milliseconds
      let status = await blocking.run { [connection] in natsConnection_FlushTimeout(connection.pointer, timeout) }
      // Without a connection the library subscribes when it has one.
      if status == NATS_CONNECTION_CLOSED { throw .busClosed }
    }
    return Subscriber(mailbox) { [context] in context.inlets.leave(inlet) }
  }

  public func events() -> any BusEventStream { context.events.stream() }

  public func drain(deadline: Duration) async {
    let expiry = clock.now + deadline
    await context.replies.waitUntilIdle(before: expiry, clock: clock)
    await context.inlets.leaveAll(before: expiry)
    let left = max(1, (expiry - clock.now).wholeMilliseconds)
    if isConnected { _ = await blocking.run { [connection] in natsConnection_FlushTimeout(connection.pointer, left) } }
    await EventLoop.main.run { [connection] in natsConnection_Close(connection.pointer) }
  }

  // MARK: The library's side

  private func send(_ message: Message, to subject: String, reply: String?) throws(CaravanError) {
    try message.checkSize(to: subject)
    guard isConnected else {
      // For whoever asked, who may be anybody: the address stays in the log.
      throw CaravanError(.unavailable, "not connected to the broker: retry later")
    }
    guard natsConnection_Buffered(connection.pointer) < NATSLimits.unsentBytes else {
      throw CaravanError(.unavailable, "\(NATSLimits.unsentBytes) bytes wait for the broker already: retry later")
    }
    try check(message.send(on: connection, to: subject, reply: reply, context.spent), "send to \(subject)")
  }
}

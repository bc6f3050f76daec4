public import CaravanModel
internal import CaravanRuntime

/// One client of an `InProcessHub`. Letting go of it, or `close`, is what a crash of the client looks like to others.
public final class InProcessBus: MessageBus {
  private let hub: InProcessHub
  private let peer: Peer

  init(hub: InProcessHub, peer: Peer) {
    self.hub = hub
    self.peer = peer
  }

  deinit { close() }

  public var name: String { peer.name }

  public func publish(_ message: Message, to subject: Subject) async throws(CaravanError) {
    try check(message, to: subject.text)
    _ = hub.send(Incoming(subject: subject, message: message.inContext(), reply: nil), from: peer)
  }

  public func reply(_ message: Message, to address: ReplyAddress) async throws(CaravanError) {
    try check(message, to: address.text)
    hub.answer(message, to: address, from: peer)
  }

  public func request(
    _ message: Message, to subject: Subject, deadline: Duration
  ) async throws(CaravanError) -> Message {
    try check(message, to: subject.text)
    let answer = try await peer.replies.request(deadline: deadline, clock: hub.clock) { id throws(CaravanError) in
      guard send(message, to: subject, request: id) > 0 else { throw .nobodyServes(subject.text) }
    }
    return try answer.accepted()
  }

  public func gather(
    _ message: Message, to subject: Subject, within duration: Duration, limit: Int
  ) async throws(CaravanError) -> [Message] {
    try check(message, to: subject.text)
    return try await peer.replies.gather(within: duration, limit: limit, clock: hub.clock) { id throws(CaravanError) in
      if send(message, to: subject, request: id) == 0 {
        peer.replies.resolve(id, .failure(.nobodyServes(subject.text)))
      }
    }
  }

  public func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription {
    guard peer.isOpen else { throw .busClosed }
    return hub.subscribe(peer, pattern, group: group, capacity: capacity)
  }

  public func events() -> any BusEventStream { peer.events.stream() }

  public func drain(deadline: Duration) async {
    hub.endSubscriptions(of: peer)
    await peer.replies.waitUntilIdle(before: hub.clock.now + deadline, clock: hub.clock)
    close()
  }

  /// At once, without finishing anything.
  public func close() {
    if peer.close() { hub.remove(peer) }
  }

  private func check(_ message: Message, to subject: String) throws(CaravanError) {
    try peer.checkUp()
    try message.checkSize(to: subject)
  }

  private func send(_ message: Message, to subject: Subject, request: UInt64) -> Int {
    let reply = Inbox(peer, request: request, askingAt: subject).address
    return hub.send(Incoming(subject: subject, message: message.inContext(), reply: reply), from: peer)
  }
}

extension CaravanError {
  package static func nobodyServes(_ subject: String) -> CaravanError {
    CaravanError(.unavailable, "nobody serves \(subject) now: retry later")
  }
}

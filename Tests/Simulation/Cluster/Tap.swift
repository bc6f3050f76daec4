internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime

/// A device's bus, and what crosses it: the bytes that the agent's own figures have to say.
final class Tap: Sendable {
  struct Bytes: Sendable, Hashable {
    var up = 0
    var down = 0
    /// Requests without an answer: what they take is counted by the agent when they have one.
    var inFlight = 0
  }

  private let bytes = Mutex(Bytes())
  private let listener: Listener?
  private let ear: Ear?

  init(_ listener: Listener?, _ ear: Ear?) {
    self.listener = listener
    self.ear = ear
  }

  /// Since the agent's life began.
  var carried: Bytes { bytes.withLock { $0 } }

  fileprivate func sent(_ message: Message) { bytes.withLock { $0.up += message.payload.count } }
  fileprivate func asked(_ change: Int) { bytes.withLock { $0.inFlight += change } }
  fileprivate func received(_ message: Message) { bytes.withLock { $0.down += message.payload.count } }

  fileprivate func answered(_ message: Message, at subject: Subject) {
    received(message)
    ear?.hears(message, at: subject)
  }

  fileprivate func refused(_ refusal: CaravanError) { ear?.hears(refusal) }

  fileprivate func heard(_ message: Message) {
    received(message)
    listener?.hears(message.payload)
    ear?.hears(notification: message)
  }
}

/// Counts what goes through another bus.
final class TappedBus: MessageBus {
  private let bus: any MessageBus
  private let tap: Tap

  init(_ bus: any MessageBus, _ tap: Tap) {
    self.bus = bus
    self.tap = tap
  }

  func publish(_ message: Message, to subject: Subject) async throws(CaravanError) {
    tap.sent(message)
    try await bus.publish(message, to: subject)
  }

  func publish(_ messages: [Outgoing]) async throws(CaravanError) {
    for outgoing in messages { tap.sent(outgoing.message) }
    try await bus.publish(messages)
  }

  func reply(_ message: Message, to address: ReplyAddress) async throws(CaravanError) {
    tap.sent(message)
    try await bus.reply(message, to: address)
  }

  func request(
    _ message: Message, to subject: Subject, deadline: Duration
  ) async throws(CaravanError) -> Message {
    tap.sent(message)
    tap.asked(1)
    defer { tap.asked(-1) }
    do throws(CaravanError) {
      let answer = try await bus.request(message, to: subject, deadline: deadline)
      tap.answered(answer, at: subject)
      return answer
    } catch {
      tap.refused(error)
      throw error
    }
  }

  func gather(
    _ message: Message, to subject: Subject, within duration: Duration, limit: Int
  ) async throws(CaravanError) -> [Message] {
    tap.sent(message)
    let answers = try await bus.gather(message, to: subject, within: duration, limit: limit)
    for answer in answers { tap.received(answer) }
    return answers
  }

  func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription {
    TappedSubscription(try await bus.subscribe(pattern, group: group, capacity: capacity), tap)
  }

  func events() -> any BusEventStream { bus.events() }
  func drain(deadline: Duration) async { await bus.drain(deadline: deadline) }
}

private final class TappedSubscription: BusSubscription {
  private let subscription: any BusSubscription
  private let tap: Tap

  init(_ subscription: any BusSubscription, _ tap: Tap) {
    self.subscription = subscription
    self.tap = tap
  }

  func next() async -> Delivery? {
    let delivery = await subscription.next()
    if case .message(let incoming)? = delivery { tap.heard(incoming.message) }
    return delivery
  }

  func cancel() { subscription.cancel() }
}

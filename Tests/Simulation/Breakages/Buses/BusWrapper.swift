internal import CaravanBus
internal import CaravanModel

/// A bus in front of another, for breakages: what a wrapper does not do itself it passes on.
protocol BusWrapper: MessageBus {
  var bus: any MessageBus { get }
}

extension BusWrapper {
  func publish(_ message: Message, to subject: Subject) async throws(CaravanError) {
    try await bus.publish(message, to: subject)
  }

  func publish(_ messages: [Outgoing]) async throws(CaravanError) { try await bus.publish(messages) }

  func reply(_ message: Message, to address: ReplyAddress) async throws(CaravanError) {
    try await bus.reply(message, to: address)
  }

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    try await bus.request(message, to: subject, deadline: deadline)
  }

  func gather(
    _ message: Message, to subject: Subject, within duration: Duration, limit: Int
  ) async throws(CaravanError) -> [Message] {
    try await bus.gather(message, to: subject, within: duration, limit: limit)
  }

  func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription {
    try await bus.subscribe(pattern, group: group, capacity: capacity)
  }

  func events() -> any BusEventStream { bus.events() }
  func drain(deadline: Duration) async { await bus.drain(deadline: deadline) }
}

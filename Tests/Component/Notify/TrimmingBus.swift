import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanWire

/// A bus on which storage says, when it is told to, that the part of the change log that is asked for is not there any
/// more.
final class TrimmingBus: MessageBus {
  private let bus: any MessageBus
  private let trims = Mutex(false)
  private let trimmed = Mutex(false)

  /// It has said so.
  var hasTrimmed: Bool { trimmed.withLock { $0 } }

  init(_ bus: any MessageBus) { self.bus = bus }

  /// At the next reading of the log.
  func trimNext() { trims.withLock { $0 = true } }

  private func takeTrim() -> Bool {
    trims.withLock { trims in
      defer { trims = false }
      return trims
    }
  }

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    let answer = try await bus.request(message, to: subject, deadline: deadline)
    guard case .partitioned(.storage, _, StorageMethod.log.rawValue) = subject,
      var reply = try? ReadLogReply.decode(answer.payload), reply.head > 0, takeTrim()
    else { return answer }
    reply.trimmed = true
    trimmed.withLock { $0 = true }
    return Message(reply.encoded(), headers: answer.headers)
  }

  func publish(_ message: Message, to subject: Subject) async throws(CaravanError) {
    try await bus.publish(message, to: subject)
  }

  func publish(_ messages: [Outgoing]) async throws(CaravanError) { try await bus.publish(messages) }

  func reply(_ message: Message, to address: ReplyAddress) async throws(CaravanError) {
    try await bus.reply(message, to: address)
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

public import CaravanModel

/// What travels: bytes, and a few headers.
public struct Message: Sendable, Equatable {
  public var payload: [UInt8]
  public var headers: Headers

  public init(_ payload: [UInt8] = [], headers: Headers = Headers()) {
    self.payload = payload
    self.headers = headers
  }
}

/// The headers Caravan uses; others are dropped on receipt.
public struct Headers: Sendable, Equatable {
  /// W3C trace context, version 00.
  public var traceparent: String?
  public var requestID: String?
  /// Set on the reply of a refused request (NATS services convention, ADR-32): the payload is a `Failure`.
  public var errorCode: String?
  public var errorText: String?

  public init(
    traceparent: String? = nil, requestID: String? = nil, errorCode: String? = nil, errorText: String? = nil
  ) {
    self.traceparent = traceparent
    self.requestID = requestID
    self.errorCode = errorCode
    self.errorText = errorText
  }
}

/// A message that arrived, with the subject it was sent to.
public struct Incoming: Sendable {
  public let subject: Subject
  public let message: Message
  /// Where an answer goes; nil: none is expected.
  public let reply: ReplyAddress?

  public init(subject: Subject, message: Message, reply: ReplyAddress?) {
    self.subject = subject
    self.message = message
    self.reply = reply
  }

  /// False when a device asks that its answer be sent to others: the broker lets whoever answers send there, and so
  /// lends the device permissions that it does not have.
  package var answersSender: Bool {
    guard let inbox = subject.senderInbox, let reply else { return true }
    return reply.text.hasPrefix("\(inbox).r.")
  }
}

/// A message to be sent, with the subject it goes to.
public struct Outgoing: Sendable {
  public let subject: Subject
  public let message: Message

  public init(_ message: Message, to subject: Subject) {
    self.subject = subject
    self.message = message
  }
}

/// An inbox of somebody who waits for an answer.
public struct ReplyAddress: Sendable, Hashable {
  public let text: String
  public init(text: String) { self.text = text }
}

public enum Delivery: Sendable {
  case message(Incoming)
  /// The subscriber was too slow: this many messages were dropped here. Resynchronise from what is durable.
  case gap(dropped: UInt64)
}

/// Pulled by one consumer. Messages wait in a buffer of the capacity asked for; beyond it they are dropped and the
/// next `next()` says so.
public protocol BusSubscription: Sendable {
  /// The next delivery; nil when the subscription or the bus has ended, or the calling task is cancelled.
  func next() async -> Delivery?
  /// Stops new deliveries; those in the buffer are still handed out (drain), then `next` returns nil.
  func cancel()
}

public enum BusEvent: Sendable, Equatable {
  case connected
  /// Messages may be lost until `connected` comes again.
  case disconnected
  case slowConsumer(subject: String, dropped: UInt64)
  /// The broker refused it for want of permission, in its own words.
  case denied(Denied, String)
  /// For good: it was drained, or the broker has refused the credentials twice in a row. Whoever owns the bus makes
  /// another when it has reason to believe in its credentials.
  case closed

  public enum Denied: Sendable {
    case connection
    case publish
    /// Nothing will come on it, whatever its holder waits for.
    case subscription
  }
}

/// The one way parts of Caravan speak to each other (architecture §3). At most `Limits.messageBytes` a message;
/// at-least-once at best, nothing guaranteed; no order across subjects. Safe to call from any task.
public protocol MessageBus: Sendable {
  /// Sends without knowing whether anybody got it.
  /// - Throws: `limitExceeded`, or `unavailable` when not connected.
  func publish(_ message: Message, to subject: Subject) async throws(CaravanError)

  /// Sends many at once, in order: with less work for each, and on its way when this returns.
  /// - Throws: as for one; the ones before it have been sent.
  func publish(_ messages: [Outgoing]) async throws(CaravanError)

  /// Answers an incoming request.
  func reply(_ message: Message, to address: ReplyAddress) async throws(CaravanError)

  /// Sends and waits for the first answer. Cancellation of the task ends the wait.
  /// - Throws: what the answer's `Failure` says; `timedOut` after `deadline`; `unavailable` at once when nobody
  ///   subscribes to the subject or the bus is not connected; `timedOut` when the connection goes meanwhile;
  ///   `limitExceeded`; `cancelled`.
  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message

  /// Sends and collects the answers of everybody who serves the subject, until `duration` is over or `limit` answers
  /// are here. Nobody there is an empty list.
  /// - Throws: `limitExceeded`, or `unavailable` when not connected.
  func gather(
    _ message: Message, to subject: Subject, within duration: Duration, limit: Int
  ) async throws(CaravanError) -> [Message]

  /// - Parameters:
  ///   - group: of those subscribed with one group name, one gets each message.
  ///   - capacity: messages that may wait here.
  func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription

  /// State changes, from now on; the newest 64 are kept for a slow reader.
  func events() -> any BusEventStream

  /// Stops taking requests, lets what is in flight finish for at most `deadline`, then closes.
  func drain(deadline: Duration) async
}

public protocol BusEventStream: Sendable {
  func next() async -> BusEvent?
}

extension MessageBus {
  public func publish(_ messages: [Outgoing]) async throws(CaravanError) {
    for outgoing in messages { try await publish(outgoing.message, to: outgoing.subject) }
  }
}

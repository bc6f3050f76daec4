public import CaravanModel
public import CaravanWire

extension MessageBus {
  /// A request and its answer as messages of `Protos/`.
  /// - Throws: as `request`; `invalidData` when the answer is not a `Reply`.
  public func call<Reply: WireMessage>(
    _ request: some WireMessage, to subject: Subject, deadline: Duration = BusLimits.callDeadline,
    as reply: Reply.Type = Reply.self
  ) async throws(CaravanError) -> Reply {
    let answer = try await self.request(Message(request.encoded()), to: subject, deadline: deadline)
    return try Reply.decode(answer.payload)
  }

  public func publish(_ message: some WireMessage, to subject: Subject) async throws(CaravanError) {
    try await publish(Message(message.encoded()), to: subject)
  }
}

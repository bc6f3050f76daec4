internal import CaravanBus
internal import CaravanModel

/// A device's bus that sends every question twice, where the agent has counted it once.
struct WastefulBus: BusWrapper {
  let bus: any MessageBus

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    try await bus.publish(message, to: subject)
    return try await bus.request(message, to: subject, deadline: deadline)
  }
}

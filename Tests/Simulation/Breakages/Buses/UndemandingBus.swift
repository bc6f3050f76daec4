internal import CaravanBus
internal import CaravanModel
internal import CaravanTokens
internal import CaravanWire

/// Storage's bus, where every chunk ticket is made one of the device that shows it: as if a ticket named no device.
struct UndemandingBus: BusWrapper {
  let bus: any MessageBus
  let keyring: Keyring

  func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription {
    let subscription = try await bus.subscribe(pattern, group: group, capacity: capacity)
    guard case .everyChunks = pattern else { return subscription }
    return Requests(subscription: subscription, keyring: keyring)
  }

  private struct Requests: BusSubscription {
    let subscription: any BusSubscription
    let keyring: Keyring

    func next() async -> Delivery? {
      let delivery = await subscription.next()
      guard case .message(let incoming)? = delivery, let payload = resealed(incoming) else { return delivery }
      var message = incoming.message
      message.payload = payload
      return .message(Incoming(subject: incoming.subject, message: message, reply: incoming.reply))
    }

    func cancel() { subscription.cancel() }

    private func resealed(_ incoming: Incoming) -> [UInt8]? {
      guard let device = incoming.subject.sender, var request = try? ChunkRequest.decode(incoming.message.payload),
        let ticket = request.ticket, let database = try? ticket.database?.model()
      else { return nil }
      let grant = TicketGrant(
        database: database, device: device, isUpload: ticket.upload, bytes: ticket.bytes,
        expiresMilliseconds: Int64(clamping: ticket.expiresMilliseconds))
      request.ticket = TicketSeal(key: keyring.key).issue(grant)
      return request.encoded()
    }
  }
}

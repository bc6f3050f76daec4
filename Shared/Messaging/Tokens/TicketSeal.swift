public import CaravanCrypto
public import CaravanModel
public import CaravanWire

/// What a ticket allows.
public struct TicketGrant: Sendable, Hashable {
  public var database: DatabaseID
  public var device: EnrolledDevice
  /// True: to send chunks; false: to fetch them.
  public var isUpload: Bool
  /// At most this many.
  public var bytes: UInt64
  /// Unix time.
  public var expiresMilliseconds: Int64

  public init(database: DatabaseID, device: EnrolledDevice, isUpload: Bool, bytes: UInt64, expiresMilliseconds: Int64) {
    precondition(expiresMilliseconds >= 0, "tickets do not expire before 1970")
    self.database = database
    self.device = device
    self.isUpload = isUpload
    self.bytes = bytes
    self.expiresMilliseconds = expiresMilliseconds
  }
}

/// Chunk tickets: sync issues them by storage's time, storage checks them. Whatever storage's clock is worth, both mean
/// the same one.
public struct TicketSeal: Sendable {
  /// How long a ticket may be used.
  public static let lifetime: Duration = .seconds(900)
  /// What clocks of several storage processes may differ by.
  private static let tolerance: Duration = .seconds(60)
  private let keys: any TicketKeys

  public init(key keys: any TicketKeys) { self.keys = keys }

  public func issue(_ grant: TicketGrant) -> Ticket {
    Ticket(
      database: DatabaseRef(grant.database), device: grant.device.text, upload: grant.isUpload, bytes: grant.bytes,
      expiresMilliseconds: UInt64(grant.expiresMilliseconds), mac: keys.ring.mac(over: message(grant).bytes),
      partition: Partition(of: grant.database).number)
  }

  /// - Parameters:
  ///   - device: who shows it, as the broker proves.
  ///   - now: Unix time.
  /// - Throws: `notAuthenticated` when no key of the ring issued it, or to another device; `leaseExpired` when its
  ///   time is over; `invalidData` when it is no ticket at all.
  public func open(
    _ ticket: Ticket, from device: EnrolledDevice, nowMilliseconds now: Int64
  ) throws(CaravanError) -> TicketGrant {
    let grant = TicketGrant(
      database: try required(ticket.database, "database").model(), device: try EnrolledDevice(ticket.device),
      isUpload: ticket.upload, bytes: ticket.bytes, expiresMilliseconds: Int64(clamping: ticket.expiresMilliseconds))
    // Nobody issues one for another environment; if somebody did, it would be worth nothing.
    guard keys.ring.verify(ticket.mac, over: message(grant).bytes), grant.device == device,
      grant.database.environment == device.environment
    else {
      throw CaravanError(.notAuthenticated, "the ticket is not one for this device: ask sync for another")
    }
    // One that would last longer than any was issued before storage's time went back.
    let latest = now + (Self.lifetime + Self.tolerance).components.seconds * 1_000
    guard (now + 1...latest).contains(grant.expiresMilliseconds) else {
      throw CaravanError(.leaseExpired, "the ticket's time is over: ask sync for another")
    }
    return grant
  }

  private func message(_ grant: TicketGrant) -> SealedMessage {
    var message = SealedMessage("chunk ticket")
    message.add(grant.database)
    message.add(grant.device.text)
    message.add(grant.isUpload ? 1 : 0)
    message.add(grant.bytes)
    message.add(UInt64(grant.expiresMilliseconds))
    return message
  }
}
